"""What the documentation shows is true: its Python runs, its commands and files exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of a page in one language."""
    found: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return found


def run(code: str) -> None:
    exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})


@pytest.fixture
def in_a_folder_with_votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the votes.csv that the pages speak of: some items of the crowd."""
    import annomodels as am

    crowd = am.datasets.load("crowd")
    chosen = crowd.select(items=crowd.items[:40])
    rows = zip(chosen.item, chosen.coder, chosen.label, strict=True)
    lines = [f"{chosen.items[i]},{chosen.coders[j]},{chosen.labels[k]}" for i, j, k in rows]
    (tmp_path / "votes.csv").write_text("\n".join(["sentence,worker,tag", *lines]) + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.few("README.md")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
@pytest.mark.usefixtures("in_a_folder_with_votes")
def test_the_quick_starts_run(name: str) -> None:
    code = "\n".join(blocks(ROOT / name, "python"))
    assert "am.fit" in code
    run(code)
    assert Path("votes.nc").stat().st_size > 0
    assert "<html" in Path("report.html").read_text("utf-8")


def test_the_readme_quick_start_is_short() -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 12


def test_the_concepts_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "concepts.md"
    run("\n".join(blocks(page, "python")))
    assert capsys.readouterr().out == blocks(page, "text")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_on_the_page_exist(page: Path) -> None:
    from annomodels.cli.main import COMMANDS

    text = page.read_text("utf-8")
    used = set(re.findall(r"(?:^\$ |`)annomodels ([a-z]+)", text, flags=re.MULTILINE))
    assert used <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^\$ |`)make ([a-z]+)", text, flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_files_that_the_page_points_at_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_command_line_page_has_every_exit_code() -> None:
    from annomodels.cli import exits

    codes = {v for v in vars(exits).values() if isinstance(v, int) and not isinstance(v, bool)}
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert not [code for code in codes if f"| {code} |" not in page]


def test_the_citation_names_this_version() -> None:
    import annomodels

    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {annomodels.__version__}\n" in text
