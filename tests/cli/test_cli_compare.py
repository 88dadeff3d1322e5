"""``annomodels compare``: which saved fit predicts best."""

from __future__ import annotations

import pytest

import annomodels as am

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fits")
    data = am.datasets.load("anesthesia")
    for name in ("dawid-skene", "pooled"):
        am.fit(data, name, chains=2, draws=300, seed=1).save(folder / f"{name}.nc")
    am.fit(
        am.datasets.load("boxcar"), "hierarchical", chains=2, draws=100, seed=1, extend=False
    ).save(folder / "other.nc")
    return folder


def test_what_does_not_work_is_said(fits, call):
    assert call("compare", fits / "pooled.nc").code == 2
    assert call("compare", fits / "pooled.nc", fits / "pooled.nc").code == 2
    done = call("compare", fits / "pooled.nc", fits / "other.nc")
    assert done.code in (2, 3)
    assert "fitted to different data" in done.err
