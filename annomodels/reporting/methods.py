"""Methods sections to paste, of one question or several: numbers, citations, a table, BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.reasons import resampled
from annomodels.data.annotations import Annotations
from annomodels.data.columns import chance, decimal, percent
from annomodels.data.validation import counted
from annomodels.models.catalog import is_stack
from annomodels.reporting.facts import Facts, facts_of
from annomodels.reporting.words import (
    Citation,
    as_latex,
    as_markdown,
    by_citation,
    by_doi,
    cite,
    cited_in,
    interval,
    latex,
    markdown_table,
    name,
    number,
    say,
    share_interval,
    sources_of,
    with_interval,
)
from annomodels.summaries.notes import listed

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.fitting.fit import Fit


_INTERVAL = "95 % interval"
_NAME, _ENDS = f"{_INTERVAL} ", ("value", "low", "high")
_COLUMNS = ("Coefficient", "Value", _INTERVAL, "P(> 0.667)", "P(> 0.8)", "Model", _INTERVAL)
_WORDS = ("Coefficient", "Question", "Scale")  # columns without numbers
_SAMPLERS = {
    "gibbs": "a Gibbs sampler",
    "nuts": f"the No-U-Turn sampler {cite('hoffman2014', 'abrilpla2023')}",
}
_TRUTHS = {"class": "labels", "number": "values", "link": "readings"}
_ALSO = {"class": ("dawid1979",), "number": (), "link": ()}


def methods(fit: Fit | Facts, command: str = "") -> str:
    """Write a methods section as Markdown, with references and a table of coefficients."""
    facts = facts_of(fit)
    told = f"\n\n```sh\n{command}\n```" if command else ""
    parts = ["## How to reproduce it", versions(facts) + told]
    if rows := _rows(facts):
        parts += ["## Agreement coefficients", _table(_COLUMNS, rows), _note(facts)]
    return document(paragraphs(facts), parts, references(facts))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(head, rows, [name not in _WORDS for name in head])


def document(texts: Sequence[str], parts: Sequence[str], cited: Sequence[Citation]) -> str:
    whole = ["# Methods", *map(as_markdown, texts), *parts, "## References"]
    whole += ["\n".join(f"* {source.text}" for source in cited)]
    bibtex = "\n\n".join(source.bibtex for source in cited)
    return "\n\n".join([*whole, f"```bibtex\n{bibtex.rstrip()}\n```"]) + "\n"


def methods_latex(fit: Fit | Facts, command: str = "") -> str:
    r"""Write a methods section as LaTeX, for a document with natbib and booktabs."""
    facts = facts_of(fit)
    told = f" Command: \\texttt{{{latex(command)}}}." if command else ""
    parts = [
        "% needs \\usepackage{booktabs} and \\usepackage{natbib}, and the BibTeX entries",
        "\\section*{Methods}",
        *(as_latex(text) for text in paragraphs(facts)),
        latex(versions(facts)) + told,
        *_latex_table(facts),
    ]
    return "\n\n".join(parts) + "\n"


def bibtex(fit: Fit | Facts) -> str:
    return "\n\n".join(source.bibtex for source in references(fit)) + "\n"


def references(fit: Fit | Facts) -> list[Citation]:
    """Return the sources that the methods section cites, the source of the model first."""
    facts = facts_of(fit)
    keys = cited_in([_model(facts)[0], *paragraphs(facts)])
    if _rows(facts):
        keys += filter(None, map(source_key, facts.fit.agreement().table["coefficient"]))
    return sources_of(keys)


def paragraphs(fit: Fit | Facts) -> list[str]:
    """Return the paragraphs, with marks for citations; see :mod:`annomodels.reporting.words`."""
    facts = facts_of(fit)
    agreed = [_agreement(facts)] if facts.has("agreement") else []
    model = " ".join(_model(facts))
    return [labeled(facts), *agreed, model, _inference(facts), results(facts)]


def _agreement(facts: Facts) -> str:
    table: Any = facts.fit.agreement().table.set_index("coefficient")
    if facts.truth == "number":
        rows = table.loc[["alpha", "alpha, implied", "alpha, new coders", "gold"], list(_ENDS)]
        alpha, implied, new, gold = (with_interval(*ends, name=_NAME) for ends in rows.to_numpy())
        words = {"alpha": alpha, "implied": implied, "new": new, "gold": gold}
        return say("alpha_of_numbers", cited=cite("krippendorff2019"), **words)
    kappa = "kappa" if facts.data.n_coders == 2 else "multi_kappa"
    chosen = table.loc[[name for name in ("alpha", kappa, "ac1", "percent") if name in table.index]]
    text = " ".join(_coefficient(row) for _, row in chosen.iterrows())
    alpha = chosen[chosen.index == "alpha"]
    if len(alpha) and np.isfinite(alpha["p_above_667"].iloc[0]):
        limits = (chance(alpha[f"p_above_{limit}"].iloc[0]) for limit in (667, 800))
        text += say("alpha_exceeds", **dict(zip(("tentative", "reliable"), limits, strict=True)))
    words = {"rubin": cite("rubin1981"), "cited": cite("krippendorff2019", "artstein2008")}
    return say("coefficients", text=text, unit=resampled(facts.data), **words)


def _note(facts: Facts) -> str:
    """Describe the columns of the table of coefficients."""
    return say("table_note", unit=resampled(facts.data))


def _coefficient(row: Any) -> str:
    key = source_key(str(row.name))
    title = row["title"][:1].upper() + row["title"][1:] + (f" {cite(key)}" if key else "")
    if not np.isfinite(row["value"]):
        return f"{title} is not defined here ({row['note'] or 'no reason given'})."
    text = f"{title} was {with_interval(*row[list(_ENDS)], name=_NAME)}"
    if np.isfinite(row["model_low"]):
        implied = with_interval(*row[["model", "model_low", "model_high"]])
        text += f"; the fitted model implies {implied}"
    return f"{text}."


def _model(facts: Facts) -> tuple[str, str]:
    fit = facts.fit
    keys = dict.fromkeys([*(s.key for s in by_citation(fit.model.citation)), *_ALSO[facts.truth]])
    story = " ".join(fit.model.describe())
    return (
        f"The true {_TRUTHS[facts.truth]} were inferred with the {fit.model.title} model "
        f"{cite(*keys)}.",
        f"{story} Computed with annomodels {cite('annomodels')}.",
    )


def versions(facts: Facts) -> str:
    """State the versions and settings needed to reproduce the numbers."""
    fit = facts.fit
    return (
        f"annomodels {fit.tree.attrs['annomodels']}, engine {fit.engine}, seed {fit.seed}, "
        f"data fingerprint {facts.fingerprint}."
    )


def _inference(facts: Facts) -> str:
    """State how the posterior was computed, and the result of the checks."""
    engine, attrs, check = facts.fit.engine, facts.tree.attrs, facts.check
    if engine == "em":
        how = str(say("mode_found"))
    else:
        sizes = {name: int(attrs[name]) for name in ("chains", "draws", "warmup")}
        how = str(say("sampled", sampler=_SAMPLERS[engine], **sizes))
        rhat, ess = float(attrs["rhat_max"]), float(attrs["ess_min"])
        if np.isfinite(rhat):
            how += say("mixed", rhat=rhat, ess=ess, cited=cite("vehtari2021"))
    if facts.on_disk:
        how = f"The labels were streamed from disk and fitted block by block. {how}"
    return f"{how}. Verdict of the checks: {check.verdict}. " + " ".join(check.sentences)


def source_key(coefficient: str) -> str:
    """Return the key of the source of a coefficient, or an empty string."""
    found = by_doi(COEFFICIENTS[coefficient].doi) if coefficient in COEFFICIENTS else None
    return found.key if found else ""


def _rows(facts: Facts) -> list[tuple[str, ...]]:
    """Return the rows of the table of coefficients; empty if the fit has none."""

    def ends(low: float, high: float) -> str:
        return f"[{decimal(low)}, {decimal(high)}]" if np.isfinite(low) else decimal(low)

    if facts.truth != "class" or facts.unsupported("agreement"):
        return []
    table: Any = facts.fit.agreement().table
    return [
        (
            str(row.title), decimal(row.value), ends(row.low, row.high),
            chance(row.p_above_667), chance(row.p_above_800),
            decimal(row.model), ends(row.model_low, row.model_high),
        )
        for row in table.itertuples()
    ]  # fmt: skip


def _latex_table(facts: Facts) -> list[str]:
    cells = _rows(facts)
    if not cells:
        return []
    rows = [" & ".join(map(latex, row)) + r" \\" for row in (_COLUMNS, *cells)]
    sizes = f"{counted(facts.data.n_coders, 'coder')} on {counted(facts.data.n_items, 'item')}"
    lines = [
        r"\begin{table}", rf"\caption{{Agreement of {sizes}}}", r"\begin{tabular}{lrrrrrr}",
        r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}", "",
        rf"\smallskip\textit{{Note.}} {latex(_note(facts))}", r"\end{table}",
    ]  # fmt: skip
    return ["\n".join(lines)]


def labeled(facts: Facts) -> str:
    if facts.truth == "link":
        return _judged(facts)
    data, per_item = facts.data, facts.health.per_item
    low, high = per_item.least, per_item.most
    each = f"{low} per item" if low == high else f"{low} to {high} per item"
    repeats = f", {counted(data.repeats, 'repeat')} of a coder among them" if data.repeats else ""
    labels = ""
    if facts.truth == "class":
        names = listed([name(label) for label in data.labels], 12)
        labels = f" with {counted(data.n_labels, 'label')} ({names})"
    words = {"labels": labels, "word": "labels" if labels else "numbers", "each": each}
    words |= {"repeats": repeats, "items": counted(data.n_items, "item").capitalize()}
    n = {"n_items": data.n_items, "coders": data.n_coders, "given": data.n_annotations}
    text = str(say("labeled", median=per_item.median, **n, **words))
    if facts.on_disk and data.dont_know:
        kinds = listed([name(kind) for kind in data.dont_know], 12)
        text += f" {counted(int(data.unanswered.sum()), 'answer')} of {kinds} counted as no class."
    if facts.told_items:
        text += f" Known labels of {counted(facts.told_items, 'item')} were held fixed."
    return text


def _judged(facts: Facts) -> str:
    data, each = facts.data, facts.data.judged()
    low, high = int(each.min()), int(each.max())
    words = {
        "mentions": counted(data.n_items, "mention").capitalize(),
        "each": str(low) if low == high else f"{low} to {high}",
        "classes": counted(data.n_labels, "class", "classes"),
        "names": listed([*map(name, data.classes)], 12),
    }
    n = {"n_items": data.n_items, "coders": data.n_coders, "readings": len(data.labels)}
    return say("judged_mentions", **n, **words)


def results(facts: Facts) -> str:
    """State how many gold labels are settled and wrong, and the accuracy of coders."""
    if facts.truth == "number":
        return _results_of_numbers(facts)
    if facts.truth == "link":
        return _results_of_links(facts)
    settled, n, of = facts.settled, facts.data.n_items, facts.wrong
    start = f"{counted(settled, 'item').capitalize()} of {n:,} ({percent(settled / n)}"
    coders = _coders(facts.coders.table)
    caution = "overconfident if items differ in difficulty"
    if is_stack(facts.fit.model):
        caution = "calibrated on public data sets with known truth"
    others = ""
    if not facts.on_disk:
        others = say("overturned", n=int(facts.fit.gold().table["overturned"].sum()))
    if facts.estimate is not None:
        found = f"{audit_results(facts)} {audit_errors(facts)}"
        return f"{start}) reached a probability of 0.95. {found}{others} {coders}"
    ends = interval(of.gold_low, of.gold_high)
    wrong = str(say("gold_wrong", gold=number(of.gold), ends=ends))
    if np.isfinite(of.vote):
        of_vote = interval(of.vote_low, of.vote_high)
        wrong += f", and {number(of.vote)} of the majority's ({of_vote})"
    words = {"wrong": wrong, "caution": caution, "others": others, "coders": coders}
    return say("gold_settled", start=start, more=share_interval(settled, n), **words)


def _results_of_numbers(facts: Facts) -> str:
    kinds = facts.coders.table["kind"].value_counts()
    coders = listed([f"{n:,} {kind}" for kind, n in kinds.items()], 6)
    sd = facts.fit.gold().table["sd"].median()
    return say("numbers_known", sd=sd, n=facts.data.n_coders, coders=coders)


def _results_of_links(facts: Facts) -> str:
    """State how many readings are true, and how many mentions have an antecedent."""
    counts = facts.fit.mentions().table["readings"].value_counts()
    one, several, none = (int(counts.get(kind, 0)) for kind in ("one", "several", "none"))
    links = facts.fit.links(0.5).table
    p = decimal(float(links["p_next"].mean())) if len(links) else "not defined"
    words = {"one": one, "several": several, "none": none, "links": len(links)}
    return say("links_known", n=facts.data.n_items, p=p, **words)


def _coders(table: pd.DataFrame) -> str:
    """State the median, lowest and highest proportion of right labels of coders."""
    right = "share_right" if "share_right" in table else "accuracy"
    rows = table.dropna(subset=right).sort_values(right, kind="stable")
    if not len(rows):
        return ""
    worst, best = (
        with_interval(row[right], row[f"{right}_low"], row[f"{right}_high"], name="95 % interval ")
        for row in (rows.iloc[0], rows.iloc[-1])
    )
    middle = decimal(rows[right].median())
    return say("coders_right", middle=middle, worst=worst, best=best)


def folder_of(facts: Facts) -> str:
    """Return the output folder of the fit's command, or a placeholder for the saved fit."""
    return folder_in(str(facts.tree.attrs.get("command", "")))


