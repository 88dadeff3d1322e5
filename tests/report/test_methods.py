"""The methods section: every number with its interval, every citation with its entry."""

import re
from itertools import pairwise

import pytest

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.models.catalog import MODELS
from annomodels.reporting.methods import bibtex, methods, methods_latex, references
from annomodels.reporting.words import as_latex, as_markdown, by_citation, by_doi, name, sources


@pytest.fixture(scope="module")
def fit() -> am.Fit:
    """Fit the anesthesia data, with names that Markdown and LaTeX would read as commands."""
    data = am.datasets.load("anesthesia").replace(labels=("a_b", "50 %", "#{c}", "d\\e"))
    return am.fit(data, "hierarchical", chains=2, draws=200, seed=3)


@pytest.mark.slow
def test_every_key_that_is_cited_has_its_entry_and_no_other(fit: am.Fit) -> None:
    text = methods_latex(fit)
    cited = {key for keys in re.findall(r"\\citep\{([^}]*)\}", text) for key in keys.split(",")}
    entries = re.findall(r"^@\w+\{(\w+),", bibtex(fit), flags=re.M)
    assert cited <= set(entries)
    in_table = fit.agreement().table["coefficient"]
    of_table = {by_doi(COEFFICIENTS[coefficient].doi).key for coefficient in in_table}
    assert set(entries) == cited | of_table
    assert entries[0] == "carpenter2008"


@pytest.mark.slow
def test_markdown_names_each_source_it_lists(fit: am.Fit) -> None:
    text = methods(fit)
    for source in references(fit):
        assert f"\n* {source.text}" in text
        assert f"{source.key},\n" in text
    assert "(Carpenter 2008; Dawid & Skene 1979)" in text


@pytest.mark.slow
def test_names_are_escaped_for_each_format(fit: am.Fit) -> None:
    assert r"(a\_b, 50 %, \#\{c\} and d\\e)" in methods(fit)
    assert r"(a\_b, 50~\%, \#\{c\} and d\textbackslash{}e)" in methods_latex(fit)


@pytest.mark.slow
def test_latex_has_no_bare_sign_and_closes_what_it_opens(fit: am.Fit) -> None:
    text = methods_latex(fit, "annomodels run my_file.csv --fail-if 'a<50%'")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert not re.search(r"(?<!\\)[%#]", body)
    for at in (m.start() for m in re.finditer("_", body)):
        assert body[at - 1] == "\\"
    plain = body.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", body) == ["table", "tabular"]
    rows = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(rows) == len(fit.agreement().table) + 1
    assert all(a.count(" & ") == b.count(" & ") for a, b in pairwise(rows))
    assert not re.search("[\ue000-\ue002]", text)


@pytest.mark.slow
def test_every_estimate_of_the_text_has_an_interval(fit: am.Fit) -> None:
    worst = fit.coders().table.sort_values("share_right").iloc[0]  # as everywhere else
    text = " ".join(methods(fit).split())
    low, high = worst["share_right_low"], worst["share_right_high"]
    said = f"{worst['share_right']:.2f} (95 % interval {low:.2f} to {high:.2f})"
    assert f"{said} for the worst" in text
    assert re.search(r"expected to be wrong, and [\d.]+ of the majority's \(95 % interval", text)
    assert re.search(r"of the gold labels \(95 % interval [\d.]+ to [\d.]+\) are expected", text)
    assert re.search(r"items like these [\d.]+ % to [\d.]+ %, 95 % interval\)", text)


@pytest.mark.slow
def test_the_table_is_that_of_the_fit(fit: am.Fit) -> None:
    row = fit.agreement().table.set_index("coefficient").loc["alpha"]
    cells = [line for line in methods(fit).splitlines() if line.startswith(f"| {row['title']}")]
    assert len(cells) == 1
    assert f"| {row['value']:.2f} | [{row['low']:.2f}, {row['high']:.2f}] |" in cells[0]
    # draws cannot show that a probability is 0
    assert not re.search(r"probability 0\.00|\| 0\.00 \| 0\.00 \|", methods(fit))
    assert "<0.01 |" in methods(fit)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_the_source_of_every_model_is_in_the_bibliography(model: str) -> None:
    citation = MODELS[model].citation
    known = {source.key for source in by_citation(citation)} - {"annomodels"}
    years = re.findall(r"\((\d{4})\)", citation)
    wanted = len(years) + citation.startswith("doi:")
    assert len(known) == wanted, f"Put {citation} into annomodels/reporting/assets/references.bib."


def test_the_source_of_every_coefficient_is_in_the_bibliography() -> None:
    known = {source.short for source in sources().values()}
    lacking = [
        entry.citation
        for entry in COEFFICIENTS.values()
        if by_doi(entry.doi) is None and entry.citation.replace("Kopec", "Kopeć") not in known
    ]
    assert not lacking


def test_sources_are_complete() -> None:
    for key, source in sources().items():
        assert source.title
        assert source.author
        assert source.year.isdigit() or key == "annomodels"
        assert source.year in key
        assert source.text.count("..") == 0
        assert source.bibtex.count("{") == source.bibtex.count("}")


def test_marks_in_names_cannot_forge_a_citation() -> None:
    forged = name("\ue001rubin1981\ue002")
    assert as_markdown(forged) == "rubin1981"
    assert as_latex(forged) == "rubin1981"
