"""Base of all models of annotation: name, priors, PyMC definition, item states."""

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
    from annomodels.models.continuous.density import Density


@dataclass
class State:
    """Parameters of one draw, as the kernels hold them."""

    log_prevalence: Floats  # shape [truth]
    log_confusion: Floats  # shape [row, label, truth]: the order in which a pass reads it
    # further parameters by name (``population``, ``concentration``)
    population: dict[str, Floats] = field(default_factory=dict)


DrawsOf = Callable[[str], Floats]


@dataclass(frozen=True)
class Earlier:
    """Posterior of an earlier fit, as the source of priors."""

    draws_of: DrawsOf  # gives draws [sample, ...] of a variable of the result
    labels: tuple[str, ...]
    coders: tuple[str, ...]
    weight: float  # share of the pseudo-counts to keep
    returning: bool  # whether coders that come back start from their own rows

    def counts(self, name: str) -> Floats:
        """Pseudo-counts of the Dirichlet distributions that are like the draws of a variable."""
        return dirichlet_like(self.draws_of(name)) * self.weight

    @property
    def prevalence(self) -> Dirichlet:
        """Prior of the prevalence."""
        counts = self.counts("prevalence")
        total = float(counts.sum())
        return Dirichlet(total / len(self.labels), tuple(float(x) for x in counts / total))


