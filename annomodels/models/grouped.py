"""Groups of coders in the hierarchy, such as people and programs, or experts and a crowd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.models.base import Earlier, Model, State
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.state_model import coders_of
from annomodels.models.parameters import Variables
from annomodels.types import Floats, Ints, TensorLike

# names of the population variables if each group has one
BY_GROUP = {
    "population": "group_population",
    "concentration": "group_concentration",
    "common_accuracy": "group_accuracy",
    "population_strength": "group_strength",
}


@dataclass(frozen=True)
class GroupedCoders(HierarchicalDawidSkene):
    r"""Hierarchical Dawid-Skene with a separate population for each group of coders.

    .. math::

        a_g \sim Beta, \quad m_{g,k} \sim Dir(\alpha_k(a_g)), \quad s_{g,k} \sim p(s), \quad
        \theta_{j,k} \sim Dir(s_{g_j,k}\, m_{g_j,k}), \quad c_i \sim Cat(\pi), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}})

    Coders are pooled within their group only. The populations share only their prior. With one
    group, the draws are those of the hierarchical model.

    Parameters
    ----------
    prevalence, population, concentration, returning, places
        As in :class:`HierarchicalDawidSkene`; population and concentration are the priors of each
        group.
    groups
        Group of each coder, by name: a mapping, or pairs.
    rest
        Group of coders that are not in `groups`.
    members
        Group of each coder of the data as an index into :attr:`group_names`; set by
        :meth:`with_data`.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i (population of one group).

    Examples
    --------
    >>> GroupedCoders(groups={"gpt": "program", "ana": "person"}).groups
    (('ana', 'person'), ('gpt', 'program'))
    """

    name: ClassVar[str] = "groups"
    title: ClassVar[str] = "hierarchical Dawid-Skene with groups of coders"

    family: ClassVar[str] = ""

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
        """Return True if the coders of the data belong to more than one group."""
        return len(set(self.members)) > 1

    @property
    def _pairs(self) -> tuple[tuple[str, str], ...]:
        if isinstance(self.groups, Mapping):
            raise TypeError("groups are pairs once the model is made")
        return self.groups

    def with_data(self, data: Annotations) -> Self:
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
        return {"coder_group": list(self.group_names)} if self.split else {}

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
        if self.split:
            raise NotApplicable(
                "Priors cannot be taken from a fit with several groups of coders. Use hierarchical."
            )
        return super().updated(earlier)

    def group_of(self, coders: Sequence[str]) -> dict[str, str]:
        """Return the group of each coder."""
        names = self.group_names
        return {coder: names[g] for coder, g in zip(coders, self.members, strict=True)}

    def population_accuracy(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the accuracy of the mean coder of each group by name, shape [chain, draw]."""
        right = np.diagonal(values["group_population"], axis1=3, axis2=4)
        # of the classes that coders perceive, if items have states
        prevalence = values.get("perceived_prevalence", values["prevalence"])
        accuracy = np.einsum("cdgk,cdk->cdg", right, prevalence)
        return {name: accuracy[:, :, g] for g, name in enumerate(self.group_names)}

    def called(self, name: str) -> str:
        return BY_GROUP[name] if self.split else name

    @property
    def populations_along(self) -> tuple[str, ...]:
        return ("coder_group",) if self.split else ()

    def of_coders(self, shapes: TensorLike, v: Variables) -> TensorLike:
        if not self.split:
            return super().of_coders(shapes, v)
        return shapes[..., v.data("members", np.array(self.members)), :, :]

    def members_of(self, n_rows: int) -> Ints:
        return np.array(self.members) if self.split else super().members_of(n_rows)

    def row_prior(self, state: State) -> Floats:
        """Return Dirichlet pseudo-counts of the rows, [row, truth, label] for several groups."""
        shapes = super().row_prior(state)
        if not self.split:
            return shapes
        return self._shapes(np.ascontiguousarray(shapes[list(self.members)]))

    def population_at(self, counts: Floats) -> dict[str, Floats]:
        if not self.split:
            return super().population_at(counts)
        member, parts = np.array(self.members), []
        for group in range(len(self.group_names)):
            # zero counts exclude the coders of other groups
            mine = np.where((member == group)[:, None, None], counts, 0.0)
            parts.append(super().population_at(mine))
        return {self.called(name): np.stack([part[name] for part in parts]) for name in parts[0]}

    def story(self) -> list[str]:
        names = ", ".join(self.group_names) or "none named, so all coders are alike"
        return [*super().story(), f"Coders belong to groups, each with a population: {names}."]


def groups_in(model: Model) -> GroupedCoders | None:
    """Return the model of the coders if they belong to more than one group."""
    coders = coders_of(model)
    return coders if isinstance(coders, GroupedCoders) and coders.split else None


def grouping(kind: type[Model]) -> Literal["", "may", "must"]:
    """Return whether coders may, or must, be assigned to groups with separate populations."""
    if issubclass(kind, GroupedCoders):
        return "must"
    return "may" if issubclass(kind, HierarchicalDawidSkene) else ""


def refuse_strange(names: Sequence[str], source: str) -> None:
    """Reject names with a group that are not coders of the data."""
    if names:
        many = counted(len(names), "name with a group is", "names with a group are")
        what = f"{many} not among the coders: {', '.join(names[:5])}."
        raise AnnotationError(Problem(what, source, "Use the coder names in data.coders."))
