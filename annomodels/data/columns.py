"""Columns of tables, declared once: name in files, heading, meaning, and format of a cell."""

# Terminal, page and notebook read them. A choice that depends on the table, such as which columns
# come first, is a tuple of columns next to the function that computes the table.

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from annomodels.data.names import label_text
from annomodels.data.widths import size
from annomodels.limits import SETTLED

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["name", "text", "tag", "count", "number", "chance", "quantity"]
# characters of a cell of text: lines are wrapped, so few texts need a cut
WHOLE_TEXT = 240
PLAIN_WIDTH = 100  # characters of a line of plain text, whatever shows it
PLAIN_TEXT = 40  # characters of a cell of it
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    # kind of the cells: a name that stays whole, a text that may be wrapped, a tag out of a few
    # words, a count, a number of the size of one, a probability, or a quantity of any size;
    # interval names the columns with the ends; of computes the cell, or the value and its ends,
    # from a row that has no such column

    name: str
    title: str = ""
    kind: Kind = "number"
    help: str = ""
    interval: tuple[str, str] | None = None
    digits: int = 2
    width: int = 60
    bar: bool = False
    of: Callable[[Any], object] | None = None

    @property
    def numeric(self) -> bool:
        """Return True if the cells are right-aligned."""
        return self.kind not in ("name", "text", "tag")

    def called(self, title: str = "", **changes: Any) -> Column:
        """Return the column with another heading, or with other changes."""
        return replace(self, title=title or self.title, **changes)

    @property
    def heading(self) -> str:
        """Heading in plain text: the name in files, which options and explanations use."""
        return self.name.replace("_", " ")

    def texts(self, table: pd.DataFrame) -> tuple[str, ...]:
        """Return the cells of a table as plain text, intervals with their values."""
        if self.of is not None or self.interval is not None:
            return tuple(self.cell(row).whole for row in table.itertuples())
        values = table[self.name].astype(object)
        if not self.numeric:
            values = values.where(values.notna(), "")
        return tuple(self.written(value).text for value in values)

    def cell(self, row: object) -> Cell:
        """Return the cell of a row, such as ``itertuples`` gives."""
        ends: tuple[Any, ...] = ()
        if self.of is None:
            value = getattr(row, self.name)
            if self.interval:
                ends = tuple(getattr(row, name) for name in self.interval)
        else:
            value = self.of(row)
            if isinstance(value, Cell):
                return value
            if self.interval and isinstance(value, tuple):
                value, ends = value[0], value[1:]
        return self.written(value, *map(float, ends))

    def written(self, value: Any, low: float = math.nan, high: float = math.nan) -> Cell:
        """Return the cell of a value and the ends of its interval."""
        if not self.numeric or isinstance(value, (str, frozenset)):
            kind = self.kind if self.kind in ("name", "tag") else "text"
            return Cell(_yes_or_no(value) or short(value, self.width), kind=kind)
        if value is None or str(value) in ("<NA>", "nan"):
            return Cell("–", kind="number")
        number = float(value)
        write = figure if self.kind == "quantity" else (lambda x: decimal(x, self.digits))
        text = f"{int(number):,}" if self.kind == "count" else write(number)
        if self.kind == "chance":
            text = chance(number, self.digits)
        exact = str(int(number)) if self.kind == "count" else f"{number:.4g}"
        if not math.isfinite(low + high):
            return Cell(text, exact if math.isfinite(number) else "", kind="number")
        place = (_percent(low), _percent(number), _percent(high)) if self.bar else None
        return Cell(text, exact, write(low), write(high), place, "number")


@dataclass(frozen=True)
class Cell:
    """One cell: its text, the number behind it, the ends of its interval, and a bar in percent."""

    text: str
    value: str = ""
    low: str = ""
    high: str = ""
    bar: tuple[int, int, int] | None = None
    kind: Literal["text", "name", "number", "tag"] = "text"

    @property
    def exact(self) -> str:
        """The exact value if the text rounds it."""
        shown = self.text.replace(",", "").replace("−", "-")
        try:
            return "" if self.value and float(shown) == float(self.value) else self.value
        except ValueError:
            return self.value

    @property
    def whole(self) -> str:
        """The text with its interval."""
        return f"{self.text} ({self.low} to {self.high})" if self.low else self.text


