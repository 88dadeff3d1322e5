"""The page on coefficients: its code runs and prints what stands there; its list is complete."""

import re
from pathlib import Path

import annomodels as am
from annomodels.coefficients.distances import DISTANCES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coefficients.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_prints_what_it_says(capsys):
    exec(compile("\n".join(blocks("python")), "<page>", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_every_coefficient_and_distance_is_on_the_page():
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert set(am.coefficients.table()["coefficient"]) <= named
    assert set(DISTANCES) <= named
