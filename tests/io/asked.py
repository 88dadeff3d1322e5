"""What tests of readers ask: the rows that were read, and the text of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annomodels import Annotations, read
from annomodels.errors import AnnotationError


def rows(data: Annotations) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, data.to_frame().to_numpy().tolist()))


def refused(path: Any, *, verb: Callable[..., object] = read, **options: Any) -> str:
    with pytest.raises(AnnotationError) as caught:
        verb(path, **options)
    return str(caught.value)
