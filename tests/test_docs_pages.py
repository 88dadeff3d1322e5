"""Tutorials, how-tos and "coming from" pages run; every command and public name is documented."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.cli.main import COMMANDS, load_command
from docs import commands, execute, llms, notebooks
from docs.formulas import known

DOCS = Path(__file__).resolve().parent.parent / "docs"
SECTIONS = ("tutorials", "howto", "guide", "coming-from")
PAGES = [path for folder in SECTIONS for path in sorted((DOCS / folder).glob("*.md"))]


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).with_suffix("").as_posix()


def test_what_code_shows_stands_below_it_and_pages_that_show_nothing_are_told() -> None:
    page = "```python\nx = 6\nprint(x)\n7 * x\n```\nText.\n```python\ny = x\n```\n"
    done = execute.executed(page, "page")
    first, rest = done.split("Text.")
    assert "```text\n6\n42\n```" in first
    assert "```text" not in rest
    assert execute.shows(page, done)
    assert not execute.shows(page, page)
    assert not execute.shows("Text.", "Text.")
    for made in ("plt.figure()", "type('Own', (plt.Figure,), {})()"):
        drawn = f"```python\nimport matplotlib.pyplot as plt\n{made}\n```\n"
        assert "<figure" in execute.executed(drawn, "page")
    with pytest.raises(ZeroDivisionError):
        execute.executed("```python\n1 / 0\n```\n", "page")


def other(page: str, module: str) -> str:
    """Code for another package on a page."""
    (code,) = re.findall(
        rf"^```{{code-block}} python\n:class: {module}\n(.*?)^```$", page, re.M | re.S
    )
    return code


@pytest.mark.slow
def test_nltk_and_this_package_agree_on_the_example() -> None:
    page = (DOCS / "coming-from" / "nltk.md").read_text("utf-8")
    names: dict[str, Any] = {}
    exec("\n".join([*execute.blocks(page), other(page, "nltk")]), names)
    values = names["panel"].table.set_index("coefficient")["value"]
    assert names["found"] == pytest.approx(
        {key: values[key] for key in ("alpha", "multi_kappa", "k")}
    )


def test_krippendorff_and_this_package_agree_on_the_example() -> None:
    page = (DOCS / "coming-from" / "krippendorff.md").read_text("utf-8")
    names: dict[str, Any] = {}
    exec("\n".join([*execute.blocks(page), other(page, "krippendorff")]), names)
    ours = {scale: alpha.value for scale, alpha in names["alphas"].items()}
    assert names["found"] == pytest.approx(ours)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_options_shown_for_commands_exist(path: Path) -> None:
    for name, rest in re.findall(r"^\$ annomodels ([a-z]+)(.*)$", path.read_text("utf-8"), re.M):
        command = load_command(name)
        known = {flag for option in command.params for flag in option.opts}
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", rest.partition("#")[0])) <= known


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = set()
    for path in DOCS.rglob("*.md"):
        for block in re.findall(r"^```{toctree}\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            for entry in entries:
                listed.add(name_of((path.parent / f"{entry}.md").resolve()))
    assert set(llms.pages(DOCS)) - listed == {"research/index"}  # linked from every footer


def test_every_command_has_a_page_with_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = commands.pages()
    index = (DOCS / "cli.md").read_text("utf-8")
    assert set(pages) == set(COMMANDS)
    for name, page in pages.items():
        assert page.startswith(f"# `annomodels {name}`\n")
        assert f"Usage: annomodels {name} " in page
        assert f"    annomodels {name}" in page, "an example"
        assert f"(generated/cli/{name}.md)" in index


def test_every_public_name_is_documented() -> None:
    import annomodels

    page = (DOCS / "api.md").read_text("utf-8")
    listed = set(re.findall(r"^   (\w+)(?:\.\w+)*$", page, flags=re.M))
    listed |= set(re.findall(r"^\.\. auto\w+:: annomodels\.(\w+)", page, flags=re.M))
    coref = (DOCS / "coref-api.md").read_text("utf-8")
    listed |= {"coref"} if "annomodels.coref" in coref else set()
    listed |= {"compat"}  # the module of Aggregator and from_hf, which are listed themselves
    assert set(annomodels.__all__) - listed == set()


def test_the_map_for_language_models_lists_every_page_once() -> None:
    text = llms.llms_text(DOCS)
    links = re.findall(r"\]\(([\w/-]+)\.html\)", text)
    assert sorted(links) == sorted(llms.pages(DOCS))
    assert all((DOCS / f"{link}.md").exists() for link in links)
    assert "pip install annomodels" not in text  # nothing is released
    for name in set(re.findall(r"\bam\.(\w+)", text)):
        assert name in am.__all__
    for name in set(re.findall(r"\bfit\.(\w+)", text)) - {"plot"}:
        assert callable(getattr(am.Fit, name))


def test_notebooks_have_the_code_of_the_tutorials() -> None:
    for path in sorted((DOCS / "tutorials").glob("*.md")):
        page = path.read_text("utf-8")
        made = notebooks.notebook(page)
        code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
        assert code == [block.strip() for block in execute.blocks(page)]
        assert path.stem == "index" or len(code) > 5


def test_the_docs_folder_is_left_as_it_was() -> None:
    assert str(DOCS) not in sys.path


def formulas() -> Iterator[tuple[str, str]]:
    """Formulas of the pages and of the docstrings, with their files."""
    for path in DOCS.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.M | re.S)
        for formula in re.findall(r"\$\$(.+?)\$\$", text, re.S):
            yield formula, path.name
    for path in (DOCS.parent / "annomodels").rglob("*.py"):
        text = path.read_text("utf-8")
        for formula in re.findall(r"\.\. math:: *((?:.+\n)+)", text):
            yield formula.split('"""')[0].replace("\\\\", "\\"), path.name
        for formula in re.findall(r":math:`([^`]+)`", text):
            yield formula, path.name


