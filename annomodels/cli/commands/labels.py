"""Commands for labels without a fit: ``annomodels check`` and ``annomodels agree``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from annomodels.cli.declared import as_command
from annomodels.cli.exits import gate_code, gate_failures, parse_gates, unknown
from annomodels.cli.loading import done_each, load_any, load_each, load_fit, several, stem
from annomodels.cli.options import Reading, Writing, option
from annomodels.cli.session import Stages, note, say, say_notes, visible
from annomodels.cli.spans import FACTS, check_of_spans
from annomodels.cli.tables import (
    by_question,
    emit,
    emit_text,
    filed,
    form_of,
    note_writer,
    show,
    to_json,
    with_left_out,
)
from annomodels.coefficients.agreement import Convention, agreement
from annomodels.coefficients.catalogue import COEFFICIENTS, find
from annomodels.coefficients.result import AgreementPanel
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS, Column, columns
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.border import unreadable
from annomodels.io.reading import Questions
from annomodels.io.span_builder import Spans
from annomodels.progress import Progress
from annomodels.spans.agreement import span_agreement

if TYPE_CHECKING:
    from annomodels.coefficients.parts.results import Breakdown
    from annomodels.planning.advise import Use
    from annomodels.reporting.facts import CheckLine


COUNTS = ("items", "coders", "labels given", "different labels", "repeated labels")
QUESTIONS = columns(
    "question", *(Column(name, kind="quantity") for name in COUNTS), Column("scale", kind="tag")
)

# meaning of the rows
CHECKS = (
    "overlap groups: sets of items that share coders. With more than one, coders of different "
    "groups cannot be compared.",
    "scale: nominal treats labels as names. Use --scale ordinal, interval or ratio if they have "
    "an order or are numbers.",
    "fingerprint: the same for the same labels, in any order. It shows readers of a paper which "
    "data were used.",
)


@as_command(
    "check votes.csv --item sentence --coder worker --label tag",
    "check coding.xlsx --item article --question '*'",
    "check votes.csv --fit out",
)
@option("--fit", "Saved fit of DATA, whose checks say which model to try next.", metavar="FIT")
def check(data: str, fit: str | None, reading: Reading, writing: Writing) -> None:
    """Describe DATA: counts, problems, analyses, and a model.

    The last lines list what these labels support, such as alpha, gold labels or coder accuracy,
    what they do not support yet, with the reason, and the model to begin with. Several questions
    (--question with a pattern such as 'stage_*', or '*' for all) share one table. Columns that are
    not questions are listed with the reason.
    """
    if several(reading):
        if fit is not None:
            raise click.UsageError("--fit needs one question: choose it with --question.")
        _each(data, load_each(data, reading), writing)
    else:
        _one(data, fit, reading, writing)


def _one(data: str, fit: str | None, reading: Reading, writing: Writing) -> None:
    from annomodels.planning.advise import advise, supports
    from annomodels.reporting.facts import findings

    read = load_any(data, reading)
    if isinstance(read, Spans):
        check_of_spans(data, read, writing)
        return
    labels = read
    found, uses = findings(labels), supports(labels)
    advice = advise(labels, fit=None if fit is None else load_fit(fit))
    if form_of(writing) == "json":
        about = {"source": stem(data), **_facts(labels, found), **_uses({"": uses})}
        about |= {"advice": advice.to_dict()}
        emit_text(to_json(about), writing)
        return
    rows = [("source", stem(data), "")]
    rows += [(fact.check, str(fact.value), visible(fact.remark)) for fact in found]
    drawn = form_of(writing) == "table"
    rows += [("note", "", visible(text)) for text in labels.notes if not drawn]
    rows += [("supports", ", ".join(use.what for use in uses if not use.why) or "nothing", "")]
    rows += [("not yet", use.what, use.why) for use in uses if use.why]
    first, *others = advice.reasons or ("",)
    rows += [("model", advice.model or "none can be fitted", first)]
    rows += [("advice", "", reason) for reason in others]
    emit(pd.DataFrame(rows, columns=[one.name for one in FACTS]), writing, repr(labels), FACTS)
    if drawn:
        for text in labels.notes:
            say(f"note: {text}")
        for text in CHECKS:
            note(text)


def _each(data: str, found: Questions, writing: Writing) -> None:
    """Write a row per question, and the analyses that all of them support."""
    from annomodels.planning.advise import sentence, supports
    from annomodels.reporting.facts import findings

    checks = {question: findings(labels) for question, labels in found.items()}
    uses = {question: supports(labels) for question, labels in found.items()}
    if form_of(writing) == "json":
        told = {question: _facts(found[question], facts) for question, facts in checks.items()}
        about = {"source": stem(data), "questions": told, "left_out": found.left_out}
        emit_text(to_json({**about, **_uses(uses)}), writing)
        return
    rows = [
        {
            "question": question,
            **{fact.check: fact.value for fact in facts if fact.check in (*COUNTS, "scale")},
            "note": " ".join(visible(fact.remark) for fact in facts if fact.remark),
        }
        for question, facts in checks.items()
    ]
    table = with_left_out(pd.DataFrame(rows), found.left_out, form_of(writing))
    emit(table.astype(object), writing, f"Questions of {stem(data)}", QUESTIONS)
    remarks: dict[str, list[str]] = {}
    for question, facts in checks.items():
        for fact in facts:
            if fact.remark and fact.check == "scale":
                remarks.setdefault(fact.remark, []).append(question)
    for remark, questions in remarks.items():
        note(f"{', '.join(questions)}: {remark}")
    note(sentence(uses))


def _facts(labels: Annotations, found: list[CheckLine]) -> dict[str, Any]:
    checks = {
        fact.check.replace(" ", "_"): {
            "value": fact.value,
            "remark": visible(fact.remark),
            **({"names": fact.names} if fact.names else {}),
        }
        for fact in found
    }
    return {"summary": repr(labels), "notes": list(map(visible, labels.notes)), "checks": checks}


def _uses(uses: dict[str, tuple[Use, ...]]) -> dict[str, Any]:
    pairs = [(question, use) for question, said in uses.items() for use in said]
    several = len(uses) > 1 or "" not in uses

    def told(question: str, use: Use) -> dict[str, str]:
        return {**({"question": question} if several else {}), "what": use.what}

    return {
        "supports": [told(question, use) for question, use in pairs if not use.why],
        "not_yet": [{**told(question, use), "why": use.why} for question, use in pairs if use.why],
    }


BY = ("document", "group", "label", "item", "coder", "pair")
DEFAULT = ("percent", "alpha")

CONVENTIONS = ("krippendorff", "gwet", "pairs", "pairwise", "listwise")

MOST_DRAWN = 12


def coefficient_names(
    asked: Sequence[str], gates: Sequence[str], default: Sequence[str]
) -> list[str]:
    """Return the coefficients to compute: requested or default ones, and those of gates."""
    try:
        names = [find(name).name for name in asked]
    except NotApplicable as error:
        raise click.UsageError(f"--coefficient: {error}") from None
    for gate in gates:
        if gate not in COEFFICIENTS:
            raise unknown("coefficient", gate, list(COEFFICIENTS))
    return list(dict.fromkeys([*(names or default), *gates]))


OF_SPANS = ("alpha_u", "span_f1", "span_f1_overlapping", "token_alpha")


def distance_of(given: str | None, data: Annotations, sets: bool) -> str | list[list[float]] | None:
    """Return the distance: its name, or a table from a file; sets have a default."""
    are_sets = any(isinstance(label, frozenset) for label in data.labels)
    if sets and not are_sets:
        raise click.UsageError(
            "--read sets changes nothing: no answer has several labels. Leave it out."
        )
    if given is None:
        if are_sets:
            note("note: Distance between sets: masi; change it with --distance.")
        return "masi" if are_sets else None
    if not Path(given).is_file():
        if Path(given).suffix and (problem := unreadable(Path(given))):
            raise AnnotationError(problem)
        return given
    from annomodels.io.mappings import distances_from

    return distances_from(given, data.labels)


def parts_table(
    data: Annotations,
    by: str,
    names: Sequence[str],
    positive: str | None,
    progress: Progress,
) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    """Break down coefficients, concatenate the tables, and return the main columns."""
    if by in ("document", "group") and data.group is None:
        raise click.UsageError(
            f"--by {by} needs to know the documents: name their column with --group."
        )
    tables, said = [], dict[str, None]()
    for number, name in enumerate(names):
        progress(f"agreement by {by}", number / len(names), "")
        found = _broken_down(data, by, name, positive)
        table = found.table.rename(columns={"group": by})
        place = len(found.parts)
        table.insert(place, "coefficient", name)
        table.insert(place + 1, "title", COEFFICIENTS[name].title)
        tables.append(table)
        for row in found.overall.itertuples():
            value = COLUMNS["value"].called(digits=3).cell(row).whole
            note(f"{COEFFICIENTS[name].title}, {row.what}: {value.replace('–', 'undefined')}")
        said |= dict.fromkeys(found.notes)
    say_notes(said)
    part = " ".join(tables[0].columns[: place + 1])
    return pd.concat(tables, ignore_index=True), columns(part, *found.columns[place:])


def _broken_down(data: Annotations, by: str, name: str, positive: str | None) -> Breakdown:
    from annomodels.coefficients.parts.breakdown import breakdown

    kind = "group" if by == "document" else by
    options: dict[str, Any] = {}
    if positive is not None:
        named = {label_text(label): label for label in data.labels}
        options = {"undefined": "label-given", "positive": named.get(positive, positive)}
    try:
        return breakdown(data, kind, name, **options)  # type: ignore[arg-type]
    except NotApplicable as error:
        raise click.UsageError(f"--by {by}: {error}") from None


def show_diagnosis(
    data: Annotations, name: str, gated: Callable[[pd.DataFrame], list[str]], writing: Writing
) -> list[str]:
    """Write a diagnosis in the requested form, and return the gates that fail."""
    # JSON contains the sentences and all tables; other forms one table of all parts.
    from annomodels.coefficients.parts.diagnose import diagnose

    try:
        found = diagnose(data, name)
    except NotApplicable as error:
        raise click.UsageError(f"--diagnose: {error}") from None
    failures = gated(found.agreement)
    if form_of(writing) == "json":
        tables = {name: table.to_dict("records") for name, table in found.tables()}
        about = {"title": found.title, "sentences": found.sentences, **tables, "notes": found.notes}
        emit_text(to_json(about), writing)
        return failures
    tell = note_writer(writing)
    for sentence in found.sentences:
        tell(f"* {sentence}")
    table = found.table
    if tell is say:
        table = table.groupby("part", sort=False).head(MOST_DRAWN)
    emit(table, writing, found.title)
    say_notes(found.notes)
    return failures


@as_command(
    "agree votes.csv",
    "agree votes.csv --scale ordinal --labels low,mid,high --by coder",
    "agree votes.csv --diagnose",
    "agree votes.csv --convention gwet --coefficient ac1",
    "agree choices.json --read sets --distance jaccard",
    "agree coding.xlsx --item article --question '*' --coefficient alpha",
    "agree coding.xlsx --question 'stage_*' --scale 'stage_*=ordinal'",
    "agree links.csv --by document --coefficient kappa --positive link",
    "agree votes.csv --fail-if 'alpha<0.667' --fail-if 'alpha.low<0.5'",
)
@option(
    "--coefficient asked...",
    "Coefficient to compute; may be repeated [default: a panel; with --by, percent and alpha]. "
    "alpha_u and span_f1 compare marked stretches of text.",
    metavar="NAME",
)
@option(
    "--distance",
    "Distance between labels, such as linear, quadratic, masi or jaccard, or a table: labels in "
    "the first row and column, distances in the cells [default: by the scale; masi for sets].",
    metavar="NAME|FILE",
)
@option(
    "--convention",
    "Treatment of missing labels [default: krippendorff]; gwet is the one of irrCAC.",
    CONVENTIONS,
)
@option(
    "--by",
    "Part to compute agreement for: each document, each label against the rest, each item, each "
    "coder against the others (and the data without them), or each pair of coders.",
    BY,
)
@option(
    "--positive",
    "With --by document: value 1 if no coder used LABEL, 0 if only one did.",
    metavar="LABEL",
)
@option(
    "--diagnose",
    "Show which label pairs, items and coders cause the disagreement, and why.",
    bool,
)
def agree(
    data: str,
    asked: tuple[str, ...],
    distance: str | None,
    convention: Convention | None,
    by: str | None,
    positive: str | None,
    diagnose: bool,
    paper: str | None,
    gates: tuple[str, ...],
    reading: Reading,
    writing: Writing,
) -> int:
    """Compute agreement coefficients of DATA with intervals.

    Intervals have 95 % probability. An undefined coefficient is listed with the reason. The
    coefficients that the fitted model implies are in agreement.csv of `annomodels run`.
    """
    limits = parse_gates(gates)
    many = several(reading)
    for wrong, text in (
        (diagnose and by, "--diagnose and --by make different tables: use one at a time."),
        (
            many and (diagnose or by),
            "Several questions give one table of coefficients: choose one "
            "--question for --by or --diagnose.",
        ),
        (
            diagnose and len(asked) > 1,
            "--diagnose explains one coefficient: give --coefficient once.",
        ),
        (
            positive is not None and by not in ("document", "group"),
            "--positive belongs to --by document.",
        ),
        (
            paper is not None and not many,
            "--methods needs several questions; for one question, use annomodels run.",
        ),
    ):
        if wrong:
            raise click.UsageError(text)
    if paper is not None:
        Writing("md", paper, writing.force).check()
    if (diagnose or by) and (distance or convention):
        what = "--distance and --convention are for coefficients of all data"
        raise click.UsageError(f"{what}: leave out {'--by' if by else '--diagnose'}.")
    spanned = [name for name in asked if name in OF_SPANS]
    labels = None if many else load_any(data, reading)
    if spanned and not isinstance(labels, Spans):
        remedy = "--units" if reading["units"] else f"--coefficient {spanned[0]}"
        raise click.UsageError(
            f"{spanned[0]} measures marked stretches of text, but these are labels of items: leave "
            f"out {remedy}."
        )
    if isinstance(labels, Spans):
        if {*asked} - {*OF_SPANS} or diagnose or by or distance or convention:
            raise click.UsageError(
                f"Marked stretches of text have the coefficients {', '.join(OF_SPANS)}. Others, "
                "--by, --diagnose, --distance and --convention are for labels of items: name "
                "--units, or leave them out."
            )
        note(repr(labels))
        panel = span_agreement(labels, asked or OF_SPANS)
        failures = gate_failures(limits, panel.table)
        say_notes(labels.notes)
        show(panel, writing)
        return gate_code(failures)
    names = coefficient_names(asked, [limit.name for limit in limits], DEFAULT if by else ())

    def measured(question: str, labels: Annotations) -> AgreementPanel:
        """Compute the requested coefficients; by default, with a distance, those that use it."""
        _introduce(labels, question)
        chosen = distance_of(distance, labels, bool(reading["sets"]) and not many)
        usual = None if chosen is None else ["alpha", *names]
        return agreement(labels, names if asked else usual, distance=chosen, missing=convention)

    gated = partial(gate_failures, limits)
    if labels is None:
        failures = _each_question(load_each(data, reading), measured, gated, writing, paper)
    elif diagnose:
        _introduce(labels)
        failures = show_diagnosis(labels, asked[0] if asked else "alpha", gated, writing)
    elif by is not None:
        _introduce(labels)
        with Stages() as stages:
            table, shown = parts_table(labels, by, names, positive, stages)
        failures = gated(table)
        emit(table, writing, f"Agreement by {by}", shown)
    else:
        panel = measured("", labels)
        failures = gated(panel.table)
        show(panel, writing)
    return gate_code(failures)


def _introduce(labels: Annotations, question: str = "") -> None:
    note(f"{question}: {labels!r}" if question else repr(labels))
    say_notes(labels.notes)


def _each_question(
    found: Questions,
    measured: Callable[[str, Annotations], AgreementPanel],
    gated: Callable[[pd.DataFrame], list[str]],
    writing: Writing,
    paper: str | None,
) -> list[str]:
    """Write one table of all questions, and the methods text; return the gates that fail."""
    from annomodels.reporting.methods import agreement_methods

    panels, left_out = done_each(found, measured, "has agreement to measure")
    notes = dict.fromkeys(text for panel in panels.values() for text in panel.notes)
    table = by_question({question: panel.table for question, panel in panels.items()})
    failures = gated(table)
    form = form_of(writing)
    whole = table
    if form != "table":
        whole = by_question({name: filed(panel.table) for name, panel in panels.items()})
    whole = with_left_out(whole, left_out, form)
    shown = columns("question", *next(iter(panels.values())).columns)
    emit(whole, writing, "Agreement by question", shown, notes=notes)
    if paper is not None:
        written = agreement_methods({name: found[name] for name in panels}, table, left_out)
        emit_text(written, Writing("md", paper, writing.force))
    return failures
