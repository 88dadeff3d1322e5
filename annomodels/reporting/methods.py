"""The methods section: ready to paste, with numbers, intervals, citations, a table and BibTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.reporting.bibliography import Source, by_citation, by_doi, sources_of
from annomodels.reporting.once import Once
from annomodels.reporting.prose import as_latex, as_markdown, cite, cited_in, latex, name
from annomodels.reporting.results import inference, results
from annomodels.reporting.words import count, decimal, listed

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

__all__ = [
    "bibtex",
    "methods",
    "methods_latex",
    "model_of",
    "paragraphs",
    "references",
    "versions",
]

_INTERVAL = "95 % interval"
_COLUMNS = ("Coefficient", "Value", _INTERVAL, "P(> .667)", "P(> .8)", "Model", _INTERVAL)
_NOTE = (
    "Value: as observed, with its interval from resampled items. Model: as the fitted model "
    "implies it for very many items of this kind."
)


def methods(fit: Fit | Once, command: str = "") -> str:
    """Write a methods section as Markdown.

    Data, agreement, model with its priors, inference with its diagnostics, and results, each
    estimate with its interval; then the command, the table of coefficients, the references and
    their BibTeX entries.

    Parameters
    ----------
    fit
        A fit.
    command
        The command line that made it, if there was one.

    Returns
    -------
    str
        The text. Nothing in it is a judgement on the size of a coefficient.
    """
    once = Once(fit)
    told = f"\n\n```sh\n{command}\n```" if command else ""
    parts = [
        "# Methods",
        *(as_markdown(text) for text in paragraphs(once)),
        "## How to repeat it",
        versions(once) + told,
        "## Agreement coefficients",
        _markdown_table(once),
        _NOTE,
        "## References",
        "\n".join(f"* {source.text}" for source in references(once)),
        f"```bibtex\n{bibtex(once).rstrip()}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def methods_latex(fit: Fit | Once, command: str = "") -> str:
    r"""Write the same section as LaTeX, for a document with natbib and booktabs.

    Parameters
    ----------
    fit
        A fit.
    command
        The command line that made it, if there was one.

    Returns
    -------
    str
        Text with ``\citep``, and a table with the rules of the APA style: above, below the head,
        and below. Its references are what :func:`bibtex` gives.
    """
    once = Once(fit)
    told = f" Command: \\texttt{{{latex(command)}}}." if command else ""
    parts = [
        "% needs \\usepackage{booktabs} and \\usepackage{natbib}, and the BibTeX entries",
        "\\section*{Methods}",
        *(as_latex(text) for text in paragraphs(once)),
        latex(versions(once)) + told,
        _latex_table(once),
    ]
    return "\n\n".join(parts) + "\n"


def bibtex(fit: Fit | Once) -> str:
    """Give the BibTeX entries of everything that the methods section cites.

    Parameters
    ----------
    fit
        A fit.
    """
    return "\n\n".join(source.bibtex for source in references(fit)) + "\n"


def references(fit: Fit | Once) -> list[Source]:
    """Give what the methods section cites, the source of the model first.

    Parameters
    ----------
    fit
        A fit.
    """
    once = Once(fit)
    table = once.agreement().table
    keys = cited_in([model_of(once)[0], *paragraphs(once)])
    return sources_of([*keys, *filter(None, map(_source_key, table["coefficient"]))])


def paragraphs(fit: Fit | Once) -> list[str]:
    """Give the paragraphs, with marks for citations; see :mod:`annomodels.reporting.prose`.

    Parameters
    ----------
    fit
        A fit.
    """
    once = Once(fit)
    model = " ".join(model_of(once))
    return [_data(once), _agreement(once), model, inference(once), results(once)]


def _data(fit: Once) -> str:
    data = fit.data
    per_item = np.diff(data.starts)
    low, high = int(per_item.min()), int(per_item.max())
    each = f"{low} on each item" if low == high else f"{low} to {high} on an item"
    names = listed([name(label) for label in data.labels], 12)
    repeats = f", {count(data.repeats, 'repeat')} of a coder among them" if data.repeats else ""
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    return (
        f"{count(data.n_items, 'item').capitalize()} were labelled by "
        f"{count(data.n_coders, 'coder')} with {count(data.n_labels, 'label')} ({names}); "
        f"{data.n_annotations:,} labels were given in all, {each} "
        f"(median {np.median(per_item):g}){repeats}."
        + (f" The truth of {count(known, 'item')} was known and held fixed." if known else "")
    )


def _agreement(fit: Once) -> str:
    table = fit.agreement().table.set_index("coefficient")
    parts = []
    kappa = "kappa" if fit.data.n_coders == 2 else "multi_kappa"
    for coefficient in ("alpha", kappa, "ac1", "percent"):
        if coefficient not in table.index:
            continue
        row: Any = table.loc[coefficient]
        key = _source_key(coefficient)
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


def model_of(fit: Any) -> tuple[str, str]:
    """Say which model was fitted, and what it believes."""
    keys = dict.fromkeys([*(s.key for s in by_citation(fit.model.citation)), "dawid1979"])
    story = " ".join(fit.model.describe())
    return (
        f"The true labels were inferred with the {fit.model.title} model {cite(*keys)}.",
        f"{story} Computed with annomodels {cite('annomodels')}.",
    )


def versions(fit: Any) -> str:
    """Say what is needed to have the same numbers again."""
    return (
        f"annomodels {fit.tree.attrs['annomodels']}, engine {fit.engine}, seed {fit.seed}, "
        f"data fingerprint {fit.data.fingerprint}."
    )


def _source_key(coefficient: str) -> str:
    found = by_doi(COEFFICIENTS[coefficient].doi) if coefficient in COEFFICIENTS else None
    return found.key if found else ""


def _rows(fit: Once) -> list[tuple[str, ...]]:
    """Cells of the table of coefficients."""

    def ends(low: float, high: float) -> str:
        return f"[{decimal(low)}, {decimal(high)}]" if np.isfinite(low) else decimal(low)

    table: Any = fit.agreement().table
    return [
        (
            str(row.title), decimal(row.value), ends(row.low, row.high),
            decimal(row.p_above_667), decimal(row.p_above_800),
            decimal(row.model), ends(row.model_low, row.model_high),
        )
        for row in table.itertuples()
    ]  # fmt: skip


def _markdown_table(fit: Once) -> str:
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|---|" + "---:|" * (len(_COLUMNS) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in _rows(fit)])


def _latex_table(fit: Once) -> str:
    body = [" & ".join(map(latex, row)) + r" \\" for row in _rows(fit)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{Agreement of {count(fit.data.n_coders, 'coder')} on "
            rf"{count(fit.data.n_items, 'item')}}}",
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
