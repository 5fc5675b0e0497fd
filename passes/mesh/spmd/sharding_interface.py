"""The sharding interface: the iteration space of an operation, and the mesh axes of its iterators.

`iteration_space_of(op)` returns the iterators of an operation and its indexing maps. They come from the
sharding model of its dialect: a module of `sharding_models` that is named after the namespace and is
imported with the first operation of that dialect. An operation without a model cannot be sharded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, IntEnum
from functools import cache
from importlib import import_module
from itertools import product
from pkgutil import iter_modules

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import emit
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding, ReductionKind
from sdyopt.mlir.dialects.mesh.shard_op import ShardOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value

from . import sharding_models


class ShardedIterator(Enum):
    """The type of an iterator, which determines how it can be sharded."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    # The iterator cannot be sharded.
    REPLICATED = "replicated"


# The iterator of each dimension; None for a dimension that cannot be sharded.
IndexingMap = tuple[int | None, ...]


@dataclass(frozen=True)
class IterationSpace:
    """The iterators of an operation, and one indexing map per operand and result.

    `is_trivially_shardable`: the operation on shards is the operation itself with local types, as long
    as no reduction iterator is sharded. `requires_iterators`: an empty list of iterators is an error.
    """

    iterator_types: tuple[ShardedIterator, ...]
    operand_maps: tuple[IndexingMap, ...]
    result_maps: tuple[IndexingMap, ...]
    reduction_kind: ReductionKind = ReductionKind.GENERIC
    is_trivially_shardable: bool = True
    requires_iterators: bool = True

    @property
    def reduction_iterators(self) -> list[int]:
        return [
            iterator for iterator, type in enumerate(self.iterator_types) if type is ShardedIterator.REDUCTION
        ]


def elementwise(op: Op) -> IterationSpace | None:
    """One parallel iterator per dimension; None unless all operands and results are ranked tensors."""
    types = [type for type in (*op.operand_types, *op.result_types) if isinstance(type, RankedTensor)]
    if len(types) != len(op.operand_types) + len(op.result_types) or not types:
        return None
    identity = tuple(range(types[0].rank))
    return IterationSpace(
        (ShardedIterator.PARALLEL,) * len(identity),
        (identity,) * len(op.operand_types),
        (identity,) * len(op.result_types),
    )


def splat_constant(op: Op) -> IterationSpace | None:
    """A splat constant can be sharded along every dimension, because all of its shards are equal."""
    type = op.result_types[0]
    if not isinstance(type, RankedTensor):
        return None
    value = constant_value(op)
    is_splat = isinstance(value, DenseElements) and value.is_splat
    iterator_type = ShardedIterator.PARALLEL if is_splat else ShardedIterator.REPLICATED
    identity = tuple(range(type.rank))
    return IterationSpace((iterator_type,) * type.rank, (), (identity,), requires_iterators=False)


ShardingModel = Callable[[Op], IterationSpace | None]


def has_sharding_model(op: Op) -> bool:
    """Whether the operation implements the sharding interface."""
    return _find_model(op) is not None


def iteration_space_of(op: Op) -> IterationSpace | None:
    """The iteration space; None if the operation cannot be sharded, or not with these types."""
    model = _find_model(op)
    return None if model is None else model(op)


def _find_model(op: Op) -> ShardingModel | None:
    find_model = _load_models(op.dialect_name)
    return None if find_model is None else find_model(op)


@cache
def _load_models(namespace: str) -> Callable[[Op], ShardingModel | None] | None:
    """The function `find_model` of a dialect's module; None if there is no such module."""
    if all(module.name != namespace for module in iter_modules(sharding_models.__path__)):
        return None
    find_model: Callable[[Op], ShardingModel | None] = import_module(
        f"{sharding_models.__name__}.{namespace}"
    ).find_model
    return find_model


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
        if iterator is None or self.space.iterator_types[iterator] is ShardedIterator.REPLICATED:
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


# One for each operand or result; None without an annotation.
Shardings = Sequence[MeshSharding | None]


class ReshardingRequirement(IntEnum):
    """The annotations that differ from given shardings and so require resharding; lower is better.

    An annotation is explicit if it is about this operation: an annotation of an operand with
    `annotate_for_users`, or an annotation of a result without it.
    """

    NONE = 0
    NOT_FOR_EXPLICIT_ANNOTATIONS = 1
    FOR_EXPLICIT_ANNOTATIONS = 2

    @classmethod
    def of(cls, annotation: ShardOp, sharding: MeshSharding, is_operand: bool) -> ReshardingRequirement:
        if annotation.mesh_sharding.is_equivalent_to(sharding):
            return ReshardingRequirement.NONE
        if bool(annotation.annotate_for_users) is is_operand:
            return ReshardingRequirement.FOR_EXPLICIT_ANNOTATIONS
        return ReshardingRequirement.NOT_FOR_EXPLICIT_ANNOTATIONS


def annotation_of(value: Value) -> ShardOp | None:
    """The annotation that defines a value."""
    op = value.defining_op
    return op if isinstance(op, ShardOp) else None


def annotations_on(value: Value) -> list[ShardOp]:
    """The annotations that use a value, in the order of its uses: usually the last in the program first."""
    return [user for user in value.users if isinstance(user, ShardOp)]


def possible_result_shardings(op: Op) -> Iterator[Shardings]:
    """The combinations of shardings that the annotations on results allow."""
    return _combinations([_result_candidate(value) for value in op.results])


def possible_operand_shardings(op: Op) -> Iterator[Shardings]:
    """The combinations of shardings that the annotations on operands allow."""
    return _combinations([_operand_candidate(value) for value in op.operands])


# A sharding, and whether it is mandatory.
_Candidate = tuple[MeshSharding | None, bool]


def _result_candidate(value: Value) -> _Candidate:
    annotations = annotations_on(value)
    for annotation in annotations:
        if not annotation.annotate_for_users:
            return (annotation.mesh_sharding, True) if value.has_one_use else (None, False)
    return (annotations[0].mesh_sharding, False) if annotations else (None, False)


def _operand_candidate(value: Value) -> _Candidate:
    annotation = annotation_of(value)
    if annotation is None:
        return None, False
    return annotation.mesh_sharding, bool(annotation.annotate_for_users)


def _combinations(candidates: list[_Candidate]) -> Iterator[Shardings]:
    """All combinations with and without each optional sharding; the first combination has all shardings."""
    return product(
        *[
            [sharding] if is_mandatory or sharding is None else [sharding, None]
            for sharding, is_mandatory in candidates
        ]
    )


def resharding_requirement(
    op: Op, operands: Sequence[MeshSharding], results: Sequence[MeshSharding]
) -> ReshardingRequirement:
    """The resharding that these shardings require, given the annotations on operands and results."""
    requirement = ReshardingRequirement.NONE
    for value, sharding in zip(op.operands, operands, strict=True):
        annotation = annotation_of(value)
        if annotation is not None:
            requirement = max(requirement, ReshardingRequirement.of(annotation, sharding, is_operand=True))
    for value, sharding in zip(op.results, results, strict=True):
        for annotation in annotations_on(value):
            requirement = max(requirement, ReshardingRequirement.of(annotation, sharding, is_operand=False))
    return requirement
