"""``annomodels check``: contents of a file of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import load_any, load_each, load_fit, several, stem
from annomodels.cli.options import Reading, Writing, option
from annomodels.cli.session import note, say, visible
from annomodels.cli.spans import FACTS, check_of_spans
from annomodels.cli.tables import emit, emit_text, form_for, form_of, to_json, with_left_out
from annomodels.data.columns import Column, columns
from annomodels.io.span_builder import Spans

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.io.reading import Questions
    from annomodels.planning.advise import Use
    from annomodels.reporting.facts import Counted

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
def command(data: str, fit: str | None, reading: Reading, writing: Writing) -> None:
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
    import pandas as pd

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
    drawn = form_of(writing) == "table" and writing.output in (None, "-")
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
    import pandas as pd

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
    table = with_left_out(pd.DataFrame(rows), found.left_out, form_for(writing))
    emit(table.astype(object), writing, f"Questions of {stem(data)}", QUESTIONS)
    remarks: dict[str, list[str]] = {}
    for question, facts in checks.items():
        for fact in facts:
            if fact.remark and fact.check == "scale":
                remarks.setdefault(fact.remark, []).append(question)
    for remark, questions in remarks.items():
        note(f"{', '.join(questions)}: {remark}")
    note(sentence(uses))


def _facts(labels: Annotations, found: list[Counted]) -> dict[str, Any]:
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
