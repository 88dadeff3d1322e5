"""Files as people have them: what is read of each with some options, or the code of its refusal.

Each table in ``cases/`` holds cases: files, and readings of them. A file is a text, a table of
members (a zip archive), or lies in ``cases/`` or ``tests/formats``. What a reading does not state
is absent: no skips, no repeats, no texts, no truth, and no option proposed.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.errors import AnnotationError
from tests.io.casework import TABLES, lay_out, options_of, placed

VERBS = {
    "read": am.read,
    "questions": am.read_questions,
    "spans": am.read_spans,
    "scan": am.scan,
    "coref": am.coref.read,
}
HOW = {"verb", "path", "with"}  # what says how a case is read; the rest is expected
# what is absent unless it is stated
STRICT = {"refused", "choices", "proposes", "skips", "repeats", "scale", "truth", "groups", "texts"}


READINGS = [
    pytest.param(case, reading, id=f"{table}: {case['name']}" + (f", {n}" if n else ""))
    for table, cases in TABLES.items()
    for case in cases
    for n, reading in enumerate(case["read"])
]


@pytest.mark.parametrize(("case", "reading"), READINGS)
def test_a_file_is_read_as_meant(
    case: dict[str, Any],
    reading: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A reading gives the judgments, or is refused; what it proposes then works as pasted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    verb = reading.get("verb", "read")
    path = lay_out(case, tmp_path)
    path = placed(reading.get("path", path), tmp_path)
    options = options_of(reading, tmp_path)
    try:
        found = seen(verb, path, options)
    except AnnotationError as error:
        found = refused(error)
        is_plain = isinstance(path, Path) and not options and verb == "read"
        if error.proposal is not None:
            tried(error, str(path) if is_plain else "", capsys)
    told = found.pop("told")
    expected = {name: value for name, value in reading.items() if name not in HOW}
    assert [words for words in expected.pop("says", ()) if not said(words, told)] == [], told
    assert [words for words in expected.pop("says_not", ()) if said(words, told)] == [], told
    actual = {name: sized(found.get(name), expected.get(name)) for name in STRICT | {*expected}}
    assert {n: v for n, v in actual.items() if v or n in expected} == expected, told


def sized(value: Any, expected: Any) -> Any:
    """Return the size of a value of which no more is expected."""
    return len(value) if isinstance(expected, int) and hasattr(value, "__len__") else value


def said(words: str, told: list[str]) -> bool:
    """Return True if a note or problem has these words, in their order."""
    pattern = ".*".join(map(re.escape, words.split(" * ")))
    return any(re.search(pattern, one, re.DOTALL) for one in told)


def seen(verb: str, path: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a reading as a table of cases states it."""
    found = VERBS[verb](path, **options)
    match verb:
        case "read":
            return of_labels(found)
        case "questions":
            parts = {name: counts(data) for name, data in found.items()}
            why = [f"{name}: {reason}" for name, reason in found.left_out.items()]
            return {"questions": parts, "left_out": list(found.left_out), "told": why}
        case "spans":
            marks = [[s.document, s.coder, s.question, s.start, s.end, s.label, s.chain]
                     for s in found.spans]  # fmt: skip
            return {"spans": marks, "seen": {d: list(c) for d, c in found.seen.items()},
                    "texts": dict(found.texts), "told": list(found.notes)}  # fmt: skip
        case "coref":
            texts = {one.id: {str(coder): len(layer.mentions) for coder, layer in
                              one.layers.items()} for one in found}  # fmt: skip
            return {"mentions": texts, "told": [note for one in found for note in one.notes]}
    return {"coders": list(found.coders), "labels": list(found.labels), "skips": found.skips,
            "told": list(found.notes)}  # fmt: skip


def plain(name: Any) -> Any:
    return sorted(name) if isinstance(name, frozenset) else name


def counts(data: am.Annotations) -> list[Any]:
    """Return the numbers of items, coders and annotations, the scale, and labels with theirs."""
    votes = Counter(data.label.tolist())
    labels = [[str(plain(name)), votes[k]] for k, name in enumerate(data.labels)]
    return [data.n_items, data.n_coders, len(data), data.scale, labels]


def of_labels(data: am.Annotations) -> dict[str, Any]:
    rows = [list(map(plain, row)) for row in data.to_frame().to_numpy().tolist()]
    same = Counter((item, str(label)) for item, _, label in rows)
    votes = Counter(str(label) for _, _, label in rows)
    truth = {}
    if data.gold is not None:
        truth = {str(data.items[i]): plain(data.labels[k])
                 for i, k in enumerate(data.gold.tolist()) if k >= 0}  # fmt: skip
    group = [] if data.group is None else data.group.tolist()
    return {
        "judgments": sorted(rows, key=str),
        "items": list(data.items),
        "coders": list(data.coders),
        "labels": list(map(plain, data.labels)),
        "n": len(data),
        "votes": dict(votes),
        "agreeing": sum(n * (n - 1) // 2 for n in same.values()),
        "skips": data.skips,
        "repeats": data.repeats,
        "scale": data.scale if data.scale != "nominal" else "",
        "truth": truth,
        "groups": dict(Counter(data.groups[k] for k in group)),
        "texts": list(data.texts or ()),
        "told": list(data.notes),
    }


def refused(error: AnnotationError) -> dict[str, Any]:
    """Codes and choices of a refusal, and the options that it proposes."""
    assert all(one.what and one.remedy and one.code for one in error.problems), error
    new = getattr(error.proposal, "new", {})
    return {
        "refused": [one.code for one in error.problems],
        "choices": [name for one in error.problems for name in one.choices],
        "proposes": {name: listed(value) for name, value in new.items()},
        "told": [str(error)],
    }


def listed(value: Any) -> Any:
    return list(map(listed, value)) if isinstance(value, tuple) else value


def tried(error: AnnotationError, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run what a refusal proposes as a call, and as a command if there is one."""
    call, _, gives = str(error.proposal).partition(" reads ")
    found = eval(call, {"annomodels": am, "PosixPath": Path})
    assert repr(found).split("\n")[0].split(" · ")[:2] == gives.split(", ")[:2], call
    if not path:
        return
    capsys.readouterr()
    if {one.code for one in error.problems} == {"no-units"}:
        assert main(["check", path]) == 0  # commands read marks as spans
        return
    assert main(["check", path]) == 3
    line = re.search(r"^  try:   annomodels (.*)$", capsys.readouterr().err, re.MULTILINE)
    assert line is not None
    assert main(shlex.split(line[1])) == 0
