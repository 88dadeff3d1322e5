"""Accuracy, information and bias of coders and of their groups, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import columns as columns_of
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.limits import CERTAIN, CODER_JUDGED, CODER_ROW, NEXT_WORTH, SKILL_USELESS
from annomodels.models.conjugate import NO_ANSWER_MEAN, NO_ANSWER_RATE
from annomodels.models.grouped import groups_in, refuse_strange
from annomodels.models.mixtures.state_model import newcomers
from annomodels.summaries.draws import (
    choices,
    estimated,
    evenly,
    flat,
    interval,
    model_of,
    n_samples,
    told_by,
    truth_draws,
)
from annomodels.summaries.notes import say
from annomodels.summaries.skills import CoderDraws, coder_draws, entropy_bits
from annomodels.summaries.trust.patterns import consensus, swaps_of
from annomodels.types import AnyArray, Bools, Floats, Ints

# kinds in the order in which people see them, those of numbers among them
RANKS = {
    **{"adversary": 0, "reversed": 0, "spammer": 1, "uninformative": 1},
    **{"biased": 3, "good": 4, "not enough evidence": 5},
}
DOUBTFUL = 2  # rank of coders with labels enough who may nevertheless be useless
KINDS = ("good", "biased", "spammer", "adversary", "not enough evidence")
OVER_USE = 0.05  # excess proportion of labels, at most the prevalence
SURE = 0.95
# fewest and most draws of the proportion of right labels, and cells over all draws
FEWEST_RIGHT, MOST_RIGHT, CELLS = 40, 400, 20_000_000
TELLS = 0.12  # fraction of the truth's entropy from which labels are informative

# only one measure per coder is shown; the data frame also has accuracy, skill and bits
_BEFORE, _AFTER = "coder group kind advice n", "p_spammer p_below_target bias"
COLUMNS = columns_of(f"{_BEFORE} share_right {_AFTER}")
OF_SCAN = columns_of(f"{_BEFORE} accuracy {_AFTER}")


def coders(tree: xr.DataTree, data: Annotations, target: float | None = None) -> Summary:
    """Tabulate the share of right labels, kind and advice of every coder, with 95 % intervals."""
    if target is not None and not 0 <= target <= 1:
        raise NotApplicable(f"The target is {target}. Give a share between 0 and 1.")
    draws = coder_draws(tree, data)
    n = data.per_coder
    columns: dict[str, object] = {"coder": list(data.coders), "n": n}
    groups = group_of_coders(tree, data)
    if groups:
        columns["group"] = list(groups.values())
    measured = {name: getattr(draws, name) for name in ("accuracy", "skill", "bits")}
    right = share_right(tree, data)
    measured |= {} if right is None else {"share_right": right}
    for name, values in measured.items():
        columns |= estimated(name, values)
    answers: tuple[str, ...] = ()
    if data.unanswered is not None:
        columns |= answer_columns(tree, data)
        answers = answer_sentences(tree, data, len(data.unanswered))
    swaps = swapped_pairs(data)
    swapping = np.isin(np.arange(len(n)), list(swaps))
    spammer, adversary = spammers(draws, swapping)
    compared = draws.accuracy if right is None else right
    below = np.full(len(n), np.nan) if target is None else _share(compared < target)
    bias = over_use(draws.over_use, draws.prevalence, [label_text(name) for name in data.labels])
    guesses = guessing(right, draws.prevalence, data) * ~swapping
    p_spammer = np.where(guesses >= CERTAIN, guesses, _share(spammer))
    kind = ["not enough evidence"] * len(n)
    if not data.by_chance:
        kind = kinds(draws, n, bias, swapping, guesses)
    declared = model_of(tree).parameters(data.n_labels)
    # if empty, a rule detects spammers
    two_kinds = next((each.name for each in declared if each.tells_spammers), "")
    columns |= {
        "p_chance": _share(draws.skill <= 0),
        "p_spammer": flat(tree, two_kinds).mean(axis=0) if two_kinds else p_spammer,
        "p_adversary": _share(adversary),
        "p_below_target": below,
        "bias": bias,
        "kind": kind,
    }
    columns["advice"] = _advice(pd.DataFrame(columns), swaps)
    order = tuple(notable(pd.DataFrame(columns)).tolist())
    # scalar parameters per coder, such as a shift
    for name in (each.name for each in declared if each.shown and each.name in tree["posterior"]):
        columns |= estimated(name, flat(tree, name))
    if data.repeats:
        pairs, same = data.repeats_by_coder
        columns |= {"repeated_pairs": pairs, "repeats_agree": over(same, pairs)}
    recall = draws.recall.mean(axis=0)
    for k, label in enumerate(data.labels):
        columns[f"recall_{label_text(label)}"] = recall[:, k]
    effects = any(each.effect for each in declared) and effect_sentences(tree, data, "coder")
    notes = (
        *_notes(kind, tree, data), *told_by(tree), *population_sentences(tree),
        *(effects or ()), *answers,
    )  # fmt: skip
    shown = OF_SCAN if right is None else COLUMNS
    kept = _named(draws, right, data)
    return Summary("Coders", pd.DataFrame(columns), kept, notes, shown, order)


def notable(coders: pd.DataFrame) -> Ints:
    """Return row numbers of coders: those to act on first, the worst of each rank first."""
    rank = coders["kind"].map(RANKS).fillna(RANKS["good"])
    if "advice" in coders:
        thin = (coders["kind"] == "not enough evidence") & (coders["n"] >= CODER_JUDGED)
        rank = rank.mask(thin & (coders["advice"] != "ask"), DOUBTFUL)
    worth = coders["skill" if "skill" in coders else "reliability"].to_numpy(dtype=float)
    return np.lexsort((-coders["n"].to_numpy(), worth, rank.to_numpy()))


def swapped_pairs(data: Annotations) -> dict[int, str]:
    """Describe the classes that a coder swaps, by coder code."""
    crowd = consensus(data) if len(data) and not data.by_chance else None
    found: dict[int, str] = {}
    for swap in [] if crowd is None else swaps_of(crowd):
        one, other = (label_text(data.labels[k]) for k in swap.classes)
        found.setdefault(swap.coder, f"swaps {one} and {other}")
    return found


def share_right(tree: xr.DataTree, data: Annotations) -> Floats | None:
    """Draw the proportion of right labels of each coder, [draw, coder]; NaN without labels."""
    # None for streamed data under a single model: truths are not redrawn.
    n = np.where(data.per_coder, data.per_coder, np.nan)
    if "coders" in tree.children:
        counted = tree["coders"].to_dataset()["right"].values.reshape(-1, data.n_coders)
        return np.asarray(counted / n)
    if not len(data):
        return None
    most = max(FEWEST_RIGHT, min(MOST_RIGHT, CELLS // max(data.n_items * data.n_labels, len(data))))
    count, drawn = truth_draws(tree, data, most)
    found, rng = np.empty((count, data.n_coders)), np.random.default_rng(0)
    for s, p in drawn:
        if count > 1:
            hit: Floats = choices(p, rng.random(len(p)))[data.item] == data.label
        else:
            hit = p[data.item, data.label]
        found[s] = np.bincount(data.coder, hit, data.n_coders) / n
    return found


def _share(happened: Bools) -> Floats:
    """Return posterior probabilities; NaN with a single draw."""
    return np.asarray(happened.mean(axis=0) if len(happened) > 1 else np.nan * happened[0])


def _named(draws: CoderDraws, right: Floats | None, data: Annotations) -> xr.Dataset:
    dims = ("sample", "coder")
    counted = {} if right is None else {"share_right": (("truth_draw", "coder"), right)}
    return xr.Dataset(
        {
            **counted,
            "accuracy": (dims, draws.accuracy),
            "skill": (dims, draws.skill),
            "bits": (dims, draws.bits),
            "recall": ((*dims, "truth"), draws.recall),
        },
        coords={
            "coder": [str(name) for name in data.coders],
            "truth": [label_text(name) for name in data.labels],
        },
    )


def _notes(kind: list[str], tree: xr.DataTree, data: Annotations) -> tuple[str, ...]:
    found = Counter(kind)
    several = {"spammer": "spammers", "adversary": "adversaries"}
    counted = ", ".join(
        f"{n:,} {several.get(word, word) if n > 1 else word}"
        for word in KINDS
        if (n := found[word])
    )
    notes = [f"Of {len(kind):,} coders: {counted}."]
    if data.by_chance:
        notes.append("Coders cannot be compared: the labels look like chance.")
    if tree["posterior"]["confusion"].ndim == 4:
        notes.append(say("pooled"))
    if tree.attrs.get("engine") == "em":
        notes.append(say("coders_em"))
    return tuple(notes)


def spammers(draws: CoderDraws, swapping: Bools) -> tuple[Bools, Bools]:
    """Flag spammers and adversaries on each draw, shapes [sample, coder].

    A coder who certainly swaps two classes is not a spammer, even at chance accuracy.
    """
    # bits of a noisy estimate are never near 0, so skill counts too
    entropy = entropy_bits(draws.prevalence)[:, None]
    # a coder below chance whose labels are informative has swapped labels
    swaps = (draws.skill < 0) & (draws.bits >= TELLS * entropy)
    useless = np.abs(draws.skill) < SKILL_USELESS
    spammer = useless & (draws.bits < entropy / 2) & ~swaps & ~swapping
    return spammer, ((draws.skill < 0) | (useless & swapping)) & ~spammer


def over_use(excess: Floats, prevalence: Floats, labels: list[str]) -> list[str]:
    """Name the label that each coder overuses; empty if none is certain."""
    limit = np.minimum(OVER_USE, prevalence)[:, None]
    sure = (excess > limit).mean(axis=0) > SURE
    size = np.where(sure, excess.mean(axis=0), -np.inf)
    most = size.argmax(axis=1)
    found = sure.any(axis=1).tolist()
    return [f"says {labels[k]} too often" if f else "" for k, f in zip(most, found, strict=True)]


def guessing(right: Floats | None, prevalence: Floats, data: Annotations) -> Floats:
    """Return P(labels are hardly better than guesses) for coders with few labels, [coder].

    The confusion matrices of these coders are mostly prior. So their accuracy is compared with
    that of a coder who assigns the same labels to random items. Other coders get 0.
    """
    n = data.per_coder
    few = (n >= CODER_JUDGED) & (n < CODER_ROW * data.n_labels)
    found = np.zeros(len(n))
    if right is None or len(right) < 2 or not few.any():
        return found
    given = np.zeros((len(n), data.n_labels))
    np.add.at(given, (data.coder, data.label), 1.0)
    chance = (given[few] / n[few, None]) @ prevalence.mean(axis=0)
    hits = right[:, few] * n[few]
    # accuracy of further labels of the coder, under Jeffreys' prior
    share = np.random.default_rng(0).beta(hits + 0.5, n[few] - hits + 0.5)
    found[few] = ((share - chance) / (1 - chance) < SKILL_USELESS).mean(axis=0)
    return found


def kinds(draws: CoderDraws, n: Ints, bias: list[str], swaps: Bools, guesses: Floats) -> list[str]:
    """Choose the kind of each coder by the first rule that applies; bad kinds need certainty."""
    p_spammer, p_adversary = (each.mean(axis=0) for each in spammers(draws, swaps))
    low = interval(draws.skill)[0] if len(draws.skill) > 1 else draws.skill[0]
    judged = n >= CODER_JUDGED
    rules = [
        judged & (swaps | (p_adversary >= CERTAIN)),
        judged & (np.maximum(p_spammer, guesses) >= CERTAIN),
        (low < SKILL_USELESS) | ~judged | (p_spammer + p_adversary > 0.5) | (guesses > 0.5),
        np.array([text != "" for text in bias], dtype=bool),
    ]
    words = ["adversary", "spammer", "not enough evidence", "biased"]
    return [str(word) for word in np.select(rules, words, default="good")]


def certain(table: pd.DataFrame) -> Bools:
    """Flag coders who should stop: very probably spammers, or below the target."""
    spammer, below = (
        (table[name].astype(float).fillna(0) >= CERTAIN).to_numpy()
        for name in ("p_spammer", "p_below_target")
    )
    kind = table["kind"].to_numpy()
    measured = (kind != "adversary") & (table["n"] >= CODER_JUDGED).to_numpy()
    return np.asarray((spammer & (kind == "spammer")) | (below & measured))


def suspected(table: pd.DataFrame) -> Bools:
    """Flag coders who may be useless, without certainty: they need test items."""
    p = table["p_spammer"].astype(float).fillna(0) + table["p_adversary"].astype(float).fillna(0)
    bad = table["kind"].isin(["spammer", "adversary"]) | (p > 0.5)
    return np.asarray(bad & ~certain(table) & (table["n"] >= CODER_JUDGED))


def flagged(table: pd.DataFrame) -> Bools:
    """Flag coders who should get no more items for now: certain and suspected ones."""
    return np.asarray(certain(table) | suspected(table))


def _advice(table: pd.DataFrame, swaps: dict[int, str]) -> list[str]:
    bits, n = table["bits"].to_numpy(), table["n"].to_numpy()
    mean = float(bits @ n / max(n.sum(), 1))
    little = bits < NEXT_WORTH * mean
    thin = (table["kind"] == "not enough evidence").to_numpy()
    swapped = (table["kind"] == "adversary").to_numpy()
    rules = [
        swapped,
        certain(table),
        suspected(table) | (thin & little & (n < CODER_JUDGED)),
        (table["kind"] == "biased").to_numpy() & (bits < mean),
        little,
    ]
    correct = [f"correct: {swaps.get(j, 'swaps classes')}" for j in range(len(table))]
    retrain = [f"retrain: {text}" for text in table["bias"]]
    words = [correct, "stop", "give test items", retrain, "ask others first"]
    return [str(word) for word in np.select(rules, words, default="ask")]


# -- groups and populations ----------------------------------------------------------------------

MEASURES = ("accuracy", "skill", "bits")


def groups(
    tree: xr.DataTree,
    data: Annotations,
    groups: Mapping[Hashable, Hashable] | None = None,
    *,
    by_labels: bool = False,
) -> Summary:
    """Tabulate accuracy, skill and information of groups of coders, and their differences."""
    # The value of a group is the mean over its coders on every draw. The hierarchical model shrinks
    # coders with few labels towards one population, so differences tend to be too small.
    if tree["posterior"]["confusion"].ndim == 4:
        raise NotApplicable("The pooled model gives all coders one confusion matrix.")
    populations: dict[str, Floats] = {}
    if groups is None:
        known = group_of_coders(tree, data)
        groups = {name: known[label_text(name)] for name in data.coders if known}
        populations = population_accuracy(tree)
    strange = [label_text(name) for name in groups if name not in set(data.coders)]
    refuse_strange(strange, data.source)
    named = list(dict.fromkeys(groups[name] for name in data.coders if name in groups))
    if not named:
        raise NotApplicable("No coder has a group. Give a mapping from coder to group.")
    draws = coder_draws(tree, data)
    n = data.per_coder
    texts = [label_text(name) for name in named]
    weight = np.zeros((len(named), data.n_coders))
    for j, coder in enumerate(data.coders):
        if coder in groups:
            weight[named.index(groups[coder]), j] = n[j] if by_labels else 1.0
    size, labels = (weight > 0).sum(axis=1), (weight > 0) @ n
    weight /= weight.sum(axis=1, keepdims=True)
    values = {name: getattr(draws, name) @ weight.T for name in MEASURES}
    if populations:
        values["population"] = np.stack([populations[text] for text in texts], axis=1)
    pairs = list(combinations(range(len(named)), 2))
    names = [*texts, *(f"{texts[a]} - {texts[b]}" for a, b in pairs)]
    columns: dict[str, object] = {"group": names}
    for name, sums in (("coders", size), ("labels", labels)):
        columns[name] = pd.array([*sums.tolist(), *[None] * len(pairs)], dtype="Int64")
    for name, x in values.items():
        each = np.column_stack([x, *(x[:, a] - x[:, b] for a, b in pairs)])
        above = (each > 0).mean(axis=0)
        above[: len(named) if len(x) > 1 else None] = np.nan
        columns |= {**estimated(name, each), f"{name}_p_above": above}
    kept = xr.Dataset(
        {name: (("sample", "group"), x) for name, x in values.items()}, coords={"group": texts}
    )
    left = data.n_coders - int(size.sum())
    out = f"Coders left out because they have no group: {left:,} of {data.n_coders:,}."
    notes = (out,) if left else ()
    return Summary("Groups of coders", pd.DataFrame(columns), kept, notes)


def group_of_coders(tree: xr.DataTree, data: Annotations) -> dict[str, str]:
    """Return the group of each coder; empty unless the model has several groups."""
    found = groups_in(model_of(tree))
    return {} if found is None else found.group_of([label_text(name) for name in data.coders])


def population_accuracy(tree: xr.DataTree) -> dict[str, Floats]:
    """Return the accuracy of each group's mean coder, sum_k pi_k m_gkk, by group, [sample]."""
    model = groups_in(model_of(tree))
    if model is None:
        return {}
    posterior = tree["posterior"].to_dataset()
    values = {str(name): drawn.values for name, drawn in posterior.data_vars.items()}
    found = model.population_accuracy(values)
    return {name: drawn.astype(float).ravel() for name, drawn in found.items()}


