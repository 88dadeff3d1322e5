"""README, documentation, help, messages and API docstrings follow the style guide."""

import ast
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annomodels.cli.main import COMMANDS, load_command

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OUTSIDE = {"research", "tables", "generated", "_build", "_static", "_templates", "images"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
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
    r"\b(?:labell(?!ed by two coders)|anaesth|analys(?:e|ing)\b|colour|centre\b(?!\n|, u)|licence|"
    r"favour|judgement|behaviour)",
    r"(?<![\d.=\w])\.\d+ (?!%)(?:or|and|to|of)\b|\d%",
    # old words for the states of an item
    r"\bquadrants?\b|\bneeds? more labels\b|\bhard but settled\b|\bcontested by decision\b",
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
    assert words <= 37_100
    assert len((ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()) <= 120
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


def docstrings() -> dict[str, str]:
    """Docstrings of the API pages by name, without references, examples, formulas and names."""
    found = {}
    for name, value in named_on_the_api_pages():
        members = vars(value).items() if inspect.isclass(value) else ()
        for part, each in [(name, value), *((f"{name}.{n}", m) for n, m in members if n[0] != "_")]:
            described = each.fget if isinstance(each, property) else each
            if callable(described) or isinstance(described, classmethod):
                text = inspect.getdoc(described) or ""
                text = re.split(r"\n(?:References|Examples)\n-+\n", text)[0]
                text = re.sub(r"\.\. math::.*?(?=\n\S|\Z)", "", text, flags=re.S)
                text = re.sub(r"^=+ =+\n.*^=+ =+$", "", text, flags=re.S | re.M)
                text = re.sub(r"\n-+\n|\n(?=\S[^\n]*\n {4})", "\n\n", text)
                found[part] = re.sub(r":\w+:`[^`]*`|``[^`]*``", "`N`", text)
    return found


def helps() -> dict[str, str]:
    """Help of the commands, by name, without usage, examples and the names of options."""
    found = {}
    for name in COMMANDS:
        command = load_command(name)
        texts = [str(getattr(each, "help", "") or "") for each in command.params]
        found[name] = "\n\n".join([command.help or "", *texts])
    return found


@cache
def messages() -> list[tuple[str, str]]:
    """List the texts of :func:`said_in_code`; they are collected once."""
    return list(said_in_code())


def said_in_code() -> Iterator[tuple[str, str]]:
    """Texts in the code that are no docstrings: messages, notes, findings, words of the page."""
    for path in sorted((ROOT / "annomodels").rglob("*.py")):
        if "kernels" not in path.parts:
            for line, text in texts_in(ast.parse(path.read_text("utf-8"))):
                if len(text.split()) > 2:
                    yield f"{path.relative_to(ROOT)}:{line}", re.sub(r"--\w+", "N", text)
    for name in ("reasons", "messages"):
        for path in sorted((ROOT / "annomodels").rglob(f"{name}.toml")):
            for text in texts_of(tomllib.loads(path.read_text("utf-8"))):
                if len(text.split()) > 2:
                    where = f"{path.relative_to(ROOT)}: {text[:40]}"
                    yield where, re.sub(r"\{[^}]*\}", "X", text)


def texts_of(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, (dict, list)):
        for each in part.values() if isinstance(part, dict) else part:
            yield from texts_of(each)


def texts_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and texts of a tree; what is filled in is an X."""
    if isinstance(node, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else "X" for p in node.values)
        yield node.lineno, "".join(parts)
        inside: Iterable[ast.AST] = (p for p in node.values if isinstance(p, ast.FormattedValue))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
        inside = ()
    else:
        inside = ast.iter_child_nodes(node)
    for child in inside:
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from texts_in(child)


OF_OTHERS = ("annomodels/io/proposals.py", "VGG Image Annotator", "columns annotation_id")


@pytest.mark.parametrize("made", [docstrings, helps, lambda: dict(messages())])
def test_texts_of_the_code_have_no_avoided_words_and_short_sentences(made: Any) -> None:
    texts = made()
    assert len(texts) >= 15
    found = [
        f"{where}: {m[0]}: {' '.join(text.split())[:90]}"
        for where, text in texts.items()
        for m in WORDS.finditer(plain(text))
        if not any(name in where + text for name in OF_OTHERS)
    ]
    assert not found, "\n".join(found)
    lengths = [len(each.split()) for text in texts.values() for each in sentences(text)]
    assert sum(n > 30 for n in lengths) <= 0.05 * len(lengths)


def test_messages_say_what_is_wrong_at_once() -> None:
    assert not [text for _, text in messages() if re.match(r"There (is|are|was|were)\b", text)]


def test_what_is_told_of_the_bundled_data_has_no_avoided_words() -> None:
    from annomodels.datasets import all_about

    for told in all_about():
        assert not WORDS.findall(plain(f"{told.title} {told.note}")), told.name


def test_summaries_of_commands_fit_one_line() -> None:
    assert not [text for text in helps().values() if len(text.partition("\n")[0]) > 60]


def test_summaries_of_the_api_pages_say_what_is_done() -> None:
    first = re.compile(r"(Say|Give|Tell|What|How|Whether|Who|Which|Where)\b")
    summaries = {name: text.partition("\n")[0] for name, text in docstrings().items()}
    assert len(summaries) > 280  # hooks of models are on the page Add a model
    assert not [f"{name}: {text}" for name, text in summaries.items() if first.match(text)]
