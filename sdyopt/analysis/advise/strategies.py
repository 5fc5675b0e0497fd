"""Annotations from scratch: which groups of dimensions each axis shards.

A strategy is a set of uses. An axis shards a group of dimensions, in all inputs, or parameters and their
state in addition; constraints may give activations what follows from their groups. First, axes get the uses
of known strategies, the largest axis first: the batch, parameters, both, or the dimensions that pairs of
products share. Then single uses are added and removed. The best few strategies are kept from step to step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import prod

from sdyopt.analysis.changes.axes import Axes, MeshOfProgram, with_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.roles import DimensionGroup, Dimensions, RoleGroup
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, Value

# So many groups are looked at, those that most multiplications have, and those of the largest parameters.
_MAX_GROUPS = 8
# So many strategies are kept from step to step, and so many of them get other uses.
_KEPT, _EXPANDED, _BATCH = 4, 2, 12

PARAMETERS = "parameters"
CONSTRAINTS = "constraints"


class Use(NamedTuple):
    """What an axis shards: the group of this number, or PARAMETERS. The axis of CONSTRAINTS is ""."""

    axis: str
    of: int | str


Strategy = frozenset[Use]
# (changes, seconds that are too many) -> trials
Tries = Callable[[Sequence[Change], Fraction | None], Iterable[Trial]]
Cost = Callable[[Figures], Fraction]


class Strategies:
    """The strategies for a program without annotations."""

    def __init__(self, module: Op, roles: Sequence[RoleGroup], mesh: MeshOfProgram) -> None:
        self.mesh = mesh
        self._dimensions = Dimensions(module, roles)
        self._roles = roles
        self._inputs = [role for role in roles if role.is_input]
        groups = dict.fromkeys(group for role in self._inputs for group in self._dimensions.of(role))
        sizes = {group: self._sizes(group) for group in groups}
        possible = [group for group in groups if any(mesh.divides(name, sizes[group]) for name in mesh.sizes)]
        # The batch comes first: it is in all products, and only in few inputs.
        possible.sort(key=lambda group: (-group.work, self._position(group), self._elements(group)))
        # What does not have the batch is a parameter, or belongs to one.
        batch = possible[:1]
        self._parameters = [
            role
            for role in self._inputs
            if not any(dimension_group in batch for dimension_group in self._dimensions.of(role))
        ]
        self._of_parameters = {id(role) for role in self._parameters}
        counts = Counter(
            group for role in self._parameters for group in dict.fromkeys(self._dimensions.of(role))
        )
        self._common = sorted(counts, key=lambda group: -counts[group])[:1]
        weights = {
            group
            for groups in self._dimensions.operands
            if not any(group in batch for group in groups)
            for group in groups
        }
        self._shared = [
            group
            for role in self._parameters
            for size, group in zip(role.shape, self._dimensions.of(role), strict=True)
            # A dimension of no product is that of the rows of a table, or of layers.
            if group not in self._common
            and (group in weights or (not group.work and size == max(role.shape)))
        ]
        shared = [group for group in possible if group in self._shared]
        shared.sort(key=lambda group: -self._elements(group))
        self._groups = list(dict.fromkeys((*possible[:_MAX_GROUPS], *shared[:_MAX_GROUPS])))
        self._numbers = {group: number for number, group in enumerate(self._groups)}

    def _sizes(self, group: DimensionGroup) -> list[int]:
        return [
            size
            for role in self._inputs
            for dimension_group, size in zip(self._dimensions.of(role), role.shape, strict=True)
            if dimension_group is group
        ]

    def _position(self, group: DimensionGroup) -> int:
        return min(
            self._dimensions.of(role).index(group)
            for role in self._inputs
            if group in self._dimensions.of(role)
        )

    def _elements(self, group: DimensionGroup) -> int:
        return sum(
            prod(role.shape) * len(role.places) for role in self._inputs if group in self._dimensions.of(role)
        )

    def like(self, strategy: Strategy, other: Strategies, arguments: Mapping[Value, Value]) -> Strategy:
        """The strategy of another program; `arguments` are those of the other one by those of this one."""
        of_other = {place.subject: role for role in other._inputs for place in role.places}
        numbers: dict[int | str, int | str] = {PARAMETERS: PARAMETERS, CONSTRAINTS: CONSTRAINTS}
        for role in self._inputs:
            for place in role.places:
                argument = arguments.get(place.subject) if isinstance(place.subject, BlockArgument) else None
                if isinstance(argument, BlockArgument) and argument in of_other:
                    pairs = zip(
                        other._dimensions.of(of_other[argument]), self._dimensions.of(role), strict=True
                    )
                    for theirs, ours in pairs:
                        if theirs in other._numbers and ours in self._numbers:
                            numbers.setdefault(other._numbers[theirs], self._numbers[ours])
        return frozenset(use._replace(of=numbers[use.of]) for use in strategy if use.of in numbers)

    def parts(self, strategy: Strategy) -> Iterator[Change]:
        """The changes of a strategy, one axis after the other."""
        made: set[Use] = set()
        for axis in (*self.mesh.sizes, ""):
            uses = {use for use in strategy if use.axis == axis}
            if uses:
                made |= uses
                title = f'shard along "{axis}"' if axis else "constrain the results of products"
                yield self.change(frozenset(made))._replace(title=title)

    # --- Strategies -----------------------------------------------------------------------------------

    def seeds(self, axis: str) -> Iterator[Strategy]:
        """Known ways to use an axis."""
        batch = Use(axis, 0)
        yield frozenset({batch})
        yield frozenset({batch, Use(axis, PARAMETERS)})
        yield frozenset({batch, Use(axis, PARAMETERS), Use("", CONSTRAINTS)})
        yield frozenset({Use(axis, PARAMETERS)})
        shared = {Use(axis, self._numbers[group]) for group in self._shared if group in self._numbers}
        yield frozenset(shared)
        yield frozenset({*shared, Use("", CONSTRAINTS)})

    def uses(self) -> Iterator[Use]:
        """All uses."""
        for axis in self.mesh.sizes:
            yield from (Use(axis, number) for number in range(len(self._groups)))
            yield Use(axis, PARAMETERS)
        yield Use("", CONSTRAINTS)

    # --- Changes --------------------------------------------------------------------------------------

    def change(self, strategy: Strategy) -> Change:
        """The annotations of a strategy."""
        edits = [edit for role in self._inputs for edit in self._edits(role, strategy)]
        if Use("", CONSTRAINTS) in strategy:
            for role in self._roles:
                if not role.is_input and any(
                    (type(op) in FLOPS or isinstance(op, GatherOp))
                    for value_class in role.classes
                    for op in value_class.ops
                ):
                    edits += self._edits(role, strategy)
        return Change(tuple(edits))

    def _edits(self, role: RoleGroup, strategy: Strategy) -> Iterator[AnnotationEdit]:
        axes = self._axes(role, strategy)
        if any(axes):
            for place in role.places:
                yield AnnotationEdit(place.subject, self.mesh.sharding(axes), self.mesh.mesh)

    def _axes(self, role: RoleGroup, strategy: Strategy) -> Axes:
        groups = self._dimensions.of(role)
        axes: Axes = ((),) * len(groups)
        order = sorted(
            range(len(groups)), key=lambda dim: (groups[dim] not in self._common, -role.shape[dim])
        )
        for name in self.mesh.sizes:
            dims = [
                dim
                for dim, group in enumerate(groups)
                if group in self._numbers and Use(name, self._numbers[group]) in strategy
            ]
            if id(role) in self._of_parameters and Use(name, PARAMETERS) in strategy:
                dims += order
            fitting = (with_axis(axes, dim, name) for dim in dims)
            axes = next((names for names in fitting if self.mesh.fits(names, role.shape)), axes)
        return axes


class StrategySearch:
    """A search among strategies. `cost` compares those that use all axes.

    Until then `soft_cost` does: the next use may bring the peak below the limit. Afterwards it says which
    other strategies are worth a further use.
    """

    def __init__(self, tries: Tries, cost: Cost, soft_cost: Cost, base: Figures) -> None:
        self._tries, self._cost, self._soft_cost = tries, cost, soft_cost
        self._known: dict[tuple[AnnotationEdit, ...], Figures | None] = {(): base}
        self._figures: dict[Strategy, Figures] = {frozenset(): base}
        # Uses that changed nothing when they were added to a strategy.
        self._idle: dict[Use, list[Strategy]] = {}

    def best(self, strategies: Strategies) -> Strategy:
        """The best strategy that is found, as far as trials are allowed."""
        sizes = strategies.mesh.sizes
        for axis in sorted(sizes, key=lambda name: -sizes[name]):
            made = self.kept(self._soft_cost)
            self._look_at(strategies, (item | seed for item in made for seed in strategies.seeds(axis)))
        seen: set[Strategy] = set()
        while True:
            made = [*self.kept()[:_EXPANDED], *self.kept(self._soft_cost)[:_EXPANDED]]
            near = (
                item ^ {use} for item in made for use in strategies.uses() if not self._is_idle(use, item)
            )
            batch = list(islice((item for item in dict.fromkeys(near) if item not in seen), _BATCH))
            if not batch:
                return self.kept()[0]
            seen.update(batch)
            self._look_at(strategies, batch)

    def best_of(self, strategies: Strategies, some: Iterable[Strategy]) -> Strategy:
        """The best of some strategies."""
        self._look_at(strategies, some)
        return self.kept()[0]

    def kept(self, cost: Cost | None = None) -> list[Strategy]:
        """The best few strategies; of those with equal figures, the one with fewer uses."""
        of_rank: dict[tuple[Fraction, ...], Strategy] = {}
        ranks = {item: self._rank(figures, cost or self._cost) for item, figures in self._figures.items()}
        for rank in sorted(ranks, key=lambda rank: (ranks[rank], len(rank))):
            of_rank.setdefault(ranks[rank], rank)
        return list(of_rank.values())[:_KEPT]

    def _rank(self, figures: Figures, cost: Cost) -> tuple[Fraction, ...]:
        return cost(figures), figures.conflicts, Fraction(figures.peak_bytes)

    def _is_idle(self, use: Use, strategy: Strategy) -> bool:
        return any(made <= strategy for made in self._idle.get(use, ()))

    def _look_at(self, strategies: Strategies, some: Iterable[Strategy]) -> None:
        """Tries some strategies. Those that take longer than all that are kept are cut."""
        limit: Fraction | None = max(
            cost(self._figures[self.kept(cost)[-1]]) for cost in (self._cost, self._soft_cost)
        )
        if len(self._figures) < _KEPT:
            limit = None
        changes = {item: strategies.change(item) for item in some}
        new = {change.edits: change for change in changes.values() if change.edits not in self._known}
        for trial in self._tries(list(new.values()), limit):
            self._known[trial.change.edits] = trial.figures
        for strategy, change in changes.items():
            figures = self._known.get(change.edits)
            if figures is None:
                continue
            self._figures[strategy] = figures
            for use in sorted(strategy, key=str):
                if self._figures.get(strategy - {use}) == figures:
                    self._idle.setdefault(use, []).append(strategy - {use})
