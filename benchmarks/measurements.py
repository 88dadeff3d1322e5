"""One measurement of speed.py, alone in a fresh process.

    python benchmarks/measurements.py NAME FILE DRAWS SEED

Imports of a measurement stand inside it, because loading them is part of what is measured.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import common

if TYPE_CHECKING:
    import annomodels as am

CHAINS, WARMUP = 2, 500


def save(path: str, n_items: int, n_coders: int, per_item: int, n_labels: int, seed: int) -> None:
    """Simulate labels from Dawid-Skene and write their codes to a file.

    As in a crowd, few coders give many labels and many give few.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    share = rng.lognormal(0.0, 1.0, n_coders)
    share /= share.sum()
    coder = np.sort(rng.choice(n_coders, (n_items, per_item), p=share), axis=1)
    # nobody labels an item twice: draw again until all coders of an item differ
    while (again := (np.diff(coder, axis=1) == 0).any(axis=1)).any():
        new = rng.choice(n_coders, (int(again.sum()), per_item), p=share)
        coder[again] = np.sort(new, axis=1)
    alpha = np.full((n_labels, n_labels), 3.0 / (n_labels - 1))
    np.fill_diagonal(alpha, 7.0)
    confusion = np.stack([rng.dirichlet(row, n_coders) for row in alpha], axis=1)
    truth = rng.choice(n_labels, n_items, p=rng.dirichlet(np.full(n_labels, 5.0)))
    chances = confusion[coder, truth[:, None]].cumsum(axis=2)
    label = (rng.random((n_items, per_item, 1)) > chances[:, :, :-1]).sum(axis=2)
    np.savez(path, coder=coder, label=label, n_coders=n_coders, n_labels=n_labels)


def arrays(path: str) -> tuple[Any, Any, Any, int, int]:
    """Codes item, coder and label, number of coders and of labels."""
    import numpy as np

    with np.load(path) as file:
        coder, label = file["coder"], file["label"]
        item = np.repeat(np.arange(len(coder)), coder.shape[1])
        sizes = int(file["n_coders"]), int(file["n_labels"])
    return item, coder.ravel(), label.ravel(), *sizes


def dataset(path: str) -> am.Annotations:
    """Read the simulated labels as annotations."""
    import annomodels as am

    item, coder, label, n_coders, n_labels = arrays(path)
    return am.Annotations(
        item=item,
        coder=coder,
        label=label,
        items=tuple(range(int(item[-1]) + 1)),
        coders=tuple(range(n_coders)),
        labels=tuple(range(n_labels)),
        declared=True,
    )


def smallest_ess(posterior: dict[str, Any], coder: Any) -> float:
    """Smallest bulk ESS among the prevalence and the accuracy of the busiest coders."""
    import numpy as np

    from annomodels.data.mixing import ess
    from annomodels.models.dawid_skene import DawidSkene
    from annomodels.models.parameters import watched_draws

    declared = [each for each in DawidSkene().parameters() if each.name in posterior]
    return float(np.nanmin(ess(watched_draws(declared, posterior, np.bincount(coder)))))


