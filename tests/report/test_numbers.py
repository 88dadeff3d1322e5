"""The page on numbers: the same page, with what numbers have and without what they have not."""

import re

import numpy as np
import pytest

import annomodels as am
from annomodels.reporting.methods import methods, methods_latex


@pytest.fixture(scope="module")
def fit() -> am.Fit:
    """Fit ratings of which one coder turned the scale round."""
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 15, 30)
    rows = [
        (f"i{i}", coder, round(50 + bias + scale * (truth[i] - 50) + rng.normal(0, 4), 1))
        for i in range(30)
        for coder, bias, scale in (("ana", 0, 1), ("ben", -9, 1), ("cem", 0, 1.2), ("odd", 0, -1))
    ]
    data = am.Annotations.from_records(rows, scale="interval")
    return am.fit(data, "interval", chains=2, draws=200, seed=1)


@pytest.mark.slow
def test_the_page_has_what_numbers_have_and_says_what_they_have_not(fit, tmp_path):
    html = am.report(fit, tmp_path / "r.html", command="run <x>").read_text("utf-8")
    assert re.findall(r"<section id=([\w-]+)", html) == [
        *("summary", "items-section", "coders-section", "agreement-section", "data", "believe"),
        *("methods", "left-out"),
    ]
    assert "<dt>Labels</dt><dd>Left out: numbers have no classes.</dd>" in html
    assert re.findall(r'<svg class="plot"[^>]*aria-labelledby="fig-(\w+)', html) == [
        *("values", "bias", "scale", "noise")
    ]
    rows = re.findall(r"<th scope=row><bdi>(.*?)</bdi></th><td><span class=\"tag (\w+)", html)
    assert ("odd", "reversed") in rows
    assert "<b>Talk to odd</b>" in html
    value = fit.gold().table["value"].max()
    assert f">{value:.1f}<small>" in html
    assert len(html.encode()) < 600_000
    assert ">nan" not in html.lower()


@pytest.mark.slow
def test_what_numbers_cannot_be_judged_by_is_refused(fit, tmp_path):
    for more in ({"others": [fit]}, {"target": 0.8}):
        with pytest.raises(am.errors.NotApplicable, match=r"does not apply to this fit: .*class"):
            am.report(fit, tmp_path / "r.html", **more)


@pytest.mark.slow
def test_the_methods_section_tells_of_values(fit):
    text = methods(fit)
    assert "The true values were inferred with the interval model" in " ".join(text.split())
    alpha = fit.agreement().table.set_index("coefficient").loc["alpha, new coders"]
    assert f"{alpha['value']:.2f} (95 % interval {alpha['low']:.2f} to" in text
    assert "## Agreement coefficients" not in text
    assert "@book{krippendorff2019" in text
    assert "\\begin{table}" not in methods_latex(fit)
