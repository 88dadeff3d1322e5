"""What every page is made with: script and style in the file, one template each, written whole."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from annomodels.errors import AnnotationError, Problem

ASSETS = Path(__file__).parent / "assets"


def basics() -> dict[str, str]:
    """Give the version, the script with its hash, and the style, as the templates call them."""
    from annomodels import __version__

    script = (ASSETS / "script.js").read_text("utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {
        "version": __version__,
        "script": script,
        "script_hash": f"sha256-{digest}",
        "style": (ASSETS / "style.css").read_text("utf-8").strip(),
    }


@functools.cache
def template(name: str) -> Any:
    """Give a template by the name of its file; names in the data are escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def may_write(path: Path, force: bool) -> None:
    """Say before the work what would stop the writing after it."""
    if path.is_dir():
        what = "This is a folder, and the page is a file."
        raise AnnotationError(Problem(what, str(path), f"Give {path / 'report.html'}."))
    if path.exists() and not force:
        remedy = "Give another name, or say force=True to replace it."
        raise AnnotationError(Problem("The file exists already.", str(path), remedy))
    if not path.parent.is_dir():
        remedy = "Create the folder first, or choose one that exists."
        raise AnnotationError(Problem("There is no such folder.", str(path.parent), remedy))


def write(path: Path, text: str) -> None:
    """Write the page beside its place and move it in."""
    try:
        handle, name = tempfile.mkstemp(suffix=".html", prefix=f".{path.name}-", dir=path.parent)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise AnnotationError(
            Problem(
                f"The page could not be written: {error.strerror or error}.",
                str(path),
                "Free some space, or choose a folder that can be written to.",
            )
        ) from error
