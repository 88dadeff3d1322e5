"""Base class of all annotation models: name, priors, PyMC definition, item states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.html import Html
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.models.parameters import Defined, DrawnVariables, Known, Parameter, Variables
from annomodels.models.states import ItemStates, States, add_states, marginals, together
from annomodels.priors import Dirichlet
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import dirichlet_like, of_other_labels, plain
from annomodels.priors.usable import columns_not_taken, misfits
from annomodels.priors.written import enter, is_own, place_of, unwritable
from annomodels.types import Floats, PyMCModel


@dataclass
class State:
    """Parameters of one draw, in the format of the kernels."""

    log_prevalence: Floats  # shape [truth]
    log_confusion: Floats  # shape [row, label, truth]: the order of access in a pass
    # further parameters by name (``population``, ``concentration``)
    population: dict[str, Floats] = field(default_factory=dict)


DrawsOf = Callable[[str], Floats]


@dataclass(frozen=True)
class Earlier:
    """Posterior of an earlier fit, as the source of priors."""

    draws_of: DrawsOf  # returns draws [sample, ...] of a variable of the result
    labels: tuple[str, ...]
    coders: tuple[str, ...]
    weight: float  # proportion of the pseudo-counts to keep
    returning: bool  # whether returning coders start from their earlier rows

    def counts(self, name: str) -> Floats:
        """Return weighted Dirichlet pseudo-counts that match the draws of a variable."""
        return dirichlet_like(self.draws_of(name)) * self.weight

    @property
    def prevalence(self) -> Dirichlet:
        """Prior of the prevalence."""
        counts = self.counts("prevalence")
        total = float(counts.sum())
        return Dirichlet(total / len(self.labels), tuple(float(x) for x in counts / total))


@runtime_checkable
class Updatable(Protocol):
    """Model whose priors can be taken from an earlier fit."""

    def updated(self, earlier: Earlier) -> Model:
        """Return this model with the posterior of an earlier fit as its priors."""


@runtime_checkable
class Populated(Protocol):
    """Model whose coders come from an estimated population."""

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a new coder; None if undefined."""