def clean(text: object) -> str:
    r"""Return text without control characters and direction marks.

    >>> clean("two\nlines\x00 and\u202e more")
    'two lines and more'
    """
    plain = label_text(text)
    if plain.isascii() and plain.isprintable():  # nearly all names and words
        return " ".join(plain.split())
    kept = (
        " " if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} else c
        for c in plain
        if c not in _BIDI
    )
    return " ".join("".join(kept).split())


def short(text: object, width: int = 18) -> str:
    """Return clean text cut to a width, with an ellipsis if it was longer.

    >>> short("a rather long name of a label", 12)
    'a rather lo…'
    """
    # A name can be a long text; the part far beyond the cut needs no cleaning.
    name = clean(label_text(text)[: 4 * width + 64])
    return name if len(name) <= width else name[: width - 1].rstrip() + "…"


def decimal(value: float, digits: int = 2) -> str:
    """Format a number between -1 and 1, with a minus sign, or a dash if missing.

    >>> decimal(0.7261), decimal(-0.1), decimal(float("nan"))
    ('0.73', '−0.10', '–')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def percent(value: float, digits: int | None = None) -> str:
    """Format a proportion as a percentage, by default with suitable digits.

    >>> percent(0.98125), percent(0.9996), percent(1.0), percent(0.0), percent(float("nan"))
    ('98.1 %', '99.96 %', '100 %', '0 %', '–')
    """
    if not math.isfinite(value):
        return "–"
    if digits is None:
        near = min(value, 1 - value)
        digits = 0 if near == 0 else 1 if near >= 0.001 else 2 if near >= 0.0001 else 3
    return f"{100 * value:.{digits}f} %"


def figure(value: float) -> str:
    """Format a number of any size.

    >>> figure(1558.2), figure(1.0041), figure(0.0), figure(12.0), figure(float("nan"))
    ('1,558', '1.004', '0', '12', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}".replace("-", "−")
    digits = 1 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}".rstrip("0").rstrip(".").replace("-", "−")


def _yes_or_no(value: object) -> str:
    """Format a boolean; empty for all other values."""
    return {"True": "yes", "False": "no"}.get(str(value), "") if not isinstance(value, str) else ""


def chance(value: float, digits: int = 2) -> str:
    """Format a probability, never as 0, and as 1 only if exact: draws cannot show 0."""
    smallest = 10.0**-digits
    if 0 <= value < smallest / 2:
        return f"<{decimal(smallest, digits)}"
    if 1 - smallest / 2 < value < 1:
        return f">{decimal(1 - smallest, digits)}"
    if digits == 2 and SETTLED - 0.005 <= value < SETTLED:  # must not look settled
        return decimal(math.floor(1000 * value) / 1000, 3)
    return decimal(value, digits)


def of_quantity(name: str, title: str, low: str, high: str) -> Column:
    """Return a column with shares, and whole numbers if the quantity of a row counts labels."""

    def cell(row: Any) -> Cell:
        value, *ends = (float(getattr(row, each)) for each in (name, low, high))
        if "wrong" in row.quantity and math.isfinite(value):
            around = (math.floor(ends[0]), math.ceil(ends[1])) if math.isfinite(sum(ends)) else ends
            return replace(column, kind="quantity").written(round(value), *around)
        return column.written(value, *ends)

    column = Column(name, title, digits=3, interval=(low, high), of=cell)
    return column


def _percent(value: float) -> int:
    return round(100 * min(max(value, 0.0), 1.0))


def _estimate(name: str, title: str, help: str = "", **look: Any) -> Column:
    """Declare a column whose ends are called ``name_low`` and ``name_high``."""
    look.setdefault("interval", (f"{name}_low", f"{name}_high"))
    return Column(name, title, help=help, **look)


def with_sds(row: object, name: str = "difficulty") -> tuple[float, float, float]:
    """Return a mean with 1.96 standard deviations, ``name_sd``, to either side."""
    value, half = getattr(row, name), 1.96 * float(getattr(row, f"{name}_sd"))
    return value, value - half, value + half