def folder_in(command: str) -> str:
    """Return the output folder of a command, or a placeholder for the saved fit."""
    found = re.search(r"(?:-o|--output)[ =]([^ ]+)", command)
    return found[1] if found else "fit.nc"


def estimate_of(facts: Facts) -> Estimate:
    """Return the estimate of the audit; the page must have one."""
    assert facts.estimate is not None
    return facts.estimate


def audit_way(found: Estimate) -> str:
    return "audit and model" if found.by_design else "the conservative model"


def judged_items(found: Estimate) -> int:
    """Count the judged items, drawn at random or not."""
    return len(found.answers.item) + len(found.answers.extra)


def audit_drawing(found: Estimate) -> str:
    code = "some_drawn" if found.by_design and len(found.answers.extra) else "all_drawn"
    how, of = say(f"drawn_{found.how}"), found.n_items
    return say(code, n=judged_items(found), of=of, drawn=found.n_audited, how=how)


def audit_errors(facts: Facts) -> str:
    """State how many gold labels are still wrong after the audit."""
    found, wrong = estimate_of(facts), facts.wrong
    n, known = facts.data.n_items - facts.known_items, judged_items(found)
    by, part = "audit" if found.by_design else "model", audited_part(facts)
    words = {"wrong": number(wrong.gold), "ends": interval(wrong.gold_low, wrong.gold_high)}
    words["part"] = f"; this is for {part}" if part else ""
    return say("after_audit", known=known, n=n, by=by, **words)


