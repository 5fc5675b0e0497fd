"""Annotations from scratch: which groups of dimensions each axis shards.

A strategy is a set of uses. An axis shards a group of dimensions, in all inputs, or parameters and their
state in addition; constraints may give activations what follows from their groups. First, axes get the uses
of known strategies, the largest axis first: the batch, parameters, both, or the dimensions that pairs of
products share. Then single uses are added and removed. The best few strategies are kept from step to step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from typing import NamedTuple

from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.analysis.trials.dimensions import DimensionGroup, Dimensions
from sdyopt.analysis.trials.moves import Axes, MeshOfProgram, Move, with_axis
from sdyopt.analysis.trials.roles import Role
from sdyopt.analysis.trials.search import Figures, Trial
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.ir.operation import Op

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
# (moves, seconds that are too many) -> trials
Tries = Callable[[Sequence[Move], Fraction | None], Iterable[Trial]]
Cost = Callable[[Figures], Fraction]


class Strategies:
    """The strategies for a program without annotations."""

    def __init__(self, module: Op, roles: Sequence[Role], mesh: MeshOfProgram) -> None:
        self._mesh = mesh
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
            role for role in self._inputs if not any(each in batch for each in self._dimensions.of(role))
        ]
        self._of_parameters = {id(role) for role in self._parameters}
        counts = Counter(
            group for role in self._parameters for group in dict.fromkeys(self._dimensions.of(role))
        )
        self._common = sorted(counts, key=lambda group: -counts[group])[:1]
        weights = {
            group
            for groups in self._dimensions.operands
            if not any(each in batch for each in groups)
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
            for each, size in zip(self._dimensions.of(role), role.shape, strict=True)
            if each is group
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

    # --- Search ---------------------------------------------------------------------------------------

    def best(self, tries: Tries, cost: Cost, soft_cost: Cost, base: Figures) -> Strategy:
        """The best strategy that is found, as far as trials are allowed.

        By `soft_cost` until all axes have their uses: the next one may bring the peak below the limit.
        """
        search = _StrategySearch(self.move, tries, soft_cost, base)
        sizes = self._mesh.sizes
        for axis in sorted(sizes, key=lambda name: -sizes[name]):
            made = search.kept()
            search.look_at(each | seed for each in made for seed in self.seeds(axis))
        search.cost = cost
        seen: set[Strategy] = set()
        while True:
            near = (each ^ {use} for each in search.kept()[:_EXPANDED] for use in self._uses(search))
            batch = list(islice((each for each in dict.fromkeys(near) if each not in seen), _BATCH))
            if not batch:
                return search.kept()[0]
            seen.update(batch)
            search.look_at(batch)

    def parts(self, strategy: Strategy) -> Iterator[Move]:
        """The changes of a strategy, one axis after the other."""
        made: set[Use] = set()
        for axis in (*self._mesh.sizes, ""):
            uses = {use for use in strategy if use.axis == axis}
            if uses:
                made |= uses
                title = f'shard along "{axis}"' if axis else "constrain the results of products"
                yield self.move(frozenset(made))._replace(title=title)

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

    def _uses(self, search: _StrategySearch) -> Iterator[Use]:
        """All uses that may change something."""
        of: list[int | str] = [*range(len(self._groups)), PARAMETERS]
        for use in [*(Use(axis, each) for axis in self._mesh.sizes for each in of), Use("", CONSTRAINTS)]:
            if use not in search.idle:
                yield use

    # --- Moves ----------------------------------------------------------------------------------------

    def move(self, strategy: Strategy) -> Move:
        """The annotations of a strategy."""
        changes = [change for role in self._inputs for change in self._changes(role, strategy)]
        if Use("", CONSTRAINTS) in strategy:
            for role in self._roles:
                if not role.is_input and any(_is_heavy(op) for each in role.classes for op in each.ops):
                    changes += self._changes(role, strategy)
        return Move(tuple(changes), (), "")

    def _changes(self, role: Role, strategy: Strategy) -> Iterator[Change]:
        axes = self._axes(role, strategy)
        if any(axes):
            for place in role.places:
                yield Change(place.subject, self._mesh.sharding(axes), self._mesh.mesh)

    def _axes(self, role: Role, strategy: Strategy) -> Axes:
        groups = self._dimensions.of(role)
        axes: Axes = ((),) * len(groups)
        order = sorted(
            range(len(groups)), key=lambda dim: (groups[dim] not in self._common, -role.shape[dim])
        )
        for name in self._mesh.sizes:
            dims = [
                dim
                for dim, group in enumerate(groups)
                if group in self._numbers and Use(name, self._numbers[group]) in strategy
            ]
            if id(role) in self._of_parameters and Use(name, PARAMETERS) in strategy:
                dims += order
            fitting = (with_axis(axes, dim, name) for dim in dims)
            axes = next((each for each in fitting if self._mesh.fits(each, role.shape)), axes)
        return axes


class _StrategySearch:
    """The strategies that were tried. `idle` are uses that changed nothing in the best strategy."""

    def __init__(self, move: Callable[[Strategy], Move], tries: Tries, cost: Cost, base: Figures) -> None:
        self._move, self._tries, self.cost = move, tries, cost
        self._known: dict[tuple[Change, ...], Figures | None] = {(): base}
        self._found: dict[Strategy, Figures] = {frozenset(): base}
        self.idle: set[Use] = set()

    def kept(self) -> list[Strategy]:
        """The best few strategies; of those with equal figures, the one with fewer uses."""
        of_rank: dict[tuple[Fraction, ...], Strategy] = {}
        for each in sorted(self._found, key=lambda each: (self._rank(each), len(each))):
            of_rank.setdefault(self._rank(each), each)
        return list(of_rank.values())[:_KEPT]

    def _rank(self, strategy: Strategy) -> tuple[Fraction, ...]:
        figures = self._found[strategy]
        return self.cost(figures), figures.conflicts, Fraction(figures.peak_bytes)

    def look_at(self, strategies: Iterable[Strategy]) -> None:
        """Tries strategies. Those that take longer than all that are kept are cut."""
        kept = self.kept()
        moves = {each: self._move(each) for each in strategies}
        new = {move.changes: move for move in moves.values() if move.changes not in self._known}
        limit = self.cost(self._found[kept[-1]]) if len(kept) == _KEPT else None
        for trial in self._tries(list(new.values()), limit):
            self._known[trial.move.changes] = trial.figures
        for strategy, move in moves.items():
            figures = self._known.get(move.changes)
            if figures is not None:
                self._found[strategy] = figures
        best = self.kept()[0]
        for strategy in moves:
            if len(strategy ^ best) == 1 and self._found.get(strategy) == self._found[best]:
                self.idle |= strategy ^ best


def _is_heavy(op: Op) -> bool:
    return type(op) in FLOPS or isinstance(op, GatherOp)
