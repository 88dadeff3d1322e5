"""Base class of all annotation models: name, priors, PyMC definition, item states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.html import Html
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.models.encoded import Encoded, require_fittable
from annomodels.models.parameters import (
    Defined,
    Drawn,
    ExpectedAccuracy,
    Known,
    Parameter,
    Variables,
)
from annomodels.models.states import ItemStates, States, add_states, marginals, together
from annomodels.priors import Dirichlet
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import dirichlet_like, of_other_labels, plain
from annomodels.priors.usable import columns_not_taken, misfits
from annomodels.priors.written import enter, is_own, place_of, unwritable, value_of
from annomodels.types import Floats, Ints, PyMCModel

if TYPE_CHECKING:
    from annomodels.models.continuous.difficulty_density import DifficultyDensity
    from annomodels.models.mixtures.layout import Layout


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


class Model(Html, ABC):
    """Annotation model as an immutable value: priors only, no data."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str] = ""
    # type of the truth of an item: a class, a number, or a link to an antecedent
    truth: ClassVar[Literal["class", "number", "link"]] = "class"
    engines: ClassVar[tuple[str, ...]] = ("nuts",)
    shared: ClassVar[bool] = False
    # whether the model also allows parameters with swapped classes
    swappable: ClassVar[bool] = True
    # whether P(truth) is combined from other models, see models/mixtures/stack.py
    stacks: ClassVar[bool] = False
    # whether coders may, or must, be assigned to groups with separate populations
    grouping: ClassVar[Literal["", "may", "must"]] = ""
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
        """Reject priors that the model cannot use; see :meth:`require_usable`."""
        self.require_usable()

    def require_usable(self) -> None:
        """Reject field values that the model cannot use or a result cannot store."""
        found = misfits(self) or (unwritable(self) if is_own(type(self)) else [])
        if found:
            raise NotApplicable("\n".join(found))

    def _lines(self) -> list[str]:
        return [f"{self.title[:1].upper()}{self.title[1:]}", *self.describe()]

    @abstractmethod
    def story(self) -> list[str]:
        """Return the assumptions as text, without the priors."""

    def describe(self) -> list[str]:
        """Return the assumptions and priors as text."""
        return [*self.story(), *(each.about for each in self.variables(2) if each.about)]

    def item_states(self, v: Variables) -> ItemStates:
        """Return the states of an item given the model variables, see ``models.states``."""
        raise NotImplementedError(self.name)

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

    def require_fittable(self, data: Annotations) -> None:
        """Reject data from which this model cannot learn, with all reasons."""
        require_fittable(data)

    @property
    def starter(self) -> Model:
        """Conjugate model whose mode is the starting point, if the truth is a class."""
        raise NotImplementedError(self.name)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Return initial values of the PyMC variables from a state of the starting model."""
        raise NotImplementedError(self.name)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables other than prevalence and confusion matrices."""
        return ()

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare all variables of the PyMC model and of the result."""
        prevalence = Parameter(
            "prevalence", ("truth",), "simplex",
            prior=lambda _: DirichletRows(self.prevalence.alpha(n_labels)),
            about=f"Prevalence: {self.prevalence.in_words}.",
        )  # fmt: skip
        return (prevalence, self.confusion_parameter, *self.own_parameters(n_labels))

    @property
    def confusion_parameter(self) -> Parameter:
        """Declare the confusion matrices, averaged over item states."""
        dims = ("truth", "label") if self.shared else ("coder", "truth", "label")
        return Parameter("confusion", dims, "simplex", "accuracy")

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare all variables that the posterior of a result may contain."""
        return tuple(each for each in self.variables(n_labels) if each.kept)

    def dims(self, n_labels: int) -> dict[str, tuple[str, ...]]:
        """Return the dimensions of the result's variables, without chain and draw."""
        return {each.name: each.dims for each in self.parameters(n_labels)}

    def result_draws(self, posterior: dict[str, Floats]) -> dict[str, Floats]:
        """Convert the draws of an engine, [chain, draw, ...], to the draws of a result."""
        return posterior

    def n_coders(self, n_rows: int) -> int:
        """Return the number of coders, given the number of rows."""
        return n_rows

    @property
    def coders_apart(self) -> bool:
        """Return True if each coder has a matrix that shares nothing with other coders."""
        return not (self.shared or self.variables(2)[2:])

    @property
    def coder_model(self) -> Model:
        """Model of the coders: the model itself, unless its items have states."""
        return self

    def unused(self, data: Annotations) -> str:
        """Return a note on unused information in the data and a model that uses it, or ""."""
        return ""

    def density(self, codes: Encoded) -> DifficultyDensity | None:
        """Return the posterior density as compiled loops; None if NUTS compiles the PyMC model."""
        return None

    def updated(self, earlier: Earlier) -> Model:
        """Return this model with the posterior of an earlier fit as its priors."""
        raise NotApplicable(
            f"Priors cannot be taken from a fit of the {self.title} model. "
            "Use hierarchical, dawid-skene or pooled."
        )

    def group_of(self, coders: Sequence[str]) -> dict[str, str]:
        """Return the group of each coder; empty if the data have one group."""
        return {}

    def population_accuracy(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the accuracy of the mean coder of each group by name, shape [chain, draw]."""
        return {}

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a new coder; None if undefined."""
        return None

    def expected_accuracy(self, draws_of: DrawsOf) -> ExpectedAccuracy | None:
        """Return the coder accuracy in each class, and its prior expectation."""
        # None if the classes do not share a prior accuracy
        return None

    def newcomers(
        self, draws_of: DrawsOf, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats] | None:
        """Return state probabilities and the label rows of two new coders in each state."""
        one, other = self.new_rows(draws_of, rng), self.new_rows(draws_of, rng)
        return None if one is None or other is None else (draws_of("prevalence"), one, other)

    def states_apart(self, n_labels: int) -> Layout | None:
        """Return the layout of the states of an item, if these are not points of a number."""
        return None

    @property
    def item_kinds(self) -> Ints | None:
        """Kind of each item [item] if items differ before labeling, else None."""
        # items of one kind have the same state probabilities
        return None

    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats] | None:
        """Return logits [row, truth, contrast] and scales of summed-out item effects, or None."""
        return None

    @property
    def result_model(self) -> Model:
        """Model that a result names, without wrappers for fitting."""
        return self

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Return the names along dimensions specific to this model."""
        return {}

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

    def sample_values(
        self, n_coders: int, n_labels: int, rng: np.random.Generator
    ) -> dict[str, Floats]:
        """Draw the result's variables from the prior, for simulations."""
        labels = [str(k) for k in range(n_labels)]
        sizes = {dim: len(names) for dim, names in self.coords(labels).items()}
        sizes |= {"truth": n_labels, "label": n_labels, "coder": n_coders}
        drawn = Drawn(self.variables(n_labels), sizes, rng).every()
        free = {each.name for each in self.variables(n_labels) if not each.kept}
        found = self.result_values({name: np.asarray(value) for name, value in drawn.items()})
        return {name: value for name, value in found.items() if name not in free}

    def n_states(self, n_labels: int) -> int:
        """Return the number of states of an item; 0 if the states are the classes."""
        return len(self.coords([str(k) for k in range(n_labels)]).get("state", ()))

    def states(self, values: dict[str, Floats]) -> States | None:
        """Return item states under draws of the result's variables [draw, ...].

        None if the states are the classes.
        """
        draws, k = values["prevalence"].shape
        if not self.n_states(k):
            return None
        declared = self.variables(k)
        with np.errstate(divide="ignore"):  # log of zero probabilities
            return together(
                self.item_states(Known(declared, k, {name: v[d] for name, v in values.items()}))
                for d in range(draws)
            )

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert draws [sample, ...] of the result to draws of the PyMC variables."""
        return values

    def log_priors(
        self, values: Mapping[str, Floats], *, chosen: bool = False
    ) -> dict[str, Floats]:
        """Return log prior densities [draw] of draws of the PyMC variables, by variable."""
        k = values["prevalence"].shape[-1]
        return Known(self.variables(k), k, values).log_priors(chosen=chosen)

    def log_prior(self, values: dict[str, Floats]) -> Floats | None:
        """Return the log prior density [draw] of the result's draws; None for NUTS-only models."""
        return None

    def to_dict(self) -> dict[str, object]:
        """Return the model as plain data."""
        priors = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        own = {"class": place_of(type(self))} if is_own(type(self)) else {}
        return {"name": self.name, **own, "priors": priors}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build a model from the plain data of :meth:`to_dict`."""
        given = data.get("priors")
        priors = given if isinstance(given, Mapping) else {}
        return cls(**{name: value_of(value) for name, value in priors.items()})

    def with_data(self, data: Annotations) -> Self:
        """Return a copy for the data of the fit; rejects priors for other labels."""
        found = of_other_labels(self, [label_text(name) for name in data.labels])
        if found:
            raise NotApplicable("\n".join(found))
        return self

    @property
    def proper(self) -> bool:
        """Return True if all priors are proper, which sampling requires."""
        return all(getattr(getattr(self, each.name), "proper", True) for each in fields(self))
