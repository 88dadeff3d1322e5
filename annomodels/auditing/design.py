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
    """The rounds of an audit.

    Parameters
    ----------
    fingerprint, data
        Of the fit, see :func:`fingerprint`, and of its data.
    first
        Size of the first round, which decides on the strata.
    seeds
        Seed of each round.
    rounds
        Items of each round.
    chances
        Of each drawn item, in order: the chance of an item of its stratum to be drawn.
    among
        Items that could be drawn, where not all of unknown truth could.
    """

    fingerprint: str
    data: str
    first: int
    seeds: tuple[int, ...]
    rounds: tuple[tuple[Hashable, ...], ...]
    chances: tuple[float, ...] = ()
    among: tuple[Hashable, ...] | None = None

    def strata(self, fit: Fit) -> Strata:
        """Give the strata that the items were drawn from."""
        return stratify(beliefs(fit), open_items(fit, self.among), self.first)

    def items(self, fit: Fit) -> Ints:
        """Give the codes of the items of all rounds, in their order."""
        place = places(fit.data.items)
        return np.array([place[item] for part in self.rounds for item in part], dtype=np.int64)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save it as JSON.

        Raises
        ------
        OutputError
            When the file exists and is not to be replaced, or cannot be written.
        """
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
    """Read what :meth:`Design.save` wrote, with the names that the data of the fit have.

    Raises
    ------
    AnnotationError
        When the file is something else, or belongs to another fit.
    """
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
    """Refuse what was drawn from other data.

    Raises
    ------
    AnnotationError
        When it was.
    """
    if mark != str(fit.data.fingerprint):
        what = "These items were drawn from a fit of other data."
        remedy = "Give a fit of the data that they were drawn from, or draw items from this one."
        raise AnnotationError(Problem(what, source, remedy))


def fingerprint(fit: Fit) -> str:
    """Name the data and P(truth) of a fit by 16 signs."""
    p = np.round(beliefs(fit), 6) + 0.0
    mark = hashlib.sha256(str(fit.data.fingerprint).encode())
    mark.update(np.ascontiguousarray(p).tobytes())
    return mark.hexdigest()[:16]


def belief_mark(fit: Fit) -> str:
    """Name the items and P(truth) of a fit by 16 signs; coders may be called otherwise."""
    mark = hashlib.sha256(repr([label_text(item) for item in fit.data.items]).encode())
    mark.update(np.ascontiguousarray(np.round(beliefs(fit), 6) + 0.0).tobytes())
    return mark.hexdigest()[:16]


def beliefs(fit: Fit) -> Floats:
    """P(truth) of a fit, shape [item, truth]."""
    p: Floats = fit.tree["truth"].to_dataset()["p_truth"].values
    return p


def open_items(fit: Fit, among: tuple[Hashable, ...] | None = None) -> Bools:
    """Say of which items the truth is not known, and which are among those that could be drawn."""
    data: Any = fit.data
    part = np.ones(data.n_items, bool) if data.gold is None else np.asarray(data.gold) < 0
    if among is not None:
        chosen = set(among)
        part &= np.array([item in chosen for item in data.items])
    return part
