"""The methods section of a streamed fit: what was done, without what needs the labels in memory."""

from __future__ import annotations

from annomodels.reporting.bibliography import Source, sources_of
from annomodels.reporting.methods import model_of, versions
from annomodels.reporting.prose import as_markdown, cited_in, name
from annomodels.reporting.results import coders_in, inference_by
from annomodels.reporting.streamed.collect import StreamData
from annomodels.reporting.words import count, listed, number, percent, share_interval

__all__ = ["methods", "paragraphs", "references"]


def methods(found: StreamData, command: str = "") -> str:
    """Write a methods section as Markdown.

    Data, model with its priors, inference with its diagnostics, and results; then the command,
    references and their BibTeX entries.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.streamed.collect.collect` gathered.
    command
        The command line that made the fit.
    """
    told = f"\n\n```sh\n{command}\n```" if command else ""
    sources = references(found)
    entries = "\n\n".join(source.bibtex for source in sources)
    parts = [
        "# Methods",
        *(as_markdown(text) for text in paragraphs(found)),
        "## How to repeat it",
        versions(found.fit) + told,
        "## References",
        "\n".join(f"* {source.text}" for source in sources),
        f"```bibtex\n{entries}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def references(found: StreamData) -> list[Source]:
    """Give what the section cites, the source of the model first."""
    return sources_of(cited_in(paragraphs(found)))


def paragraphs(found: StreamData) -> list[str]:
    """Give the paragraphs, with marks for citations; see :mod:`annomodels.reporting.prose`.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.streamed.collect.collect` gathered.
    """
    fit = found.fit
    run = inference_by(fit.engine, fit.tree.attrs, found.check)
    how = "The labels were streamed from disk and fitted block by block."
    return [_data(found), " ".join(model_of(fit)), f"{how} {run}", _results(found)]


def _data(found: StreamData) -> str:
    data, per_item = found.fit.data, found.health.per_item
    low, high = per_item.least, per_item.most
    each = f"{low} on each item" if low == high else f"{low} to {high} on an item"
    names = listed([name(label) for label in data.labels], 12)
    repeats = f", {count(data.repeats, 'repeat')} of a coder among them" if data.repeats else ""
    text = (
        f"{count(data.n_items, 'item').capitalize()} were labelled by "
        f"{count(data.n_coders, 'coder')} with {count(data.n_labels, 'label')} ({names}); "
        f"{data.n_annotations:,} labels were given in all, {each} "
        f"(median {per_item.median:g}){repeats}."
    )
    if data.dont_know:
        kinds = listed([name(kind) for kind in data.dont_know], 12)
        text += f" {kinds} counted as no class: {int(data.unanswered.sum()):,} times."
    if found.tally.known:
        text += f" The truth of {count(found.tally.known, 'item')} was known and held fixed."
    return text


def _results(found: StreamData) -> str:
    n, settled = found.data.n_items, found.settled
    return (
        f"{count(settled, 'item').capitalize()} of {n:,} ({percent(settled / n)}; for more items "
        f"like these {share_interval(settled, n)}, 95 % interval) reached a probability of .95. By "
        f"these probabilities {number(found.fit.tree.attrs['expected_errors'])} of the gold labels "
        "are expected to be wrong; they are too sure where items differ in difficulty. "
        f"{coders_in(found.coders.draws['accuracy'].values.astype(float))}"
    )
