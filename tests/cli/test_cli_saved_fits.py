"""Commands on saved fits: ``methods``, ``gold --why`` and ``compare``."""

from pathlib import Path

import pytest

import annomodels as am
from annomodels.reporting.methods import bibtex, methods, methods_latex
from tests.cli.rows import rows_of

pytestmark = pytest.mark.slow


def test_each_form_of_methods_is_what_the_function_gives(saved: Path, tmp_path: Path, call) -> None:
    fit = am.load(saved)
    command = str(fit.tree.attrs["command"])
    assert call("report", saved, "--methods", "-").out == methods(fit, command)
    for name, text in (("m.tex", methods_latex(fit, command)), ("m.bib", bibtex(fit))):
        assert call("report", saved, "--methods", tmp_path / name).code == 0
        assert (tmp_path / name).read_text("utf-8") == text


def test_why_holds_every_coder_of_the_item_and_adds_up(saved: Path, call) -> None:
    done = call("gold", saved, "--why", "--item", "3", "--format", "csv")
    assert done.code == 0
    rows = rows_of(done.out)
    assert [row["source"] for row in rows][-2:] == ["(prevalence)", "(sum)"]
    assert {row["source"] for row in rows[:-2]} == {"1", "2", "3", "4", "5"}
    *parts, total = (float(row["log_odds"]) for row in rows)
    assert sum(parts) == pytest.approx(total, abs=1e-3)
    assert "independent of each other" in done.err


def test_fits_of_different_data_are_not_compared(saved: Path, tmp_path: Path, call) -> None:
    other = tmp_path / "other.nc"
    am.fit(
        am.datasets.load("boxcar"), "hierarchical", chains=2, draws=100, seed=1, extend=False
    ).save(other)
    done = call("compare", saved, other)
    assert done.code in (2, 3)
    assert "fitted to different data" in done.err
    assert call("compare", saved, saved).code == 2
