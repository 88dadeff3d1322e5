"""Methods paragraph with references, and the glossary of the page."""

from __future__ import annotations

from annomodels.reporting.facts import Facts
from annomodels.reporting.methods import paragraphs, references
from annomodels.reporting.parts import Part, Section
from annomodels.reporting.prose import as_markdown, unescaped


@Section.of("methods", "Methods and glossary", details=True)
def section(facts: Facts) -> list[Part]:
    sources = references(facts)
    # glossary entries of sections that this page lacks
    silent = {word for verb, words in _ABOUT.items() if facts.unsupported(verb) for word in words}
    return [
        Part("heading", "Methods paragraph"),
        *(Part("text", unescaped(as_markdown(text))) for text in paragraphs(facts)),
        Part("heading", "References"),
        Part("notes", [source.text for source in sources]),
        Part("heading", "Glossary"),
        Part("words", [pair for pair in GLOSSARY if pair[0] not in silent]),
    ]


GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Item", "The thing that is labeled: a sentence, an image, a pair of words."),
    ("Coder", "The person or program that labels."),
    ("Truth", "The true label of an item. It is inferred from all labels."),
    ("Gold label", "The most probable truth of an item, with its probability."),
    ("Settled", "The gold label has a probability of at least 0.95."),
    ("95 % interval", "The range that contains the quantity with 95 % probability."),
    (
        "Prior",
        "The assumptions of a model before it uses any label. With many labels they hardly matter.",
    ),
    (
        "Prior sensitivity",
        "Change of the results when the priors count more or less, in bits for a factor of two; a "
        "change below 0.05 counts as none.",
    ),
    ("Prevalence", "Share of the items with each true label, corrected for coder errors."),
    ("Accuracy", "Probability that a coder's label is right."),
    ("Recall", "Accuracy on the items with a given true label (“Right on …”)."),
    ("Right so far", "Share of a coder's labels so far that are right."),
    ("Spammer", "A coder whose labels, with 95 % probability, hardly depend on the truth."),
    ("Adversary", "A coder who swaps labels, which are informative, but reversed."),
    ("Biased", "A coder who uses one label too often, but is still informative."),
    ("Doubt (bits)", "Entropy of the truth of an item: 0 is certain."),
    (
        "Reducible doubt",
        "Part of the doubt that better knowledge of the coders would remove.",
    ),
    (
        "Surprise p",
        "How often the same coders would differ this much on an item with one true label; small "
        "values are surprising.",
    ),
    (
        "Contested",
        "The coders of the item disagree more than their errors explain: it may have more than one "
        "reading. About three in ten of the listed items are expected to have only one; about half "
        "if items also differ in difficulty.",
    ),
    (
        "Agreement coefficient",
        "Observed agreement corrected for the agreement expected by chance: "
        "(observed − expected) / (1 − expected).",
    ),
    ("R-hat", "Measure of how well the chains of the sampler agree; it should be below 1.01."),
    ("ESS", "Effective sample size: the number of independent draws with the same information."),
)
_ABOUT = {
    "items": ("Surprise p", "Contested", "Reducible doubt"),
    "agreement": ("Agreement coefficient",),
    "prior_sensitivity": ("Prior sensitivity",),
}
