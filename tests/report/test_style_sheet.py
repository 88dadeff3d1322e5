"""The colours of the page: enough contrast, light and dark (WCAG 2.1, 1.4.3 and 1.4.11)."""

import re
from pathlib import Path

import pytest

import annomodels.reporting

CSS = (Path(annomodels.reporting.__file__).parent / "assets" / "style.css").read_text("utf-8")


def colours(block: str) -> dict[str, str]:
    return {
        name: value if len(value) == 6 else "".join(2 * c for c in value)
        for name, value in re.findall(r"--(\w+):#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b", block)
    }


LIGHT = colours(CSS[: CSS.index("@media (prefers-color-scheme:dark)")])
DARK = colours(CSS[CSS.index("prefers-color-scheme:dark") : CSS.index("*{box-sizing")])


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_a_contrast_of_21():
    assert contrast("000000", "ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["card", "bg", "soft"])
@pytest.mark.parametrize("ink", ["ink", "muted", "link", "good", "warn", "bad"])
def test_texts_can_be_read(theme, ink, ground):
    assert contrast(theme[ink], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("mark", ["blue", "orange", "green", "purple", "grey"])
def test_marks_of_plots_can_be_seen(theme, mark):
    assert contrast(theme[mark], theme["card"]) >= 3.0


def test_every_variable_of_the_plots_is_a_colour_of_the_page():
    from annomodels.plots.style import VARIABLES

    wanted = set(re.findall(r"var\(--(\w+)", " ".join(VARIABLES.values())))
    assert wanted
    assert wanted <= set(LIGHT)
    assert wanted <= set(DARK)
