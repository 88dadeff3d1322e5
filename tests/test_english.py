"""README, documentation and changelog are written as the style guide asks."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OUTSIDE = {"research", "tables", "generated", "_build", "_static", "_templates", "images"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        path
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] not in OUTSIDE and path.name != "changelog.md"
    ),
]
AVOIDED = (
    r"foret[eo]l|foresee|somebody|those who know|who knows\b|of (?:its|their|your|his|her) own\b",
    r"\b(?:labels|nats|bits|draws|lines|votes) an? (?:item|label|coder|class|remark)\b",
    r"\bintervals? (?:that )?h(?:o|e)lds?\b|(?:as|too) sure\b|\bsurest?\b",
    r"\banew\b|\bafresh\b|\bbeforehand\b|\bthrice\b|\blearnt\b|\bin sentences\b|\bin words\b",
    r"\w\(s\)|\bmade-up\b|\bmend(?:s|ed)?\b|\bput right\b|\btaken for\b|\bweighed\b",
    r"\bstands? (?:beside|for)\b|\bof use\b|\bat the most\b|\bif need be\b|\bsome sixty\b|-odd\b",
    r"\b(?:twenty|thirty|forty|fifty|sixty)-odd\b|\bwhatever the model\b|\btold apart\b",
    r"\b(?:labell|anaesth|analys(?:e|ing)\b|colour|centre\b|licence|favour|judgement|behaviour)",
    r"(?<![\d.=\w])\.\d+ (?!%)(?:or|and|to|of)\b|\d%",
    r"(?<!-)\bannotators?\b(?!\d|`|\"|_| label)|\braters\b",
)
WORDS = re.compile("|".join(AVOIDED), re.IGNORECASE)
NAMES = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|\"[^\"\n]*\"|\*[^*\n]+\*")


def prose(page: Path) -> str:
    """Text of a page without code, formulas, directives and what scripts write."""
    text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text("utf-8"), flags=re.S)
    text = re.sub(r"<!-- Made by.*?<!-- End of.*?-->", "", text, flags=re.S)
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1[`~]*$", "\n", text, flags=re.M | re.S)
    text = re.sub(r"\$\$.*?\$\$", "\n", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    return re.sub(r"\$[^$\n]+\$", "X", text)


def plain(text: str) -> str:
    """Text without names and quoted words, which may be what they like."""
    return NAMES.sub(lambda found: "](" if found[0].startswith("](") else "N", text)


def sentences(text: str) -> list[str]:
    """Sentences of running text and of list items; tables and headings are none."""
    lines = [line for line in text.splitlines() if not re.match(r"\s*(\||#|!\[)", line)]
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines))
    found = []
    for part in parts:
        joined = re.sub(r"\]\([^)]*\)", "", " ".join(part.split()))
        found += re.split(r"(?<=[.?!:])\s+(?=[A-Z`*\"\[])", joined)
    return [sentence for sentence in found if len(sentence.split()) > 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_avoided_words(page: Path) -> None:
    text = plain(prose(page))
    found = [
        " ".join(text[max(0, m.start() - 30) : m.end() + 20].split()) for m in WORDS.finditer(text)
    ]
    assert not found


def test_sentences_are_short() -> None:
    lengths = [
        (len(sentence.split()), sentence) for page in PAGES for sentence in sentences(prose(page))
    ]
    long = [sentence for n, sentence in lengths if n > 30]
    assert len(lengths) > 1000
    assert len(long) <= 0.05 * len(lengths), "\n".join(long)


def test_the_words_of_the_checks_are_found() -> None:
    wrong = ("forgotten", "it is foretold", "an interval holds it", "8 labels an item", "95%")
    assert [bool(WORDS.search(text)) for text in wrong] == [False, True, True, True, True]
    assert (
        len(sentences("One two three. Four five six.\n\n- seven eight nine\n- ten eleven twelve"))
        == 4
    )


def test_the_documentation_is_short() -> None:
    words = sum(len(page.read_text("utf-8").split()) for page in PAGES if DOCS in page.parents)
    assert words <= 35_000
    home = (DOCS / "index.md").read_text("utf-8")
    assert len(re.findall(r"\]\(", home)) <= 30


def named_on_the_api_pages() -> Iterator[tuple[str, Any]]:
    """Objects of the reference of Python: those listed, and members of the modules listed."""
    for page, folder in (("api.md", "annomodels"), ("coref-api.md", "annomodels.coref")):
        text = (DOCS / page).read_text("utf-8")
        names = [f"{folder}.{name}" for name in re.findall(r"^   ~?([\w.]+)$", text, re.M)]
        for name in [*names, *re.findall(r"auto(?:function|module):: ([\w.]+)", text)]:
            found = pkgutil.resolve_name(name)
            if inspect.ismodule(found):
                yield from ((f"{name}.{n}", getattr(found, n)) for n in found.__all__)
            else:
                yield name, found


def test_summaries_of_the_api_pages_say_what_is_done() -> None:
    first = re.compile(r"(Say|Give|Tell|What|How|Whether|Who|Which|Where)\b")
    seen, wrong = 0, []
    for name, found in named_on_the_api_pages():
        members = vars(found).items() if inspect.isclass(found) else ()
        parts = [(name, found), *((f"{name}.{n}", m) for n, m in members if n[0] != "_")]
        for part, value in parts:
            described = value.fget if isinstance(value, property) else value
            if callable(described) or isinstance(described, classmethod):
                summary = (inspect.getdoc(described) or "").partition("\n")[0]
                seen += 1
                if first.match(summary) or WORDS.search(plain(summary)):
                    wrong.append(f"{part}: {summary}")
    assert seen > 400
    assert not wrong
