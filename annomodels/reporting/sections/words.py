"""Methods paragraph with references, and the glossary of the page."""

from __future__ import annotations

from annomodels.reporting.facts import Facts
from annomodels.reporting.methods import paragraphs, references
from annomodels.reporting.parts import Part, Section
from annomodels.reporting.prose import as_markdown, unescaped
from annomodels.reporting.words import MESSAGES


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


GLOSSARY = tuple(MESSAGES["glossary"].items())
_ABOUT = {
    "items": ("Contested",),
    "agreement": ("Agreement coefficient",),
    "prior_sensitivity": ("Prior sensitivity",),
}
