"""Sections of the page: requirements and contents.

A section is a :class:`annomodels.reporting.parts.Section`. This file lists all of them in order,
for each kind of truth. A section may import what the page may.
"""

from __future__ import annotations

from annomodels.reporting.parts import Section


def sections_of(truth: str, *, audited: bool = True) -> list[Section]:
    """Return the sections of a page on fits whose truth is a class, number, link or span."""
    if truth == "link":
        from annomodels.reporting.sections import links, places

        return [
            *(places.PLACES, links.AGREEMENT, places.CODERS, places.SILVER),
            *(links.HEALTH, links.WORDS),
        ]
    if truth == "span":
        from annomodels.reporting.sections import spans

        first = [spans.DECIDE, spans.ALONE_SECTION, spans.CODERS, spans.QUALITY]
        return [*first, spans.AGREEMENT, spans.SPANS, spans.METHODS]
    from annomodels.reporting.sections import (
        agreement,
        audit,
        believe,
        coders,
        details,
        items,
        numbers,
        scheme,
        words,
    )

    last = [details.DATA, details.GOLD, believe.SECTION, words.SECTION]
    if truth == "number":
        return [numbers.ITEMS, numbers.CODERS, numbers.AGREEMENT, scheme.SECTION, *last]
    first = [items.DECIDE, items.SECTION, items.NEXT, coders.SECTION, scheme.SECTION]
    return [*first, agreement.SECTION, *[audit.SECTION] * audited, *last]
