"""A run that was killed goes on, and draws what it would have drawn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from crowds import draws, p_truth, simulate

import annomodels as am
from annomodels.engines.chain import Chain
from annomodels.errors import NotApplicable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals work differently there"),
]

OPTIONS = {"chains": 2, "draws": 700, "warmup": 60, "seed": 4, "extend": False}
EVERY = {"checkpoint_every": 0.0}

KILLED = """
import os, signal, sys
import numpy as np
sys.path.insert(0, {folder!r})
from crowds import simulate
import annomodels as am

def progress(stage, share, message):
    if stage == "sampling" and share > 0.3:
        os.kill(os.getpid(), signal.SIGKILL)

am.fit(simulate(np.random.default_rng(2))[0], checkpoint={path!r}, checkpoint_every=0.0,
       progress=progress, **{options!r})
"""


@pytest.fixture(scope="module")
def data():
    return simulate(np.random.default_rng(2))[0]


@pytest.fixture(scope="module")
def reference(data):
    return am.fit(data, "hierarchical", **OPTIONS)


@pytest.fixture(autouse=True)
def signals():
    """Signals work even where the tests run in the background, with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def assert_same(fit, reference, atol=1e-12):
    for name in reference.tree["posterior"].data_vars:
        np.testing.assert_array_equal(draws(fit, name), draws(reference, name))
    for name in ("p_truth", "p_truth_mcse", "conditional_entropy"):
        found, wanted = fit.tree["truth"][name].values, reference.tree["truth"][name].values
        np.testing.assert_allclose(found, wanted, atol=atol)
    for name in ("relabelled_share", "thin", "iterations"):
        assert fit.tree.attrs[name] == reference.tree.attrs[name]


def press(number, at_stage, at_share=0.0):
    """Progress that sends this process a signal once."""
    sent = []

    def progress(stage, share, message):
        if stage == at_stage and share > at_share and not sent:
            sent.append(share)
            os.kill(os.getpid(), number)

    return progress


def test_a_run_that_was_killed_goes_on(tmp_path, data, reference):
    path = str(tmp_path / "run.checkpoint")
    script = KILLED.format(folder=str(Path(__file__).parent), path=path, options=OPTIONS)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    fit = am.fit(data, "hierarchical", checkpoint=path, resume=True, **OPTIONS)
    assert_same(fit, reference)
    assert [each.name for each in tmp_path.iterdir()] == ["run.checkpoint"]