def audited_part(facts: Facts) -> str:
    """Name the audited population, unless it contains all items of unknown truth."""
    found = estimate_of(facts)
    unknown = facts.data.n_items - facts.known_items + judged_items(found)
    if found.n_items >= unknown:
        return ""
    return f"the {found.n_items:,} items that could be drawn, of {unknown:,} without a known label"


def model_error(found: Estimate) -> str:
    """State the error of the model."""
    wrong = found.row("wrong")
    words = {name: number(wrong[name]) for name in ("model", *_ENDS)}
    so = ". The audit does not contradict the model"
    if not wrong["low"] <= wrong["model"] <= wrong["high"]:
        edge = 0.5 / found.n_items
        p = np.clip(np.array([wrong["value"], wrong["model"]]) / found.n_items, edge, 1 - edge)
        shift = float(np.subtract(*np.log(p / (1 - p))))
        word = "overconfident" if shift > 0 else "underconfident"
        so = f": the model was {word}, by {abs(shift):.1f} in log-odds"
    return say("model_off", n=found.n_items, so=so, **words)


def panel_sentences(found: Estimate) -> list[str]:
    """State the effective number of coders, and compare the best coder with the panel."""
    rows = {row["quantity"]: row for row in found.panel.to_dict("records")}
    out = list[str]()
    if "effective_coders" in rows:
        worth = _whole(rows["effective_coders"]["value"])
        out.append(say("effective_coders", n=len(found.coders), worth=worth))
    if "gold_less_best_coder" in rows:
        row, best = rows["gold_less_best_coder"], rows["best_coder"]
        value, low, high = (f"{100 * row[name]:.1f}".replace("-", "−") for name in _ENDS)
        share, least, most = (percent(best[name]) for name in _ENDS)
        verdict = (
            ": the panel beats its best coder"
            if row["low"] > 0
            else ": one coder alone beats the panel"
            if row["high"] < 0
            else ", so it is unclear which of the two is better"
        )
        words = {"best": best["coder"], "share": share, "least": least, "most": most}
        words |= {"value": value, "low": low, "high": high, "verdict": verdict}
        out.append(say("best_coder", **words))
    return out


