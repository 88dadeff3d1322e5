"""A long run written down now and then, so that it goes on after it was killed.

The file holds parameters, kept draws and places in the run, and what data, model and options they
belong to. Random numbers depend on chain, iteration and item only, so nothing else is needed: the
run that goes on draws what the run that was killed would have drawn.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from annomodels.engines.kept import Kept
from annomodels.engines.settings import Settings
from annomodels.errors import NotApplicable, Option
from annomodels.models.base import Model, State
from annomodels.types import AnyArray

VERSION = 3
WORDS = {
    "data": "of other data",
    "model": "of another model or of other priors",
    "engine": "of another engine",
}


def identity(fingerprint: str, model: Model, engine: str, settings: Settings) -> dict[str, Any]:
    """Give what a run must have in common with a checkpoint that it goes on from."""
    return {
        "data": fingerprint,
        "model": json.dumps(model.to_dict(), sort_keys=True),
        "engine": engine,
        "chains": settings.chains,
        "draws": settings.draws,
        "warmup": settings.warmup,
        "seed": settings.seed,
        "starts": settings.starts,
        "relabel": settings.relabel,
        "memory": settings.memory,
    }


@dataclass(frozen=True, eq=False)
class Saved:
    """What a checkpoint holds.

    Parameters
    ----------
    place
        Where the run stood.
    arrays
        Parameters and draws by name.
    """

    place: dict[str, Any]
    arrays: dict[str, AnyArray]

    @property
    def stage(self) -> int:
        """Number of the stage; 0 is the warm-up."""
        return int(self.place["stage"])

    @property
    def thin(self) -> int:
        """Thinning of the stage."""
        return int(self.place["thin"])

    @property
    def seconds(self) -> float:
        """Seconds that the run had taken."""
        return float(self.place["seconds"])

    @property
    def ends(self) -> list[int]:
        """Iteration of each chain at which the stage ends."""
        return [int(end) for end in self.place["ends"]]

    @property
    def iterations(self) -> list[int]:
        """Iteration of each chain."""
        return [int(n) for n in self.place["iterations"]]

    def part(self, prefix: str) -> dict[str, AnyArray]:
        """Arrays whose names begin so, by the rest of their names."""
        return {
            name.removeprefix(prefix): values
            for name, values in self.arrays.items()
            if name.startswith(prefix)
        }

    def state(self, n: int | str) -> State:
        """Parameters of a chain."""
        held = self.part(f"{n}/state/")
        return State(held.pop("log_prevalence"), held.pop("log_confusion"), held)

    def fill(self, n: int, kept: Kept) -> None:
        """Put the kept draws of a chain into their places."""
        held = self.part(f"{n}/kept/")
        draws = int(self.place["kept"][n])
        if not draws:
            return
        for name, target in (("lp", kept.lp), ("log_likelihood", kept.log_likelihood)):
            target[:draws] = held.pop(f"{name}!")
        kept.make_room({name: values[0] for name, values in held.items()})
        for name, values in held.items():
            kept.arrays[name][:draws] = values
        kept.book[:] = [draws, 0, 0, int(self.place["relabelled"][n]), kept.book[4]]
        if kept.trace is not None:
            kept.trace.put(self.arrays[f"{n}/trace"])


@dataclass
class Checkpoint:
    """Where a run is written down.

    Parameters
    ----------
    path
        The file; None for nowhere.
    every
        Seconds between two writings.
    belongs
        What the run must have in common with the file.
    saved
        What the file held when the run began.
    """

    path: Path | None
    every: float = 60.0
    belongs: dict[str, Any] = field(default_factory=dict)
    saved: Saved | None = None
    written: float = field(default_factory=lambda: time.monotonic())

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return self.path is not None and time.monotonic() - self.written >= self.every

    def write(
        self, place: dict[str, Any], chains: Sequence[Any], kept: Sequence[Kept] | None
    ) -> None:
        """Write down where chains stand and what they kept."""
        arrays: dict[str, AnyArray] = {}
        for n, chain in enumerate(chains):
            arrays |= state_arrays(n, chain.state)
            if kept is None or not kept[n].n:
                continue
            draws = kept[n].n
            trace = kept[n].trace
            if trace is not None:
                arrays[f"{n}/trace"] = trace.values[: trace.n]
            arrays[f"{n}/kept/lp!"] = kept[n].lp[:draws]
            arrays[f"{n}/kept/log_likelihood!"] = kept[n].log_likelihood[:draws]
            for name, values in kept[n].arrays.items():
                arrays[f"{n}/kept/{name}"] = values[:draws]
        place = {
            **place,
            "iterations": [chain.iteration for chain in chains],
            "kept": [0] * len(chains) if kept is None else [part.n for part in kept],
            "relabelled": [0] * len(chains) if kept is None else [p.relabelled for p in kept],
        }
        self.put(place, arrays)

    def put(self, place: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Write the file beside its place and move it there when it is whole."""
        if self.path is None:
            return
        head = json.dumps({"version": VERSION, "belongs": self.belongs, "place": place})
        temporary = self.path.with_name(f".{self.path.name}-{secrets.token_hex(4)}")
        try:
            with temporary.open("wb") as file:
                np.savez(file, **{"head": np.array(head), **arrays})  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        finally:
            temporary.unlink(missing_ok=True)
        self.written = time.monotonic()


