"""Problems of items, coders and labels, notes about them, and parts of messages."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.alike import components
from annomodels.data.names import label_text, quoted
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.types import AnyArray, Floats

SHOWN = 5
LONGEST_LABEL = 200
EMPTY = frozenset({"", " "})  # cells without a label; SPSS writes a space for a missing number
MANY_LABELS = 50
FREE = 0.75  # proportion of distinct labels from which they count as texts
RARE = 0.01  # share of labels that may be texts: those alone are left out

FEWEST_KNOWN = 3  # minimum known items for a note on all of them
LONGEST_RATING = 11  # points of a rating scale: 0 to 10
# proportion of the orders of the labels that may explain disagreements as well as the numbers do:
# of eight public sets with five numbers or more, scales had at most 0.07, codes of classes at least
# 0.13
OTHER_ORDERS = 0.1
# labels from which orders are compared, up to which all are, and how many random ones beyond
FEWEST_TO_ORDER, FEW_TO_ORDER, SOME_ORDERS = 4, 7, 1000

Cells = Sequence[Any] | NDArray[Any]
Names = tuple[Any, ...]


def is_missing(value: object) -> bool:
    """Return True if a cell is None, NaN, NaT or NA. The texts "None" and "NA" are labels.

    >>> is_missing(None), is_missing(float("nan")), is_missing("NA"), is_missing("")
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, (str, int)):
        return False
    try:
        return bool(value != value)
    except ArithmeticError:  # a signalling NaN
        return True
    except TypeError:  # pandas.NA refuses to be true or false
        return type(value).__name__ == "NAType"
    except ValueError:  # an array; it is reported as a cell that is no name
        return False


def number_or_nan(value: object) -> float:
    """Return a number, or NaN if it is not one."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def is_blank(value: object) -> bool:
    """Return True if a cell is missing or empty.

    >>> is_blank(""), is_blank(None), is_blank(" "), is_blank(0)
    (True, True, False, False)
    """
    return is_missing(value) or (isinstance(value, str) and not value)


def all_numbers(names: Iterable[Any]) -> bool:
    """Return True if all names are finite numbers, or texts that read as such."""
    for name in names:
        try:
            if not math.isfinite(float(name)):
                return False
        except (TypeError, ValueError, OverflowError):
            return False
    return True


def some[T](
    names: Iterable[T], show: Callable[[T], str] = quoted, most: int = SHOWN, width: int = 40
) -> str:
    """Return the first few names, shortened, and the number of others.

    >>> some("abcdefg")
    "'a', 'b', 'c', 'd', 'e' and 2 more"
    """
    names = list(names)
    shown = ", ".join(_short(show(name), width) for name in names[:most])
    more = len(names) - most
    return shown + (f" and {more:,} more" if more > 0 else "")


def at_rows(source: str, rows: Sequence[int], column: str = "") -> str:
    """Write a place in the data: file, rows, column.

    >>> at_rows("votes.csv", [3, 7], "label")
    "votes.csv, rows 3, 7, column 'label'"
    """
    more = len(rows) - SHOWN
    text = f"row{'' if len(rows) == 1 else 's'} " + ", ".join(map(str, rows[:SHOWN]))
    text += f" and {more:,} more" if more > 0 else ""
    text += f", column {column!r}" if column else ""
    return f"{source}, {text}" if source else text


def counted(number: int, word: str, plural: str = "") -> str:
    """Format a count with its noun, in the plural if needed.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def per_item(least: int, most: int) -> str:
    """Write the fewest and the most labels of an item."""
    return f"{f'{least:,} to ' * (least < most)}{counted(most, 'label')} per item"


