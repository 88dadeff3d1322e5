"""Groups of coders as a level of the hierarchy: people and programs, trained coders and a crowd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.models.base import DrawsOf, Earlier, State
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.observed import observed
from annomodels.models.parameters import ExpectedAccuracy, Parameter
from annomodels.priors import LogNormal, Rows
from annomodels.types import AnyArray, Floats, Places, Tensor

if TYPE_CHECKING:
    from annomodels.kernels.rows import Populations

# what a variable of the population is called when there is one for each group
BY_GROUP = {
    "population": "group_population",
    "concentration": "group_concentration",
    "common_accuracy": "group_accuracy",
    "population_strength": "group_strength",
}


@dataclass(frozen=True)
class GroupedCoders(HierarchicalDawidSkene):
    r"""Hierarchical Dawid-Skene whose coders belong to groups with a population each.

    .. math::

        a_g \sim Beta, \quad m_{g,k} \sim Dir(\alpha_k(a_g)), \quad s_{g,k} \sim p(s), \quad
        \theta_{j,k} \sim Dir(s_{g_j,k}\, m_{g_j,k}), \quad c_i \sim Cat(\pi), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}})

    Coders borrow from their group and not from the others. The populations have one prior and
    nothing else in common. With one group this is the hierarchical model, draw by draw.

    Parameters
    ----------
    prevalence, population, concentration, returning, places
        As in :class:`HierarchicalDawidSkene`; population and concentration are the prior of every
        group.
    groups
        Group of each coder, by name: a mapping, or pairs.
    rest
        Group of the coders that `groups` does not name.
    members
        Group of each coder of the data as a place among :attr:`group_names`, filled in by
        :meth:`with_data`.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i, for the population of one group.

    Examples
    --------
    >>> GroupedCoders(groups={"gpt": "program", "ana": "person"}).groups
    (('ana', 'person'), ('gpt', 'program'))
    """

    name: ClassVar[str] = "groups"
    title: ClassVar[str] = "hierarchical Dawid-Skene with groups of coders"

    family: ClassVar[str] = ""
    grouping: ClassVar[Literal["", "may", "must"]] = "must"

    groups: Mapping[Any, Any] | tuple[tuple[str, str], ...] = ()
    rest: str = "others"
    members: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        pairs = self.groups.items() if isinstance(self.groups, Mapping) else self.groups
        texts = {label_text(coder): label_text(group) for coder, group in pairs}
        object.__setattr__(self, "groups", tuple(sorted(texts.items())))
        super().__post_init__()

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups, sorted."""
        return tuple(sorted({group for _, group in self._pairs}))

    @property
    def split(self) -> bool:
        """Return True if the coders of the data fall into more than one group."""
        return len(set(self.members)) > 1

    @property
    def _pairs(self) -> tuple[tuple[str, str], ...]:
        if isinstance(self.groups, Mapping):
            raise TypeError("groups are pairs once the model is made")
        return self.groups

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows the group of each coder of the data; refuses names that are no coders."""
        known = super().with_data(data)
        given = dict(self._pairs)
        coders = [label_text(name) for name in data.coders]
        strange = sorted(given.keys() - set(coders))
        refuse_strange(strange, data.source)
        groups = {coder: given.get(coder, self.rest) for coder in coders}
        names = sorted(set(groups.values()))
        members = tuple(names.index(groups[coder]) for coder in coders)
        return replace(known, groups=tuple(groups.items()), members=members)

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        return {"coder_group": list(self.group_names)} if self.split else {}

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
        """Return this model with the posterior of an earlier fit as its priors."""
        if self.split:
            raise NotApplicable(
                "Priors cannot be taken from a fit with several groups of coders. Use hierarchical."
            )
        return super().updated(earlier)

    def group_of(self, coders: Sequence[str]) -> dict[str, str]:
        """Group of each coder, where the coders of the data have several; else empty."""
        if not self.split:
            return {}
        names = self.group_names
        return {coder: names[g] for coder, g in zip(coders, self.members, strict=True)}

    def population_accuracy(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Accuracy of the mean coder of each group, by its name, shape [chain, draw]."""
        if not self.split:
            return {}
        right = np.diagonal(values["group_population"], axis1=3, axis2=4)
        accuracy = np.einsum("cdgk,cdk->cdg", right, values["prevalence"])
        return {name: accuracy[:, :, g] for g, name in enumerate(self.group_names)}

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix of a coder who is yet to come; None, since nobody says of which group."""
        return None if self.split else super().new_rows(draws_of, rng)

    def expected_accuracy(self, draws_of: DrawsOf) -> ExpectedAccuracy | None:
        """Return the expected accuracy of one population; None if there are several."""
        return None if self.split else super().expected_accuracy(draws_of)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the populations of the groups, or that of all coders where there is one."""
        plain = super().own_parameters(n_labels)
        if not self.split:
            return plain
        return tuple(
            replace(each, name=BY_GROUP[each.name], dims=("coder_group", *each.dims))
            for each in plain
        )

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        """Arrays in which kernels write draws of the populations."""
        if not self.split:
            return super().draw_places(held, spare)
        mean = held["group_population"]
        # room that nobody reads where the accuracy is not estimated
        idle = np.empty((len(spare), mean.shape[1]), dtype=mean.dtype)
        spread = held["group_concentration"]
        strength = held.get("group_strength", np.empty_like(spread))
        return (mean, spread, held.get("group_accuracy", idle), strength)

    # -- Gibbs and EM ----------------------------------------------------------------------------

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of the rows, shape [row, truth, label] if there are groups."""
        if not self.split:
            return super().row_prior(state)
        held = state.population
        shapes = held["group_concentration"][:, :, None] * held["group_population"]
        by_row = np.ascontiguousarray(shapes[list(self.members)])
        own = self.own_rows(by_row.shape[-1])
        return np.where(own > 0, own, by_row) if len(own) else by_row

    def _shapes(self, row_prior: Floats) -> Floats:
        """Pseudo-counts [truth, label], or [row, truth, label]."""
        return row_prior if row_prior.ndim == 3 else super()._shapes(row_prior)

    def source(self, state: State) -> Populations:
        """Return the populations as the kernels take them, see ``kernels.rows``."""
        if not self.split:
            return super().source(state)
        return self.populations(_plain(state.population), np.array(self.members))

    def rows_logp(self, values: dict[str, Floats]) -> Floats:
        """Log prior density [draw] of draws of the rows and of the populations."""
        if not self.split:
            return super().rows_logp(values)
        plain = _plain(values)
        shapes = (plain["concentration"][..., None] * plain["population"])[:, list(self.members)]
        found = self.rows_given(values["confusion"], shapes)
        for g in range(len(self.group_names)):
            of_group = {name: value[:, g] for name, value in plain.items()}
            found = found + sum(self.population_logp(of_group).values())
        return np.asarray(found)

    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""
        if not self.split:
            return super().start(counts, sizes)
        member, parts = np.array(self.members), []
        for group in range(len(self.group_names)):
            # coders of other groups are as if they had not labeled
            mine = np.where((member == group)[:, None, None], counts, 0.0)
            parts.append(super().start(mine, sizes).population)
        population = {
            name: np.stack([part[plain] for part in parts])
            for plain, name in BY_GROUP.items()
            if plain in parts[0]
        }
        # row_prior asks for the populations only
        shapes = self.row_prior(State(np.log(sizes + 1.0), np.empty(0), population))
        return self.with_mode(counts, sizes, shapes, population)

    def log_population(self, held: dict[str, Floats]) -> float:
        """Log prior density of the populations of all groups."""
        if not self.split:
            return super().log_population(held)
        plain = [
            {name: held[own][g] for name, own in BY_GROUP.items() if own in held}
            for g in range(len(held["group_concentration"]))
        ]
        return sum(super(GroupedCoders, self).log_population(each) for each in plain)

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        if not self.split:
            return super().sample_parameters(n_rows, n_labels, rng)
        plain = replace(self, members=(), places=(), returning=())
        parts = [plain.sample_parameters(n_rows, n_labels, rng) for _ in self.group_names]
        population = {
            name: np.stack([part.population[key] for part in parts])
            for key, name in BY_GROUP.items()
            if key in parts[0].population
        }
        rows = [parts[g].log_confusion[j] for j, g in enumerate(self.members)]
        state = State(parts[0].log_prevalence, np.stack(rows), population)
        for j, own in enumerate(self.own_rows(n_labels)):
            if own[0, 0] > 0:
                state.log_confusion[j] = np.log(np.stack([rng.dirichlet(a) for a in own], axis=1))
        return state

    # -- PyMC ------------------------------------------------------------------------------------

    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        if not self.split:
            return super().pymc_log_confusion(n_labels)
        import pymc as pm
        import pytensor.tensor as pt

        prior, n_groups = self.population, len(self.group_names)
        shares: Any = np.broadcast_to(prior.mean(n_labels), (n_groups, n_labels, n_labels))
        if prior.estimated:
            accuracy = pm.Beta("group_accuracy", *prior.beta, dims="coder_group")[:, None, None]
            off = (1.0 - accuracy) / (n_labels - 1)
            shares = pt.where(np.eye(n_labels, dtype=bool), accuracy, off)
        anchor = prior.strength * shares
        if isinstance(prior, Rows):
            anchor = np.broadcast_to(prior.alpha(n_labels), (n_groups, n_labels, n_labels))
        elif prior.spread:
            scale = LogNormal(prior.strength, prior.spread)
            anchor = (
                scale.pymc("group_strength", dims=("coder_group", "truth"))[:, :, None] * shares
            )
        dims = ("coder_group", "truth", "label")
        mean = pm.Dirichlet("group_population", a=anchor, dims=dims)
        concentration = self.concentration.pymc("group_concentration", dims=dims[:2])
        alpha = (concentration[:, :, None] * mean)[observed("members", self.members)]
        own = self.own_rows(n_labels)
        if len(own):
            known = observed("own_rows", own)
            alpha = pt.where(known > 0, known, alpha)
        confusion = pm.Dirichlet("confusion", a=alpha, dims=("coder", "truth", "label"))
        return pt.log(confusion)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        out = super().describe()
        names = ", ".join(self.group_names) or "none named, so all coders are alike"
        return [*out, f"Coders belong to groups with a population each: {names}."]


def _plain(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the variables of groups by the names of those of one population."""
    return {plain: values[name] for plain, name in BY_GROUP.items() if name in values}


def refuse_strange(names: Sequence[str], source: str) -> None:
    """Refuse names with a group that are no coders of the data."""
    if names:
        many = counted(len(names), "name with a group is", "names with a group are")
        what = f"{many} not among the coders: {', '.join(names[:5])}."
        raise AnnotationError(Problem(what, source, "Name coders as the data do: data.coders."))