def gibbs(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure Gibbs on Dawid-Skene."""
    import annomodels as am

    # loaded before the clock starts, as the libraries of the rivals are; numba and arviz-stats
    # still load within it
    import annomodels.engines.gibbs
    import annomodels.fitting.run

    data = dataset(path)
    begun = time.perf_counter()
    fit = am.fit(
        data, am.models.DawidSkene(), chains=CHAINS, draws=draws, warmup=WARMUP, threads=CHAINS,
        seed=seed, extend=False,
    )  # fmt: skip
    posterior = {str(k): v.values for k, v in fit.tree["posterior"].to_dataset().items()}
    seconds = time.perf_counter() - begun
    return {"ess": smallest_ess(posterior, data.coder), "seconds": seconds}


def nuts(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure PyMC + nutpie on the same model."""
    import annomodels as am

    data = dataset(path)
    marks: dict[str, float] = {}

    def mark(stage: str, done: float, message: str) -> None:
        """Note when compiling ended, and when sampling was last seen going on."""
        if stage == "sampling" or done == 1.0:
            marks[stage] = time.perf_counter()

    fit = am.fit(
        data, am.models.DawidSkene(), engine="nuts", chains=CHAINS, draws=draws, warmup=300,
        threads=CHAINS, seed=seed, progress=mark, target_accept=0.8,  # nutpie's default
    )  # fmt: skip
    posterior = {str(k): v.values for k, v in fit.tree["posterior"].to_dataset().items()}
    # the sampler is asked every 0.3 s
    seconds = max(marks.get("sampling", 0.0) - marks["compiling"], 0.3)
    return {"ess": smallest_ess(posterior, data.coder), "seconds": seconds}


def summed_out(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure NumPyro's NUTS on the same model, the truth summed out by hand."""
    return _numpyro(path, draws, seed, enumerate_=False)


def enumerated(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure NumPyro's NUTS on the same model, the truth enumerated by NumPyro."""
    return _numpyro(path, draws, seed, enumerate_=True)


def _numpyro(path: str, draws: int, seed: int, enumerate_: bool) -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value
    from numpyro.ops.indexing import Vindex

    from annomodels.models import resolve

    item, coder, label, n_coders, k = arrays(path)
    n_items = int(item[-1]) + 1
    by_item = coder.reshape(n_items, -1), label.reshape(n_items, -1)
    prior: Any = resolve("dawid-skene")
    alpha = jnp.asarray(prior.confusion.alpha(k))

    def model() -> None:
        prevalence = numpyro.sample("prevalence", dist.Dirichlet(jnp.ones(k)))
        with numpyro.plate("coder", n_coders, dim=-2), numpyro.plate("class", k, dim=-1):
            confusion = numpyro.sample("confusion", dist.Dirichlet(alpha))
        if enumerate_:
            with numpyro.plate("item", n_items, dim=-2):
                parallel = {"enumerate": "parallel"}
                truth = numpyro.sample("truth", dist.Categorical(prevalence), infer=parallel)
                with numpyro.plate("position", by_item[0].shape[1], dim=-1):
                    rows = Vindex(confusion)[by_item[0], truth, :]
                    numpyro.sample("label", dist.Categorical(rows), obs=by_item[1])
        else:
            labels = jnp.log(confusion)[coder, :, label]
            joint = jnp.log(prevalence) + jax.ops.segment_sum(labels, item, n_items)
            numpyro.factor("labels", jax.scipy.special.logsumexp(joint, axis=1).sum())

    start = {
        "prevalence": jnp.full(k, 1 / k),
        "confusion": jnp.broadcast_to(jnp.asarray(prior.confusion.mean(k)), (n_coders, k, k)),
    }
    mcmc = MCMC(
        NUTS(model, init_strategy=init_to_value(values=start)), num_warmup=WARMUP,
        num_samples=draws, num_chains=CHAINS, chain_method="vectorized", progress_bar=False,
    )  # fmt: skip
    begun = time.perf_counter()
    mcmc.run(jax.random.key(seed))
    found = mcmc.get_samples(group_by_chain=True)
    posterior = {name: np.asarray(values) for name, values in found.items()}
    seconds = time.perf_counter() - begun
    return {"ess": smallest_ess(posterior, coder), "seconds": seconds}


def em(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure an iteration of EM, without smoothing."""
    import annomodels as am
    from annomodels.engines.acceleration import Climb
    from annomodels.engines.em import climb
    from annomodels.engines.starts import state_from_shares, vote_shares
    from annomodels.models.encoded import encode

    model = am.models.DawidSkene.unsmoothed()
    codes = encode(dataset(path))
    start = state_from_shares(model, codes, vote_shares(codes))

    def run(iterations: int) -> float:
        begun = time.perf_counter()
        climb(model, codes, start, Climb(float("-inf"), iterations))
        return time.perf_counter() - begun

    run(1)
    return {"seconds": (run(25) - run(5)) / 20}


def crowdkit(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure an iteration of crowd-kit's Dawid-Skene."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    item, coder, label, *_ = arrays(path)
    frame = pd.DataFrame({"task": item, "worker": coder, "label": label})

    def run(iterations: int) -> float:
        begun = time.perf_counter()
        DawidSkene(n_iter=iterations, tol=float("-inf")).fit(frame)
        return time.perf_counter() - begun

    return {"seconds": (run(5) - run(1)) / 4}


def default(path: str, draws: int, seed: int) -> dict[str, Any]:
    """Measure a fit of the hierarchical model."""
    import annomodels as am

    fit = am.fit(dataset(path), "hierarchical", seed=seed)
    attrs = fit.tree.attrs
    return {
        "seconds": attrs["seconds"], "rhat": attrs["rhat_max"], "ess": attrs["ess_min"],
        "thin": attrs["thin"], "draws": attrs["draws"],
    }  # fmt: skip


MEASUREMENTS = {f.__name__: f for f in (gibbs, nuts, summed_out, enumerated, em, crowdkit, default)}

if __name__ == "__main__" and sys.argv[1:]:
    name, file, n_draws, n_seed = sys.argv[1:]
    common.answer(MEASUREMENTS[name](file, int(n_draws), int(n_seed)))
