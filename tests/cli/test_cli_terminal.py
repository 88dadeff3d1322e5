"""What stands on a terminal of 60, 80 and 120 columns: names whole, prose wrapped."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from annomodels.cli import tables
from annomodels.cli.main import COMMANDS
from annomodels.data.columns import Column, columns
from annomodels.data.widths import size
from tests.cli.ptys import on_a_terminal, seen
from tests.cli.rows import write_rows

WIDTHS = (60, 80, 120)
SCREENS = Path(__file__).parent / "screens"
CODERS = ("ana.maria@example.org", "ben", "annotator10", "坂本龍一")
LABELS = ("hard to say", "neg", "пол")
ITEMS = tuple(f"esp.train-doc-{n}:4529-4538" for n in range(1400, 1411))
LONG = "a-name-that-is-longer-than-most-terminals-are-wide/" * 2 + "1"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write labels with names as people have them."""
    rows = []
    for i, item in enumerate(ITEMS):
        for j, coder in enumerate(CODERS):
            label = LABELS[(i + (i * j % 3 == 2)) % 3]
            rows.append(f"{item},{coder},{label},page {i // 4 + 1}")
    path = tmp_path_factory.mktemp("names") / "votes.csv"
    return write_rows(path, rows, "item,coder,label,page")


@pytest.fixture(scope="module")
def fits(table: Path) -> tuple[Path, Path]:
    """Save two fits of these labels."""
    from annomodels.cli.main import main

    few = ["-q", "--chains", "2", "--draws", "60", "--sampler", "warmup=30"]
    paths = table.parent / "a-fit", table.parent / "another-fit-with-a-longer-name"
    for path, model in zip(paths, ("hierarchical", "dawid-skene"), strict=True):
        assert (
            main(["run", str(table), "-o", str(path), "--no-report", "--model", model, *few]) == 0
        )
    return paths


def fits_in(lines: list[str], columns: int) -> list[str]:
    """Lines that are too wide, but for what is copied in one piece."""
    return [line for line in lines if size(line) > columns and " " in line.strip(" `.,")]


ON_DATA = {
    "check": (["check"], ()),
    "agree": (
        ["agree"],
        ("Krippendorff's alpha", "Fleiss' kappa (K)", "multi_kappa ", "defined for two coders"),
    ),
    "by coder": (["agree", "--by", "coder"], (*CODERS, "percent", "alpha")),
    "by pair": (["agree", "--by", "pair"], (*CODERS, "percent", "alpha")),
    "by item": (["agree", "--by", "item"], ITEMS),
    "by label": (["agree", "--by", "label"], LABELS),
    "by document": (
        ["agree", "--by", "document", "--group", "page"],
        ("page 1", "page 2", "page 3"),
    ),
    "diagnose": (["agree", "--diagnose"], (*CODERS, "hard to say / пол")),
}
ON_FITS = {
    "coders": (["coders"], CODERS),
    "labels": (["coders", "--by", "label"], LABELS),
    "pairs": (["coders", "--by", "pair"], LABELS),
    "next": (["next", "--stop", "0"], ITEMS[1:2]),
    "whom": (["next", "--by", "coder"], CODERS),
    "gold": (["gold"], (*ITEMS, *LABELS)),
    "why": (["gold", "--why", "--item", ITEMS[0]], (*CODERS, "(prevalence)")),
}


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ON_DATA)
def test_tables_of_data(name: str, columns: int, table: Path, monkeypatch) -> None:
    (command, *options), names = ON_DATA[name]
    code, lines = on_a_terminal([command, table, *options], columns, monkeypatch)
    assert code == 0
    _whole(lines, names, columns)


@pytest.mark.few(*(f"{name}-80" for name in ON_FITS))
@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ON_FITS)
def test_tables_of_fits(name: str, columns: int, fits, monkeypatch) -> None:
    (command, *options), names = ON_FITS[name]
    code, lines = on_a_terminal([command, fits[0], *options], columns, monkeypatch)
    assert code == 0
    _whole(lines, names, columns)


@pytest.mark.few("60")
@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
def test_comparison(columns: int, fits, monkeypatch) -> None:
    code, lines = on_a_terminal(["compare", *fits], columns, monkeypatch)
    assert code == 0
    _whole(lines, [path.stem for path in fits], columns)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(name: str, columns: int, monkeypatch) -> None:
    code, lines = on_a_terminal([name, "--help"] if name else ["--help"], columns, monkeypatch)
    assert code == 0
    copied = "annomodels "  # examples stay in one piece
    _whole([line for line in lines if not line.strip().startswith(copied)], (), columns)
    assert any(line.startswith("Usage: annomodels") for line in lines)


def _whole(lines: list[str], names, columns: int) -> None:
    text = "\n".join(lines)
    assert not fits_in(lines, columns)
    assert not [name for name in names if name not in text]
    assert "━" not in text  # a bar of progress
    short = [len(line.strip()) == 1 for line in lines]
    assert not any(a and b and c for a, b, c in zip(short, short[1:], short[2:], strict=False))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", ["check", "by document", "help"])
