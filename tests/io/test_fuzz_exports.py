"""Damaged exports: annotations or problems in words, quickly and in little memory, whatever comes.

Every export (our own, those in tests/formats, and files with coreference) is damaged in many ways:
bytes flipped, cut, doubled; keys dropped; values of another type; files lost. What comes goes
through every door: read, read_spans, scan, coref.read and the commands. ANNOMODELS_FUZZ sets the
number of inputs in all: 600 in CI, 300 elsewhere.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from coref_files import (
    CONLL,
    CORPUS_ENTITIES,
    conllu,
    write_brat,
    write_chains,
    write_json,
    write_mmax,
)

from annomodels import coref, read, scan
from annomodels.cli.main import main
from annomodels.errors import AnnotationError, MissingDependency, NotApplicable
from annomodels.io.formats import FORMATS
from annomodels.io.reading import read_spans

# the first of each export here, five times as many in CI
ROUNDS = int(os.environ.get("ANNOMODELS_FUZZ") or (600 if os.environ.get("CI") else 300))
ODD: list[Any] = [
    *[None, True, False, 0, -1, 1e300, "", " ", "x" * 5000, "=1+1", "\u0000", "\ud800", "😀", "1"],
    *[[], {}, [[]], [{}], ["a", "b"], {"a": 1}, [None], [[0, 4, "PER"]], {"id": 1, "email": []}],
]
ODD_BYTES = [b"", b"\0", b"\xff\xfe", b'"', b"\n\n", b",,,,", b"\t", b"<!DOCTYPE a>", b"{", b"]"]


# -- ways to damage ----------------------------------------------------------------------------


def damaged_bytes(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 30])):
        at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        match chance.randrange(5):
            case 0 if data:
                data[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
            case 1:
                del data[at:]
            case 2:
                del data[at : min(to, at + 40)]
            case 3:
                data[at:at] = data[at : min(to, at + 200)]
            case _:
                data[at:at] = chance.choice(ODD_BYTES)
    return bytes(data)


def damaged_value(value: Any, chance: random.Random) -> Any:
    """One place of a JSON value, somewhere, changed."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        match chance.randrange(8):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {**value, key: chance.choice(ODD)}
            case 2:
                return {("x" if k == key else k): v for k, v in value.items()}
        return {**value, key: damaged_value(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        match chance.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
            case 2:
                return [*value[:at], chance.choice(ODD), *value[at + 1 :]]
        return [*value[:at], damaged_value(value[at], chance), *value[at + 1 :]]
    return chance.choice(ODD)


def damaged_json(content: bytes, chance: random.Random) -> bytes:
    text = content.decode()
    lines = text.splitlines()
    if len(lines) > 1 and lines[1][:1] == "{":
        at = chance.randrange(len(lines))
        lines[at] = json.dumps(damaged_value(json.loads(lines[at]), chance))
        return "\n".join(lines).encode()
    return json.dumps(damaged_value(json.loads(text), chance)).encode()


def damaged_table(content: bytes, chance: random.Random) -> bytes:
    mark = "\t" if content.count(b"\t") > content.count(b",") else ","
    rows = list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=mark))
    at = chance.randrange(len(rows))
    column = chance.randrange(max(len(rows[0]), 1))
    match chance.randrange(6):
        case 0:
            rows = [row[:column] + row[column + 1 :] for row in rows]
        case 1:
            del rows[at]
        case 2:
            rows = [row[::-1] for row in rows]
        case 3:
            rows += rows[at : at + 3]
        case 4:
            rows = [[*row[:column], chance.choice(["", "x", "1"]), *row[column:]] for row in rows]
        case _:
            cell = chance.choice(["", "true", "[", '{"a":1}', "[1]", "x" * 300, "=1", "-1", "a#b"])
            rows[at] = [*rows[at][:column], cell, *rows[at][column + 1 :]]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark).writerows(rows)
    return out.getvalue().encode()