def test_every_formula_can_be_drawn() -> None:
    from docutils.utils.math import latex2mathml

    found = list(formulas())
    assert len(found) > 50
    for formula, where in found:
        try:
            latex2mathml.tex2mathml(known(formula), as_block=True)
        except Exception as error:
            pytest.fail(f"{where}: {error}: {formula}")


def by_maximum_likelihood(votes: pd.DataFrame, rounds: int = 100) -> pd.Series:
    """EM of Dawid and Skene from the votes, without a prior: what crowd-kit does."""
    codes = {name: votes[name].astype("category") for name in ("task", "worker", "label")}
    task, worker, label = (codes[name].cat.codes.to_numpy() for name in codes)
    sizes = [len(codes[name].cat.categories) for name in codes]
    truth = np.zeros((sizes[0], sizes[2]))
    np.add.at(truth, (task, label), 1.0)
    truth /= truth.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        errors = np.zeros((sizes[1], sizes[2], sizes[2]))  # worker, label, truth
        np.add.at(errors, (worker, label), truth[task])
        errors /= np.maximum(errors.sum(axis=1, keepdims=True), 1e-300)
        logs = np.tile(np.log(truth.mean(axis=0)), (sizes[0], 1))
        np.add.at(logs, task, np.log(np.maximum(errors[worker, label], 1e-10)))
        truth = np.exp(logs - logs.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
    names = codes["label"].cat.categories[truth.argmax(axis=1)]
    return pd.Series(names, index=codes["task"].cat.categories)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # its calls of pandas are deprecated
def test_crowd_kit_gives_nearly_the_same_labels_on_the_example() -> None:
    page = (DOCS / "coming-from" / "crowd-kit.md").read_text("utf-8")
    names: dict[str, Any] = {}
    exec(execute.blocks(page)[0], names)
    ours = names["labels"]
    theirs = [by_maximum_likelihood(names["votes"])]
    if importlib.util.find_spec("crowdkit"):
        exec(other(page, "crowdkit"), names)
        theirs.append(names["labels"])
    for labels in theirs:
        assert (ours == labels.loc[ours.index]).mean() > 0.95
    assert (theirs[0] == theirs[-1].loc[theirs[0].index]).mean() > 0.99


WIDEST = 103  # characters of a line of code that a page shows at 1440 px
SHOWN = re.compile(r"\.(?:gold|coders|items|why|labels|prevalence)\([^)]*\)\.table\[\[([^\]]*)\]\]")
SEEN_ANYWAY = {
    *("item", "label", "probability", "state", "votes", "overturned", "runner_up", "reason", "n"),
    *("coder", "kind", "advice", "bias", "source", "said", "log_odds", "given", "share", "low"),
    *(f"{name}{end}" for name in ("share_right", "prevalence") for end in ("", "_low", "_high")),
    "high",
}


def written() -> list[Path]:
    return [
        path for path in sorted(DOCS.rglob("*.md")) if not {"_build", "generated"} & {*path.parts}
    ]


@pytest.mark.parametrize("path", written(), ids=name_of)
def test_pages_show_tables_as_people_see_them(path: Path) -> None:
    """A list of columns is for what a table does not show anyway."""
    for columns in SHOWN.findall(path.read_text("utf-8")):
        assert not set(re.findall(r"\w+", columns)) <= SEEN_ANYWAY, columns


@pytest.mark.parametrize("path", written(), ids=name_of)
def test_examples_show_more_than_true_and_no_line_is_cut(path: Path) -> None:
    page = path.read_text("utf-8")
    for block in re.findall(r"^```pycon\n(.*?)^```", page, re.M | re.S):
        lines = block.splitlines()
        assert not {"True", "False"} & set(lines)
        assert max(map(len, lines)) <= WIDEST
    for block in execute.blocks(page):
        assert "print(bool(" not in block
        assert not block.splitlines()[-1].startswith("bool(")


def test_tutorials_fit_the_default() -> None:
    for path in sorted((DOCS / "tutorials").glob("*.md")):
        assert '"hierarchical"' not in path.read_text("utf-8"), path.name
