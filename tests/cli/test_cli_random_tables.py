"""Random tables, and tiny ones: an answer, or a refusal with a reason and no half folder."""

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


# -- data too small to say anything ---------------------------------------------------------------

ENOUGH, REFUSED, UNSURE = 0, 3, 4
# item, coder and label of each judgment, and how `run` ends
TABLES = {
    "eight labels": ("axp ayp bxn byn cxp cyn dxn dyn", ENOUGH),
    "two by two": ("axp ayp bxn byp", ENOUGH),
    "two by two, agreed": ("axp ayp bxn byn", ENOUGH),
    "two by two, opposed": ("axp ayn bxn byp", ENOUGH),
    "an item, two labels": ("axp ayn azp", ENOUGH),
    "more labels than items": ("ax1 ay2 bx3 by4 cx5 cy5", ENOUGH),
    "one judgment": ("axp", REFUSED),
    "an item, one label": ("axp ayp", REFUSED),
    "one coder": ("axp bxn cxp", REFUSED),
    "one label": ("axp ayp bxp byp", REFUSED),
    "no item in common": ("axp byn", REFUSED),
}
SAMPLING = ("--chains", "2", "--draws", "20", "--sampler", "warmup=20", "-q")


def long(judgments: str) -> str:
    rows = [",".join(judgment) for judgment in judgments.split()]
    return "\n".join(["item,coder,label", *rows]) + "\n"


def wide(judgments: str) -> str:
    given = {(item, coder): label for item, coder, label in judgments.split()}
    items, coders = ([*dict.fromkeys(part)] for part in zip(*given, strict=True))
    rows = [[item, *(given.get((item, coder), "") for coder in coders)] for item in items]
    return "\n".join(map(",".join, [["item", *coders], *rows])) + "\n"


@pytest.mark.slow
@pytest.mark.few("eight labels", "one judgment", "more labels than items")
@pytest.mark.parametrize("name", TABLES)
def test_every_command_answers_or_refuses(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judgments, ending = TABLES[name]
    data, out, page = tmp_path / "x.csv", tmp_path / "out", tmp_path / "r.html"

    def call(*words: object) -> int:
        code = main([str(word) for word in words])
        said = capsys.readouterr().err
        assert code in (ENOUGH, REFUSED, UNSURE), said
        assert "inside annomodels" not in said, said
        assert "lacks what this command needs" not in said, said
        return ENOUGH if code == UNSURE else code  # the chains are short

    data.write_text(wide(judgments), "utf-8")
    for command in ("check", "agree"):
        call(command, data, "--coder-columns", ",".join(wide(judgments).split("\n")[0][5:]))
    data.write_text(long(judgments), "utf-8")
    for command in ("check", "agree"):
        assert call(command, data) == ENOUGH
    for model in ("stack", "hierarchical"):
        options = ("-o", out, "--force", "--no-report", "--model", model, *SAMPLING)
        assert call("run", data, *options) == ending
        if ending == ENOUGH:
            for command in ("next", "coders", "gold"):
                assert call(command, out) == ENOUGH
            assert call("next", out, "--budget", 3) == ENOUGH
            assert call("report", out, "-o", page, "--force") == ENOUGH