_ENDS = ("low", "high")
_ALL = (
    # subject of a row
    *(Column(name, name.replace("_", " ").capitalize(), "name") for name in (
        "item", "coder", "label", "model", "coefficient", "title", "part", "name", "document",
        "group", "question", "source", "check", "package", "first", "second", "slice", "system",
        "quantity", "by", "genre", "statistic", "bin", "what",
    )),
    Column("coder_a", "Coder", "name"),
    Column("coder_b", "and coder", "name"),
    Column("measure", "Measure", "name", width=90),
    Column("runner_up", "Runner-up", "name", width=30),
    Column("said", "Said", "name", width=30),
    Column("partner", "Most confused with", "name", width=30),
    # words
    *(Column(name, name.replace("_", " ").capitalize(), "text", width=WHOLE_TEXT) for name in (
        "reason", "remark", "note", "known_by", "problem", "verdict", "why",
    )),
    Column("sentence", "In words", "text", width=WHOLE_TEXT),
    Column("bias", "Bias", "text"),
    Column("advice", "Advice", "name"),
    Column("readings", "Readings if ambiguous", "text", width=80),
    # counts
    *(Column(name, name.capitalize(), "count") for name in (
        "given", "right", "texts", "mentions", "judgments", "coders", "labels",
    )),
    Column("n", "Labels", "count"),
    Column("kept", "Items kept", "count"),
    Column("audited", "of them audited", "count"),
    Column("alone", "Alone against all", "count"),
    Column("places", "of places", "count"),
    Column("items", "Items", "quantity"),
    Column("asked", "Labels to ask for", "count",
           "asked: how many of the labels to ask for next are for this coder."),
    Column("unreliable", "Unreliable items", "count",
           "unreliable: items for which the estimate of elpd cannot be relied on."),
    # coders
    _estimate("accuracy", "Accuracy", bar=True),
    _estimate("share_right", "Right so far", "share right: share of the labels given so far "
              "that are right.", bar=True),
    _estimate("skill", "Skill",
              "skill: 1 is always right, 0 no better than guessing, below 0 worse."),
    _estimate("bits", "Bits per label", "bits: information of one label about the truth; 0 is "
              "none, and with two equally frequent labels 1 is the maximum."),
    Column("kind", "Kind", "tag", "kind: a spammer's labels do not depend on the item, an "
           "adversary swaps labels; biased coders use one label too often."),
    Column("p_chance", "P(chance)", "chance"),
    Column("p_spammer", "P(spammer)", "chance"),
    Column("p_below_target", "P(below target)", "chance"),
    Column("p_reversed", "P(reversed)", "chance"),
    _estimate("reliability", "Reliability", bar=True),
    _estimate("scale", "Scale", kind="quantity"),
    _estimate("noise", "Noise", kind="quantity"),
    # items and gold labels
    Column("state", "State", "tag", "state: settled (the probability reaches the threshold), needs "
           "labels, contested (hard, or with two readings: coder errors do not explain the votes, "
           "and more labels would not settle it), or decided by known truth, audit or decision."),
    Column("probability", "Probability", "chance"),
    Column("doubt", "Doubt, bits",
           help="doubt: entropy of the label of the item, in bits; 0 is certain."),
    Column("reducible", "of it reducible"),
    Column("disagreement", "Disagreement"),
    Column("p_contested", "P(contested)", "chance", "p contested: probability that the coders see "
           "two readings rather than err."),
    Column("p_ambiguous", "P(ambiguous)", "chance"),
    Column("p_easy", "P(easy)", "chance"),
    _estimate("difficulty", "Difficulty", of=with_sds),
    Column("guess_level", "Guess level", "chance"),
    Column("second_reading", "Second reading", "chance"),
    Column("votes", "Votes", "name"),
    Column("overturned", "Overturned", "tag",
           "overturned: the model's label is not the one that most coders gave."),
    Column("log_odds", "Log-odds", help="log odds: contribution of this coder's label to the "
           "gold label against the runner-up; 0 is none, 2.3 makes it "
           "ten times as probable."),
    Column("mcse", "Monte Carlo error",
           help="mcse: Monte Carlo error of the probability, from random draws."),
    Column("gain", "Wrong gold labels removed", help="gain: how many fewer "
           "wrong gold labels are expected after this label."),
    # labels
    Column("share", "Share of labels"),
    _estimate("prevalence", "Prevalence", bar=True),
    _estimate("recall", "Recall", "recall: how often coders give the label if it "
              "is right; precision: how often it is right if they give it; partner: the label that "
              "it is most confused with."),
    _estimate("precision", "Precision"),
    _estimate("partner_share", "of its confusions"),
    _estimate("confusions", "Part of all confusions"),
    Column("alpha_merged", "Alpha if merged"),
    _estimate("alpha_change", "Change of alpha",
              "alpha change: how much higher alpha would be if both labels were one."),
    _estimate("accuracy_gain", "Gain of accuracy"),
    # agreement
    _estimate("value", "Value", interval=_ENDS),
    Column("low", "Low", help="low, high: ends of the interval that contains the true value with "
           "95 % probability."),
    Column("high", "High"),
    Column("observed", "Observed part", help="observed, expected: observed agreement, and "
           "agreement expected by chance; disagreement for coefficients with a distance."),
    Column("expected", "Expected part"),
    Column("p_above_667", "P(> 0.667)", "chance", "p above 667, 800: probability that the value is "
           "above 0.667, the usual minimum for tentative conclusions, and above 0.800, usually "
           "called reliable."),
    Column("p_above_800", "P(> 0.8)", "chance"),
    Column("model_p_above_667", "model P(> 0.667)", "chance"),
    Column("model_p_above_800", "model P(> 0.8)", "chance"),
    Column("convention", "Convention", "text", "convention: treatment of missing labels; "
           "complete means that there are none."),
    Column("specific", "Specific", help="specific: when one coder gives the label, the probability "
           "that another does too."),
    Column("without", "Without", help="without: the value if this coder's labels are left out; "
           "difference: how much better (or worse, below 0) that is; "
           "p better without: probability that it is better."),
    Column("influence", "Influence",
           help="influence: contribution of the item to the overall value."),
    _estimate("further", "Further",
              "further: probability that two more coders would agree on the item."),
    Column("by_chance", "By chance", help="by chance: share of the disagreement expected by "
           "chance; ratio: observed share over this one; p more: "
           "probability that it is above chance."),
    # coreference
    _estimate("kappa", "Kappa on pairs", interval=_ENDS, bar=True),
    _estimate("with_others", "Kappa with the others", interval=_ENDS, bar=True),
    Column("others", "Kappa of the others"),
    _estimate("mean", "Mean", interval=_ENDS, bar=True),
    _estimate("difference", "Difference"),
    Column("p_below", "P(below 0)", "chance"),
    Column("weakest", "Weakest link", "chance"),
    # models and checks
    Column("elpd", "Score", "quantity", "elpd: how well the model predicts data that it has not "
           "seen; higher is better. A difference below 2 of its standard errors (se) may be "
           "chance."),
    Column("se", "± error", "quantity"),
    Column("difference_se", "± error", "quantity"),
    Column("weight", "Weight", help="weight: share of the model in the mixture of models that "
           "predicts best."),
    Column("limit", "Limit", "quantity"),
    Column("p_value", "p", "chance", digits=3),
    Column("sd", "± sd", "quantity"),
    Column("shift", "Value minus mean", "quantity"),
    Column("label_sd", "Spread of the labels", "quantity"),
    Column("prior_sensitivity", "Prior sensitivity"),
    Column("accuracy_mcse", "Simulation error", help="accuracy mcse: Monte Carlo error of "
           "the accuracy; more replications make it smaller."),
    # audits
    _estimate("win_rate", "Win rate", bar=True, digits=3),
    Column("p_higher", "P(first is higher)", "chance"),
    Column("width", "Width, audit and model", digits=3),
    Column("width_audit_alone", "Width, audit alone", digits=3),
)  # fmt: skip
COLUMNS = {column.name: column for column in _ALL}