def damaged_zip(content: bytes, chance: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(files))
    files[name] = damaged(name, files[name], chance)
    if chance.random() < 0.2:
        files[chance.choice(["all.jsonl", "../a.jsonl", "/etc/a.jsonl", "a.zip", ""])] = b"{}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def damaged(name: str, content: bytes, chance: random.Random) -> bytes:
    ending = name.rsplit(".", 1)[-1]
    ways: dict[str, Callable[[bytes, random.Random], bytes]] = {
        **dict.fromkeys(("json", "jsonl", "manifest"), damaged_json),
        **dict.fromkeys(("csv", "tsv"), damaged_table),
        **dict.fromkeys(("zip", "xlsx"), damaged_zip),
    }
    way = ways.get(ending)
    if way is None or chance.random() < 0.4:
        return damaged_bytes(content, chance)
    try:
        return way(content, chance)
    except (UnicodeError, ValueError, IndexError):
        return damaged_bytes(content, chance)


# What the exports in tests/formats need to be read, beside their names.
UNITS = ("brat", "webanno", "cas")
ITEMS = (
    "label_studio.json",
    "label_studio_min.json",
    "mturk.csv",
    "mturk_onehot.csv",
    "toloka.tsv",
)
OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {"units": "exact"} for name in UNITS},
    **{name: {"item": "ext_id"} for name in ITEMS},
}


# -- the test ------------------------------------------------------------------------------------


# Commands that take a file; what they may end with: done, a gate, usage, data, an extra missing.
COMMANDS = (
    ("check",),
    ("check", "--format", "json"),
    ("agree",),
    ("convert", "--to", "long", "-o", "{out}/long.csv"),
    ("gold",),
    ("convert", "--list"),
    ("coref", "--model", "none", "--draws", "0", "-o", "{out}/table.csv"),
    ("run", "--engine", "em", "--no-report", "-o", "{out}/run"),
)
ENDS = {0, 1, 2, 3, 4, 5}  # 4 is for a fit that cannot be trusted


def not_ours(error: BaseException | None) -> bool:
    """Whether an error came from a library or the file, not from a slip in our own lines."""
    while error is not None:
        if isinstance(error, (IndexError, KeyError, TypeError, AttributeError, AssertionError)):
            frames = traceback.extract_tb(error.__traceback__)
            if frames and f"{os.sep}annomodels{os.sep}" in frames[-1].filename:
                return False
        error = error.__cause__
    return True


def in_words(door: Callable[[], Any]) -> Any:
    """Give what a door gives; None when it refuses in words, and a failure for anything else."""
    try:
        return door()
    except AnnotationError as error:
        refused = error
    except (NotApplicable, MissingDependency):
        return None
    assert refused.problems
    assert all(problem.what and problem.remedy for problem in refused.problems)
    if not not_ours(refused):
        raise AssertionError("a slip in our own lines") from refused.__cause__
    return None


def outcome(path: Path, options: dict[str, Any], chance: random.Random) -> None:
    """Go through every door, and fail for anything but a result or problems in words."""
    result = in_words(lambda: read(path, **options))
    if result is not None:
        assert repr(result)
        assert len(result) > 0
        assert set(result.item.tolist()) == set(range(result.n_items))
        assert result.label.min() >= 0
    assert repr(in_words(lambda: read_spans(path)))
    in_words(lambda: coref.read(path))
    if chance.random() < 0.3:
        place = path.parent / "made by scan"
        in_words(lambda: scan(path, cache=place))
        shutil.rmtree(place, ignore_errors=True)
    if chance.random() < 0.3:
        out = path.parent / "made by a command"
        out.mkdir()
        words = [word.format(out=out) for word in chance.choice(COMMANDS)]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            code = main([words[0], str(path), *words[1:]])
        assert code in ENDS, (words, code, said.getvalue()[-2000:])
        assert "No such" not in said.getvalue(), words
        shutil.rmtree(out)