def _short(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def from_rows(
    rows: object, source: str
) -> tuple[list[object], list[object], list[object], list[int], int]:
    """Split rows into items, coders, labels, their row numbers and the number of skipped labels."""
    items: list[Any] = []
    coders: list[Any] = []
    values: list[Any] = []
    numbers: list[int] = []
    wrong: list[int] = []
    empty: list[int] = []
    skips = 0
    if not isinstance(rows, Iterable):
        what = f"Rows were expected, but this is {type(rows).__name__!r}."
        raise AnnotationError(Problem(what, source, "Give triples (item, coder, label)."))
    for number, row in enumerate(rows, 1):
        if isinstance(row, (str, bytes, Set, Mapping)):  # three of them, but in no order
            wrong.append(number)
            continue
        try:
            item, coder, value = row
        except (TypeError, ValueError):
            wrong.append(number)
            continue
        if is_blank(item) or is_blank(coder):
            empty.append(number)
        elif is_blank(value):
            skips += 1
        else:
            items.append(item)
            coders.append(coder)
            values.append(value)
            numbers.append(number)
    problems = []
    if wrong:
        what = f"{counted(len(wrong), 'row')} not of the shape (item, coder, label)."
        problems.append(Problem(what, at_rows(source, wrong), "Give three values per row."))
    if empty:
        what = f"{counted(len(empty), 'row')} without an item or a coder."
        remedy = "Name the item and the coder of every label."
        problems.append(Problem(what, at_rows(source, empty), remedy))
    if problems:
        raise AnnotationError(problems)
    return items, coders, values, numbers, skips


class NotLabels(Problem):
    """Lists or objects where labels should be."""


def check_hashable(
    cells: Cells, word: str, source: str, rows: Sequence[int] | AnyArray | None = None
) -> list[Problem]:
    """List cells that cannot be names, because they are lists, tables or the like."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return []
    try:
        set(cells)
    except TypeError:
        wrong = [n for n, cell in enumerate(cells) if not is_hashable(cell)]
        at = list(dict.fromkeys(n + 1 if rows is None else rows[n] for n in wrong))
        what = f"{counted(len(wrong), word)} of type {type(cells[wrong[0]]).__name__!r}."
        remedy = f"Give one name for each {word}."
        if word == "label" and all(isinstance(cells[n], (list, set)) for n in wrong):
            remedy = (
                f"Give one name for each {word}, or a set of them: in files, lists are read as "
                f"sets with {Option('sets', True)}; in Python, use a frozenset."
            )
        kind = NotLabels if word == "label" else Problem
        return [kind(what, at_rows(source, at), remedy, code="not-a-label")]
    return []


def is_hashable(cell: object) -> bool:
    """Return True if a cell can be a name."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def check_types(names: Names, word: str, source: str) -> list[Problem]:
    """List names that occur both as text and as another type."""
    seen: dict[str, Any] = {}
    twins = [name for name in names if seen.setdefault(str(name), name) is not name]
    if not twins or isinstance(twins[0], frozenset):
        return []
    what = f"The {word} {some(twins)} occurs both as text and as another type."
    return [Problem(what, source, f"Give all {word}s one type, best as text.")]


def check_order(labels: Names, scale: str) -> list[Problem]:
    """Refuse words without an order on an ordinal scale."""
    if scale != "ordinal" or all_numbers(labels):
        return []
    return [
        Problem(
            "The scale is ordinal but the labels are words without an order.",
            f"labels {some(labels)}",
            f"Give the labels in their order: {Option('labels', ['low', 'mid', 'high'])}.",
        )
    ]


_WHOLE_OR_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r".*,\d{3}\s*")


def decimal_commas(labels: Collection[object]) -> dict[object, str]:
    """Return numbers with a decimal comma, and their form with a point.

    Empty if a label is not such a number, or if all commas may separate thousands.

    >>> decimal_commas({"0,5", "1"}), decimal_commas({"1,200", "1"}), decimal_commas({"0,5", "no"})
    ({'0,5': '0.5'}, {}, {})
    """
    if not all(isinstance(one, str) and _WHOLE_OR_COMMA.fullmatch(one) for one in labels):
        return {}
    commas = [one for one in labels if isinstance(one, str) and "," in one]
    if all(map(_THOUSANDS.fullmatch, commas)):
        return {}
    return {one: one.replace(",", ".") for one in commas}