def _whole(value: float) -> str:
    return f"about {value:,.0f}" if value >= 10 else f"about {value:.1f}".removesuffix(".0")


def audit_results(facts: Facts) -> str:
    """State the results of an audit for a methods section."""
    found = estimate_of(facts)
    if not found.by_design:
        return say("audit_chosen", drawing=audit_drawing(found))
    row = found.row("accuracy")
    share, low, high = (percent(row[name]) for name in _ENDS)
    alone, *ends = (percent(row[f"audit{end}"]) for end in ("", "_low", "_high"))
    words = {"share": share, "low": low, "high": high, "alone": alone}
    words["ends"] = f" ({ends[0]} to {ends[1]})" * bool(np.isfinite(row["audit_low"]))
    return say("audit_results", drawing=audit_drawing(found), **words)


_DATA = ("Question", "Scale", "Items", "Coders", "Labels", "Given")


def agreement_methods(
    questions: Mapping[str, Annotations], table: pd.DataFrame, left_out: Mapping[str, str]
) -> str:
    """Write a Markdown methods section about the agreement on several questions."""
    rows: Any = table.to_dict("records")
    titles = dict.fromkeys(map(_key, rows))
    named = [
        f"{title} {cite(key)}" if (key := source_key(coefficient)) else str(title)
        for coefficient, title in titles
    ]
    texts = [
        _studied(questions, left_out),
        say(
            "agreement_of_each",
            named=listed(named, len(named)),
            unit=_resampled(questions),
            rubin=cite("rubin1981"),
            cited=cite("krippendorff2019", "artstein2008"),
            annomodels=cite("annomodels"),
        ),
    ]
    cells = [(*_data(q, data), *_values(rows, q, titles)) for q, data in questions.items()]
    head = (*_DATA, *(f"{title} [95 %]" for _, title in titles))
    parts = ["## Agreement by question", _table(head, cells)]
    return document(texts, parts, sources_of(cited_in(texts)))


