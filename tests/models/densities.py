"""Densities of PyMC models at given values of their parameters, and what they should be."""

import itertools
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.special import expit, logsumexp
from scipy.stats import norm

from annomodels.models.answering import uses_unanswered
from annomodels.models.continuous.item_covariates import item_kinds
from annomodels.models.encoded import encode


def names_of(data):
    """Names along the dimensions truth, label and coder."""
    labels = [str(name) for name in data.labels]
    return {"truth": labels, "label": labels, "coder": [str(name) for name in data.coders]}


def built(model, data):
    coords = names_of(data)
    unanswered = uses_unanswered(model)
    codes = encode(data, shared=model.shared, kind=item_kinds(model), unanswered=unanswered)
    return model.build(codes, {**coords, **model.coords(coords["label"])})


def evaluate(model, data, rng, n=3, scale=0.4):
    """Values of all named variables, log prior and log likelihood at random points."""
    pymc_model = built(model, data)
    named = [*pymc_model.free_RVs, *pymc_model.deterministics]
    wanted = pymc_model.replace_rvs_by_values([*named, pymc_model["labels"]])
    density = pymc_model.compile_fn(
        [pymc_model.logp(jacobian=False), *wanted],
        inputs=pymc_model.value_vars,
        mode="FAST_COMPILE",
    )
    start = pymc_model.initial_point()
    for _ in range(n):
        point = {key: value + rng.normal(0, scale, np.shape(value)) for key, value in start.items()}
        total, *found, potential = map(np.asarray, density(point))
        names = [variable.name for variable in named]
        values: dict[str, Any] = dict(zip(names, found, strict=True))
        yield values, float(total - potential), float(potential)


def enumerated(data, prevalence, of_item):
    """Log likelihood as a sum over every labeling of the items.

    `of_item(i)` is P(labels of item i | its class), integrated over what else there is, [truth].
    """
    k = data.n_labels
    given = np.array([of_item(i) for i in range(data.n_items)])
    total = 0.0
    for truths in itertools.product(range(k), repeat=data.n_items):
        c = np.array(truths)
        if data.gold is not None and (c[data.gold >= 0] != data.gold[data.gold >= 0]).any():
            continue
        total += (prevalence[c] * given[np.arange(data.n_items), c]).prod()
    return np.log(total)


def integrate(function, n_dims, order=60, block=4096):
    """Give the expectation of `function([point, dimension])` under standard normals."""
    x, w = np.polynomial.hermite_e.hermegauss(order)
    w = w / w.sum()
    grid = np.stack(np.meshgrid(*[x] * n_dims, indexing="ij"), axis=-1).reshape(-1, n_dims)
    weights = w
    for _ in range(n_dims - 1):
        weights = np.multiply.outer(weights, w)
    flat = np.ravel(weights)
    total = 0.0
    for first in range(0, len(flat), block):
        total += flat[first : first + block] @ function(grid[first : first + block])
    return total


def half_normal_logpdf(x, scale):
    return np.log(2.0) + norm.logpdf(x, 0.0, scale)


def density_at_the_start(model, data):
    """Log density and its gradient where chains start, and the number of free values."""
    from pymc.initial_point import make_initial_point_fn

    from annomodels.engines.pymc.nuts import start_point

    pymc_model = built(model, data)
    start = start_point(model, encode(data, shared=model.shared))
    overrides = {
        variable: start[variable.name].astype(variable.dtype) for variable in pymc_model.free_RVs
    }
    point = make_initial_point_fn(
        model=pymc_model, overrides=overrides, return_transformed=True
    )(0)  # fmt: skip
    density = pymc_model.compile_fn(
        [pymc_model.logp(), pymc_model.dlogp()],
        inputs=pymc_model.value_vars,
        mode="FAST_COMPILE",
    )
    value, gradient = density(point)
    free = sum(np.size(point[variable.name]) for variable in pymc_model.continuous_value_vars)
    return float(value), np.asarray(gradient), free


def said_of(v, coder, label, hard, k):
    """P(label | class, difficulty) of a coder, [truth, difficulty], written out."""
    out = np.empty((k, len(hard)))
    for t in range(k):
        wrong = [other for other in range(k) if other != t]
        lean = np.array([v["leaning"][coder, t, other] if k > 2 else 0.0 for other in wrong])
        slope = v["discrimination"][coder] if "discrimination" in v else 1.0
        right = expit(v["ability"][coder, t] - slope * hard - logsumexp(lean))
        lucky = v["guessing"][t] if "guessing" in v else 0.0
        if label == t:
            out[t] = lucky + (1 - lucky) * right
        else:
            share = np.exp(lean[wrong.index(label)] - logsumexp(lean))
            out[t] = (1 - lucky) * (1 - right) * share
    return out


def joint_of_item(data, design, v, i, power=0, fixed=None):
    """E[difficulty^power; class, labels of an item], the difficulty integrated out, [truth].

    By Simpson's rule with 2,001 points around what is expected of this item.
    """
    k, mean = data.n_labels, float(design[i] @ v["item_effect"])
    scale = np.broadcast_to(v.get("difficulty_scale", fixed), k)
    z = np.linspace(-9.0, 9.0, 2001)
    out = np.zeros(k)
    for t in range(k):
        hard = mean + scale[t] * z
        p = norm.pdf(z) * hard**power
        for n in np.flatnonzero(data.item == i):
            p = p * said_of(v, data.coder[n], data.label[n], hard, k)[t]
        out[t] = v["prevalence"][t] * simpson(p, x=z)
    if data.gold is not None and data.gold[i] >= 0:
        out[np.arange(k) != data.gold[i]] = 0.0
    return out
