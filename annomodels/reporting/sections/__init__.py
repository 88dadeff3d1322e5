"""The sections of the page: what each needs of a fit, and what it shows.

A section is a :class:`annomodels.reporting.parts.Section`; the table below puts them in order for
each kind of truth. Here and nowhere else is listed what a page holds. A section may import what
the page may, and is itself imported by name, when a page has it.
"""

from __future__ import annotations

from importlib import import_module

from annomodels.reporting.parts import Section

AUDIT = "audit:SECTION"
_DETAILS = ("details:DATA", "details:GOLD", "believe:SECTION", "words:SECTION")
# module and name of the section
SECTIONS = {
    "class": (
        "items:DECIDE",
        "items:SECTION",
        "items:NEXT",
        "coders:SECTION",
        "scheme:SECTION",
        "agreement:SECTION",
        AUDIT,
        *_DETAILS,
    ),
    "number": (
        "numbers:ITEMS",
        "numbers:CODERS",
        "numbers:AGREEMENT",
        "scheme:SECTION",
        *_DETAILS,
    ),
    "link": (
        "places:PLACES",
        "links:AGREEMENT",
        "places:CODERS",
        "places:SILVER",
        "links:HEALTH",
        "links:WORDS",
    ),
}


def sections_of(truth: str, *, audited: bool = True) -> list[Section]:
    """Return the sections of a page on fits whose truth is "class", "number" or "link".

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