def population_sentences(tree: xr.DataTree) -> tuple[str, ...]:
    """Describe the accuracy of each group, and the probability that one beats another."""
    found = population_accuracy(tree)
    out = []
    for name, draws in found.items():
        low, high = interval(draws)
        span = "" if len(draws) < 2 else f" ({low:.2f} to {high:.2f})"
        out.append(f"Population accuracy of {name}: {draws.mean():.2f}{span}.")
    for (a, first), (b, second) in combinations(found.items(), 2):
        if len(first) < 2:
            break
        if first.mean() < second.mean():
            a, b, first, second = b, a, second, first
        out.append(f"P({a} better than {b}) = {(first > second).mean():.2f}.")
    return tuple(out)


class Newcomers(NamedTuple):
    """Two new coders per draw: state probabilities, and P(label | state) of each coder."""

    share: Floats
    first: Floats
    second: Floats


def new_coders(tree: xr.DataTree, n_max: int, seed: int = 0) -> Newcomers | None:
    """Draw two new coders from the population on every draw; None without a population."""
    total = n_samples(tree)
    chosen = evenly(total, min(n_max, total))
    rng = np.random.default_rng(seed)
    found = newcomers(model_of(tree), lambda name: flat(tree, name, chosen), rng)
    return None if found is None else Newcomers(*found)


