"""Random tables never end in a traceback, and never in half a folder."""

import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annomodels.cli.main import main

FEW = ["--chains", "2", "--draws", "8", "--sampler", "warmup=4", "--no-report", "-q"]
CODES = {0, 2, 3, 4}

cells = st.one_of(
    st.sampled_from(["pos", "neg", "", " ", "1", "0", "NA", "t1", "ana", "nan", '"', "1e999"]),
    st.text(max_size=5),
)
tables = st.tuples(
    st.sampled_from([",", ";", "\t", "|", ", "]),
    st.lists(st.lists(cells, min_size=1, max_size=5), max_size=8),
    st.sampled_from(["", "item,coder,label", "item,ana,ben", "task\tworker\tlabel", "a"]),
).map(lambda parts: "\n".join([parts[2], *(parts[0].join(row) for row in parts[1])]))
longs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(["a", "b", "c", "", "a "])),
    min_size=1,
    max_size=30,
).map(lambda rows: "item,coder,label\n" + "\n".join(f"t{i},c{j},{k}" for i, j, k in rows))
contents = st.one_of(
    st.binary(max_size=60),
    tables.map(lambda text: text.encode("utf-8", "surrogatepass")),
    longs.map(str.encode),
)


def _call(content: bytes, command: str, more: list[str]) -> tuple[int, str, str, set[str]]:
    import contextlib
    import io

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder) / "votes.csv"
        path.write_bytes(content)
        out, err = io.StringIO(), io.StringIO()
        words = [command, str(path), *more]
        if command == "run":
            words += ["-o", str(Path(folder) / "out")]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        left = {str(p.relative_to(folder)) for p in Path(folder).rglob("*")} - {"votes.csv"}
    return code, out.getvalue(), err.getvalue(), left


def _is_well(code: int, err: str) -> None:
    assert code in CODES, err
    assert "Traceback" not in err
    if code in (2, 3):
        assert err.split("error: ", 1)[1]


@pytest.mark.slow
@given(content=contents, more=st.sampled_from([[], ["--format", "json"], ["--scale", "ordinal"]]))
@settings(max_examples=3 * settings().max_examples)
def test_check(content: bytes, more: list[str]) -> None:
    code, out, err, left = _call(content, "check", more)
    _is_well(code, err)
    assert bool(out) == (code == 0)
    assert left == set()


@pytest.mark.slow
@given(
    content=st.one_of(contents, longs.map(str.encode)),
    more=st.sampled_from([[], ["--by", "label"], ["--by", "coder"], ["--by", "pair"]]),
)
@settings(max_examples=settings().max_examples)
def test_agree(content: bytes, more: list[str]) -> None:
    code, _, err, left = _call(content, "agree", [*more, "-q"])
    _is_well(code, err)
    assert left == set()


@pytest.mark.slow
@given(content=st.one_of(contents, longs.map(str.encode)))
@settings(max_examples=settings().max_examples)
def test_run(content: bytes) -> None:
    code, out, err, left = _call(content, "run", FEW)
    _is_well(code, err)
    names = (
        "gold.csv",
        "coders.csv",
        "agreement.csv",
        "next.csv",
        "fit.nc",
        "methods.md",
    )
    whole = {"out", *(f"out/{name}" for name in names)}
    assert left == (whole if code in (0, 4) else set())
    assert bool(out) == bool(left)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"item,coder,label\nt1,a,x\nt1,b,y\n"])
def test_the_smallest_table_that_can_be_fitted(content: bytes) -> None:
    code, _, err, left = _call(content, "run", FEW)
    assert code in (0, 4), err
    assert "out/gold.csv" in left
