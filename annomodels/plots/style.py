"""Common style of plots, and a figure as a small inline SVG that follows the page around it."""

from __future__ import annotations

import functools
import io
import os
import re
import sys
import textwrap
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from annomodels.data.columns import clean, short
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.types import AnyArray, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#1c2530"
MUTED = "#566270"
LINE = "#d3dae1"
GREY = "#7f8a96"
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#009e73"
PURPLE = "#aa4499"

VARIABLES = {
    INK: "currentColor",
    MUTED: "var(--muted,#566270)",
    LINE: "var(--line,#d3dae1)",
    GREY: "var(--grey,#7f8a96)",
    BLUE: "var(--blue,#0072b2)",
    ORANGE: "var(--orange,#d55e00)",
    GREEN: "var(--green,#009e73)",
    PURPLE: "var(--purple,#aa4499)",
}

# Colour and marker of each kind of coder and each state of items.
KINDS = {
    "good": (BLUE, "o"),
    "biased": (PURPLE, "s"),
    "spammer": (ORANGE, "D"),
    "adversary": (ORANGE, "X"),
    "uninformative": (ORANGE, "D"),
    "reversed": (ORANGE, "X"),
    "not enough evidence": (GREY, "o"),
}
STATES = {
    "settled": (GREY, "o"),
    "needs labels": (BLUE, "^"),
    "contested": (ORANGE, "D"),
    "decided": (GREEN, "s"),
}

WIDTH = 4.9  # inches; the page shows a figure about 1.4 times as large
_SIZE = 9.0
_MOST_NUMBERS = 16  # maximum tiles per side with numbers
_MOST_NAMES = 60  # maximum tiles per side with names
_OWN: WeakSet[Any] = WeakSet()  # figures that were made here


def distinct_names(names: Iterable[object], width: int = 18) -> list[str]:
    """Shorten names to a width; cut the middle if their beginnings are equal.

    >>> distinct_names(["tale of two cities, 1", "tale of two cities, 2", "emma"], 12)
    ['tale o…es, 1', 'tale o…es, 2', 'emma']
    """
    whole = list(names)
    cut = [short(name, width) for name in whole]
    often = Counter(cut)
    half = width // 2
    out = []
    for name, brief in zip(whole, cut, strict=True):
        if often[brief] > 1 and brief.endswith("…"):
            text, far = label_text(name), 4 * width + 64
            start, end = clean(text[:far])[:half], clean(text[-far:])[half + 1 - width :]
            brief = f"{start.rstrip()}…{end}"
        out.append(brief)
    return out


def mathless(text: str) -> str:
    r"""Escape text so that matplotlib does not parse it as a formula.

    >>> print(mathless("$5 or $6"))
    \$5 or \$6
    """
    return text.replace("$", r"\$")


def require_matplotlib() -> None:
    """Load matplotlib even if MPLBACKEND names a missing backend: our figures need none."""
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    import matplotlib as mpl

    if backend is not None:
        os.environ["MPLBACKEND"] = backend
        with suppress(ValueError):
            mpl.rcParams["backend"] = backend


def figure(height: float, width: float = WIDTH) -> Figure:
    """Create an empty figure (inches) outside pyplot, transparent, with automatic layout."""
    require_matplotlib()
    made = _shown_figure()((width, height), layout="constrained")
    made.patch.set_alpha(0.0)
    _OWN.add(made)
    return made


@functools.cache
def _shown_figure() -> type[Figure]:
    """Return the class of figures that a notebook shows although pyplot does not know them."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            self.patch.set_alpha(1.0)  # the ink is dark, whatever the theme of the notebook
            out = io.BytesIO()
            self.savefig(out, format="png", dpi=110, facecolor="white")
            self.patch.set_alpha(0.0)
            return out.getvalue()

    ShownFigure.__module__, ShownFigure.__qualname__ = __name__, "ShownFigure"
    return ShownFigure


def __getattr__(name: str) -> type[Figure]:
    """Find the class under its name, so that figures can be copied and pickled."""
    if name == "ShownFigure":
        return _shown_figure()
    raise AttributeError(name)


def canvas(height: float, ax: Axes | None) -> tuple[Figure, Axes]:
    """Return figure and axes to draw on: those of the user, or new ones `height` inches high."""
    if ax is None:
        made = figure(height)
        return made, made.add_subplot()
    made = ax.get_figure(root=True)  # type: ignore[assignment]
    return made, ax


def axes_style(ax: Axes, *, grid: str = "x", frame: bool = False) -> None:
    """Set the common look of axes: thin grid, no box, quiet ticks."""
    ax.patch.set_alpha(0.0)
    for side, spine in ax.spines.items():
        spine.set_visible(frame and side in {"left", "bottom"})
        spine.set_color(LINE)
    ax.tick_params(length=0, labelsize=_SIZE, colors=INK, pad=4)
    ax.tick_params(axis="x", labelcolor=MUTED)
    if grid:
        which: Any = grid
        ax.grid(axis=which, color=LINE, linewidth=0.8)
    ax.set_axisbelow(True)
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set_color(MUTED)
        text.set_fontsize(_SIZE)


def intervals(
    ax: Axes, y: AnyArray, ends: Sequence[Floats], colour: str, marker: str,
    label: str | None = None, *, width: float = 1.6, size: float = 5.0, alpha: float = 1.0,
) -> None:  # fmt: skip
    """Draw a mark per row at the value, and a line between the ends if they are known."""
    middle, low, high = ends
    known = np.isfinite(low) & np.isfinite(high)
    look: dict[str, Any] = {"color": colour, "linewidth": width, "alpha": alpha, "zorder": 2}
    ax.hlines(y[known], low[known], high[known], **look)
    ax.plot(middle, y, marker, color=colour, markersize=size, label=label, zorder=3)


def left_out(n: int, total: int, which: str, word: str) -> str:
    r"""Return the second line of a label, with the number of rows that a plot leaves out.

    >>> left_out(30, 41, "most frequent", "labels")
    '\nthe 30 most frequent of 41 labels'
    """
    some = f"{n:,} {which}" if n > 1 else which
    return f"\nthe {some} of {total:,} {word}" if n < total else ""


def rows(
    ax: Axes, names: Iterable[object], width: int = 18, top: float = -0.6, *, lines: int = 1
) -> None:
    """Name the rows of a plot, the first on top, each in lines of a width."""
    texts = [
        mathless("\n".join(textwrap.wrap(short(name, width * lines), width) or [""]))
        if lines > 1
        else mathless(short(name, width))
        for name in names
    ]
    ax.set_yticks(np.arange(len(texts)), texts)
    ax.set_ylim(len(texts) - 0.4, top)


def finished(
    made: Figure, ax: Axes, columns: int = 2, *, grid: str = "x", frame: bool = False
) -> Figure:
    """Return a figure with the common look and a legend above the axes."""
    axes_style(ax, grid=grid, frame=frame)
    legend(ax, columns)
    return made


def legend(ax: Axes, columns: int = 2) -> None:
    """Add a legend above the axes, at most as wide as the figure, without a box."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles or ax.figure is None:
        return
    look: dict[str, Any] = {
        "ncols": columns,
        "frameon": False,
        "fontsize": _SIZE - 0.5,
        "labelcolor": INK,
        "handletextpad": 0.4,
        "columnspacing": 1.2,
        "borderaxespad": 0.2,
    }
    if ax.figure in _OWN:
        ax.figure.legend(handles, labels, loc="outside upper left", **look)
    else:  # other axes may stand beside these
        ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), **look)


