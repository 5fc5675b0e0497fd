"""The mesh axes of iterators: derived from some shardings, they determine all shardings of an operation."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import emit
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op

from .annotations import Shardings
from .iterator_types import IndexingMap, IterationSpace, IteratorType


class IteratorAxes:
    """The mesh axes that each iterator of an operation is sharded along."""

    def __init__(self, space: IterationSpace) -> None:
        self.space = space
        self.mesh: SymbolRef | None = None
        self._axes: list[Axes] = [()] * len(space.iterator_types)

    @property
    def reduction_axes(self) -> Axes:
        """The axes of the reduction iterators: results are partial along them."""
        return tuple(axis for iterator in self.space.reduction_iterators for axis in self._axes[iterator])

    def add_sharding(self, sharding: MeshSharding, map: IndexingMap) -> bool:
        """Assigns the axes of an operand or result to iterators; False on a conflict."""
        if self.mesh is not None and self.mesh is not sharding.mesh:
            return False
        self.mesh = sharding.mesh
        return all(
            self._assign(iterator, axes) for axes, iterator in zip(sharding.split_axes, map, strict=False)
        )

    def add_partial_axes(self, axes: Axes) -> None:
        """Assigns axes to the first reduction iterator, unless a reduction iterator has axes already."""
        reductions = self.space.reduction_iterators
        if not any(self._axes[iterator] for iterator in reductions):
            self._assign(reductions[0], axes)

    def _assign(self, iterator: int | None, axes: Axes) -> bool:
        """Assigns axes to an iterator; False on a conflict.

        Axes conflict if the iterator cannot be sharded or has different axes already, or if another iterator
        has one of the axes.
        """
        if iterator is None or self.space.iterator_types[iterator] is IteratorType.REPLICATED:
            return not axes
        if self._axes[iterator] and self._axes[iterator] != axes:
            return False
        used = {axis for other, assigned in enumerate(self._axes) if other != iterator for axis in assigned}
        if not used.isdisjoint(axes):
            return False
        self._axes[iterator] = axes
        return True

    def operand_sharding(self, map: IndexingMap) -> MeshSharding:
        assert self.mesh is not None
        return MeshSharding(self.mesh, self._split_axes(map))

    def result_sharding(self, map: IndexingMap) -> MeshSharding:
        """The sharding of a result, partial along the axes of the reduction iterators."""
        assert self.mesh is not None
        partial_axes = self.reduction_axes
        if not partial_axes:
            return self.operand_sharding(map)
        return MeshSharding(self.mesh, self._split_axes(map), partial_axes, self.space.reduction_kind)

    def _split_axes(self, map: IndexingMap) -> tuple[Axes, ...]:
        lists = [() if iterator is None else self._axes[iterator] for iterator in map]
        while lists and not lists[-1]:
            lists.pop()
        return tuple(lists)


def find_iterator_axes(
    op: Op, space: IterationSpace | None, results: Shardings, operands: Shardings
) -> IteratorAxes | None:
    """The iterator axes that annotated shardings assign; None if shardings conflict or none is given.

    Shardings that the operation cannot have are reported as errors that do not fail the pass.
    """
    if space is None or not space.iterator_types:
        if space is None or space.requires_iterators:
            _emit_error(op, "invalid sharding interface implementation")
        return None
    axes = IteratorAxes(space)
    partial: list[Axes] = []
    for sharding, map in zip(results, space.result_maps, strict=True):
        if sharding is not None:
            if not axes.add_sharding(sharding, map):
                return None
            if sharding.partial_axes:
                partial.append(sharding.partial_axes)
    if len(partial) > 1:
        _emit_error(op, "at most one result with partial axes is supported at present")
        return None
    for sharding, map in zip(operands, space.operand_maps, strict=True):
        if sharding is not None and not axes.add_sharding(sharding, map):
            return None
    if partial:
        if not space.reduction_iterators:
            _emit_error(op, "no matched reduction loop found for the result's partial type")
            return None
        axes.add_partial_axes(partial[0])
    return None if axes.mesh is None else axes


def _emit_error(op: Op, message: str) -> None:
    diagnostic = op.op_error(message).diagnostic
    diagnostic.is_fatal = False
    emit(diagnostic)