class Model(Html, ABC):
    """Annotation model as an immutable value: priors only, no data."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str] = ""
    # type of the truth of an item: a class, a number, or a link to an antecedent
    truth: ClassVar[Literal["class", "number", "link"]] = "class"
    engines: ClassVar[tuple[str, ...]] = ("nuts",)
    # whether one confusion matrix is that of all coders
    shared: ClassVar[bool] = False
    # whether the model also allows parameters with swapped classes
    swappable: ClassVar[bool] = True
    # assumptions about coders and items, as a keyword of the rules for the next model to try
    family: ClassVar[str] = ""
    # every model is a dataclass
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    prevalence: Dirichlet

    def __init_subclass__(cls) -> None:
        own, said = is_own(cls), cls.__dict__
        if own and "name" not in said:  # else the result would carry the name of another model
            cls.name = cls.__name__
        if own and "title" not in said:
            cls.title = cls.name
        if own or "name" in said:
            enter(cls)

    def __new__(cls, *given: object, **named: object) -> Self:
        """Reject covariates that the model does not use."""
        if found := columns_not_taken(cls, named):
            raise NotApplicable("\n".join(found))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Reject priors that the model cannot use; see :func:`require_usable`."""
        require_usable(self)

    def _lines(self) -> list[str]:
        return [f"{self.title[:1].upper()}{self.title[1:]}", *self.describe()]

    @abstractmethod
    def story(self) -> list[str]:
        """Return the assumptions as text, without the priors."""

    def describe(self) -> list[str]:
        """Return the assumptions and priors as text."""
        return [*self.story(), *(each.about for each in self.variables(2) if each.about)]

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare all variables of the PyMC model; by default, prevalence and confusion."""
        prevalence = Parameter(
            "prevalence", ("truth",), "simplex",
            prior=lambda _: DirichletRows(self.prevalence.alpha(n_labels)),
            about=f"Prevalence: {self.prevalence.in_words}.",
        )  # fmt: skip
        # matrices averaged over item states, unless a model declares them otherwise
        rows = ("truth", "label") if self.shared else ("coder", "truth", "label")
        return (prevalence, Parameter("confusion", rows, "simplex", "accuracy"))

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare all variables that the posterior of a result may contain."""
        return tuple(each for each in self.variables(n_labels) if each.kept)

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Return the names along dimensions specific to this model."""
        return {}

    def item_states(self, v: Variables) -> ItemStates:
        """Return the states of an item given the model variables, see ``models.states``."""
        raise NotImplementedError(self.name)

    def states(self, values: dict[str, Floats]) -> States | None:
        """Return item states under draws of the result's variables [draw, ...].

        None if the states are the classes.
        """
        draws, k = values["prevalence"].shape
        if not n_states(self, k):
            return None
        declared = self.variables(k)
        with np.errstate(divide="ignore"):  # log of zero probabilities
            return together(
                self.item_states(Known(declared, k, {name: v[d] for name, v in values.items()}))
                for d in range(draws)
            )

    def build(self, codes: Any, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with the truth and other discrete variables summed out.

        Parameters
        ----------
        codes
            Labels in the format of the model; for classes, an :class:`Encoded`.
        coords
            Names along the dimensions truth, label and coder, and those of :meth:`coords`.

        Returns
        -------
        pymc.Model
        """
        import pymc as pm

        with pm.Model(coords=coords) as model:
            variables = Defined(self.variables(codes.n_labels), codes.n_labels, codes)
            add_states(codes, self.item_states(variables))
            variables.every()
        return model

    @property
    def starter(self) -> Model:
        """Conjugate model whose mode is the starting point, if the truth is a class."""
        raise NotImplementedError(self.name)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Return initial values of the PyMC variables from a state of the starting model."""
        raise NotImplementedError(self.name)

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert draws [sample, ...] of the result to draws of the PyMC variables."""
        return values

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert one draw of the PyMC variables to the variables of the result.

        The result of each model includes ``prevalence`` [truth] and ``confusion`` [coder, truth,
        label], with everything else summed out.
        """
        found = self.states({name: np.asarray(v)[None] for name, v in values.items()})
        if found is None:
            return values
        _, confusion = marginals(found.share[0], found.emission[0], found.truth[0])
        return {**values, "confusion": confusion[0] if self.shared else confusion}

    def with_data(self, data: Annotations) -> Self:
        """Return a copy for the data of the fit; rejects priors for other labels."""
        found = of_other_labels(self, [label_text(name) for name in data.labels])
        if found:
            raise NotApplicable("\n".join(found))
        return self

    def to_dict(self) -> dict[str, object]:
        """Return the model as plain data."""
        priors = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        own = {"class": place_of(type(self))} if is_own(type(self)) else {}
        return {"name": self.name, **own, "priors": priors}


def require_usable(model: Model) -> None:
    """Reject field values that a model cannot use or a result cannot store."""
    found = misfits(model) or (unwritable(model) if is_own(type(model)) else [])
    if found:
        raise NotApplicable("\n".join(found))


def is_proper(model: Model) -> bool:
    """Return True if all priors are proper, which sampling requires."""
    return all(getattr(getattr(model, each.name), "proper", True) for each in fields(model))


def coders_apart(model: Model) -> bool:
    """Return True if each coder has a matrix that shares nothing with other coders."""
    return not (model.shared or model.variables(2)[2:])


def n_states(model: Model, n_labels: int) -> int:
    """Return the number of states of an item; 0 if the states are the classes."""
    return len(model.coords([str(k) for k in range(n_labels)]).get("state", ()))


def sample_values(
    model: Model, n_coders: int, n_labels: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Draw the result's variables from the prior, for simulations."""
    labels, declared = [str(k) for k in range(n_labels)], model.variables(n_labels)
    sizes = {dim: len(names) for dim, names in model.coords(labels).items()}
    sizes |= {"truth": n_labels, "label": n_labels, "coder": n_coders}
    drawn = DrawnVariables(declared, sizes, rng).every()
    free = {each.name for each in declared if not each.kept}
    found = model.result_values({name: np.asarray(value) for name, value in drawn.items()})
    return {name: value for name, value in found.items() if name not in free}


def log_priors(
    model: Model, values: Mapping[str, Floats], *, chosen: bool = False
) -> dict[str, Floats]:
    """Return log prior densities [draw] of draws of the PyMC variables, by variable."""
    k = values["prevalence"].shape[-1]
    return Known(model.variables(k), k, values).log_priors(chosen=chosen)