def tiles(
    ax: Axes, values: Floats, rows: Sequence[str], columns: Sequence[str],
    *, top: float = 1.0, bar: bool = False,
) -> None:  # fmt: skip
    """Draw values as tiles: blue above zero, orange below, NaN empty; `top` has full color."""
    ax.imshow(_pixels(values / top), interpolation="none", aspect="auto")
    if bar:
        low = -top if (values < 0).any() else 0.0
        bar_axes = ax.inset_axes((1.02, 0.2, 0.03, 0.6))
        colors = _pixels(np.linspace(low / top, 1, 64))[:, None]
        bar_axes.imshow(colors, origin="lower", aspect="auto", extent=(0, 1, low, top))
        bar_axes.set_xticks([])
        bar_axes.yaxis.tick_right()
        axes_style(bar_axes, grid="")
        bar_axes.tick_params(labelsize=7.5, labelcolor=MUTED)
    small = 8.5 if len(rows) <= 8 else 7.0 if len(rows) <= 12 else 5.8
    if max(values.shape) <= _MOST_NUMBERS:
        for (r, c), value in np.ndenumerate(values):
            text = f"{value:.2f}" if np.isfinite(value) else "–"
            ax.text(c, r, text, ha="center", va="center", fontsize=small, color=INK)
    # About sixty small digits fit side by side below the tiles.
    wide = sum(len(short(name, 12)) + 1 for name in columns) > 60
    if max(values.shape) > _MOST_NAMES:
        rows = columns = ()
    below, beside = ([mathless(short(n, k)) for n in x] for x, k in ((columns, 12), (rows, 16)))
    ax.set_xticks(np.arange(len(columns)), below, rotation=90 if wide else 0)
    ax.set_yticks(np.arange(len(rows)), beside)
    axes_style(ax, grid="")
    ax.tick_params(labelsize=small, labelcolor=INK)


def _pixels(values: Floats) -> Floats:
    """Return the RGBA colors of values in -1..1."""
    from matplotlib.colors import to_rgb

    known = np.isfinite(values)
    strength = np.where(known, np.abs(np.clip(values, -1, 1)), 0.0)
    pixels = np.empty((*values.shape, 4))
    pixels[...] = (*to_rgb(BLUE), 1.0)
    pixels[np.where(known, values, 0.0) < 0, :3] = to_rgb(ORANGE)
    # tiles stay half transparent at most, so that ink is readable on them in both themes
    pixels[..., 3] = np.where(known, 0.04 + 0.5 * strength, 0.0)
    return pixels


def summary_of(source: Any, name: str) -> Summary:
    """Return the summary `name` of a fit, or the summary itself."""
    made: Summary = source if hasattr(source, "table") else getattr(source, name)()
    return made


def draws_of(summary: Summary, name: str) -> Floats | None:
    """Return draws of a variable, shape [sample, ...]; None with at most one draw."""
    if name not in summary.draws:
        return None
    values = np.asarray(summary.draws[name].values, dtype=float)
    return values if len(values) > 1 else None


_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_COLOUR = re.compile("|".join(map(re.escape, VARIABLES)))
_DROPPED = frozenset({"metadata", "style"})


def inline(figure: Figure, key: str, title: str, description: str) -> str:
    """Draw a figure as an ``<svg>`` element for an HTML page.

    Text stays text in the font of the page. Ink becomes ``currentColor`` and other colors become
    CSS variables. Coordinates are rounded, and ids begin with `key`.

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