def test_screens_are_as_they_were(name: str, columns: int, table: Path, monkeypatch) -> None:
    """ANNOMODELS_WRITE_SCREENS=1 writes them; look at each before it goes in."""
    if name == "help":
        words: list[object] = ["--help"]
    else:
        (command, *options), _ = ON_DATA[name]
        words = [command, table, *options]
    _, lines = on_a_terminal(words, columns, monkeypatch)
    text = "\n".join(lines)
    if name == "by document":  # the last digit of what is drawn may differ between machines
        text = re.sub(r"\d\.\d+", lambda found: re.sub(r"\d", "0", found[0]), text)
    file = SCREENS / f"{name.replace(' ', '-')}-{columns}.txt"
    if os.environ.get("ANNOMODELS_WRITE_SCREENS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_has_no_room_is_named_and_wide_shows_it(fits, monkeypatch) -> None:
    _, narrow = on_a_terminal(["coders", fits[0]], 60, monkeypatch)
    hint = next(n for n, line in enumerate(narrow) if "more columns" in line)
    assert "-v shows all" in " ".join(narrow[hint : hint + 4])
    _, wide = on_a_terminal(["coders", fits[0], "-v"], 60, monkeypatch)
    assert not fits_in(wide, 60)
    assert "more columns" not in "\n".join(wide)
    assert all("\n".join(wide).count(coder) >= 2 for coder in CODERS)
    words = {word for line in wide for word in line.split()}
    assert {"spammer", "adversary", "recall"} <= words


def test_a_name_wider_than_the_terminal_stays_in_one_piece(tmp_path, monkeypatch) -> None:
    rows = [f"{item},{coder},{(k + n) % 2}" for n, item in enumerate((LONG, "s"))
            for k, coder in enumerate("abc")]  # fmt: skip
    path = write_rows(tmp_path / "votes.csv", rows)
    _, lines = on_a_terminal(["agree", path, "--by", "item"], 80, monkeypatch)
    assert not fits_in(lines, 80)
    assert LONG in lines


def test_errors_are_wrapped_and_commands_are_not_broken(tmp_path, monkeypatch) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("a,b\n1,2\n")
    code, lines = on_a_terminal(["agree", path], 60, monkeypatch)
    assert code == 3
    assert not [line for line in lines if size(line) > 60 and str(path) not in line]
    fix = next(n for n, line in enumerate(lines) if line.startswith("  fix:   "))
    assert all(line.startswith(" " * 9) for line in lines[fix + 1 : fix + 2] if line)


def test_messages_during_progress_have_lines_of_their_own(table: Path, monkeypatch) -> None:
    _, lines = on_a_terminal(["agree", table, "--by", "pair"], 80, monkeypatch)
    assert sum(line.startswith("Observed agreement, mean over the pairs: ") for line in lines) == 1


def test_what_was_erased_is_not_seen() -> None:
    assert seen("ab\r\nbar\r\x1b[2K\x1b[1A\x1b[2Kxy\r\nz") == ["xy", "z"]


@pytest.mark.slow
def test_any_table_keeps_its_names_and_its_width(monkeypatch, capsys) -> None:
    """Over all combinations of short and long names, numbers and prose."""
    short = columns("item n label", Column("other", digits=3), "reason votes")
    for width, one, other in itertools.product((40, 60, 80), *[["a", "b" * 19, "c" * 57]] * 2):
        table = pd.DataFrame({
            "item": [one, "x"], "n": [12, 1], "label": [other, "y"], "other": [0.123, np.nan],
            "reason": ["some words " * 5, ""], "votes": ["neg 3", ""],
        })  # fmt: skip
        monkeypatch.setattr(tables, "width_of", lambda _, width=width: width)
        for wide in (False, True):
            tables.draw(table, short=short, wide=wide)
            out, err = capsys.readouterr()
            assert not fits_in(out.split("\n"), width)
            assert one in out.split()
            assert not wide or ("neg 3" in out and "more column" not in err)


@pytest.mark.parametrize("columns", WIDTHS)
def test_coreference(columns: int, tmp_path: Path, monkeypatch) -> None:
    rows = ["*[1]\t*->1-1", "_\t_", "*[2]\t*->2-1", "*[1]\t*->1-2", "*[2]\t*->2-2", "*[1]\t*->1-3"]
    layer = "#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
    head = f"#FORMAT=WebAnno TSV 3.3\n{layer}|referenceType|referenceRelation\n\n\n"
    for document in ("report-one.txt", "report-two.txt"):
        for n, coder in enumerate(("anna.schmidt", "ben")):
            file = tmp_path / "project" / "annotation" / document / f"{coder}.tsv"
            file.parent.mkdir(parents=True, exist_ok=True)
            cells = [*rows[: 5 - n], "_\t_", *rows[6 - n :]]
            words = [f"1-{k + 1}\t{3 * k}-{3 * k + 2}\tw{k}\t{cell}\t" for k, cell in
                     enumerate(cells)]  # fmt: skip
            text = " ".join(f"w{k}" for k in range(6))
            file.write_text(head + f"#Text={text}\n" + "\n".join(words) + "\n")
    words = ["coref", tmp_path / "project", "--by", "document", "--draws", 50]
    code, lines = on_a_terminal(words, columns, monkeypatch)
    assert code == 0
    names = ("report-one.txt", "Krippendorff's alpha, passonneau, inclusive chains [−top]")
    _whole(lines, names, columns)
    text = " ".join(" ".join(lines).split())
    assert text.count("not marked by all coders; see unaligned.csv of -o FOLDER") == 1
    assert "to 1 more text" in text
    assert "with 90 % probability" in text


def test_the_width_is_that_of_the_terminal(monkeypatch) -> None:
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    from annomodels.cli.session import width_of

    leader, follower = pty.openpty()
    monkeypatch.delenv("COLUMNS", raising=False)
    with os.fdopen(leader), os.fdopen(follower, "w") as stream:
        assert width_of(stream) == 80  # it does not say
        termios.tcsetwinsize(follower, (24, 97))
        assert width_of(stream) == 97
        termios.tcsetwinsize(follower, (24, 3))
        assert width_of(stream) == 20
        monkeypatch.setenv("COLUMNS", "66")
        assert width_of(stream) == 66
