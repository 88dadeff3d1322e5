"""Models whose items have states, written out by brute force: P(labels, truth) of an item."""

from itertools import combinations, product

import numpy as np

from annomodels.models.mixtures.readings import _cells


def guess_level(v, model):
    """P(labels, truth) of an item, shape [truth], from its labels (coder, label)."""

    def joint(labels):
        out = v["perceived_prevalence"].copy()
        each = np.zeros((len(out), len(model.levels)))
        for k, g in product(range(len(out)), range(len(model.levels))):
            each[k, g] = v["level_share"][g]
            for j, y in labels:
                own = v["perceived_confusion"][j, k, y]
                share = model.levels[g]
                each[k, g] *= (1 - share) * own + share * v["common_guess"][y]
        return out * each.sum(axis=1)

    return joint


def consensus(v, model):
    def joint(labels):
        out = np.zeros(len(v["perceived_prevalence"]))
        for k, t in product(range(len(out)), repeat=2):
            own = [v["perceived_confusion"][j, k, y] for j, y in labels]
            out[t] += v["perceived_prevalence"][k] * np.prod(own) * v["consensus"][k, t]
        return out

    return joint


def easy_hard(v, model):
    def joint(labels):
        easy, hard = v["easy_share"]
        out = np.zeros(len(v["perceived_prevalence"]))
        for k in range(len(out)):
            own = np.prod([v["perceived_confusion"][j, k, y] for j, y in labels])
            all_right = all(y == k for _, y in labels)
            out[k] = v["perceived_prevalence"][k] * (easy * all_right + hard * own)
        return out

    return joint


def ambiguous(v, model):
    def joint(labels):
        plain, two = v["ambiguous_share"]
        theta = v["perceived_confusion"]
        out = np.zeros(len(v["perceived_prevalence"]))
        for k in range(len(out)):
            own = np.prod([theta[j, k, y] for j, y in labels])
            out[k] += plain * v["perceived_prevalence"][k] * own
        for n, (a, b) in enumerate(combinations(range(len(out)), 2)):
            for u in model.shares:
                each = two * v["pair_share"][n] / len(model.shares)
                for j, y in labels:
                    each *= u * theta[j, a, y] + (1 - u) * theta[j, b, y]
                out[a] += each * u
                out[b] += each * (1 - u)
        return out

    return joint


def readings(v, model):
    """Every label by every class that its coder may have read, or as a guess."""

    def joint(labels):
        theta, guess, g = v["perceived_confusion"], v["common_guess"], model.floor
        n = len(v["perceived_prevalence"])
        out = np.zeros(n)
        for cell, k in product(_cells(n, model.concentrations), range(n)):
            others = [m for m in range(n) if m != k]
            for m in others if cell.second else [None]:
                rest = [x for x in others if x != m]
                phi = {k: cell.first, m: cell.second}
                left = 1 - sum(phi.values())
                phi = np.array([phi.get(x, left / max(1, len(rest))) for x in range(n)])
                each = v["perceived_prevalence"][k] * cell.weight
                if m is not None:
                    each /= len(others)
                for j, y in labels:
                    read = [(1 - g) * phi[z] * theta[j, z, y] for z in range(n)]
                    each *= sum(read) + g * guess[y]
                for w, power in zip(v["sharpness"], model.sharpness, strict=True):
                    out += each * w * phi**power / sum(phi**power)
        return out

    return joint


def spammers(v, model):
    def joint(labels):
        theta = v["perceived_confusion"]
        own = [np.prod([theta[j, k, y] for j, y in labels]) for k in range(theta.shape[1])]
        return v["perceived_prevalence"] * own

    return joint


DEFINITIONS = {
    "guess-level": guess_level,
    "consensus": consensus,
    "easy-hard": easy_hard,
    "ambiguous": ambiguous,
    "readings": readings,
    "spammers": spammers,
}


def prior_draw(model, codes, rng):
    """Variables of the result, drawn from the prior."""
    state = model.coders.sample_parameters(codes.n_rows, codes.n_labels, rng)
    values = model.coders.pymc_start(state)
    for name, alpha in model.alphas(codes.n_rows, codes.n_labels).items():
        flat = np.reshape(alpha, (-1, alpha.shape[-1]))
        values[name] = np.stack([rng.dirichlet(a) for a in flat]).reshape(alpha.shape)
    return state, {name: np.asarray(v, dtype=float) for name, v in values.items()}


def expected(data, joint):
    """Log likelihood and P(truth), item by item."""
    total, p = 0.0, np.zeros((data.n_items, data.n_labels))
    for i in range(data.n_items):
        inside = slice(data.starts[i], data.starts[i + 1])
        each = joint(list(zip(data.coder[inside], data.label[inside], strict=True)))
        if data.gold is not None and data.gold[i] >= 0:
            total += np.log(each[data.gold[i]])
            p[i, data.gold[i]] = 1.0
        else:
            total += np.log(each.sum())
            p[i] = each / each.sum()
    return total, p
