"""Read MMAX2 projects: a project file with XML files of words and markables."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.data.layers import PHRASE, Judgment
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem, raise_all
from annomodels.io.border import Element, Members, elements
from annomodels.io.coref.parts import CorefOptions, DocumentPart, Marks, ReadingState

ATTRIBUTES: dict[str, str] = {
    "set": "coref_class",
    "pointer": "antecedent",
    "category": "",
    "head": "",
    "near": "",
    "dominating": "",
}
"""Default attribute for each property of a markable; "" for none."""

EMPTY = ("", "empty")


def read_mmax2(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    strange = sorted(set(options.attributes) - set(ATTRIBUTES))
    if strange:
        remedy = f"Use {', '.join(ATTRIBUTES)}."
        raise AnnotationError(f"Unknown attribute role {strange[0]!r}.", remedy=remedy)
    project = _Project(files, name)
    names = {**ATTRIBUTES, **options.attributes}
    return [_Mmax(project, coder, names).part(unnamed)]


class _Project:
    def __init__(self, files: Members, name: str) -> None:
        self.files = files
        self.folder = posixpath.dirname(name)
        self.title = posixpath.basename(name).rsplit(".", 1)[0]
        parsed = self._parse(name)
        words = next((e.text.strip() for e in parsed if e.tag == "words"), "")
        paths = self.find("common_paths.xml")
        common = self._parse(paths) if paths is not None else []
        where = {e.tag: _slashes(e.text.strip()) for e in common if e.tag.endswith("_path")}
        self.words = self.find(posixpath.join(where.get("basedata_path", ""), words)) or words
        self.levels: dict[str, str] = {}
        for element in common:
            if element.tag == "level":
                file = element.attributes.get("markable_file") or element.text.strip()
                file = _slashes(file.replace("$", self.title))
                place = self.find(posixpath.join(where.get("markable_path", ""), file))
                if place is not None:
                    self.levels[element.attributes.get("name", file)] = place
        if not common:
            for file in files.names:
                start, end = f"{self.title}_", "_level.xml"
                base = posixpath.basename(file)
                if base.startswith(start) and base.endswith(end):
                    self.levels[base[len(start) : -len(end)]] = file

    def _parse(self, name: str) -> list[Element]:
        return elements(self.files.read(name), self.files.where(name))

    def find(self, name: str) -> str | None:
        """Return the path of a file named relative to the project file; None if absent."""
        inside = posixpath.normpath(posixpath.join(self.folder, name))
        return inside if inside in self.files else None

    def parse(self, name: str) -> tuple[str, list[Element]]:
        """Return the name of a file for messages, and its elements."""
        return self.files.where(name), self._parse(name)


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


class _Mmax(ReadingState):
    def __init__(self, project: _Project, coder: str, names: Mapping[str, str]) -> None:
        source, words = project.parse(project.words)
        super().__init__(source, coder)
        self.project = project
        self.names = names
        chosen = [e for e in words if e.tag == "word"]
        self.tokens = [e.text.strip() for e in chosen]
        self.lines = [e.line for e in chosen]
        self.place = {e.attributes.get("id", ""): n for n, e in enumerate(chosen)}
        if not chosen:
            remedy = "Check the <words> entry of the project file."
            self.problems.append(Problem("The file has no word.", self.source, remedy))
        self.marks = Marks()
        self.found: dict[str, tuple[Element, str, str]] = {}

    def part(self, unnamed: str) -> DocumentPart:
        if not self.project.levels and not self.problems:
            what = f"No markables were found for {self.project.title!r}."
            remedy = "Give the folder with common_paths.xml and all files it names."
            self.problems.append(Problem(what, self.source, remedy))
        levels = {level: self.project.parse(file) for level, file in self.project.levels.items()}
        roles = [self.names[role] for role in ("set", "pointer", "category") if self.names[role]]
        mentions = {
            level
            for level, (_, found) in levels.items()
            if any(role in e.attributes for e in found for role in roles)
        }
        for level, (source, found) in levels.items():
            for element in found:
                if element.tag == "markable":
                    self._markable(element, level, source, level in mentions)
        raise_all(self.problems)
        clusters: dict[str, list[str]] = {}
        for one, value in self._values("set"):
            clusters.setdefault(f"{self.found[one][1]}:{value}", []).append(one)
        judgments = self._judgments(mentions)
        pairs = (
            frozenset([self.marks.kept(one), target])
            for one, value in self._values("near")
            for target in self._targets(one, value)
        )
        near = {pair for pair in pairs if len(pair) == 2}
        dominating = self._dominating(clusters)
        raise_all(self.problems)
        layer = self.marks.layer(
            self.coder, clusters.values() if clusters else None, judgments, near, dominating
        )
        document = Document(unnamed, tuple(self.tokens), layers={self.coder: layer})
        return DocumentPart(document, self.source, self.lines)

    def _problem(self, what: str, element: Element, source: str, remedy: str) -> None:
        self.problems.append(Problem(what, f"{source}, line {element.line}", remedy))

    def _markable(self, element: Element, level: str, source: str, is_mention: bool) -> None:
        one = f"{level}:{element.attributes.get('id', '')}"
        words = self._span(element, source)
        if one in self.found:
            what = f"The id {element.attributes.get('id')!r} is used twice."
            self._problem(what, element, source, "Give every markable of a level its own id.")
        elif words:
            head = self._head(element, words, source)
            self.marks.add(one, Span(tuple(words)), PHRASE if is_mention else level, head)
            self.found[one] = (element, level, source)

    def _span(self, element: Element, source: str) -> list[int]:
        """Return word positions of a span such as word_3..word_5,word_9, ranges in word order."""
        out: list[int] = []
        for piece in element.attributes.get("span", "").split(","):
            ends = [end.strip() for end in piece.split("..")]
            missing = [end for end in ends if end not in self.place]
            if missing or len(ends) > 2:
                what = f"The span {piece!r} names {some(missing or ends)}, which is not a word."
                self._problem(what, element, source, f"Use the ids of words in {self.source}.")
                return []
            first, last = self.place[ends[0]], self.place[ends[-1]]
            if first > last:
                what = f"The span {piece!r} runs backwards."
                self._problem(what, element, source, "Name the first word first.")
                return []
            out += range(first, last + 1)
        return out

    def _head(self, element: Element, words: list[int], source: str) -> int | None:
        text = element.attributes.get(self.names["head"], "") if self.names["head"] else ""
        if text in EMPTY:
            return None
        head = self.place.get(text)
        if head not in words:
            what = f"The head {text!r} is not one of the words of the markable."
            self._problem(what, element, source, "Give the id of one of its words.")
            return None
        return head

    def _values(self, role: str) -> Iterable[tuple[str, str]]:
        name = self.names[role]
        for one, (element, _, _) in self.found.items():
            value = element.attributes.get(name, "") if name else ""
            if value not in EMPTY:
                yield one, value

    def _targets(self, one: str, value: str) -> list[str]:
        element, level, source = self.found[one]
        out = []
        for target in filter(None, (t.strip() for t in value.split(";"))):
            full = target if ":" in target else f"{level}:{target}"
            if full not in self.found:
                what = f"{element.attributes['id']!r} points at {target!r}: no such markable."
                self._problem(what, element, source, "Check that all levels are there.")
            else:
                out.append(self.marks.kept(full))
        return out

    def _judgments(self, mentions: set[str]) -> dict[str, Judgment]:
        category = dict(self._values("category"))
        pointers = dict(self._values("pointer"))
        out = {}
        for one, (_, level, _) in self.found.items():
            if level in mentions and self.marks.kept(one) == one:
                readings = self._targets(one, pointers.get(one, ""))
                if readings or one in category:
                    sets = tuple(frozenset([target]) for target in readings)
                    out[one] = Judgment(one, category.get(one), sets)
        return out

    def _dominating(self, clusters: Mapping[str, list[str]]) -> dict[frozenset[str], str]:
        texts = dict(self._values("dominating"))
        out = {}
        for members in clusters.values():
            said = [texts[one] for one in members if one in texts]
            if said:
                out[frozenset(self.marks.kept(one) for one in members)] = said[0]
        return out
