"""Fits that the tests of the report share: a friendly one and a hostile one."""

import numpy as np
import pytest

import annomodels as am

SCRIPT = "<script>document.title='owned'</script>"
CODERS = [
    SCRIPT,
    "\"quoted\" & 'it'",
    "😀 emoji",
    "עברית",
    "$x_1$ and $",
    "a" * 10_000,
    "two\nlines\x00",
    "\u202eevil",
    "=1+1",
    "]]>--><!--",
    "</style></svg><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
]
LABELS = [SCRIPT, "b" * 5_000, "</title><b>c"]


@pytest.fixture(scope="session")
def crowd():
    return am.fit(
        am.datasets.load("crowd"), "hierarchical", chains=2, draws=200, warmup=100, seed=1
    )


@pytest.fixture(scope="session")
def hostile():
    """Fit whose names try to break out of the page."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(60):
        truth = rng.integers(3)
        for coder in rng.choice(CODERS, size=5, replace=False):
            label = truth if rng.random() < 0.7 else rng.integers(3)
            rows.append((f"{SCRIPT} {i}", coder, LABELS[label]))
    data = am.Annotations.from_records(rows, labels=LABELS, source=f"{SCRIPT}.csv")
    data = data.replace(texts=(SCRIPT * 20,) * data.n_items, notes=(f"A note {SCRIPT}",))
    return am.fit(data, "hierarchical", chains=2, draws=200, warmup=100, seed=1)


@pytest.fixture(scope="session")
def crowd_options():
    """Return what the page of the crowd is given besides the fit."""
    files = {"gold.csv": "item,label\n=1+1,</script>\nr2,ü\n"}
    return {"command": "annomodels run crowd -o out/", "files": files}


@pytest.fixture(scope="session")
def crowd_page(crowd, crowd_options, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "crowd.html"
    return am.report(crowd, path, **crowd_options)


@pytest.fixture(scope="session")
def hostile_page(hostile, tmp_path_factory):
    """Page whose names try to break out of it."""
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    command = "annomodels run '</code><script>x</script>'"
    return am.report(hostile, path, command=command, target=0.6)


@pytest.fixture(scope="session")
def streamed(hostile, tmp_path_factory):
    """Fit of the same labels from a scan."""
    path = tmp_path_factory.mktemp("scan") / "labels.parquet"
    hostile.data.to_frame().to_parquet(path, index=False)
    found = am.scan(path, labels=LABELS)
    return am.fit(found, "hierarchical", chains=2, draws=200, warmup=100, seed=1)


@pytest.fixture(scope="session")
def streamed_page(streamed, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "streamed.html"
    return am.report(streamed, path, command="annomodels run '</code><script>x</script>'")


@pytest.fixture(scope="session")
def coref_page(tmp_path_factory):
    """Page on coreference, whose names try the same."""
    from annomodels.coref import document
    from annomodels.reporting.links import LinkFacts
    from annomodels.reporting.page import page

    chains = {
        f"{SCRIPT} {n}": [["a", "b"], ["c", "d"]] if n % 2 else [["a", "b", "c"], ["d"]]
        for n in range(4)
    }
    path = tmp_path_factory.mktemp("page") / "coref.html"
    text = page(LinkFacts([document(SCRIPT, chains)], draws=100), SCRIPT)
    path.write_text(text, encoding="utf-8")
    return path


def simulated(items, coders, classes, each, seed):
    """Labels by coders of all kinds; classes have long names that begin alike."""
    rng = np.random.default_rng(seed)
    names = np.array([f"emotion_{k:02d}" for k in range(classes)])
    right = np.where(np.arange(coders) % 8, rng.uniform(0.3, 0.95, coders), 0.0)
    rows = []
    for i in range(items):
        truth = rng.integers(classes)
        for j in rng.choice(coders, each, replace=False):
            said = truth if rng.random() < right[j] else rng.integers(classes)
            rows.append((f"i{i:03d}", f"coder{j:03d}", names[said]))
    return am.Annotations.from_records(rows, labels=names.tolist())


@pytest.fixture(scope="session")
def budget_pages(crowd_page, tmp_path_factory):
    folder, pages = tmp_path_factory.mktemp("budget"), {"crowd": crowd_page}
    for name, sizes in (("many coders", (400, 60, 2, 10)), ("14 classes", (300, 20, 14, 5))):
        few = {"chains": 2, "draws": 100, "warmup": 50, "seed": 1, "extend": False}
        fit = am.fit(simulated(*sizes, seed=1), "hierarchical", **few)
        pages[name] = am.report(fit, folder / f"{len(pages)}.html", files={"gold.csv": "item\n"})
    return pages