@pytest.mark.calibration
@pytest.mark.parametrize("executor", [None, "threads"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_interrupted_goes_on(tmp_path, data, reference, executor, number):
    there = {"checkpoint": tmp_path / "a", "executor": executor, **OPTIONS}
    first = am.fit(data, "hierarchical", progress=press(number, "sampling", 0.01), **there)
    assert first.tree.attrs["stopped"] == "interrupted"
    assert first.tree["posterior"].sizes["draw"] < OPTIONS["draws"]
    fit = am.fit(data, "hierarchical", resume=True, **there)
    assert fit.tree.attrs["stopped"] == ""
    assert_same(fit, reference)
    # what is done is not done again
    told = []
    again = am.fit(data, "hierarchical", resume=True, progress=lambda *a: told.append(a), **there)
    assert_same(again, reference)
    assert "warm-up" not in {stage for stage, _, _ in told}


def test_an_interrupted_warm_up_goes_on_elsewhere(tmp_path, data, reference):
    there = {"checkpoint": tmp_path / "a", **OPTIONS}
    with pytest.raises(KeyboardInterrupt):
        am.fit(data, "hierarchical", progress=press(signal.SIGINT, "warm-up"), **there)
    assert_same(am.fit(data, "hierarchical", resume=True, executor="threads", **there), reference)


@pytest.mark.few("None-sampling")
@pytest.mark.parametrize("stage", ["warm-up", "sampling"])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_chains_that_stand_at_different_iterations_go_on(
    stage, executor, tmp_path, data, reference, monkeypatch
):
    there = {"checkpoint": tmp_path / "a", **OPTIONS}
    whole, keys = Chain.advance, []

    def uneven(chain, iterations, thin, kept, stop):
        keys.append(chain.key)
        share = 1 if chain.key == keys[0] else 2
        whole(chain, -(-iterations // share), thin, kept, stop)

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(Chain, "advance", uneven)
        am.fit(data, "hierarchical", progress=press(signal.SIGINT, stage), **EVERY, **there)
    with np.load(tmp_path / "a") as file:
        first, second = json.loads(str(file["head"]))["place"]["iterations"]
    assert first != second  # which of the two is ahead depends on whose thread came first
    assert_same(am.fit(data, "hierarchical", resume=True, executor=executor, **there), reference)


@pytest.mark.calibration
def test_stages_go_on(tmp_path):
    """Interrupted in a stage that followed another, of draws kept in single precision."""
    data, _ = simulate(np.random.default_rng(3), n_items=150, n_coders=60, per_item=3, accuracy=0.6)
    memory = data.n_coders * 9 * 8 * 4 * 90
    options = {"draws": 150, "warmup": 20, "seed": 1, "memory": memory}
    wanted = am.fit(data, "hierarchical", **options)
    assert wanted.tree["posterior"]["confusion"].dtype == np.float32
    assert int(wanted.tree.attrs["thin"]) > 2
    seen = []

    def progress(stage, share, message):
        if message == "keeping 1 draw in 2" and share > 0.2 and not seen:
            seen.append(share)
            os.kill(os.getpid(), signal.SIGINT)

    there = {"checkpoint": tmp_path / "a", **options}
    am.fit(data, "hierarchical", progress=progress, **there)
    assert seen
    # draws in single precision say of the items what they say in single precision
    assert_same(am.fit(data, "hierarchical", resume=True, **there), wanted, atol=1e-5)


def test_em_goes_on(tmp_path, data):
    options = {"engine": "em", "starts": 4, "seed": 1}
    wanted = am.fit(data, "dawid-skene", **options)
    there = {"checkpoint": tmp_path / "a", **EVERY, **options}
    seen = []

    def progress(stage, share, message):
        if message == "start 3" and not seen:
            seen.append(share)
            os.kill(os.getpid(), signal.SIGTERM)

    first = am.fit(data, "dawid-skene", progress=progress, **there)
    assert first.tree.attrs["stopped"] == "interrupted"
    fit = am.fit(data, "dawid-skene", resume=True, **there)
    np.testing.assert_allclose(p_truth(fit), p_truth(wanted), atol=1e-4)
    assert int(fit.tree.attrs["best_start"]) == int(wanted.tree.attrs["best_start"])


def test_the_seed_is_that_of_the_checkpoint(tmp_path, data):
    options = {**OPTIONS, "draws": 40}
    del options["seed"]
    there = {"checkpoint": tmp_path / "a", **options}
    first = am.fit(data, "hierarchical", **there)
    assert am.fit(data, "hierarchical", resume=True, **there).seed == first.seed


def test_a_checkpoint_of_another_run_is_refused(tmp_path, data):
    path = tmp_path / "a"
    options = {**OPTIONS, "draws": 40}
    am.fit(data, "hierarchical", checkpoint=path, **options)
    other = simulate(np.random.default_rng(5))[0]
    with pytest.raises(NotApplicable, match=r"There is a checkpoint .*resume=True"):
        am.fit(data, "hierarchical", checkpoint=path, **options)
    options |= {"checkpoint": path, "resume": True}
    with pytest.raises(NotApplicable, match=r"is a checkpoint of other data\. Give its own"):
        am.fit(other, "hierarchical", **options)
    with pytest.raises(NotApplicable, match="of another model or of other priors"):
        am.fit(data, "dawid-skene", **options)
    with pytest.raises(NotApplicable, match="of a run with draws 40, not 50"):
        am.fit(data, "hierarchical", **{**options, "draws": 50})
    with pytest.raises(NotApplicable, match="other data and of a run with seed 4, not 5"):
        am.fit(other, "hierarchical", **{**options, "seed": 5})
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(NotApplicable, match="not a checkpoint, or it is damaged"):
        am.fit(data, "hierarchical", **options)


def test_what_cannot_be_written_down_is_said_at_once(tmp_path, data):
    with pytest.raises(NotApplicable, match="There is no folder"):
        am.fit(data, "hierarchical", checkpoint=tmp_path / "nowhere" / "a")
    with pytest.raises(NotApplicable, match="needs a checkpoint=FILE"):
        am.fit(data, "hierarchical", resume=True)
    for model, engine in (("guess-level", "gibbs"), ("logit-normal", "nuts")):
        with pytest.raises(NotApplicable, match="checkpoint= serves"):
            am.fit(data, model, engine=engine, checkpoint=tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
