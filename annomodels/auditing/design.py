"""Sampling design of an audit: strata, allocation, and its file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.messages import messages_beside, note
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, Verb
from annomodels.models.catalog import is_stack
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.fitting.fit import Fit

say = partial(note, messages_beside(__file__))

# approximate number of audited items per stratum; more strata use more of P(truth), but show less
# of the differences inside a stratum
PER_STRATUM = 3
# minimum P(wrong) in the allocation, because a confident crowd may be wrong
FLOOR = 0.04
# a predicted label gets separate strata if its share of the strata is at least this
ENOUGH = 0.6


@dataclass(frozen=True, eq=False)
class Strata:
    stratum: Ints  # stratum of each item, -1 for excluded items [item]
    size: Ints  # number of items [stratum]
    want: Floats  # proportion of the audit, with a sum of 1 [stratum]

    def __len__(self) -> int:
        return len(self.size)

    def mean(self, values: Floats) -> Floats:
        """Average values [item] over strata, shape [stratum]."""
        inside = self.stratum >= 0
        sums = np.bincount(self.stratum[inside], values[inside], len(self))
        return np.asarray(sums / np.maximum(self.size, 1))

    def without(self, items: Ints) -> Strata:
        stratum = self.stratum.copy()
        stratum[items] = -1
        size = np.bincount(stratum[stratum >= 0], minlength=len(self))
        return replace(self, stratum=stratum, size=size)

    def only(self, items: Ints) -> Strata:
        """Return the strata of some items, without strata that become empty."""
        stratum = np.full(len(self.stratum), -1)
        used, of_item = np.unique(self.stratum[items], return_inverse=True)
        stratum[items] = of_item
        return Strata(stratum, np.bincount(of_item, minlength=len(used)), self.want[used])

    def count(self, chosen: Ints | Bools, weights: Floats | None = None) -> Floats:
        return np.bincount(self.stratum[chosen], weights, len(self)).astype(float)


def stratify(p_truth: Floats, part: Bools, size: int) -> Strata:
    """Divide items into strata whose optimal allocation is about three audited items each."""
    # Items of a predicted label are sorted by q = P(wrong), at least FLOOR, and cut at equal sums
    # of sqrt(q (1 - q)): Neyman's allocation (1934, doi:10.2307/2342192) then gives each stratum
    # equally many items (Dalenius & Hodges 1959, doi:10.1080/01621459.1959.10501501).
    some = np.flatnonzero(part)
    p = p_truth[some]
    if not len(some):
        nothing = np.full(len(part), -1)
        return Strata(nothing, np.zeros(1, dtype=np.int64), np.ones(1))
    best, q = p.argmax(axis=1), 1.0 - p.max(axis=1)
    sure = np.clip(q, FLOOR, 1.0 - FLOOR)
    measure = np.sqrt(sure * (1.0 - sure))
    total = float(measure.sum())
    share = np.bincount(best, measure, p.shape[1]) / total * max(1, size // PER_STRATUM)
    apart = share >= ENOUGH
    block = np.where(apart[best], best, -1)
    of_item, begun = np.empty(len(some), dtype=np.int64), 0
    for label in np.unique(block):
        mine = np.flatnonzero(block == label)
        number = max(1, round(float(share[~apart].sum() if label < 0 else share[label])))
        mine = mine[np.argsort(q[mine], kind="stable")]
        sums = np.cumsum(measure[mine]) - measure[mine] / 2
        cut = np.minimum((sums / measure[mine].sum() * number).astype(np.int64), number - 1)
        of_item[mine] = begun + cut
        begun += number
    _, of_item = np.unique(of_item, return_inverse=True)
    stratum = np.full(len(part), -1)
    stratum[some] = of_item
    sizes = np.bincount(of_item)
    return Strata(stratum, sizes, np.bincount(of_item, measure) / total)


def allocate(strata: Strata, size: int, had: Ints | None = None) -> Ints:
    """Return the number of further items to audit per stratum, with a sum of `size`."""
    before = np.zeros(len(strata), dtype=np.int64) if had is None else had
    room = strata.size - before
    goal = min(size, int(room.sum()))
    out = np.zeros(len(strata), dtype=np.int64)
    for _ in range(goal):
        # the stratum that is furthest below its target, starting with strata without audited items
        behind = (before + out) / strata.want
        behind[out >= room] = np.inf
        out[int(behind.argmin())] += 1
    return out


KIND, VERSION = "annomodels audit", 1


@lru_cache(maxsize=4)
def places(names: tuple[Hashable, ...]) -> Mapping[Hashable, int]:
    """Return codes by name and by string; a name takes precedence over an equal string."""
    place: dict[Hashable, int] = {name: n for n, name in enumerate(names)}
    for n, name in enumerate(names):
        if not isinstance(name, str):
            place.setdefault(label_text(name), n)
    return place


@dataclass(frozen=True)
class AuditDesign:
    fingerprint: str  # fingerprints of the fit and of its data
    data: str
    first: int  # size of the first round, which determines the strata
    seeds: tuple[int, ...]  # one per round
    rounds: tuple[tuple[Hashable, ...], ...]  # items of each round
    chances: tuple[float, ...] = ()  # selection probability of each drawn item, in order
    among: tuple[Hashable, ...] | None = None  # sampling frame, None for all open items

    @property
    def drawn(self) -> list[Hashable]:
        return [name for part in self.rounds for name in part]

    def items(self, names: tuple[Hashable, ...]) -> Ints:
        """Return the codes of the items of all rounds, in their order."""
        place = places(names)
        return np.array([place[item] for item in self.drawn], dtype=np.int64)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        from annomodels.io.writing import atomic_path

        saved = {
            "kind": KIND,
            "version": VERSION,
            **vars(self),
            "rounds": [[label_text(item) for item in part] for part in self.rounds],
            "among": None if self.among is None else [label_text(item) for item in self.among],
        }
        with atomic_path(path, force) as temporary:
            temporary.write_text(json.dumps(saved, ensure_ascii=False, indent=1), "utf-8")
        return Path(path)


class Items:
    """Items of a fit of classes, which an audit draws; :class:`Documents` are those of spans."""

    word, usual = "item", 60  # what is drawn, and how many by default

    def __init__(self, fit: Fit) -> None:
        self.names: tuple[Hashable, ...] = tuple(fit.data.items)
        self.texts = fit.data.texts
        self.p = beliefs(fit)
        self.known: Bools = fit.data.known >= 0
        self.data: Any = fit.data

    @cached_property
    def labels(self) -> str:
        """Fingerprint of the labels; truths that are found later do not change it."""
        return str(self.data.replace(gold=None).fingerprint)

    @cached_property
    def mark(self) -> str:
        """Hash of what chances depend on: the data and P(truth)."""
        return _hashed(str(self.data.fingerprint), self.p)

    def open(self, among: tuple[Hashable, ...] | None = None) -> Bools:
        """Select what has no known truth, and of these what could be drawn."""
        part: Bools = ~self.known
        if among is not None:
            chosen = set(among)
            part &= np.array([item in chosen for item in self.names])
        return part

    def strata(self, design: AuditDesign) -> Strata:
        """Return the strata that a design was drawn from."""
        return stratify(self.p, self.open(design.among), design.first)

    def to_judge(self, codes: Ints) -> tuple[pd.DataFrame, str]:
        """Return the table that an expert completes, and instructions."""
        import pandas as pd

        table = pd.DataFrame({"item": [self.names[n] for n in codes]})
        if self.texts:
            table["text"] = [self.texts[n] for n in codes]
        told = say("items_to_judge", n=len(codes), of=int(self.open().sum()))
        return table.assign(label=""), told


def read_design(path: str | os.PathLike[str], of: Items) -> AuditDesign:
    """Read what :meth:`AuditDesign.save` wrote, with the names that the data have."""
    from annomodels.io.border import decoded, name_of, raw_bytes
    from annomodels.io.objects import json_value

    source = name_of(path)
    saved = json_value(decoded(raw_bytes(path), source), source)
    try:
        if saved["kind"] != KIND or int(saved["version"]) > VERSION:
            raise ValueError
        of_these_data(str(saved["data"]), of, source)
        names = {label_text(item): item for item in of.names}
        among = saved["among"]
        chances = tuple(float(chance) for chance in saved["chances"])
        number = sum(len(part) for part in saved["rounds"])
        if len(chances) != number or not all(0 < chance <= 1 for chance in chances):
            raise ValueError
        return AuditDesign(
            str(saved["fingerprint"]),
            str(saved["data"]),
            int(saved["first"]),
            tuple(int(seed) for seed in saved["seeds"]),
            tuple(tuple(names[item] for item in part) for part in saved["rounds"]),
            chances,
            None if among is None else tuple(names[item] for item in among),
        )
    except AnnotationError:
        raise
    except (KeyError, TypeError, ValueError):
        what = "This is not a design: it does not say how the audited items were drawn."
        draw = Verb("am.audit", "annomodels audit")
        remedy = f"Draw items with {draw}, and give the design that it saved."
        raise AnnotationError(what, source, remedy) from None


def design_at(path: Path, of: Items) -> AuditDesign | None:
    """Return the design in a file if it was drawn from a fit, so that a round can follow it."""
    try:
        found = read_design(path, of) if path.is_file() else None
    except AnnotationError:
        return None
    return None if found is None or found.fingerprint != of.mark else found


def of_these_data(mark: str, of: Items, source: str) -> None:
    """Refuse items that were drawn from other data."""
    if mark != of.labels:
        what = "These items were drawn from a fit of other data."
        again = Verb("am.audit without earlier=", "annomodels audit --start-over")
        remedy = f"Give the fit that they were drawn from, or draw items from this fit: {again}."
        raise AnnotationError(what, source, remedy)


def belief_mark(fit: Fit) -> str:
    """Return a hash of the items and P(truth) of a fit, independent of coder names."""
    return _hashed(repr([label_text(item) for item in fit.data.items]), beliefs(fit))


def _hashed(text: str, p: Floats) -> str:
    mark = hashlib.sha256(text.encode())
    mark.update(np.ascontiguousarray(np.round(p, 6) + 0.0).tobytes())
    return mark.hexdigest()[:16]


def beliefs(fit: Fit) -> Floats:
    """Return P(truth) of a fit, shape [item, truth]."""
    p: Floats = fit.tree["truth"].to_dataset()["p_truth"].values
    return p


def calibration_prior(fit: Fit) -> tuple[float, float]:
    """Log-odds of the real share of wrong labels less those of the expected one: mean and spread.

    Measured on public sets with known truth by ``benchmarks/estimate.py``, those of the stack over
    the sets of families left out, which count alike.
    """
    return (0.15, 0.9) if is_stack(fit.model) else (1.0, 1.3)
