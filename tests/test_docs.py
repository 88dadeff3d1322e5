"""What the documentation shows is true: its Python runs, its commands and files exist."""

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from annomodels.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT / "docs").parts[0] not in ("generated", "tables", "_build")
    ),
]


def blocks(page: Path, language: str) -> list[str]:
    found: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return found


@pytest.fixture(scope="module")
def modules() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "docs"))
    names = ("evidence", "execute", "readme")
    try:
        found = {name: importlib.import_module(name) for name in names}
        yield SimpleNamespace(**found)  # type: ignore[misc]
    finally:
        sys.path.remove(str(ROOT / "docs"))
        for name in names:
            sys.modules.pop(name, None)


def run(code: str) -> None:
    exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})


def test_the_readme_is_short_and_has_the_measured_numbers(modules: ModuleType) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 90
    assert text == modules.readme.with_evidence(text), "run python docs/readme.py"
    paper = (ROOT / "paper.md").read_text("utf-8")
    assert paper == modules.readme.with_evidence(paper), "run python docs/readme.py"
    assert modules.evidence.FIGURE.read_text("utf-8") == modules.evidence.figure()


@pytest.fixture(scope="module")
def measured(benchmark_script) -> str:
    """Text that benchmarks/truth.py writes of three data sets of two families."""
    truth = benchmark_script("truth")
    sets = {
        "snow_rte": _set(truth, low=5.0, covered=True, ratio=0.6),
        "snow_wsd": _set(truth, low=5.0, covered=True, ratio=0.8),
        "dices": _set(truth, low=22.0, covered=False, ratio=1.1),
    }
    return "\n".join(truth.table(sets))


def _set(truth: ModuleType, low: float, covered: bool, ratio: float) -> dict[str, dict[str, Any]]:
    """Rows of a data set: in sample twice as good as with its family left out, and covered."""
    votes = {"accuracy": 0.8, "log_loss": 0.5}
    stack = {"accuracy": 0.7, "log_loss": ratio / 4, "half_width": 1.0, "covered": True}
    stack |= {"wrong": 20.0, "expected_wrong": 20.0, "low": 5.0, "high": 40.0}
    stack |= {"coders": 10, "coders_covered": 9, "classes": 2, "prevalence_covered": 2}
    left = {"log_loss": ratio / 2, "half_width": 1.0, "covered": covered}
    left |= {"wrong": 20.0, "expected_wrong": 30.0, "low": low, "high": 60.0}
    more = {f"{row}+{n}": votes for row in ("votes", "stack") for n in truth.KNOWN}
    return {"votes": votes, "hierarchical": votes, "stack": stack, "left out": left, **more}


def test_promises_of_the_evidence_are_those_with_the_family_left_out(
    modules: ModuleType, measured: str
) -> None:
    found = modules.evidence.numbers(measured)
    assert (found["sets"], found["families"], found["covered"]) == ("3", "2", "2")
    assert (found["missed"], found["worse_probabilities"]) == ("dices", "dices")
    assert found["worse"] == "snow_rte, snow_wsd and dices"
    # families count alike: (0.7 + 1.1) / 2; data sets: (0.6 + 0.8 + 1.1) / 3
    assert (found["log_loss"], found["log_loss_of_sets"]) == ("10 % lower", "17 % lower")
    assert (found["right_votes"], found["right_stack"]) == ("80.0 %", "70.0 %")
    assert found["coders_covered"] == "90 %"
    assert modules.evidence.rows(measured)[0].expected == 30
    told = modules.evidence.sentences(measured)["readme"]
    assert "3 public data sets (2 families) left out" in told
    assert "wrong gold labels on 2." in told
    assert told.index("left out") < told.index("In sample") < told.index("70.0 %")
    assert modules.evidence.figure(measured).count("<circle") == 4  # one is the legend


@pytest.mark.parametrize("lost", ["left out 0.833 (0.900)", "Right labels: votes"])
def test_a_number_that_the_table_lacks_is_named(
    lost: str, modules: ModuleType, measured: str
) -> None:
    assert lost in measured
    with pytest.raises(ValueError, match="lacks"):
        modules.evidence.numbers(measured.replace(lost, ""))


def test_a_page_that_states_the_coverage_says_how_it_was_measured() -> None:
    for page in PAGES:
        text = " ".join(page.read_text("utf-8").split())
        if "{{ covered }}" in text:
            assert re.search("famil[a-z]+ (was )?(of each )?left out|without its family", text), (
                page
            )
            assert "{{ sets }}" in text, page


