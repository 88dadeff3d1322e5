"""The look that all plots share: colours, sizes, and how names of coders and labels are written.

Every colour here has a name in :data:`VARIABLES`; the report replaces it by that CSS variable, so
that one drawing serves light and dark pages. The hues are those of Okabe and Ito, which people
with any kind of colour vision can tell apart; shapes repeat what colours say.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from annomodels.data.names import label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "KINDS",
    "LINE",
    "MUTED",
    "ORANGE",
    "PURPLE",
    "QUADRANTS",
    "VARIABLES",
    "WIDTH",
    "axes_style",
    "canvas",
    "clean",
    "figure",
    "legend",
    "mathless",
    "short",
    "told_apart",
]

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

# Colour and marker of each kind of coder and each quadrant of items.
KINDS = {
    "good": (BLUE, "o"),
    "biased": (PURPLE, "s"),
    "spammer": (ORANGE, "D"),
    "adversary": (ORANGE, "X"),
    "uninformative": (ORANGE, "D"),
    "reversed": (ORANGE, "X"),
    "not enough evidence": (GREY, "o"),
}
QUADRANTS = {
    "easy": (GREY, "o"),
    "hard but settled": (GREEN, "s"),
    "needs more labels": (BLUE, "^"),
    "contested": (ORANGE, "D"),
}

WIDTH = 4.9  # inches; the page shows a figure about 1.4 times as large
_SIZE = 9.0
_OWN: WeakSet[Any] = WeakSet()  # figures that were made here

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: object) -> str:
    r"""Text without control characters and direction marks, which could garble what surrounds it.

    Parameters
    ----------
    text
        A name given by a user.

    Examples
    --------
    >>> clean("two\nlines\x00 and\u202e more")
    'two lines and more'
    """
    kept = (
        " " if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} else c
        for c in label_text(text)
        if c not in _BIDI
    )
    return " ".join("".join(kept).split())


def short(text: object, width: int = 18) -> str:
    """Clean text cut to a width, with an ellipsis where something is left out.

    Parameters
    ----------
    text
        A name given by a user.
    width
        Most characters to keep.

    Examples
    --------
    >>> short("a rather long name of a label", 12)
    'a rather lo…'
    """
    # A name can be a whole text; what lies far beyond the cut needs no cleaning.
    name = clean(label_text(text)[: 4 * width + 64])
    return name if len(name) <= width else name[: width - 1].rstrip() + "…"


def told_apart(names: Iterable[object], width: int = 18) -> list[str]:
    """Names cut to a width; where the beginnings are the same, without their middle instead.

    Parameters
    ----------
    names
        Names given by a user, to be shown beside each other.
    width
        Most characters to keep.

    Examples
    --------
    >>> told_apart(["tale of two cities, 1", "tale of two cities, 2", "emma"], 12)
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
    r"""Text in which matplotlib finds no formula.

    Examples
    --------
    >>> print(mathless("$5 or $6"))
    \$5 or \$6
    """
    return text.replace("$", r"\$")


def figure(height: float, width: float = WIDTH) -> Figure:
    """Empty figure without background, outside of pyplot, laid out by constraints.

    Parameters
    ----------
    height, width
        Size in inches.
    """
    from matplotlib.figure import Figure

    made = Figure((width, height), layout="constrained")
    made.patch.set_alpha(0.0)
    _OWN.add(made)
    return made


def canvas(height: float, ax: Axes | None) -> tuple[Figure, Axes]:
    """Give the figure and axes to draw on: those of the user, or new ones.

    Parameters
    ----------
    height
        Height of a new figure, in inches.
    ax
        Axes of the user, or None.
    """
    if ax is None:
        made = figure(height)
        return made, made.add_subplot()
    made = ax.get_figure(root=True)  # type: ignore[assignment]
    return made, ax


def axes_style(ax: Axes, *, grid: str = "x", frame: bool = False) -> None:
    """Give axes the common look: thin grid, no box, quiet ticks.

    Parameters
    ----------
    ax
        The axes to style, after ticks and texts have been set.
    grid
        Direction of the grid lines: "x", "y", "both" or "".
    frame
        Whether to keep the left and bottom spines.
    """
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


def legend(ax: Axes, columns: int = 2) -> None:
    """Legend above the axes, as wide as the figure allows, without a box."""
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
