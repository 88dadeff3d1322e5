"""Columns as far as they were looked at, and the words that they are called after."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annomodels.data.validation import all_numbers, is_blank
from annomodels.io.tables.columns import ALIASES
from annomodels.io.tables.questions import BOXES


def _words(text: str) -> set[str]:
    return set(text.split())


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_ID = ("id", "ids", "key", "nr", "no", "number", "index", "idx")
ITEM = {*ALIASES["item"]} | _words(
    """
    post case art article artikel doc document tweet text sentence comment message msg image img
    file filename rev revision review utterance pair prompt passage paragraph segment assignment
    submission essay hit sample record snippet clip video question page statement piece song track
    excerpt stimulus trial picture photo url link claim dialog conversation turn query input orig
    story patient sent sound meme vignette scenario quote phrase word concept
    """
)
CODER = {*ALIASES["coder"], "labeller"} | _words(
    """
    evaluator labeler participant respondent expert assessor crowdworker turker marker
    grader scorer observer kodierer codierer analyst reader annot
    anno ann assigned assignee contributor volunteer juror physician doctor clinician nurse
    radiologist pathologist teacher listener viewer username prolific pid mturk anotador anotadora
    evaluador avaliador codificador juez juiz experto annotateur codeur juge annotatore valutatore
    bewerter gutachter аннотатор эксперт разметчик 标注员 标注者 注释者 评审 专家 評価者
    アノテーター 작업자 평가자 주석자
    """
)
# whose answers they are, where nobody else is named: the subject of an experiment
ASKED_PEOPLE = _words("subject subj subjects student author respondents session submission")
# names of coders, as the cells of a column without a telling name hold them: Ann. 2, rater_3
_CODERS = re.compile(
    r"(ann|anno|annot|annotator|coder|rater|worker|judge|expert|reviewer|participant|turker|user)"
    r"[ ._-]*(\d+|[a-z])",
    re.IGNORECASE,
)
LABEL = {*ALIASES["label"], "judgement"} | _words(
    """
    class score response choice decision rate sentiment toxicity stance relevance emotion
    grade winner labels preference polarity annotation result severity hate hatespeech offensive
    toxic outcome
    """
)
# columns called after people: an address, or the number of a worker of Amazon or Prolific
PERSON = re.compile(r"[^@\s]+@[^@\s]+\.\w+|A[A-Z0-9]{11,14}|[0-9a-f]{24}")
NOT_NAMES = {*BOXES, "na", "nan", "none", "null", ""}  # answers, not names of coders
QUESTION = _words(
    """
    question criterion criteria aspect dimension variable attribute metric trait measure facet
    kriterium frage property feature scale
    """
)
JUDGES = {"judgement"} | _words("judgment vote verdict evaluation eval review panel")
SYSTEM = _words("model system sys llm method architecture engine condition")
STATISTICS = _words(
    """
    mean avg average std sd stdev variance var median min max count counts total kappa alpha icc
    agreement accuracy precision recall f1 correlation pearson spearman percent percentage pct
    """
)
SUMS = _words("agreement disagreement majority unanimous crowd votes prob probability confidence")
_MARKS = {"x", "✓", "✔", "✗", "*", "•"}
AGREEMENT = _words("kappa alpha icc agreement precision recall f1 correlation")


@dataclass(frozen=True, eq=False)
class Column:
    """A column, as far as it was looked at."""

    name: str
    cells: Sequence[Any]

    @property
    def words(self) -> list[str]:
        """Words of the name, in lower case."""
        words = []
        for word in map(str.casefold, _WORDS.findall(self.name)):
            stem = word.removesuffix("id")
            is_id = stem != word and (stem in ITEM or stem in CODER)
            words += [stem, "id"] if is_id else [word]
        return words

    @property
    def filled(self) -> list[object]:
        """Cells that are not empty."""
        return [cell for cell in self.cells if not is_blank(cell)]

    @property
    def distinct(self) -> int:
        """Number of different cells."""
        return len(set(map(str, self.cells)))

    def has(self, words: set[str]) -> bool:
        """Return True if the name has one of the words."""
        return any(word in words or word.removesuffix("s") in words for word in self.words)

    @property
    def names_coders(self) -> bool:
        """Return True if it is called after coders, or holds names such as Ann. 2."""
        values = {str(cell).strip().casefold() for cell in self.filled}
        if values <= NOT_NAMES:
            return False
        return self.has(CODER) or all(
            _CODERS.fullmatch(value) or PERSON.fullmatch(value.upper()) for value in values
        )

    @property
    def is_id(self) -> bool:
        """Return True if the name ends like that of an identifier."""
        return bool(self.words) and self.words[-1] in _ID

    @property
    def measures(self) -> bool:
        """Return True if the cells are numbers, some of them with decimals."""
        return all_numbers(self.filled) and any("." in str(cell) for cell in self.filled)

    @property
    def holds_marks(self) -> bool:
        """Return True if some cells hold a mark and the others nothing."""
        marks = {str(cell).strip().casefold() for cell in self.filled}
        return bool(marks) and marks <= _MARKS and len(self.filled) < len(self.cells)

    @property
    def length(self) -> float:
        """Mean length of the cells."""
        return sum(len(str(cell)) for cell in self.cells) / max(len(self.cells), 1)

    @property
    def is_plain(self) -> bool:
        """Return True if no cell is a list or an object."""
        return not any(isinstance(cell, (list, dict)) for cell in self.cells)
