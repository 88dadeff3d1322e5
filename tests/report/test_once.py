"""Each summary is computed once, whatever is made from it."""

import dataclasses
from collections import Counter

import pytest

from annomodels.cli.jobs import names_of, write_outputs
from annomodels.cli.options import Job, Sampling
from annomodels.reporting.facts import Facts
from annomodels.summaries.trust.checks import VERDICTS, check

pytestmark = pytest.mark.slow

COSTLY = {
    "annomodels.summaries.trust.predictive": ("aspects",),
    "annomodels.summaries.trust.checks": ("check",),
    "annomodels.summaries.labels": ("scheme", "draw_values"),
    "annomodels.summaries.agreement": ("agreement",),
    "annomodels.summaries.items": ("items",),
    "annomodels.summaries.gold": ("gold", "wrong_labels"),
}


@pytest.fixture
def calls(monkeypatch):
    counts: Counter[str] = Counter()

    def counted(name, plain):
        def call(*args, **options):
            counts[name] += 1
            return plain(*args, **options)

        return call

    for module, names in COSTLY.items():
        loaded = pytest.importorskip(module)
        for name in names:
            monkeypatch.setattr(loaded, name, counted(name, getattr(loaded, name)))
    return counts


def test_all_files_of_a_run_share_what_was_computed(crowd, calls, tmp_path):
    fit = dataclasses.replace(crowd)
    (tmp_path / "out").mkdir()
    sampling = Sampling(None, None, (), None, {})
    job = Job("", "", False, {}, sampling)
    write_outputs(job, Facts(fit), tmp_path / "out", names_of(job))
    assert fit.check().verdict in VERDICTS
    assert set(calls.values()) == {1}


def test_a_check_without_predictive_checks_says_nothing_of_them(crowd):
    quick, full = check(crowd.tree, crowd.data, ()), crowd.check()
    assert set(quick.table["name"]) < set(full.table["name"])
    assert "use of labels" not in set(quick.table["name"])
    assert "reproduces" not in " ".join(quick.sentences)
    assert bool(quick) == bool(full)