def check_numbers(labels: Names, scale: str, source: str) -> list[Problem]:
    """List non-numeric labels on a numeric scale."""
    words = (
        [] if scale not in ("interval", "ratio") else [n for n in labels if not all_numbers([n])]
    )
    if not words:
        return []
    what = f"The scale is {scale} but some labels are not numbers: {some(words)}."
    remedy = "Use the nominal or the ordinal scale, or fix the labels."
    if all(isinstance(n, str) and _WHOLE_OR_COMMA.fullmatch(n) for n in words):
        what = f"{what} Their commas may separate decimals or thousands."
        remedy = "Write decimals with a point, such as 0.5, and thousands without a comma."
    return [Problem(what, source, remedy)]


def check_labels(
    values: Sequence[object], rows: Sequence[int], *, declared: bool, scale: str, source: str
) -> list[Problem]:
    """Refuse a column of labels that looks like something else: texts, or measurements."""
    if declared or not len(values):
        return []
    texts = [value for value in set(values) if isinstance(value, str)]
    if any(len(text) > LONGEST_LABEL for text in texts):
        at = [
            row
            for value, row in zip(values, rows, strict=True)
            if isinstance(value, str) and len(value) > LONGEST_LABEL
        ]
        what = f"{counted(len(at), 'label')} longer than {LONGEST_LABEL} characters."
        remedy = (
            "This looks like a column of texts: name the column that holds the labels, "
            f"or declare the labels with {Option('labels', [...])}."
        )
        return [Problem(what, at_rows(source, at), remedy, code="texts")]
    distinct = len(set(values))
    if scale in ("interval", "ratio") or distinct <= MANY_LABELS or distinct <= FREE * len(values):
        return []
    numeric = all_numbers(set(values))
    what = f"{distinct:,} different labels on {counted(len(values), 'annotation')}."
    looks = "measurements" if numeric else "free text"
    remedy = (
        f"This looks like {looks}: "
        + (f"use {Option('scale', 'interval')}, " if numeric else "name the label column, ")
        + f"or declare the labels with {Option('labels', [...])}."
    )
    options = (("scale", "interval"),) if numeric else ()
    return [
        Problem(
            what,
            f"{source}, labels {some(sorted(texts))}",
            remedy,
            options=options,
            code="many-labels",
        )
    ]


def rare_texts(values: Sequence[object]) -> list[int]:
    """Return the positions of overlong labels, if they are rare enough to leave out.

    >>> rare_texts(["yes", "no"] * 100 + ["x" * 300]), rare_texts(["yes", "x" * 300])
    ([200], [])
    """
    long = {value for value in set(values) if isinstance(value, str) and len(value) > LONGEST_LABEL}
    at = [n for n, value in enumerate(values) if value in long] if long else []
    return at if len(at) <= RARE * len(values) else []


def check_names(names: Iterable[object], word: str, source: str) -> list[Problem]:
    """List names that cannot be written to a file."""
    broken = []
    for name in names:
        try:
            label_text(name).encode()
        except UnicodeEncodeError:
            broken.append(name)
    if not broken:
        return []
    what = f"{counted(len(broken), word)} with broken characters: {some(broken)}."
    return [Problem(what, source, "Fix the text where it was exported.", code="broken-characters")]


def variants(values: Iterable[object], word: str) -> list[str]:
    """Note names that differ only in case, spaces, invisible characters, accents or zeros.

    >>> variants(["pos", "Pos", "neg"], "label")
    ["Kept apart although they differ only in case or spaces: label 'Pos' (1), 'pos' (1)."]
    """
    counts = {name: n for name, n in Counter(values).items() if isinstance(name, str)}
    alike: dict[str, list[str]] = {}
    for name in sorted(counts):
        plain = " ".join(unicodedata.normalize("NFKC", _visible(name)).casefold().split())
        alike.setdefault(plain, []).append(name)
    notes = []
    for twins in alike.values():
        if len(twins) > 1:
            why, show = _difference(twins)
            listed = some(twins, lambda name, show=show: f"{show(name)} ({counts[name]:,})")  # type: ignore[misc]
            notes.append(f"Kept apart although they differ only in {why}: {word} {listed}.")
        elif twins[0] != _visible(twins[0]):
            notes.append(f"The {word} {twins[0]!a} contains an invisible character.")
        elif twins[0] != twins[0].strip():
            notes.append(f"The {word} {twins[0]!r} begins or ends with a space.")
    return notes + same_numbers(counts, word)


