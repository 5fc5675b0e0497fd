"""From shardings of some operands and results to mesh axes of loops, and from those to all shardings."""

from __future__ import annotations

from sdyopt.diagnostics.diagnostic import emit
from sdyopt.dialects.mesh.axes import Axes
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.ir.attribute import SymbolRef
from sdyopt.ir.operation import Op

from .annotations import Shardings
from .iterator_types import IterationSpace, IteratorType, Map


class IteratorAxes:
    """Which mesh axes each loop of an operation is split along."""

    def __init__(self, space: IterationSpace) -> None:
        self.space = space
        self.mesh: SymbolRef | None = None
        self._axes: list[Axes] = [()] * len(space.kinds)

    def axes_of(self, iterator: int) -> Axes:
        return self._axes[iterator]

    def _fill(self, iterator: int | None, axes: Axes) -> bool:
        """Splits a loop, unless it or the axes are taken."""
        if iterator is None or self.space.kinds[iterator] is IteratorType.WHOLE:
            return not axes
        if self._axes[iterator] and self._axes[iterator] != axes:
            return False
        others = {axis for other, held in enumerate(self._axes) if other != iterator for axis in held}
        if not others.isdisjoint(axes):
            return False
        self._axes[iterator] = axes
        return True

    def learn(self, sharding: MeshSharding, map: Map) -> bool:
        """Takes over what a sharding says of the dimensions; False if that goes against something."""
        if self.mesh is not None and self.mesh is not sharding.mesh:
            return False
        self.mesh = sharding.mesh
        return all(
            self._fill(iterator, axes) for axes, iterator in zip(sharding.split_axes, map, strict=False)
        )

    def learn_partial(self, axes: Axes) -> None:
        """Splits the first loop that combines elements, if none is split and it can be."""
        reductions = self.space.reductions
        if not any(self._axes[iterator] for iterator in reductions):
            self._fill(reductions[0], axes)

    def operand_layout(self, map: Map) -> MeshSharding:
        """The sharding of an operand."""
        assert self.mesh is not None
        return MeshSharding(self.mesh, self._lists(map))

    def result_layout(self, map: Map) -> MeshSharding:
        """The sharding of a result; what is combined in parts is partial."""
        assert self.mesh is not None
        partial = tuple(axis for iterator in self.space.reductions for axis in self._axes[iterator])
        if not partial:
            return self.operand_layout(map)
        return MeshSharding(self.mesh, self._lists(map), partial, self.space.reduction)

    def _lists(self, map: Map) -> tuple[Axes, ...]:
        lists = [() if iterator is None else self._axes[iterator] for iterator in map]
        while lists and not lists[-1]:
            lists.pop()
        return tuple(lists)


def axes_of_iterators(
    op: Op, space: IterationSpace | None, results: Shardings, operands: Shardings
) -> IteratorAxes | None:
    """The axes of the loops that these shardings ask for; None if they do not go together.

    Shardings that the operation cannot have at all are told of, which does not fail the pass.
    """
    if space is None or not space.kinds:
        if space is None or space.needs_loops:
            _refuse(op, "invalid sharding interface implementation")
        return None
    found = IteratorAxes(space)
    partial: list[Axes] = []
    for sharding, map in zip(results, space.result_maps, strict=True):
        if sharding is not None:
            if not found.learn(sharding, map):
                return None
            if sharding.partial_axes:
                partial.append(sharding.partial_axes)
    if len(partial) > 1:
        _refuse(op, "at most one result with partial axes is supported at present")
        return None
    for sharding, map in zip(operands, space.operand_maps, strict=True):
        if sharding is not None and not found.learn(sharding, map):
            return None
    if partial:
        if not space.reductions:
            _refuse(op, "no matched reduction loop found for the result's partial type")
            return None
        found.learn_partial(partial[0])
    return None if found.mesh is None else found


def _refuse(op: Op, message: str) -> None:
    diagnostic = op.op_error(message).diagnostic
    diagnostic.is_fatal = False
    emit(diagnostic)
