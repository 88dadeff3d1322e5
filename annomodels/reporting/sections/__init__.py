"""The sections of the page, one a file: what each needs of a fit, and what it shows.

A section is a :class:`annomodels.reporting.parts.Section`; the table below puts them in order for
each kind of truth. Here and nowhere else is listed what a page holds. A section may import what
the page may, and is itself imported by name, when a page has it.
"""

from __future__ import annotations

from importlib import import_module

from annomodels.reporting.parts import Section

AUDIT = "audit:SECTION"
# module and name of the section
SECTIONS = {
    "class": (
        "verdict:SECTION",
        AUDIT,
        "data:SECTION",
        "agreement:SECTION",
        "coders:SECTION",
        "items:SECTION",
        "scheme:SECTION",
        "money:SECTION",
        "believe:SECTION",
        "words:SECTION",
    ),
    "number": (
        "numbers:VERDICT",
        "data:SECTION",
        "numbers:AGREEMENT",
        "numbers:CODERS",
        "numbers:ITEMS",
        "scheme:SECTION",
        "money:SECTION",
        "believe:SECTION",
        "words:SECTION",
    ),
    "link": (
        "links:VERDICT",
        "links:AGREEMENT",
        "places:PLACES",
        "places:CODERS",
        "silver:SECTION",
        "links:WORDS",
    ),
}


def sections_of(truth: str, *, audited: bool = True) -> list[Section]:
    """Give the sections of a page on fits whose truth is "class", "number" or "link".

    Without an audit a page has no section on one.
    """
    out = []
    for place in SECTIONS[truth]:
        if place == AUDIT and not audited:
            continue
        module, name = place.split(":")
        section: Section = getattr(import_module(f"{__name__}.{module}"), name)
        out.append(section)
    return out