def _visible(name: str) -> str:
    """Return a name without format characters (zero-width space); emoji joiners stay."""
    if name.isascii():
        return name
    return "".join(c for c in name if unicodedata.category(c) != "Cf" or c == "\u200d")


def _difference(twins: Sequence[str]) -> tuple[str, Callable[[object], str]]:
    """Return the difference between similar names, and a way to print them that shows it."""
    if len({_visible(name) for name in twins}) == 1:
        return "invisible characters", ascii
    if len({unicodedata.normalize("NFC", name) for name in twins}) == 1:
        return "how accents are encoded (Unicode NFC and NFD)", ascii
    return "case or spaces", repr


def same_numbers(counts: Mapping[str, int], word: str) -> list[str]:
    """Note names that write one number in several ways, such as 1, 01 and 1.0.

    >>> same_numbers({"1": 5, "01": 2, "2": 9}, "label")
    ["Kept apart although they are the same number: label '01' (2), '1' (5)."]
    """
    if not any(name[:1] == "0" or "." in name for name in counts):
        return []
    alike: dict[float, list[str]] = {}
    for name in sorted(counts):
        if name.isascii() and name.replace(".", "", 1).isdigit():
            alike.setdefault(float(name), []).append(name)
    groups = [twins for twins in alike.values() if len(twins) > 1]
    if not groups:
        return []
    listed = some(groups[0], lambda name: f"{name!r} ({counts[name]:,})")
    more = f" and {counted(len(groups) - 1, 'other pair')}" if len(groups) > 1 else ""
    return [f"Kept apart although they are the same number: {word} {listed}{more}."]


APART = (
    "The coders fall into {} groups with no item in common, so only the model compares coders of "
    "different groups."
)


def overlap_notes(n_coders: int, shared_items: int, components: Callable[[], int]) -> list[str]:
    """List obstacles to comparing coders; parts of the crowd are computed last."""
    if n_coders == 1:
        return ["Only one coder labeled items, so agreement cannot be measured."]
    if not shared_items:
        # British, because checks outside this repository search for this sentence
        return ["No item was labelled by two coders, so agreement cannot be measured."]
    return [APART.format(parts)] if (parts := components()) > 1 else []


def remarks(item: AnyArray, coder: AnyArray, label: AnyArray) -> list[str]:
    """List notes on coded annotations, which are sorted by item and coder."""
    notes = []
    n_items, n_coders = int(item.max()) + 1, int(coder.max()) + 1
    same = (item[1:] == item[:-1]) & (coder[1:] == coder[:-1])
    if same.any():
        notes.append(
            f"{counted(int(same.sum()), 'label')} given by a coder who had already labeled "
            "the item; models use all of them."
        )
    firsts = np.concatenate([[True], ~same])
    shared = int((np.bincount(item[firsts], minlength=n_items) > 1).sum())
    notes += overlap_notes(n_coders, shared, lambda: len(np.unique(components(item, coder))))
    if (label == label[0]).all():
        notes.append("All annotations have the same label.")
    return notes


def gold_remarks(item: AnyArray, label: AnyArray, gold: AnyArray, labels: Names) -> list[str]:
    """Note known truths that contradict most labels, or that are all one class."""
    known = np.flatnonzero(gold >= 0)
    if len(known) < FEWEST_KNOWN:
        return []
    notes, k = [], len(labels)
    votes = np.bincount(item.astype(np.int64) * k + label, minlength=len(gold) * k)
    votes = votes.reshape(-1, k)[known]
    against = int((votes.max(axis=1) > votes[np.arange(len(known)), gold[known]]).sum())
    if 2 * against > len(known):
        notes.append(
            f"{against:,} of {len(known):,} known labels contradict most labels of their items: "
            "they may be coded in reverse."
        )
    if k > 1 and (gold[known] == gold[known[0]]).all():
        notes.append(
            f"All {len(known):,} known labels are {some([labels[gold[known[0]]]])}: they show "
            "nothing about how coders label the other classes."
        )
    return notes


