"""Data too small to say anything: every command answers, or refuses with a reason."""

from pathlib import Path

import pytest

from annomodels.cli.main import main

pytestmark = pytest.mark.slow

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
