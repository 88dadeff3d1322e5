"""One reporter of progress: lines, a bar in a notebook, and what long runs tell it."""

import sys
from types import SimpleNamespace

import pytest

import annomodels as am
from annomodels import progress
from annomodels.progress import Reporter, reporting, silent


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def notebook(monkeypatch):
    """Give the texts that a kernel would display, in order."""
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)

    def display(made, display_id):
        shown.append(made)
        return handle

    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    return shown


def test_a_long_run_says_once_a_minute_how_far_it_is(capsys, clock) -> None:
    with Reporter() as stages:
        for second in range(0, 200, 10):
            clock[0] = 100.0 + second
            stages("sampling", second / 1000)
    assert capsys.readouterr().err.splitlines() == [
        "sampling ...",
        "sampling 6 %, about 16 minutes left",
        "sampling 12 %, about 15 minutes left",
        "sampling 18 %, about 14 minutes left",
    ]


def test_a_notebook_shows_one_bar_that_goes_when_the_run_is_over(clock, notebook, capsys) -> None:
    with reporting(None) as tell:
        tell("compiling", 0.0, "")  # runs shorter than a second show nothing
        for share in (0.0, 0.5, 2.0):
            clock[0] += 2.0
            tell("sampling", share, "<draws>")
    assert [text.partition("</progress>")[0].partition("value=")[2] for text in notebook] == [
        '"0.000">',
        '"0.500">',
        '"1.000">',
        "",
    ]
    assert "sampling 50 % &lt;draws&gt;" in notebook[1]
    assert capsys.readouterr().err == ""


def test_a_function_that_is_given_takes_the_place_of_the_bar(notebook) -> None:
    with reporting(silent) as tell:
        assert tell is silent
    assert notebook == []


def test_a_design_tells_stage_share_and_message() -> None:
    told = []
    am.design(
        items=20, labels_per_item=[1, 2], replications=2, model="pooled",
        progress=lambda *said: told.append(said),
    )  # fmt: skip
    assert [share for _, share, _ in told] == [0.0, 0.5, 1.0]
    assert told[0] == ("simulating studies", 0.0, "20 items, 20 coders, 1 label per item")
