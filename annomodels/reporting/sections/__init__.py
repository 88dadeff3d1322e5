"""Sections of the page: requirements and contents.

A section is a :class:`annomodels.reporting.parts.Section`. This file lists all of them in order,
for each kind of truth. A section may import what the page may.
"""

from __future__ import annotations

from annomodels.reporting.parts import Section


def sections_of(truth: str, *, audited: bool = True) -> list[Section]:
    """Return the sections of a page on fits whose truth is a class, number, link or span."""
    if truth == "link":
        from annomodels.reporting import links

        first = [links.places, links.agreement, links.coders, links.silver]
        return [*first, links.texts, links.words]
    if truth == "span":
        from annomodels.reporting import spans

        first = [spans.decide, spans.alone, spans.coders, spans.quality]
        return [*first, spans.agreement, spans.gold, spans.methods]
    from annomodels.reporting.sections import details, numbers, results

    last = [details.about_data, details.gold, details.diagnostics, details.methods]
    if truth == "number":
        return [numbers.items, numbers.coders, numbers.agreement, results.labels, *last]
    first = [results.decide, results.items, results.labels_to_buy, results.coders, results.labels]
    return [*first, results.agreement, *[details.audit] * audited, *last]
