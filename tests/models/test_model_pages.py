"""Every model has a page with a picture, and what the examples on it show is true."""

import doctest
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import annomodels as am
from annomodels.models import MODELS

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "models"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem in MODELS)
SECTIONS = tuple(
    f"\n## {name}\n" for name in ("When to use it", "Example", "Formula", "Priors", "Limits")
)


@pytest.fixture(scope="module")
def plates():
    sys.path.insert(0, str(DOCS))
    try:
        import plate_pictures
        import plates

        yield plates, plate_pictures.PICTURES
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_its_sections(page):
    text = page.read_text("utf-8")
    places = [text.find(part) for part in SECTIONS]
    assert places == sorted(places)
    assert places[0] > 0
    assert "$$" in text
    assert f":file: ../generated/plates/{page.stem}.svg" in text
    assert f"(models/{page.name})" in (DOCS / "models.md").read_text("utf-8")


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_an_example_shows_numbers(page):
    """An example is no test: it prints numbers, not True, a shape or names of dimensions."""
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    shown = [e.want for e in doctest.DocTestParser().get_examples("\n".join(blocks)) if e.want]
    empty = re.compile(r"True|False|\([\d, ]*\)|\('chain'.*\)|\[('\w+'(, )?)*\]")
    if page.stem in MODELS:
        assert any(re.search(r"\d\.\d", want) for want in shown)
    assert not [want for want in shown if re.fullmatch(empty, want.strip()) and len(shown) == 1]
    assert "True\n" not in shown
    assert "False\n" not in shown


def _marks(page):
    """Pages whose models only NUTS samples take a minute to compile; reduced runs have one."""
    if "gibbs" in MODELS[page.stem].engines:
        return []
    if page.stem == "scalar-difficulty":
        return [pytest.mark.nuts]
    return [pytest.mark.nuts, pytest.mark.full("Compiles for a minute; reduced runs have a page.")]


def _pages():
    for page in PAGES:
        yield pytest.param(page, id=page.stem, marks=[pytest.mark.calibration, *_marks(page)])
    yield pytest.param(FOLDER / "adding.md", id="adding", marks=pytest.mark.slow)


class Near(doctest.OutputChecker):
    """Compare numbers up to the error of sampling.

    Draws of compiled models depend on how a processor rounds, and then on chance.
    """

    NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")

    def check_output(self, want, got, optionflags):
        numbers = [
            [float(each.replace(",", "")) for each in self.NUMBER.findall(text)]
            for text in (want, got)
        ]
        if "..." in want:  # stands for text without numbers of the page after it
            del numbers[1][len(numbers[0]) :]
        words = [self.NUMBER.sub("#", text) for text in (want, got)]
        same = super().check_output(*words, optionflags) and len(numbers[0]) == len(numbers[1])
        pairs = zip(*numbers, strict=True) if same else ()
        return same and all(abs(x - y) <= max(0.05 * abs(x), 0.11) for x, y in pairs)


def test_numbers_are_near_only_up_to_the_error_of_sampling():
    want = "truth  0    1\n1  4.7 -1.0\n2  1,880  fits\n"
    for got, near in (
        ("truth 0 1\n1 4.6 -0.9\n2 1,883 fits\n", True),
        ("truth 0 1\n1 4.2 -1.0\n2 1,880 fits\n", False),
        ("truth 0 1\n1 4.7 1.0\n2 1,880 fits\n", False),
        ("truth 0 1\n1 4.7 -1.0\n2 1,880 off\n", False),
        ("truth 0 1\n1 4.7 -1.0\n", False),
    ):
        assert Near().check_output(want, got, doctest.NORMALIZE_WHITESPACE) is near


@pytest.mark.parametrize("page", list(_pages()))
def test_the_examples_of_a_page_are_true(page, request):
    if page.stem == "adding":  # it shows no number of a model that is compiled
        request.getfixturevalue("unsampled")
        request.getfixturevalue("uncompiled")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    assert blocks
    test = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {"am": am}, page.stem, str(page), 0
    )
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    said: list[str] = []
    compiled = page.stem in MODELS and "gibbs" not in MODELS[page.stem].engines
    checker = Near() if compiled else doctest.OutputChecker()
    runner = doctest.DocTestRunner(checker, optionflags=flags, verbose=False)
    assert runner.run(test, out=said.append).failed == 0, "".join(said)


def test_every_picture_is_drawn_with_plates_that_hold_their_nodes(plates):
    module, pictures = plates
    missing = [page.stem for page in PAGES if page.stem not in pictures]
    assert missing == []
    for name, picture in pictures.items():
        svg = ElementTree.fromstring(module.draw(picture, name))
        space = "{http://www.w3.org/2000/svg}"
        circles = svg.findall(f"{space}circle")
        nodes = picture.nodes.strip().splitlines()
        assert len(circles) == len(nodes), name
        assert len(svg.findall(f"{space}line")) == len(picture.arrows.split())
        inside = dict(zip((line.split()[0] for line in nodes), circles, strict=True))
        for plate, box in zip(picture.plates, svg.findall(f"{space}rect"), strict=True):
            left, top = float(box.get("x")), float(box.get("y"))
            right, bottom = left + float(box.get("width")), top + float(box.get("height"))
            members = plate.members.split()
            for node, circle in inside.items():
                x, y = float(circle.get("cx")), float(circle.get("cy"))
                within = left < x < right and top < y < bottom
                assert within == (node in members), (name, plate.title, node)


def test_the_page_of_the_default_has_its_priors():
    page = (FOLDER / "hierarchical.md").read_text("utf-8")
    rows = (FOLDER / "dawid-skene.md").read_text("utf-8")
    prior, population = (
        am.models.DawidSkene().confusion,
        am.models.HierarchicalDawidSkene().population,
    )
    share = round(100 * prior.accuracy)
    assert f"\n{prior.strength:g} pseudo-labels, {share} % of them on the right label" in rows
    assert f"\n{population.strength:g} pseudo-labels." in page
    assert f"mean is {round(100 * population.accuracy)} %" in page
    assert f"as much as {population.certainty:g} labels" in page
    concentration = am.models.HierarchicalDawidSkene().concentration
    assert isinstance(concentration, am.priors.LogNormal)
    assert f"median {concentration.median:g}." in page


def test_the_page_of_the_stack_has_its_constants():
    page = (FOLDER / "stack.md").read_text("utf-8")
    stack = am.models.Stack()
    s, u, tilt = stack.spread
    for value in (
        f"$h$ | {stack.halfway:g} |",
        f"$g$ | {stack.tempering:g} |",
        f"$\\lambda$ | {stack.believed:g} |",
        f"$S$, $U$ | {stack.sharpness:g}, {stack.unknown:g} |",
        f"$\\tau_\\beta$ | {s:g}, {u:g}, {tilt:g} |",
        f"$c$ | {stack.skew:g} |",
        f"exponential prior with mean {stack.correlation:g}.",
    ):
        assert value in page
    note = (DOCS / "research" / "stack.md").read_text("utf-8")
    assert f"with $\\rho$ at most {stack.most_weighed:g}." in note
    assert f"exponential prior with mean {stack.correlation:g} " in note
