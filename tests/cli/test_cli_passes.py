"""How often `check` goes through a file: its time is in proportion, whatever the computer.

A table of 99,000 rows takes 0.6 to 1.8 seconds of processor time with these numbers of passes.
"""

import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

opened: Counter[str] = Counter()
_watched: set[str] = set()


def _count(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and str(args[0]) in _watched:
        opened[str(args[0])] += 1


sys.addaudithook(_count)


def rows(columns: int) -> list[list[str]]:
    """Make labels of five coders, three labels per item, in some columns."""
    rng = random.Random(1)
    return [
        [f"i{n // 3}", f"c{n % 5}", *(rng.choice("abc") for _ in range(columns))]
        for n in range(300)
    ]


def table(*header: str) -> str:
    return "\n".join(map(",".join, [list(header), *rows(len(header) - 2)])) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "code", "most"),
    [
        ("long.csv", table("item", "coder", "label"), 0, 3),
        ("long.tsv", table("item", "coder", "label").replace(",", "\t"), 0, 3),
        (
            "lines.jsonl",
            "\n".join(
                json.dumps(dict(zip(("item", "coder", "label"), r, strict=True))) for r in rows(1)
            ),
            0,
            3,
        ),
        ("questions.csv", table("item", "coder", "tone", "mood", "claim"), 3, 12),
        ("unknown.csv", table("ding", "wer", "was"), 3, 12),
    ],
)
def test_check_reads_a_file_a_few_times(
    call, tmp_path: Path, name: str, text: str, code: int, most: int
) -> None:
    """A file that is refused is read again for the line that reads it."""
    path = tmp_path / name
    path.write_text(text)
    _watched.add(str(path))
    try:
        assert call("check", path).code == code
    finally:
        _watched.discard(str(path))
    assert 1 <= opened[str(path)] <= most
