"""Methods section to paste, with numbers, intervals, citations, a table and BibTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.reasons import resampled
from annomodels.data.columns import chance, decimal
from annomodels.data.validation import counted
from annomodels.reporting.facts import Facts, facts_of
from annomodels.reporting.outcome import labeled, results
from annomodels.reporting.prose import (
    Source,
    as_latex,
    as_markdown,
    by_citation,
    by_doi,
    cite,
    cited_in,
    latex,
    markdown_table,
    sources_of,
)
from annomodels.reporting.words import say, with_interval

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

_INTERVAL = "95 % interval"
_NAME, _ENDS = f"{_INTERVAL} ", ("value", "low", "high")
_COLUMNS = ("Coefficient", "Value", _INTERVAL, "P(> 0.667)", "P(> 0.8)", "Model", _INTERVAL)
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
        parts += ["## Agreement coefficients", markdown_table(_COLUMNS, rows), _note(facts)]
    return document(paragraphs(facts), parts, references(facts))


def document(texts: Sequence[str], parts: Sequence[str], cited: Sequence[Source]) -> str:
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


def references(fit: Fit | Facts) -> list[Source]:
    """Return the sources that the methods section cites, the source of the model first."""
    facts = facts_of(fit)
    keys = cited_in([_model(facts)[0], *paragraphs(facts)])
    if _rows(facts):
        keys += filter(None, map(source_key, facts.fit.agreement().table["coefficient"]))
    return sources_of(keys)


def paragraphs(fit: Fit | Facts) -> list[str]:
    """Return the paragraphs, with marks for citations; see :mod:`annomodels.reporting.prose`."""
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