def fits_methods(fits: Mapping[str, Fit], left_out: Mapping[str, str]) -> str:
    """Write a Markdown methods section about fits of several questions of one study."""
    facts = {question: facts_of(fit) for question, fit in fits.items()}
    data = {question: fit.data for question, fit in fits.items()}
    models: dict[str, list[str]] = {}
    for question, known in facts.items():
        models.setdefault(paragraphs(known)[-3], []).append(question)
    texts = [_studied(data, left_out)]
    for text, whose in models.items():
        texts.append(f"For {_named(whose)}: {text}" if len(models) > 1 else text)
    texts.append(say("alphas_of_each", unit=_resampled(data), rubin=cite("rubin1981")))
    tables = [f.fit.agreement().table.assign(question=q) for q, f in facts.items()]
    rows: Any = [row for table in tables for row in table.to_dict("records")]
    titles = dict.fromkeys(_key(row) for row in rows if row["coefficient"] == "alpha")
    cells = []
    sources = sources_of(cited_in(texts[-1:]))
    for question, known in facts.items():
        settled = known.settled / known.data.n_items if known.truth == "class" else None
        cells.append(
            (
                *_data(question, data[question]),
                *_values(rows, question, titles),
                known.fit.model.name,
                "" if settled is None else percent(settled, 0),
                known.check.verdict,
            )
        )
        sources += references(known)
    alphas = (f"{title} [95 %]" for _, title in titles)
    head = (*_DATA, *alphas, "Model", "Settled gold labels", "Verdict")
    own = "For inference and results, see methods.md in the folder of each question."
    parts = ["## Questions", _table(head, cells)]
    return document([*texts, own], parts, list(dict.fromkeys(sources)))