class Model(Html, ABC):
    """An immutable value: priors only, no data."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str] = ""
    # what the truth of an item is: one of some classes, a number, or a link to an antecedent
    truth: ClassVar[Literal["class", "number", "link"]] = "class"
    engines: ClassVar[tuple[str, ...]] = ("nuts",)
    shared: ClassVar[bool] = False
    # whether classes that have swapped their names still are parameters of the model
    swappable: ClassVar[bool] = True
    # whether P(truth) is put together from that of other models, see models/mixtures/stack.py
    stacks: ClassVar[bool] = False
    # whether coders may, or must, be told to be of groups with a population each
    grouping: ClassVar[Literal["", "may", "must"]] = ""
    # what it believes of coders and items, in the words of the rules on which model to try next
    family: ClassVar[str] = ""
    # every model is a dataclass
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    prevalence: Dirichlet

    def __init_subclass__(cls) -> None:
        own, said = is_own(cls), cls.__dict__
        if own and "name" not in said:  # a result would be taken for that of another model
            cls.name = cls.__name__
        if own and "title" not in said:
            cls.title = cls.name
        if own or "name" in said:
            enter(cls)

    def __new__(cls, *given: object, **named: object) -> Self:
        """Refuse columns that the model takes no account of, by name."""
        if found := columns_not_taken(cls, named):
            raise NotApplicable("\n".join(found))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Refuse priors that the model cannot use; see :meth:`require_usable`."""
        self.require_usable()

    def require_usable(self) -> None:
        """Refuse fields that hold what the model cannot use, or what a result cannot keep."""
        found = misfits(self) or (unwritable(self) if is_own(type(self)) else [])
        if found:
            raise NotApplicable("\n".join(found))

    def _lines(self) -> list[str]:
        return [f"{self.title[:1].upper()}{self.title[1:]}", *self.describe()]

    @abstractmethod
    def story(self) -> list[str]:
        """Assumptions as text, without the priors."""

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [*self.story(), *(each.about for each in self.variables(2) if each.about)]

    def item_states(self, v: Variables) -> ItemStates:
        """Return the states of an item given the variables of the model, see ``models.states``."""
        raise NotImplementedError(self.name)

    def build(self, codes: Any, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with the truth (and what else is discrete) summed out.

        Parameters
        ----------
        codes
            The labels as the model sees them, of classes an :class:`Encoded`.
        coords
            Names of the dimensions truth, label and coder, and of :meth:`coords`.

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
        """Refuse data from which this model has nothing to learn, with all reasons."""
        require_fittable(data)

    @property
    def starter(self) -> Model:
        """The conjugate model whose mode is the starting point, where the truth is a class."""
        raise NotImplementedError(self.name)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the free variables of the PyMC model, from a state of the starting model."""
        raise NotImplementedError(self.name)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables of the model beside prevalence and confusion matrices."""
        return ()

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare every variable of the PyMC model, or of the result."""
        prevalence = Parameter(
            "prevalence", ("truth",), "simplex",
            prior=lambda _: DirichletRows(self.prevalence.alpha(n_labels)),
            about=f"Prevalence: {self.prevalence.in_words}.",
        )  # fmt: skip
        return (prevalence, self.confusion_parameter, *self.own_parameters(n_labels))

    @property
    def confusion_parameter(self) -> Parameter:
        """Declare the confusion matrices, of items in general where these have states."""
        dims = ("truth", "label") if self.shared else ("coder", "truth", "label")
        return Parameter("confusion", dims, "simplex", "accuracy")

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare every variable that the posterior of a result may hold."""
        return tuple(each for each in self.variables(n_labels) if each.kept)

    def dims(self, n_labels: int) -> dict[str, tuple[str, ...]]:
        """Dimensions of the variables of a result, beyond chain and draw."""
        return {each.name: each.dims for each in self.parameters(n_labels)}

    def result_draws(self, posterior: dict[str, Floats]) -> dict[str, Floats]:
        """Turn the draws that an engine kept, [chain, draw, ...], into those of a result."""
        return posterior

    def n_coders(self, n_rows: int) -> int:
        """Return the number of coders that this many rows belong to."""
        return n_rows

    @property
    def coders_apart(self) -> bool:
        """Return True if each coder has a matrix, and nothing in common with the others."""
        return not (self.shared or self.variables(2)[2:])

    @property
    def coder_model(self) -> Model:
        """Model of the coders: the model itself, unless its items have states."""
        return self

    def unused(self, data: Annotations) -> str:
        """State what of the data the model does not use, and which model does; empty if nothing."""
        return ""

    def density(self, codes: Encoded) -> Density | None:
        """Return the posterior in compiled loops; None where NUTS compiles the PyMC model."""
        return None

    def updated(self, earlier: Earlier) -> Model:
        """Return this model with the posterior of an earlier fit as its priors."""
        raise NotApplicable(
            f"Priors cannot be taken from a fit of the {self.title} model. "
            "Use hierarchical, dawid-skene or pooled."
        )

    def group_of(self, coders: Sequence[str]) -> dict[str, str]:
        """Group of each coder, where the coders of the data have several; else empty."""
        return {}

    def population_accuracy(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Accuracy of the mean coder of each group, by its name, shape [chain, draw]."""
        return {}

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a coder who is yet to come; None if unknown."""
        return None

    def expected_accuracy(self, draws_of: DrawsOf) -> ExpectedAccuracy | None:
        """Return the accuracy of the coders in each class, and its prior expectation."""
        # None if the prior of a class does not rest on the other classes
        return None

    def newcomers(
        self, draws_of: DrawsOf, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats] | None:
        """Two coders yet to come: shares of the states, and what each says in every state."""
        one, other = self.new_rows(draws_of, rng), self.new_rows(draws_of, rng)
        return None if one is None or other is None else (draws_of("prevalence"), one, other)

    def state_truth(self, n_labels: int) -> Floats | None:
        """P(truth | state), shape [state, truth], where it is fixed and states are readings."""
        return None

    def yes_or_no(self, n_labels: int) -> frozenset[str]:
        """Values of the states that are 1 or 0, so that their mean is a probability."""
        return frozenset()

    @property
    def item_kinds(self) -> Ints | None:
        """Kind of each item [item] if items differ before they are labeled; else None."""
        # items of a kind have the same shares of the states
        return None

    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats] | None:
        """Logits [row, truth, contrast] and scales of item effects, if these are summed out."""
        return None

    @property
    def result_model(self) -> Model:
        """The model that a result names, where another was put around it for fitting."""
        return self

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        return {}

    def terms(self, name: str) -> list[tuple[str, str]]:
        """Terms of the coefficients of this name, each with what one more of it is."""
        return []

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Turn one draw of the PyMC variables into the variables of the result.

        Every model ends with ``prevalence`` [truth] and ``confusion`` [coder, truth, label], the
        share of each class and what coders say of it, everything else summed out.
        """
        found = self.states({name: np.asarray(v)[None] for name, v in values.items()})
        if found is None:
            return values
        _, confusion = marginals(found.share[0], found.emission[0], found.truth[0])
        return {**values, "confusion": confusion[0] if self.shared else confusion}

    def sample_values(
        self, n_coders: int, n_labels: int, rng: np.random.Generator
    ) -> dict[str, Floats]:
        """Draw the variables of the result from the prior, for simulations."""
        labels = [str(k) for k in range(n_labels)]
        sizes = {dim: len(names) for dim, names in self.coords(labels).items()}
        sizes |= {"truth": n_labels, "label": n_labels, "coder": n_coders}
        drawn = Drawn(self.variables(n_labels), sizes, rng).every()
        free = {each.name for each in self.variables(n_labels) if not each.kept}
        found = self.result_values({name: np.asarray(value) for name, value in drawn.items()})
        return {name: value for name, value in found.items() if name not in free}

    def n_states(self, n_labels: int) -> int:
        """Return the number of states of an item; 0 if they are the classes themselves."""
        return len(self.coords([str(k) for k in range(n_labels)]).get("state", ()))

    def states(self, values: dict[str, Floats]) -> States | None:
        """States of the items under draws of the result's variables [draw, ...].

        None where the states are the classes themselves.
        """
        draws, k = values["prevalence"].shape
        if not self.n_states(k):
            return None
        declared = self.variables(k)
        with np.errstate(divide="ignore"):  # of shares that are 0
            return together(
                self.item_states(Known(declared, k, {name: v[d] for name, v in values.items()}))
                for d in range(draws)
            )

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Turn draws [sample, ...] of the result into those of the variables of the PyMC model."""
        return values

    def log_priors(
        self, values: Mapping[str, Floats], *, chosen: bool = False
    ) -> dict[str, Floats]:
        """Log prior densities [draw] of draws of the PyMC variables, by variable."""
        k = values["prevalence"].shape[-1]
        return Known(self.variables(k), k, values).log_priors(chosen=chosen)

    def log_prior(self, values: dict[str, Floats]) -> Floats | None:
        """Log prior density [draw] of draws of the result; None if only NUTS knows it."""
        return None

    def to_dict(self) -> dict[str, object]:
        """Write the model down as plain data."""
        priors = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        own = {"class": place_of(type(self))} if is_own(type(self)) else {}
        return {"name": self.name, **own, "priors": priors}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read back what :meth:`to_dict` wrote."""
        given = data.get("priors")
        priors = given if isinstance(given, Mapping) else {}
        return cls(**{name: value_of(value) for name, value in priors.items()})

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows the data it will be fitted to; refuses priors for other labels."""
        found = of_other_labels(self, [label_text(name) for name in data.labels])
        if found:
            raise NotApplicable("\n".join(found))
        return self

    @property
    def proper(self) -> bool:
        """Return True if all priors are proper, as sampling needs."""
        return self.prevalence.concentration > 0
