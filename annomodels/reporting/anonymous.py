"""Data and fits without the names of coders and files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.scale.scanned import Scanned


def anonymous(data: Annotations | Scanned) -> Annotations | Scanned:
    """Return a copy with coders named "coder 1", "coder 2", ..., in shuffled order.

    Use it before the fit, so that no output can contain a name; the same data always give the
    same names. The file name and notes of the reader, which may contain names, are dropped.
    """
    if not isinstance(data, Annotations):  # blocks contain no coder names
        names = tuple(new_names(data).values())
        return replace(data, coders=names, source="", notes=())
    shuffle = _shuffle(data)
    coder = shuffle[data.coder].astype(np.int32)
    order = np.lexsort((coder, data.item))
    unanswered = data.unanswered
    if unanswered is not None:
        item, whose, kind = unanswered.T
        unanswered = np.column_stack([item, shuffle[whose], kind])
    return data.replace(
        item=data.item[order],
        coder=coder[order],
        label=data.label[order],
        coders=tuple(f"coder {j + 1}" for j in range(data.n_coders)),
        unanswered=unanswered,
        source="",
        notes=(),
    )


def anonymized(fit: Fit) -> Fit:
    """Return a copy of a fit with coders named as in :func:`anonymous`."""
    data, tree = fit.data, fit.tree.copy()
    names = tuple(new_names(data).values())
    posterior = tree["posterior"].to_dataset()
    if "coder" in posterior.coords:
        tree["posterior"] = type(tree)(posterior.assign_coords(coder=list(names)))
    told: dict[str, Any] = {"source": "", "notes": ()} if hasattr(data, "source") else {}
    return replace(fit, data=replace(data, coders=names, **told), tree=tree)


def new_names(data: Any) -> dict[str, str]:
    numbers = _shuffle(data).tolist()
    return {label_text(name): f"coder {numbers[j] + 1}" for j, name in enumerate(data.coders)}


def _shuffle(data: Any) -> NDArray[np.int64]:
    return np.random.default_rng(int(data.fingerprint, 16)).permutation(data.n_coders)