def _studied(questions: Mapping[str, Any], left_out: Mapping[str, str]) -> str:
    """State the number and size of the questions, and what was left out."""
    items = _span([data.n_items for data in questions.values()], "item")
    coders = _span([data.n_coders for data in questions.values()], "coder")
    named = _named(list(questions))
    text = str(say("questions", n=len(questions), named=named, items=items, coders=coders))
    if left_out:
        listed = "; ".join(f"{name(question)} ({why})" for question, why in left_out.items())
        text += f" Not analyzed: {listed}."
    return text


def _span(numbers: list[int], word: str) -> str:
    low, high = min(numbers), max(numbers)
    return counted(low, word) if low == high else f"{low:,} to {counted(high, word)}"


def _named(questions: list[str]) -> str:
    return listed([name(question) for question in questions], len(questions))


def _data(question: str, data: Any) -> tuple[str, ...]:
    sizes = data.n_items, data.n_coders, data.n_labels, data.n_annotations
    return (as_markdown(name(question)), data.scale, *(f"{size:,}" for size in sizes))


def _values(rows: Any, question: str, titles: Mapping[tuple[str, str], None]) -> list[str]:
    # the title distinguishes ordinal alpha from nominal alpha
    found = {_key(row): row for row in rows if row["question"] == question}
    return [_interval(found[key]) if key in found else "" for key in titles]


def _key(row: Mapping[str, str]) -> tuple[str, str]:
    return row["coefficient"], row["title"]


def _resampled(questions: Mapping[str, Annotations]) -> str:
    """State the resampling unit of the intervals of each question."""
    units: dict[str, list[str]] = {}
    for question, data in questions.items():
        units.setdefault(resampled(data), []).append(question)
    if len(units) == 1:
        return next(iter(units))
    return "; ".join(f"{unit} (for {_named(whose)})" for unit, whose in units.items())


def _interval(row: Any) -> str:
    if not np.isfinite(row["value"]):
        return "not defined"
    if not np.isfinite(row["low"]):
        return decimal(row["value"])
    return f"{decimal(row['value'])} [{decimal(row['low'])}, {decimal(row['high'])}]"
