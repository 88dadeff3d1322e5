"""Plate pictures of the models: drawn as SVG from a short declaration when the pages are built.

A picture is a list of nodes on a grid, arrows between them and plates around them. Nodes are
written ``name label column row [kind]``, with ``_`` and ``^`` for what stands below and above;
kinds are ``seen`` (shaded: the labels), ``out`` (dashed: summed or integrated out), ``set`` (a dot:
given) and, when left out, ``found`` (a circle: estimated). Arrows are pairs ``from>to``. Lines
follow the colour of the text around them, so pictures suit light and dark pages.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

__all__ = ["Picture", "Plate", "draw", "write"]

COLUMN, ROW, RADIUS, DOT = 104.0, 92.0, 25.0, 4.5
PAD, STEP, NAME = 13.0, 15.0, 19.0  # around nodes; around plates inside; for a plate's name
MARGIN = 10.0


@dataclass(frozen=True)
class Node:
    """One quantity: where it stands and what kind it is."""

    name: str
    label: str
    x: float
    y: float
    kind: str

    @property
    def radius(self) -> float:
        """How far arrows keep away from its middle."""
        return DOT if self.kind == "set" else RADIUS


@dataclass(frozen=True)
class Plate:
    """What is there once for every item, coder, class or label.

    Parameters
    ----------
    title
        What it is repeated over.
    members
        Names of the nodes, separated by spaces.
    """

    title: str
    members: str


@dataclass(frozen=True)
class Picture:
    """A model as nodes, arrows and plates.

    Parameters
    ----------
    nodes
        One a line: name, label, column, row and kind.
    arrows
        Pairs ``from>to``, separated by spaces.
    plates
        Inner ones first where two have the same members.
    says
        What is seen, in words, for those who do not see it.
    """

    nodes: str
    arrows: str
    plates: tuple[Plate, ...]
    says: str


Box = tuple[float, float, float, float]


def draw(picture: Picture, name: str) -> str:
    """Draw a picture as SVG.

    Parameters
    ----------
    picture
        The declaration.
    name
        Name for identifiers within the page.
    """
    nodes = _nodes(picture)
    boxes = _boxes(picture, nodes)
    parts = [_plate(plate, box) for plate, box in zip(picture.plates, boxes, strict=True)]
    for arrow in picture.arrows.split():
        source, target = arrow.split(">")
        parts.append(_arrow(nodes[source], nodes[target], name))
    parts += [_node(node) for node in nodes.values()]
    around = [*boxes, *(_around(node) for node in nodes.values())]
    left, top = min(b[0] for b in around) - MARGIN, min(b[1] for b in around) - MARGIN
    right, bottom = max(b[2] for b in around) + MARGIN, max(b[3] for b in around) + MARGIN
    width, height = right - left, bottom - top
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} '
        f'{height:.0f}" width="{width:.0f}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="{escape(picture.says)}" fill="none" stroke="currentColor" '
        'font-family="Georgia, Times New Roman, serif">\n'
        f"<title>{escape(picture.says)}</title>\n"
        f'<defs><marker id="tip-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse"><path d="M0 1 L10 5 L0 9 z" '
        'fill="currentColor" stroke="none"/></marker></defs>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"


def write(folder: Path) -> None:
    """Draw all pictures into a folder, one file a model."""
    from plate_pictures import PICTURES

    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw(picture, name), "utf-8")


# -- parts -----------------------------------------------------------------------------------------


def _nodes(picture: Picture) -> dict[str, Node]:
    found = {}
    for line in picture.nodes.strip().splitlines():
        name, label, column, row, *kind = line.split()
        at = float(column) * COLUMN, float(row) * ROW
        found[name] = Node(name, label, *at, kind[0] if kind else "found")
    return found


def _boxes(picture: Picture, nodes: dict[str, Node]) -> list[Box]:
    """Rectangles around the members, wider where other plates lie inside."""
    members = [frozenset(plate.members.split()) for plate in picture.plates]
    boxes: list[Box | None] = [None] * len(members)
    # from the inside out; of two with the same members the first lies inside
    for n in sorted(range(len(members)), key=lambda n: (len(members[n]), n)):
        own = [_around(nodes[name]) for name in members[n]]
        own = [(a - PAD, b - PAD, c + PAD, d + PAD) for a, b, c, d in own]
        for m, box in enumerate(boxes):
            if box is not None and members[m] <= members[n]:
                own.append((box[0] - STEP, box[1] - STEP, box[2] + STEP, box[3] + STEP))
        boxes[n] = (
            min(b[0] for b in own), min(b[1] for b in own),
            max(b[2] for b in own), max(b[3] for b in own) + NAME,
        )  # fmt: skip
    return [box for box in boxes if box is not None]


def _around(node: Node) -> Box:
    wide = 16.0 if node.kind == "set" else RADIUS
    return node.x - wide, node.y - wide, node.x + wide, node.y + wide


def _plate(plate: Plate, box: Box) -> str:
    x, y, right, bottom = box
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}" '
        'rx="9" stroke-opacity=".55"/>\n'
        f'<text x="{right - 9:.1f}" y="{bottom - 8:.1f}" text-anchor="end" stroke="none" '
        f'fill="currentColor" font-size="13">{_written(plate.title, italic=False)}</text>'
    )


def _node(node: Node) -> str:
    where = f'cx="{node.x:.1f}" cy="{node.y:.1f}"'
    if node.kind == "set":
        shape = f'<circle {where} r="{DOT}" fill="currentColor"/>'
        at = node.y - 12.0
    else:
        style = {
            "seen": 'fill="currentColor" fill-opacity=".2"',
            "out": 'stroke-dasharray="4 3.5"',
        }.get(node.kind, "")
        shape = f'<circle {where} r="{RADIUS}" stroke-width="1.4" {style}/>'
        at = node.y + 6.0
    size = 19 if len(re.sub(r"[{}_^]", "", node.label)) < 5 else 16
    return (
        f'{shape}\n<text x="{node.x:.1f}" y="{at:.1f}" text-anchor="middle" stroke="none" '
        f'fill="currentColor" font-size="{size}">{_written(node.label)}</text>'
    )


def _arrow(source: Node, target: Node, name: str) -> str:
    length = math.hypot(target.x - source.x, target.y - source.y)
    dx, dy = (target.x - source.x) / length, (target.y - source.y) / length
    x1, y1 = source.x + dx * source.radius, source.y + dy * source.radius
    x2, y2 = target.x - dx * (target.radius + 1.5), target.y - dy * (target.radius + 1.5)
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="1.3" '
        f'marker-end="url(#tip-{name})"/>'
    )


def _written(text: str, italic: bool = True) -> str:
    """Turn ``x_{j,k}`` and ``x^2`` into text with lowered and raised parts."""
    out, level = [], 0.0
    for mark, braced, plain, body in re.findall(r"([_^])(?:\{([^}]*)\}|(\S))|([^_^]+)", text):
        wanted = {"_": 0.28, "^": -0.42}.get(mark, 0.0)
        part = escape(body or braced or plain)
        style = ' font-style="italic"' if italic and not part.isdigit() else ""
        size = ' font-size="72%"' if mark else ""
        # the shift is in ems of the part's own size
        shift = (wanted - level) / (0.72 if mark else 1.0)
        move = f' dy="{shift:.2f}em"' if shift else ""
        out.append(f"<tspan{style}{size}{move}>{part}</tspan>")
        level = wanted
    return "".join(out)