def shape(text: str) -> list[str]:
    """First words of the lines of an output: what stays when numbers change."""
    words = [re.findall(r"[A-Za-z_/.]+", line)[:1] for line in text.splitlines() if line.strip()]
    return [word[0] for word in words if word]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_shows_an_output_that_contradicts_itself(page: Path, modules: ModuleType) -> None:
    """The build checks outputs as it makes them; these are the ones that pages hold."""
    assert not [line for text in blocks(page, "text") for line in modules.execute.untrue(text)]


OLD_TABLE = """\
quantity     label                   value                   audit                   model
──────────────────────────────────────────────────────────────────────────────────────────
wrong                        22 (14 to 33)            23 (8 to 49)             9 (3 to 21)
still_wrong                   11 (3 to 22)                       –                       –
"""


@pytest.mark.parametrize(
    ("said", "bad"),
    [
        ("The probabilities are not reliable for these data.", True),
        ("11 of 60 audited gold labels were wrong (expected: 1 to 9).", True),
        ("9 of 60 audited gold labels were wrong (expected: 1 to 9).", False),
        ("1,022 gold labels are wrong, 900 expected (801 to 1,010)", True),
        ("1,002 gold labels are wrong, 900 expected (801 to 1,010)", False),
        ("18 of 24 intervals contain the actual share of right labels.", True),
        ("22 of 24 intervals contain the actual share of right labels.", False),
        (OLD_TABLE, True),
        (OLD_TABLE.replace("23 (8", "21 (8"), False),
    ],
)
def test_an_output_that_contradicts_itself_is_found(
    said: str, bad: bool, modules: ModuleType
) -> None:
    assert bool(modules.execute.untrue(said)) is bad


def test_a_page_whose_output_contradicts_itself_is_not_built(modules: ModuleType) -> None:
    page = "```python\nprint('The probabilities are not reliable for these data.')\n```\n"
    with pytest.raises(RuntimeError, match="contradicts itself"):
        list(modules.execute.outputs(page, "page"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_prices_are_no_formulas(page: Path) -> None:
    """A formula between dollars is no prose: ``$0.06 and a label costs $2`` is two prices."""
    for line in blocks_removed(page.read_text("utf-8")).split("\n\n"):
        for formula in re.findall(r"(?<![\\$])\$(?!\$)([^$]+)(?<!\\)\$", line):
            prose = re.sub(r"\\\w+(\{[^}]*\})?", "", formula)
            assert not re.search(r"[a-z]{4,} [a-z]{2,}", prose), formula


def blocks_removed(text: str) -> str:
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_blocks_of_the_readme_run_in_order_and_show_their_output(modules: ModuleType) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    quick = text.replace("--seed 1 -q", "--seed 1 -q --draws 100 --sampler warmup=60")
    quick = quick.replace("am.fit(data, seed=1)", "am.fit(data, seed=1, draws=100, warmup=60)")
    assert quick.count("warmup=60") == 2
    shown = [shape(block) for block in blocks(ROOT / "README.md", "text")[1:]]
    done = [said for _, (said, _) in modules.execute.outputs(quick, "README")]
    assert [shape(said)[:2] for said in done] == [block[:2] for block in shown]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_on_the_page_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    used = set(re.findall(r"(?:^\$ |`)annomodels ([a-z]+)", text, flags=re.MULTILINE))
    assert used <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^\$ |`)make ([a-z]+)", text, flags=re.MULTILINE)) <= targets


def test_links_between_files_lead_somewhere() -> None:
    generated = {f"generated/cli/{name}.md" for name in COMMANDS}
    broken = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
        for link, anchor in re.findall(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)", text):
            target = page.parent / link if link else page
            if link in generated or not (link or anchor):
                continue
            heads = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.M) if anchor else []
            slugs = {re.sub(r"[^\w\s-]", "", head.lower()).replace(" ", "-") for head in heads}
            if not target.exists() or (anchor and anchor[1:] not in slugs):
                broken.append(f"{page.name}: {link}{anchor}")
    assert not broken


def test_the_command_line_page_has_every_exit_code() -> None:
    from annomodels.cli import exits

    codes = {v for v in vars(exits).values() if isinstance(v, int) and not isinstance(v, bool)}
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert not [code for code in codes if f"| {code} |" not in page]


def test_the_citation_names_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    version = project["tool"]["hatch"]["version"]["fallback-version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
