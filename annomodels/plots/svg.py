"""A figure as a small inline SVG that follows the colours and fonts of the page around it."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree
from html import escape
from typing import TYPE_CHECKING

from annomodels.plots.style import VARIABLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_COLOUR = re.compile("|".join(map(re.escape, VARIABLES)))
_DROPPED = frozenset({"metadata", "style"})


def inline(figure: Figure, key: str, title: str, description: str) -> str:
    """Draw a figure as an ``<svg>`` element for an HTML page.

    Texts stay texts and take the font of the page, ink becomes ``currentColor`` and the other
    colours CSS variables, coordinates are rounded, ids begin with `key`.

    >>> from annomodels.plots.style import figure
    >>> inline(figure(1.0), "empty", "Nothing", "An empty figure.")[:44]
    '<svg class="plot" viewBox="0 0 352.8 72" rol'
    """
    drawn = _draw(figure, key)
    root = ElementTree.fromstring(drawn)
    used = set(re.findall(r'(?:xlink:href="|url\()#([\w.-]+)', drawn.decode()))
    ids = {old: f"{key}-{n}" for n, old in enumerate(sorted(used))}
    body = "".join(_write(child, ids) for child in root)
    box = _rounded(root.get("viewBox", ""))
    width = float(box.split()[2])
    return (
        f'<svg class="plot" viewBox="{box}" role="img" style="--w:{width:.0f}" '
        f'aria-labelledby="{key}-title {key}-desc"><title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(description)}</desc>{body}</svg>'
    )


def _draw(figure: Figure, key: str) -> bytes:
    import matplotlib as mpl

    target = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}), warnings.catch_warnings():
        # The reader's browser has the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure.savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()


def _rounded(text: str) -> str:
    return _NUMBER.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), text)


def _style(text: str) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in text.split(";") if ":" in part)
    return {key.strip(): value.strip() for key, value in pairs}


def _write(node: ElementTree.Element, ids: dict[str, str]) -> str:
    tag = node.tag.rpartition("}")[2]
    if tag in _DROPPED:
        return ""
    inner = escape(node.text or "", quote=False) if tag in {"text", "tspan"} else ""
    _hoist(node)
    inner += "".join(_write(child, ids) for child in node)
    if tag in {"g", "defs"} and not inner:
        return ""
    attributes = _attributes(tag, dict(node.attrib), ids)
    if tag == "g" and not attributes:
        return inner
    return f"<{tag}{attributes}>{inner}</{tag}>" if inner else f"<{tag}{attributes}/>"


def _hoist(node: ElementTree.Element) -> None:
    """Move the style that all marks share to their group."""
    styles = {child.get("style") for child in node}
    if len(node) > 1 and len(styles) == 1 and all(c.tag.endswith("}use") for c in node):
        style = styles.pop()
        if style is not None and "style" not in node.attrib:
            node.set("style", style)
            for child in node:
                del child.attrib["style"]


def _attributes(tag: str, found: dict[str, str], ids: dict[str, str]) -> str:
    out = {}
    for name, value in found.items():
        if name == "id":
            if value in ids:
                out["id"] = ids[value]
        elif name == _HREF:
            out["href"] = "#" + ids[value[1:]] if value.startswith("#") else value
        elif name == "style":
            style = _style(value)
            style.pop("font-family", None)
            if tag == "text":
                style.setdefault("fill", "currentColor")
            joined = ";".join(f"{k}:{v}" for k, v in style.items())
            out["style"] = _COLOUR.sub(lambda m: VARIABLES[m[0]], joined)
        elif name == "transform":
            if value.startswith("rotate(-0 "):
                continue
            out[name] = _rounded(value)
        elif "url(#" in value:
            out[name] = re.sub(r"#([\w.-]+)", lambda m: "#" + ids[m[1]], value)
        else:
            out[name] = _rounded(value).replace("\n", "").strip()
    return "".join(f' {name}="{escape(value)}"' for name, value in out.items())
