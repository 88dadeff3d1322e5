"""A notebook, executed: every plot of a fit is a picture there, every result a table or a text."""

import re

import pytest

from annomodels.fitting.plots import FitPlots

pytestmark = pytest.mark.calibration

SETUP = """
import annomodels as am
from annomodels import coref
crowd = am.datasets.load("crowd")
grades = am.datasets.load("anesthesia")
few = {"chains": 2, "draws": 100, "seed": 1}
fit = am.fit(crowd, "hierarchical", **few)
hard = am.fit(grades, "scalar-difficulty", **few)
numbers = am.fit(grades.replace(scale="interval"), "interval", **few)
clusters = {"ana": [["a", "b"], ["c"]], "ben": [["a", "b", "c"]], "cy": [["a", "b"], ["c"]]}
texts = [coref.document(name, clusters) for name in "tu"]
links = am.fit(coref.pairs(texts), **few)
truths = dict(list(am.datasets.crowd_truth().truth.items())[:40])
"""
ONLY = {"values": "numbers.plot.values()", "difficulty": "hard.plot.difficulty()"}
PLOTS = {
    name: ONLY.get(name, f"fit.plot.{name}()") for name in dir(FitPlots) if not name.startswith("_")
}
TABLES = (
    *(f"fit.{verb}()" for verb in ("gold", "coders", "items", "labels", "agreement", "next")),
    *("fit.coverage()", "fit.p_next()", "fit.why()", "fit.predictive()", "numbers.gold()"),
    *("am.agreement(grades)", "am.breakdown(crowd, 'label', draws=20)", "am.diagnose(grades)"),
    *("am.compare([fit, fit])", "am.audit(fit, size=20)", "am.estimate(fit, truths)"),
    *("links.mentions()", "coref.agreement_table(texts)", "am.advise(grades)"),
    *("coref.pair_posterior(texts, 100)", "coref.pair_agreement(texts)"),
    "am.design(items=[20], labels_per_item=[2], replications=2)",
)
TEXTS = (
    *("crowd", "fit", "numbers", "links", "fit.check()", "fit.plot", "fit.wrong_labels()"),
    *("am.agreement(grades)['alpha']", "texts[0]", "coref.pairs(texts)"),
    "am.simulate(items=10, coders=5)",
    *("am.models.Stack()", "am.models.MentionPairs()", "am.priors.Beta(8, 4)"),
)


def outputs():
    """Return the data by media type that each cell shows."""
    import nbformat
    from nbclient import NotebookClient

    cells = [SETUP, *PLOTS.values(), *TABLES, *TEXTS]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=600, kernel_name="python3").execute()
    shown = [[out for out in cell.outputs if out.output_type != "stream"] for cell in book.cells]
    return {
        cell.source: {name: value for out in found for name, value in out.data.items()}
        for cell, found in zip(book.cells, shown, strict=True)
    }


def test_every_plot_displays_itself_and_every_result_is_html_with_rounded_numbers():
    shown = outputs()
    assert [name for name, cell in PLOTS.items() if "image/png" not in shown[cell]] == []
    for cell in TABLES:
        html = shown[cell]["text/html"]
        assert "<table" in html, cell
        assert html.count("<tr") <= 80, cell
    assert [cell for cell in TEXTS if "<p>" not in shown[cell].get("text/html", "")] == []
    gold = shown["fit.gold()"]["text/html"]
    assert "12 of 200 rows, least certain first; .table has all." in gold
    assert re.search(r">\d × \w+, \d × \w+", gold)
    assert '<td style="text-align:left">pos</td>' in gold
    items = shown["fit.items()"]["text/html"]
    assert "12 of 200 rows, least certain first; .table has all." in items
    assert ">easy</td>" not in items
    assert "hard or contested" not in items
    assert ">Items</th>" in shown["am.agreement(grades)"]["text/html"]
    advice = shown["am.advise(grades)"]["text/html"]
    assert ">Why</th>" in advice
    assert "log-odds" not in advice
    assert "Verdict: " in shown["fit.check()"]["text/html"]
    assert not re.search("green|amber|gr[ae]y", shown["fit.check()"]["text/html"])
    alpha = shown["am.agreement(grades)"]["text/html"]
    assert " to " in alpha.split("</thead>")[1]
    assert ">Low</th>" not in alpha