# -- covariates and answers ----------------------------------------------------------------------

CLEAR = 0.975  # probability of a sign from which a coefficient is described


def effects(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the coefficients of the covariates, one row per term."""
    found = _draws(tree, data)
    if not found:
        raise NotApplicable(
            f"The {model_of(tree).title} model was fitted without covariates. Give them, such as "
            "am.models.ScalarDifficulty(coder_covariates=table) or "
            "ScalarDifficulty(item_covariates=table)."
        )
    rows, kept, notes = [], {}, []
    for name, each in found.items():
        low, high = interval(each.draws)
        for n, (term, unit) in enumerate(each.terms):
            one = each.draws[:, n]
            rows.append(
                {
                    "of": each.of, "term": term, "unit": unit, "effect": one.mean(),
                    "sd": one.std(), "low": low[n], "high": high[n],
                    "p_positive": (one > 0).mean(),
                }
            )  # fmt: skip
        kept[name] = (("sample", f"{name}_term"), each.draws)
        notes.append(str(say("effect", of=each.of, words=each.words)))
        goes_with = "coders' ability" if each.of == "coder" else "items' difficulty"
        notes.append(f"A column correlated with the {goes_with} is not necessarily its cause.")
    table = pd.DataFrame(rows)
    return Summary("Effects of covariates", table, xr.Dataset(kept), tuple(notes))


def effect_sentences(tree: xr.DataTree, data: Annotations, of: str) -> tuple[str, ...]:
    """Describe the covariates with a clear sign, and count the others."""
    if all(each.of != of for each in _draws(tree, data).values()):
        return ()
    every: Any = effects(tree, data).table
    table = every[every["of"] == of]
    clear = table[(table["p_positive"] > CLEAR) | (table["p_positive"] < 1.0 - CLEAR)]
    more_of_it, less_of_it = ("Better", "Worse") if of == "coder" else ("Harder", "Easier")
    said = [
        f"{more_of_it if row.effect > 0 else less_of_it} with {row.term} ({row.unit}): "
        f"{row.effect:+.2f} ({row.low:.2f} to {row.high:.2f}) logits."
        for row in clear.itertuples()
    ]
    rest = len(table) - len(clear)
    more = [f"The sign of {counted(rest, 'other term')} of covariates is open."] if rest else []
    return (*said, *more, "All coefficients are in fit.effects().")


class _Effects(NamedTuple):
    """Coefficients of coders or items: outcome, terms with units, draws [sample, term]."""

    of: str
    words: str
    terms: tuple[tuple[str, str], ...]
    draws: Floats


def _draws(tree: xr.DataTree, data: Annotations) -> dict[str, _Effects]:
    model = model_of(tree)
    return {
        each.name: _Effects(
            each.dims[0].removesuffix("_term"),
            each.effect,
            each.terms,
            flat(tree, each.name),
        )
        for each in model.parameters(data.n_labels)
        if each.effect and each.name in tree["posterior"]
    }


TELLING = 0.95


def answer_columns(tree: xr.DataTree, data: Annotations) -> dict[str, AnyArray]:
    """Count missing answers and tabulate answer rates; empty if all labels are classes."""
    if data.unanswered is None:
        return {}
    times = np.bincount(data.unanswered[:, 1], minlength=data.n_coders)
    if NO_ANSWER_RATE.name not in tree["posterior"]:
        return {"dont_know": times}
    rates = flat(tree, NO_ANSWER_RATE.name).sum(axis=-1)
    answered = 1.0 - np.einsum("sjk,sk->sj", rates, flat(tree, "prevalence"))
    return {"dont_know": times, **estimated("answer_rate", answered)}


def answer_sentences(tree: xr.DataTree, data: Annotations, asked: int) -> tuple[str, ...]:
    """Describe the classes that coders leave unanswered most and least."""
    if not asked:
        return ()
    kinds = "/".join(map(label_text, data.dont_know))
    if NO_ANSWER_MEAN.name not in tree["posterior"]:
        return (f"This model ignores answers of {kinds}: {asked:,} of them.",)
    mean = flat(tree, NO_ANSWER_MEAN.name).sum(axis=-1)
    most, least = int(mean.mean(axis=0).argmax()), int(mean.mean(axis=0).argmin())
    above = float((mean[:, most] > mean[:, least]).mean())
    labels = [label_text(name) for name in data.labels]
    shares = {"most": mean[:, most].mean(), "least": mean[:, least].mean()}
    names = {"most_on": labels[most], "least_on": labels[least]}
    said = say("unanswered", kinds=kinds, asked=asked, **shares, **names)
    if len(mean) < 2:
        return (f"{said}.",)
    tells = f"it carries {'' if above > TELLING else 'little '}information about the truth"
    return (f"{said}: {tells} (P = {above:.2f} that the first is more).",)
