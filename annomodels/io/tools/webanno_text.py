"""The text of a WebAnno file, put together from its sentences, with places in code points."""

from __future__ import annotations

from annomodels.io.spans import to_code_points

__all__ = ["Sentences"]

_LONGEST_GAP = 10_000_000  # characters between sentences


class Sentences:
    """Sentences of a document in their order.

    Offsets in the file count UTF-16 units of the whole document, so every sign outside the basic
    plane in an earlier sentence moves what follows by one.

    Examples
    --------
    >>> sentences = Sentences()
    >>> sentences.begin("a 😊 b")
    >>> sentences.place(0, 1, "a", True), sentences.place(5, 6, "b", True)
    ((0, 1), (4, 5))
    >>> sentences.text
    'a 😊 b'
    """

    def __init__(self) -> None:
        self.tokens: list[tuple[int, int]] = []
        self._parts: list[str] = []
        self._length = 0
        self._wide = 0  # signs of two units in the sentences before
        self._sentence = ""
        self._places: list[int] = []
        self._unit: int | None = None  # where the sentence begins, in UTF-16 units
        self._point = 0

    def begin(self, text: str) -> None:
        """Take the text of the next sentence."""
        self._wide += len(self._places) - 1 - len(self._sentence) if self._places else 0
        self._sentence, self._places, self._unit = text, to_code_points(text), None

    def place(self, begin: int, end: int, token: str, is_token: bool) -> tuple[int, int]:
        """Place of a token or a part of one, from its offsets in the file."""
        if self._unit is None:
            before = max(self._sentence.find(token), 0)
            self._unit = begin - before
            self._point = max(self._unit - self._wide, 0)
            gap = self._point - self._length
            if 0 <= gap <= _LONGEST_GAP:
                self._parts += [" " * gap, self._sentence]
                self._length += gap + len(self._sentence)
        start, stop = (self._point + self._within(unit) for unit in (begin, end))
        if is_token:
            self.tokens.append((start, stop))
        return start, stop

    def _within(self, unit: int) -> int:
        """Code points from the start of the sentence to a UTF-16 unit."""
        local = unit - (self._unit or 0)
        if 0 <= local < len(self._places):
            return self._places[local]
        return max(local, 0)

    @property
    def text(self) -> str:
        """The document, with blanks where the file says nothing."""
        return "".join(self._parts)