def chosen_options(options: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    more: list[dict[str, Any]] = [
        *[{} for _ in range(6)],
        *[{"models": True}, {"sets": True}, {"units": "exact"}, {"units": "token"}],
        *[{"units": "overlap"}, {"units": "chain"}, {"question": "mood"}, {"text": "text"}],
        *[{"coders": {"ana": "x", "ben": "x"}}, {"labels": ["good", "bad", "pos", "neg", "neu"]}],
    ]
    more += [{"format": form.name} for form in FORMATS] if chance.random() < 0.3 else []
    return {**(options if chance.random() < 0.7 else {}), **chance.choice(more)}


def rounds_of(exports: dict[str, Any], folder: Path, rounds: int) -> int:
    done = 0
    for name, (files, options) in exports.items():
        for number in range(max(rounds // len(exports), 1)):
            chance = random.Random(f"{name} {number}")
            hurt = dict(files)
            victim = chance.choice(list(hurt))
            hurt[victim] = damaged(victim, hurt[victim], chance)
            if len(hurt) > 1 and chance.random() < 0.1:
                del hurt[chance.choice(list(hurt))]
            place = folder / "damaged"
            for path, content in hurt.items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_bytes(content)
            try:
                outcome(
                    place / next(iter(hurt)).split("/")[0], chosen_options(options, chance), chance
                )
            except Exception as error:
                error.add_note(f"export {name!r}, round {number}")
                raise
            shutil.rmtree(place)
            done += 1
    return done


@contextmanager
def little_memory() -> Iterator[None]:
    """Fail when more than 1 GB is taken beyond what the process, which ran other tests, holds."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not os.access(reset, os.W_OK):
        yield  # only Linux can forget an earlier peak
        return

    def kilobytes(name: str) -> int:
        line = next(line for line in status.read_text().splitlines() if line.startswith(name))
        return int(line.split()[1])

    reset.write_text("5")
    before = kilobytes("VmRSS")
    yield
    assert kilobytes("VmHWM") - before < 1_000_000


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="Only Linux can forget an earlier peak."
)
def test_the_peak_of_memory_is_seen() -> None:
    with pytest.raises(AssertionError), little_memory():
        assert b"x" * int(1.1e9)


@pytest.mark.slow
def test_damaged_exports_of_our_own(own_exports: Any, tmp_path: Path) -> None:
    with little_memory():
        done = rounds_of(own_exports, tmp_path, ROUNDS // 2)
    assert done >= ROUNDS // 2 - len(own_exports)


@pytest.mark.slow
def test_damaged_files_with_coreference(tmp_path: Path) -> None:
    made = tmp_path / "made"
    for write in (write_mmax, write_brat, write_json, write_chains):
        (made / write.__name__).mkdir(parents=True)
        write(made / write.__name__)
    (made / "corefud").mkdir()
    (made / "corefud" / "ana.conllu").write_text(conllu(CORPUS_ENTITIES), "utf-8")
    (made / "conll").mkdir()
    for coder in ("ana", "ben"):
        (made / "conll" / f"{coder}.conll").write_text(CONLL, "utf-8")
    exports: dict[str, Any] = {}
    for path in sorted(made.iterdir()):
        inside = sorted(p for p in path.rglob("*") if p.is_file())
        exports[path.name] = ({p.relative_to(made).as_posix(): p.read_bytes() for p in inside}, {})
    with little_memory():
        done = rounds_of(exports, tmp_path, ROUNDS // 4)
    assert done >= ROUNDS // 4 - len(exports)


@pytest.mark.slow
def test_damaged_exports_of_every_shape(formats: Path, tmp_path: Path) -> None:
    exports: dict[str, Any] = {}
    for path in sorted(formats.iterdir()):
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        contents = {p.relative_to(formats).as_posix(): p.read_bytes() for p in inside}
        exports[path.name] = (contents, OPTIONS.get(path.name, {}))
    with little_memory():
        done = rounds_of(exports, tmp_path, ROUNDS // 2)
    assert done >= ROUNDS // 2 - len(exports)
