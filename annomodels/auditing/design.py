"""How audited items were drawn: what is saved of it, and what follows from it for a fit."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.auditing.rows import places
from annomodels.auditing.strata import Strata, stratify
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, Problem, Verb
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

KIND, VERSION = "annomodels audit", 1


@dataclass(frozen=True)
class Design:
    """The rounds of an audit."""

    fingerprint: str  # of the fit, and of its data
    data: str
    first: int  # size of the first round, which decides on the strata
    seeds: tuple[int, ...]  # of each round
    rounds: tuple[tuple[Hashable, ...], ...]  # items of each round
    chances: tuple[float, ...] = ()  # chance of each drawn item to be drawn, in order
    among: tuple[Hashable, ...] | None = None  # items that could be drawn, if not all open ones

    def strata(self, fit: Fit) -> Strata:
        """Return the strata that the items were drawn from."""
        return stratify(beliefs(fit), open_items(fit, self.among), self.first)

    def items(self, fit: Fit) -> Ints:
        """Return the codes of the items of all rounds, in their order."""
        place = places(fit.data.items)
        return np.array([place[item] for part in self.rounds for item in part], dtype=np.int64)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save it as JSON."""
        from annomodels.io.writing import atomic_path

        saved = {
            "kind": KIND,
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "data": self.data,
            "first": self.first,
            "seeds": self.seeds,
            "rounds": [[label_text(item) for item in part] for part in self.rounds],
            "chances": self.chances,
            "among": None if self.among is None else [label_text(item) for item in self.among],
        }
        with atomic_path(path, force) as temporary:
            temporary.write_text(json.dumps(saved, ensure_ascii=False, indent=1), "utf-8")
        return Path(path)


def read_design(path: str | os.PathLike[str], fit: Fit) -> Design:
    """Read what :meth:`Design.save` wrote, with the names that the data of the fit have."""
    from annomodels.io.border import decoded, name_of, raw_bytes
    from annomodels.io.objects import json_value

    source = name_of(path)
    saved = json_value(decoded(raw_bytes(path), source), source)
    try:
        if saved["kind"] != KIND or int(saved["version"]) > VERSION:
            raise ValueError
        of_these_data(str(saved["data"]), fit, source)
        names = {label_text(item): item for item in fit.data.items}
        among = saved["among"]
        chances = tuple(float(chance) for chance in saved["chances"])
        number = sum(len(part) for part in saved["rounds"])
        if len(chances) != number or not all(0 < chance <= 1 for chance in chances):
            raise ValueError
        return Design(
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
        what = "This does not say how audited items were drawn."
        draw = Verb("am.audit", "annomodels audit")
        remedy = f"Draw items with {draw}, and give the design that it saved."
        raise AnnotationError(Problem(what, source, remedy)) from None


def of_these_data(mark: str, fit: Fit, source: str) -> None:
    """Refuse items that were drawn from other data."""
    if mark != str(fit.data.fingerprint):
        what = "These items were drawn from a fit of other data."
        remedy = "Give a fit of the data that they were drawn from, or draw items from this one."
        raise AnnotationError(Problem(what, source, remedy))


def fingerprint(fit: Fit) -> str:
    """Return a hash of the data and P(truth) of a fit, 16 characters."""
    p = np.round(beliefs(fit), 6) + 0.0
    mark = hashlib.sha256(str(fit.data.fingerprint).encode())
    mark.update(np.ascontiguousarray(p).tobytes())
    return mark.hexdigest()[:16]


def belief_mark(fit: Fit) -> str:
    """Return a hash of the items and P(truth) of a fit; coders may have other names."""
    mark = hashlib.sha256(repr([label_text(item) for item in fit.data.items]).encode())
    mark.update(np.ascontiguousarray(np.round(beliefs(fit), 6) + 0.0).tobytes())
    return mark.hexdigest()[:16]


def beliefs(fit: Fit) -> Floats:
    """Return P(truth) of a fit, shape [item, truth]."""
    p: Floats = fit.tree["truth"].to_dataset()["p_truth"].values
    return p


def open_items(fit: Fit, among: tuple[Hashable, ...] | None = None) -> Bools:
    """Select items of unknown truth, and of these the items that could be drawn."""
    data: Any = fit.data
    part = np.ones(data.n_items, bool) if data.gold is None else np.asarray(data.gold) < 0
    if among is not None:
        chosen = set(among)
        part &= np.array([item in chosen for item in data.items])
    return part
