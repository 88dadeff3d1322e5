"""The methods section: ready to paste, with numbers, intervals, citations, a table and BibTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.data.columns import decimal
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

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

_INTERVAL = "95 % interval"
_COLUMNS = ("Coefficient", "Value", _INTERVAL, "P(> .667)", "P(> .8)", "Model", _INTERVAL)
_NOTE = (
    "Value: as observed, with its interval from resampled items. Model: as the fitted model "
    "implies it for very many items of this kind."
)
_SAMPLERS = {"gibbs": "a Gibbs sampler", "nuts": "the No-U-Turn sampler"}
_TRUTHS = {"class": "labels", "number": "values", "link": "readings"}
_ALSO = {"class": ("dawid1979",), "number": (), "link": ()}


def methods(fit: Fit | Facts, command: str = "") -> str:
    """Write a methods section as Markdown.

    Data, agreement, model with its priors, inference with its diagnostics, and results, each
    estimate with its interval; then the command, the table of coefficients, the references and
    their BibTeX entries. What needs the labels in memory is left out of a fit of a scan.
    """
    facts = facts_of(fit)
    told = f"\n\n```sh\n{command}\n```" if command else ""
    repeat = ["## How to repeat it", versions(facts) + told]
    return document([*paragraphs(facts)], [*repeat, *_agreement_part(facts)], references(facts))


def document(texts: Sequence[str], parts: Sequence[str], cited: Sequence[Source]) -> str:
    """Return a methods section: its paragraphs, further parts, and what they cite."""
    whole = ["# Methods", *map(as_markdown, texts), *parts, "## References"]
    whole += ["\n".join(f"* {source.text}" for source in cited)]
    bibtex = "\n\n".join(source.bibtex for source in cited)
    return "\n\n".join([*whole, f"```bibtex\n{bibtex.rstrip()}\n```"]) + "\n"


def methods_latex(fit: Fit | Facts, command: str = "") -> str:
    r"""Write the same section as LaTeX, for a document with natbib and booktabs."""
    facts = facts_of(fit)
    told = f" Command: \\texttt{{{latex(command)}}}." if command else ""
    parts = [
        "% needs \\usepackage{booktabs} and \\usepackage{natbib}, and the BibTeX entries",
        "\\section*{Methods}",
        *(as_latex(text) for text in paragraphs(facts)),
        latex(versions(facts)) + told,
        *([_latex_table(facts)] if _has_coefficients(facts) else []),
    ]
    return "\n\n".join(parts) + "\n"


def bibtex(fit: Fit | Facts) -> str:
    """Give the BibTeX entries of everything that the methods section cites."""
    return "\n\n".join(source.bibtex for source in references(fit)) + "\n"


def references(fit: Fit | Facts) -> list[Source]:
    """Give what the methods section cites, the source of the model first."""
    facts = facts_of(fit)
    keys = cited_in([_model(facts)[0], *paragraphs(facts)])
    if _has_coefficients(facts):
        named = facts.fit.agreement().table["coefficient"]
        keys += filter(None, map(source_key, named))
    return sources_of(keys)


def paragraphs(fit: Fit | Facts) -> list[str]:
    """Give the paragraphs, with marks for citations; see :mod:`annomodels.reporting.prose`."""
    facts = facts_of(fit)
    agreed = [_agreement(facts)] if facts.has("agreement") else []
    model = " ".join(_model(facts))
    return [labeled(facts), *agreed, model, _inference(facts), results(facts)]


def _has_coefficients(facts: Facts) -> bool:
    """Whether the agreement stands in coefficients of the catalogue."""
    return facts.truth == "class" and facts.has("agreement")


def _agreement_part(facts: Facts) -> list[str]:
    if not _has_coefficients(facts):
        return []
    return ["## Agreement coefficients", markdown_table(_COLUMNS, _rows(facts)), _NOTE]


def _agreement(facts: Facts) -> str:
    if facts.truth == "number":
        return _agreement_of_numbers(facts)
    table = facts.fit.agreement().table.set_index("coefficient")
    parts = []
    kappa = "kappa" if facts.data.n_coders == 2 else "multi_kappa"
    for coefficient in ("alpha", kappa, "ac1", "percent"):
        if coefficient not in table.index:
            continue
        row: Any = table.loc[coefficient]
        key = source_key(coefficient)
        title = row["title"] + (f" {cite(key)}" if key else "")
        if not np.isfinite(row["value"]):
            parts.append(f"{title} is not defined here ({row['note'] or 'no reason given'})")
            continue
        text = f"{title} was {decimal(row['value'])}"
        if np.isfinite(row["low"]):
            text += f" (95 % interval {decimal(row['low'])} to {decimal(row['high'])})"
        if np.isfinite(row["model_low"]):
            text += (
                f"; the fitted model implies {decimal(row['model'])} "
                f"({decimal(row['model_low'])} to {decimal(row['model_high'])})"
            )
        parts.append(text)
    text = ". ".join(part[:1].upper() + part[1:] for part in parts) + "."
    return (
        f"{text}{_above(table)} Intervals of coefficients are posterior intervals from resampling "
        f"items, without a model of the coders {cite('rubin1981')}; on the coefficients see "
        f"{cite('krippendorff2019', 'artstein2008')}."
    )


def _above(table: Any) -> str:
    if "alpha" not in table.index or not np.isfinite(table.loc["alpha", "p_above_667"]):
        return ""
    row: Any = table.loc["alpha"]
    return (
        f" The probability that alpha exceeds .667 is {decimal(row['p_above_667'])}, "
        f"that it exceeds .8 is {decimal(row['p_above_800'])}."
    )


def _agreement_of_numbers(facts: Facts) -> str:
    rows: Any = facts.fit.agreement().table.set_index("coefficient").to_dict("index")

    def estimate(name: str) -> str:
        row = rows[name]
        return (
            f"{decimal(row['value'])} (95 % interval {decimal(row['low'])} to "
            f"{decimal(row['high'])})"
        )

    return (
        f"Krippendorff's alpha with interval distance was {estimate('alpha')}; the fitted model "
        f"implies {estimate('alpha, implied')} for these coders and "
        f"{estimate('alpha, new coders')} for two further ones. The gold values' squared "
        f"correlation with the truth is {estimate('gold')}. On the coefficient see "
        f"{cite('krippendorff2019')}."
    )


def _model(facts: Facts) -> tuple[str, str]:
    """Say which model was fitted, and what it believes."""
    fit = facts.fit
    keys = dict.fromkeys([*(s.key for s in by_citation(fit.model.citation)), *_ALSO[facts.truth]])
    story = " ".join(fit.model.describe())
    return (
        f"The true {_TRUTHS[facts.truth]} were inferred with the {fit.model.title} model "
        f"{cite(*keys)}.",
        f"{story} Computed with annomodels {cite('annomodels')}.",
    )


def versions(facts: Facts) -> str:
    """Say what is needed to have the same numbers again."""
    fit = facts.fit
    return (
        f"annomodels {fit.tree.attrs['annomodels']}, engine {fit.engine}, seed {fit.seed}, "
        f"data fingerprint {facts.fingerprint}."
    )


def _inference(facts: Facts) -> str:
    """Say how the posterior was computed, and what the checks say."""
    engine, attrs, check = facts.fit.engine, facts.tree.attrs, facts.check
    if engine == "em":
        how = (
            "The posterior mode was found by expectation maximisation, so there are no intervals "
            "of what the model implies"
        )
    else:
        source = f" {cite('hoffman2014', 'abrilpla2023')}" if engine == "nuts" else ""
        how = (
            f"The posterior was sampled with {_SAMPLERS[engine]}{source}, "
            f"{counted(int(attrs['chains']), 'chain')} of "
            f"{int(attrs['draws']):,} draws each after {int(attrs['warmup']):,} of warm-up"
        )
        if np.isfinite(float(attrs["rhat_max"])):
            how += (
                f"; the largest R-hat was {float(attrs['rhat_max']):.3f} and the smallest "
                f"effective sample size {float(attrs['ess_min']):,.0f} {cite('vehtari2021')}"
            )
    if facts.on_disk:
        how = f"The labels were streamed from disk and fitted block by block. {how}"
    return f"{how}. Verdict of the checks: {check.verdict}. " + " ".join(check.sentences)


def source_key(coefficient: str) -> str:
    """Return the key of the source of a coefficient, or an empty text."""
    found = by_doi(COEFFICIENTS[coefficient].doi) if coefficient in COEFFICIENTS else None
    return found.key if found else ""


def _rows(facts: Facts) -> list[tuple[str, ...]]:
    """Cells of the table of coefficients."""

    def ends(low: float, high: float) -> str:
        return f"[{decimal(low)}, {decimal(high)}]" if np.isfinite(low) else decimal(low)

    table: Any = facts.fit.agreement().table
    return [
        (
            str(row.title), decimal(row.value), ends(row.low, row.high),
            decimal(row.p_above_667), decimal(row.p_above_800),
            decimal(row.model), ends(row.model_low, row.model_high),
        )
        for row in table.itertuples()
    ]  # fmt: skip


def _latex_table(facts: Facts) -> str:
    body = [" & ".join(map(latex, row)) + r" \\" for row in _rows(facts)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{Agreement of {counted(facts.data.n_coders, 'coder')} on "
            rf"{counted(facts.data.n_items, 'item')}}}",
            r"\begin{tabular}{lrrrrrr}",
            r"\toprule",
            " & ".join(map(latex, _COLUMNS)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
            rf"\smallskip\textit{{Note.}} {latex(_NOTE)}",
            r"\end{table}",
        ]
    )
