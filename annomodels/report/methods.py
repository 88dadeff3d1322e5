"""The methods paragraph: ready to paste, with numbers, intervals, citations and BibTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.names import label_text
from annomodels.report.bibliography import Source, cited, sources_of
from annomodels.report.words import count, decimal, listed, percent

if TYPE_CHECKING:
    from annomodels.fitting import Fit

__all__ = ["methods"]


def methods(fit: Fit, command: str = "") -> str:
    """Write a methods section as Markdown.

    Data, agreement, model with its priors, inference with its diagnostics, and results, each number
    with its interval; then the command, the references and their BibTeX entries.

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
    sources = sources_of(fit.model.citation, fit.engine)
    paragraphs = [
        "# Methods",
        _data(fit),
        _agreement(fit),
        _model(fit, sources[0]),
        _inference(fit),
        _results(fit),
        "## How to repeat it",
        _repeat(fit, command),
        "## References",
        "\n".join(f"* {source.text}" for source in sources),
        "```bibtex\n" + "\n\n".join(source.bibtex for source in sources) + "\n```",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _data(fit: Fit) -> str:
    data = fit.data
    per_item = np.diff(data.starts)
    low, high = int(per_item.min()), int(per_item.max())
    each = f"{low} on each item" if low == high else f"{low} to {high} on an item"
    names = listed([_plain(name) for name in data.labels], 12)
    repeats = f", {count(data.repeats, 'repeat')} of a coder among them" if data.repeats else ""
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    return (
        f"{count(data.n_items, 'item').capitalize()} were labelled by "
        f"{count(data.n_coders, 'coder')} with {count(data.n_labels, 'label')} ({names}); "
        f"{data.n_annotations:,} labels were given in all, {each} "
        f"(median {np.median(per_item):g}){repeats}."
        + (f" The truth of {count(known, 'item')} was known and held fixed." if known else "")
    )


def _agreement(fit: Fit) -> str:
    table = fit.agreement().table.set_index("coefficient")
    parts = []
    kappa = "kappa" if fit.data.n_coders == 2 else "multi_kappa"
    for name in ("alpha", kappa, "ac1", "percent"):
        if name not in table.index:
            continue
        row: Any = table.loc[name]
        if not np.isfinite(row["value"]):
            parts.append(f"{row['title']} is not defined here ({row['note'] or 'no reason given'})")
            continue
        text = f"{row['title']} was {decimal(row['value'])}"
        if np.isfinite(row["low"]):
            text += f" (95 % interval {decimal(row['low'])} to {decimal(row['high'])})"
        if np.isfinite(row["model_low"]):
            text += (
                f"; the fitted model implies {decimal(row['model'])} "
                f"({decimal(row['model_low'])} to {decimal(row['model_high'])})"
            )
        parts.append(text)
    text = ". ".join(part[:1].upper() + part[1:] for part in parts) + "."
    above = _above(table)
    return (
        f"{text}{above} Intervals of coefficients are posterior intervals from resampling items, "
        f"without a model of the coders {cited('rubin1981')}; for the coefficients see "
        f"{cited('krippendorff2019', 'artstein2008')}."
    )


def _above(table: Any) -> str:
    if "alpha" not in table.index or not np.isfinite(table.loc["alpha", "p_above_667"]):
        return ""
    row: Any = table.loc["alpha"]
    return (
        f" The probability that alpha exceeds .667 is {decimal(row['p_above_667'])}, "
        f"that it exceeds .8 is {decimal(row['p_above_800'])}."
    )


def _model(fit: Fit, source: Source) -> str:
    story = " ".join(fit.model.describe())
    return (
        f"The true labels were inferred with the {fit.model.title} model ({source.short}). {story}"
    )


def _inference(fit: Fit) -> str:
    attrs = fit.tree.attrs
    check = fit.check()
    if fit.engine == "em":
        how = "The posterior mode was found by expectation maximisation, so there are no intervals"
    else:
        name = {"gibbs": "a Gibbs sampler", "nuts": "the No-U-Turn sampler"}[fit.engine]
        how = (
            f"The posterior was sampled with {name}, {count(int(attrs['chains']), 'chain')} of "
            f"{int(attrs['draws']):,} draws each after {int(attrs['warmup']):,} of warm-up"
        )
        if np.isfinite(float(attrs["rhat_max"])):
            how += (
                f"; the largest R-hat was {float(attrs['rhat_max']):.3f} and the smallest "
                f"effective sample size {float(attrs['ess_min']):,.0f} {cited('vehtari2021')}"
            )
    return f"{how}. Verdict of the checks: {check.verdict}. " + " ".join(check.sentences)


def _results(fit: Fit) -> str:
    gold = fit.gold()
    table = gold.table
    settled = int(table["settled"].sum())
    wrong = float((1 - table["probability"]).sum())
    accuracy = fit.coders().table["accuracy"]
    return (
        f"{count(settled, 'item').capitalize()} of {len(table):,} "
        f"({percent(settled / len(table))}) reached a probability of .95. By these probabilities "
        f"{wrong:.1f} of the gold labels are expected to be wrong; they are too sure where items "
        f"differ in difficulty. Where most votes agree on a label, the gold label is another one "
        f"for {count(int(table['overturned'].sum()), 'item')}. The posterior mean accuracy of the "
        f"coders ranges from {percent(float(accuracy.min()))} to "
        f"{percent(float(accuracy.max()))} "
        f"(median {percent(float(accuracy.median()))})."
    )


def _repeat(fit: Fit, command: str) -> str:
    attrs = fit.tree.attrs
    text = (
        f"annomodels {attrs['annomodels']}, engine {fit.engine}, seed {fit.seed}, "
        f"data fingerprint {fit.data.fingerprint}."
    )
    return f"{text}\n\n```sh\n{command}\n```" if command else text


def _plain(name: Any) -> str:
    text = " ".join(label_text(name).split())
    text = text if len(text) <= 40 else text[:37] + "..."
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>|#" else sign for sign in text)