def columns(*parts: str | Column) -> tuple[Column, ...]:
    """Return the named columns, most important first.

    >>> [column.title for column in columns("coder n", COLUMNS["accuracy"].called("Share right"))]
    ['Coder', 'Labels', 'Share right']
    """
    found: list[Column] = []
    for part in parts:
        found += [COLUMNS[name] for name in part.split()] if isinstance(part, str) else [part]
    return tuple(found)


def present(declared: Iterable[Column], table: pd.DataFrame) -> tuple[Column, ...]:
    """Return the columns with values in a table."""
    return tuple(
        column
        for column in declared
        if (column.of is not None and (column.of is not with_sds or column.name in table))
        or (column.name in table and (not len(table) or _filled(table[column.name])))
    )


def _filled(column: pd.Series) -> bool:
    return bool((column.notna() & (column.astype(object) != "")).any())


def explained(names: Iterable[str], level: int = 95) -> list[str]:
    """Return explanations of the columns whose names are not clear.

    >>> explained(["coder", "n", "skill"])
    ['skill: 1 is always right, 0 no better than guessing, below 0 worse.']
    """
    helps = [COLUMNS[name].help for name in names if name in COLUMNS]
    return [text.replace("95 %", f"{level} %") for text in helps if text]


def to_plain(table: pd.DataFrame, declared: Sequence[Column], most: int) -> str:
    """Return the first rows of a table as plain text, with the columns that fit.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"coder": ["w1", "w2"], "n": [1200, 8]})
    >>> table["skill"], table["skill_low"], table["skill_high"] = 0.25, 0.125, 0.5
    >>> print(to_plain(table, columns("coder n skill"), most=1))
    coder      n                skill
    w1     1,200  0.25 (0.12 to 0.50)
    1 more row: .table has all.
    """
    from annomodels.data.validation import counted  # needs NumPy, and help must be light

    head = table.head(most)
    lines, left_out, room = [""] * (1 + len(head)), list[str](), PLAIN_WIDTH
    for column in present(declared, table) or _declared(table):
        texts = [column.heading, *column.called(width=PLAIN_TEXT).texts(head)]
        width = max(map(size, texts))
        if left_out or (width > room and room < PLAIN_WIDTH):
            left_out.append(column.name)
            continue
        room -= width + 2
        pads = [" " * (width - size(text)) for text in texts]
        sides = zip(lines, pads, texts, strict=True)
        lines = [f"{line}{pad}{text}  " if column.numeric else f"{line}{text}{pad}  "
                 for line, pad, text in sides]  # fmt: skip
    more = []
    if len(table) > most:
        more.append(counted(len(table) - most, "more row"))
    if left_out:
        more.append(f"{counted(len(left_out), 'more column')} ({', '.join(left_out)})")
    note = [f"{' and '.join(more)}: .table has all."] if more else []
    return "\n".join([*(line.rstrip() for line in lines), *note])