def points(labels: Sequence[object]) -> int:
    """Return the number of points of a rating scale, or 0 if the labels do not look like one.

    >>> [points(labels) for labels in ([1, 2, 4, 5], ["0", "1"], ["1", "2", "30"], "abc")]
    [5, 0, 0, 0]
    """
    if len(labels) < 3 or not all_numbers(labels):
        return 0
    numbers = sorted(float(str(label)) for label in labels)
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    least = min(steps)
    count = round((numbers[-1] - numbers[0]) / least) + 1 if least > 0 else 0
    even = least in (0.5, 1, 10, 20, 25) and all(step % least == 0 for step in steps)
    return count if even and 3 <= count <= min(LONGEST_RATING, 2 * len(numbers)) else 0


def in_order(labels: Sequence[object], pairs: Floats) -> bool:
    """Return True if coders disagree as on a scale: more about labels whose numbers are close.

    ``pairs`` counts pairs of different labels of an item [label, label]. The ratio of their mean
    squared distance to its expectation, given how often each label is in a pair, is compared with
    the ratios for other orders of the same numbers: at most :data:`OTHER_ORDERS` of them may be as
    good. If pairs contain fewer than four different labels, there are too few orders to compare,
    and numbers count as a scale.

    >>> near = np.array([[0, 9, 1, 0, 0], [9, 0, 8, 1, 0], [1, 8, 0, 9, 1], [0, 1, 9, 0, 7],
    ...                  [0, 0, 1, 7, 0]])
    >>> mixed = near[np.ix_([0, 3, 1, 4, 2], [0, 3, 1, 4, 2])]
    >>> in_order(range(5), near), in_order(range(5), mixed)
    (True, False)
    """
    used = np.flatnonzero(pairs.sum(axis=1))
    if len(used) < FEWEST_TO_ORDER:
        return True
    seen = pairs[np.ix_(used, used)]
    numbers = np.array([float(str(label)) for label in labels])[used]
    by_chance = np.outer(seen.sum(axis=1), seen.sum(axis=1)).astype(float)
    np.fill_diagonal(by_chance, 0.0)
    if len(used) <= FEW_TO_ORDER:
        # an order and its reverse have the same distances
        orders = [one for one in itertools.permutations(range(len(used))) if one <= one[::-1]]
    else:
        rng = np.random.default_rng(0)
        orders = [tuple(rng.permutation(len(used))) for _ in range(SOME_ORDERS)]
    placed = numbers[np.array([tuple(range(len(used))), *orders], dtype=int)]
    distance = (placed[:, :, None] - placed[:, None, :]) ** 2
    ratio = (distance * seen).sum(axis=(1, 2)) / (distance * by_chance).sum(axis=(1, 2))
    return bool((ratio[1:] <= ratio[0] * (1 + 1e-9)).mean() <= OTHER_ORDERS)


def rated(labels: Sequence[object], scale: str) -> str:
    """Note labels that look like ordered ratings although the scale is nominal; else "".

    >>> rated(["1.0", "2.0", "3.0", "4.0", "5.0"], "nominal")[:34]
    'The labels are the numbers 1 to 5,'
    >>> rated(["0", "1"], "nominal")
    ''
    """
    if scale != "nominal" or not points(labels):
        return ""
    numbers = sorted(float(str(label)) for label in labels)
    return (
        f"The labels are the numbers {numbers[0]:g} to {numbers[-1]:g}, like ratings. If their "
        f"order matters, use {Option('scale', 'ordinal')}; if distances matter too, "
        f"{Option('scale', 'interval')}."
    )