def state_arrays(n: int | str, state: State) -> dict[str, AnyArray]:
    """Parameters of a chain by name."""
    held = {"log_prevalence": state.log_prevalence, "log_confusion": state.log_confusion}
    return {f"{n}/state/{name}": v for name, v in {**held, **state.population}.items()}


def open_checkpoint(settings: Settings, belongs: dict[str, Any]) -> Checkpoint:
    """Give the checkpoint that the options ask for, and read it where a run goes on.

    Raises
    ------
    NotApplicable
        When the file is there and the run does not go on from it, or is not of this run.
    """
    if settings.checkpoint is None:
        if settings.resume:
            raise NotApplicable(f"{Option('resume', True)} needs a {Option('checkpoint', 'FILE')}.")
        return Checkpoint(None)
    path = Path(settings.checkpoint)
    if not path.parent.is_dir():
        raise NotApplicable(f"There is no folder {path.parent} for the checkpoint {path.name}.")
    if path.is_dir():
        raise NotApplicable(f"{path} is a folder. Give a file, such as {path / 'run.npz'}.")
    if not path.exists():
        return Checkpoint(path, settings.checkpoint_every, belongs)
    if not settings.resume:
        raise NotApplicable(
            f"There is a checkpoint {path}. Go on from it with {Option('resume', True)}, or "
            "remove it."
        )
    head, saved = _read(path)
    _compare(path, head["belongs"], belongs)
    return Checkpoint(path, settings.checkpoint_every, belongs, saved)


def require_no_checkpoint(title: str, engine: str, settings: Settings) -> None:
    """Refuse a checkpoint where chains cannot be written down.

    Raises
    ------
    NotApplicable
        When one is asked for.
    """
    if settings.checkpoint is not None or settings.resume:
        raise NotApplicable(
            f"{Option('checkpoint')} serves the models whose items have one true class and "
            "nothing else "
            f"(pooled to hierarchical) with gibbs and em, not the {title} model with {engine}. "
            "Leave it out."
        )


def require_one_place(title: str, settings: Settings) -> None:
    """Refuse checkpoints and executors for models of a truth that is no class.

    Raises
    ------
    NotApplicable
        When one is asked for.
    """
    require_no_checkpoint(title, "gibbs or nuts", settings)
    if settings.executor is not None:
        raise NotApplicable(
            f"{Option('executor')} serves models of classes, not the {title} model. Leave it out."
        )


def new_seed(
    checkpoint: str | os.PathLike[str] | None = None, resume: bool = False, **_: Any
) -> int:
    """Draw a seed for a run that was given none, or take that of the checkpoint it goes on from.

    Examples
    --------
    >>> 0 <= new_seed() < 2**31
    True
    """
    if resume and checkpoint is not None and Path(checkpoint).exists():
        return int(_read(Path(checkpoint))[0]["belongs"]["seed"])
    return secrets.randbits(31)


def _read(path: Path) -> tuple[dict[str, Any], Saved]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head: dict[str, Any] = json.loads(str(arrays.pop("head")))
        if head["version"] == VERSION:
            return head, Saved(head["place"], arrays)
        sentence = f"{path} is a checkpoint of another version of annomodels."
    except MemoryError:
        raise
    except Exception:  # the library raises whatever its archives met
        sentence = f"{path} is not a checkpoint, or it is damaged."
    raise NotApplicable(
        f"{sentence} Give another file, or begin anew without {Option('resume', True)}."
    )


def _compare(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Refuse a checkpoint of another run, and say in what it differs."""
    differ = [name for name in here if there.get(name) != here[name]]
    if differ:
        said = [
            WORDS.get(name, f"of a run with {name} {there.get(name)}, not {here[name]}")
            for name in differ
        ]
        raise NotApplicable(
            f"{path} is a checkpoint {' and '.join(said)}. Give its own, or begin anew with "
            "another file."
        )