def to_html(
    title: str, table: pd.DataFrame, declared: Sequence[Column], order: str = "", most: int = 12
) -> str:
    """Return a table for a notebook: the first rows, with intervals in one cell."""
    from html import escape

    shown = present(declared or _declared(table), table)
    side = {column.name: "right" if column.numeric else "left" for column in shown}

    def cell(tag: str, column: Column, text: str) -> str:
        return f'<{tag} style="text-align:{side[column.name]}">{escape(text)}</{tag}>'

    head = "".join(cell("th", column, column.title) for column in shown)
    rows = "".join(
        f"<tr>{''.join(cell('td', column, column.cell(row).whole) for column in shown)}</tr>"
        for row in table.head(most).itertuples()
    )
    more = f"<p>{most} of {len(table):,} rows{order}; .table has all.</p>" * (len(table) > most)
    return (
        f"<p><strong>{escape(title)}</strong></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}"
    )


def _declared(table: pd.DataFrame) -> list[Column]:
    """Return the default columns of a table, intervals with their values."""
    places = {str(name): n for n, name in enumerate(table, 1)}
    known = {name: COLUMNS.get(name, Column(name, name, "quantity")) for name in places}
    ends = {end for name in known for end in known[name].interval or () if end in places}

    def column(name: str) -> Column:
        found = known[name]
        at = [places[name], *(places[end] for end in found.interval or () if end in places)]
        return replace(
            found,
            interval=found.interval if len(at) == 3 else None,
            of=lambda row: tuple(row[n] for n in at) if len(at) == 3 else row[at[0]],
        )

    return [column(name) for name in places if name not in ends and _filled(table[name])]
