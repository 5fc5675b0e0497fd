"""Plans of the reshards and all-reduces that give one operation compatible shardings.

A plan depends on the signature of the operation, its sharding rule, and the shardings of its operands and
results. `sdy-insert-explicit-reshards` passes the sharding of a `sdy.propagation_barrier`'s input in place of
that of its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.explicit_reshards.common_axes import common_factor_axes, find_common_axes
from sdyopt.shardy.sharding.explicit_reshards.dot_result import better_dot_result_axes
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import (
    axis_places,
    find_common_reshape_axes,
    has_overflow,
)
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, unproject

# (class of an operation, rule, projections, numbers of elements, mesh) -> the axes of each factor
FindCommonAxes = Callable[
    [OpSignature, OpShardingRule, Sequence[TensorProjection], Sequence[int], Mesh], list[Axes]
]
# (rule, projections of operand and result, mesh) -> the same for a reshape with overflow axes
FindReshapeAxes = Callable[[OpShardingRule, list[TensorProjection], MeshOrRef, Mesh], list[Axes]]
DOTS = (DotOp, DotGeneralOp)


class PlanInput(NamedTuple):
    """Everything that a plan depends on. Operand shardings come before result shardings.

    `reshape_input` is the sharding of a reshape's operand itself, also if it is the result of a propagation
    barrier. `free` are the numbers of the operands that can be resharded without sending anything.
    """

    signature: OpSignature
    rule: OpShardingRule
    shardings: tuple[TensorSharding | None, ...]
    reshape_input: TensorSharding | None = None
    free: tuple[int, ...] = ()

    @property
    def first_result_unreduced_axes(self) -> Axes:
        sharding = next(iter(self.shardings[len(self.rule.operands) :]), None)
        return () if sharding is None else sharding.unreduced_axes

    def keeps_places_of_axes(self, mesh: Mesh) -> bool:
        """Whether axes of a reshape's operand divide it at the same elements as those of its result."""
        operand, result = self.shardings
        return (
            Behavior.RESHAPES_KEEPING_AXES.active
            and operand is not None
            and result is not None
            and operand.mesh_or_ref is result.mesh_or_ref
            and operand.replicated_axes == result.replicated_axes
            and axis_places(operand, self.signature.operand_types[0], mesh)
            == axis_places(result, self.signature.result_types[0], mesh)
        )

    def unreduced_and_dot_changes(self, mesh_or_ref: MeshOrRef, mesh: Mesh) -> _ShardingChanges:
        rule = self.rule
        is_dot, is_unreduced = (
            issubclass(self.signature.op_class, DOTS),
            bool(self.first_result_unreduced_axes),
        )
        if not is_dot and not is_unreduced:
            return _ShardingChanges()
        tensors = project(rule, self.shardings, mesh, closed_if_missing=True)
        changes = []
        new_axes = better_dot_result_axes(rule, tensors, element_counts(self.signature)) if is_dot else None
        if new_axes is not None:
            factor, axes = new_axes
            result = tensors[2].copy()
            result.set_axes(factor, axes)
            changes.append((2, unproject(result, rule.results[0], rule.factor_sizes, mesh_or_ref, mesh)))
        reduction_axes = _common_reduction_axes(rule, tensors) if is_unreduced else ()
        return _ShardingChanges(changes, reduction_axes)


class ReshardPlan(NamedTuple):
    """The changes at one operation: new shardings by operand and by result, and axes to all-reduce along.

    The operation gets the new sharding of a result. A reshard of the result restores the old one, or is fully
    replicated if there was none.
    """

    mesh_or_ref: MeshOrRef
    operands: tuple[tuple[int, TensorSharding], ...] = ()
    results: tuple[tuple[int, TensorSharding], ...] = ()
    reduction_axes: Axes = ()


class _ShardingChanges(NamedTuple):
    """New shardings by index, operands before results, and the axes that shard reduction factors."""

    shardings: Sequence[tuple[int, TensorSharding]] = ()
    reduction_axes: Axes = ()


class IncompatibleReductionError(Exception):
    """The result has unreduced axes, but operands are sharded differently along a reduction factor."""


class ReshardPlanner:
    """Plans the reshards of operations. `find_axes` and `find_reshape_axes` resolve conflicts."""

    def __init__(
        self,
        mesh_of: MeshLookup,
        find_axes: FindCommonAxes | None = None,
        find_reshape_axes: FindReshapeAxes = find_common_reshape_axes,
    ) -> None:
        self._mesh_of = mesh_of
        self._find_axes = find_axes or _find_axes_by_sizes
        self._find_reshape_axes = find_reshape_axes

    def plan(self, op: PlanInput, full: bool) -> ReshardPlan | None:
        """The plan of an operation; None if there is nothing to change, or no common mesh.

        `full` plans as with `enable-full-version`; otherwise a plan covers unreduced results and dots only.
        Raises `IncompatibleReductionError`.
        """
        mesh_or_ref = self._most_used_mesh(op.shardings)
        mesh = None if mesh_or_ref is None else self._mesh_of(mesh_or_ref)
        if mesh_or_ref is None or mesh is None or mesh.is_maximal:
            return None
        find_changes = self._full_changes if full else PlanInput.unreduced_and_dot_changes
        changes, reduction_axes = find_changes(op, mesh_or_ref, mesh)
        count = len(op.rule.operands)
        reduction_axes = difference(reduction_axes, op.first_result_unreduced_axes, mesh)
        if reduction_axes:
            changed = {index for index, _ in changes}
            changes = [*changes] + [
                (index, fully_replicated(sharding.rank, mesh_or_ref, is_closed=True))
                for index, sharding in self._results_on_empty_meshes(op)
                if index not in changed
            ]
        plan = ReshardPlan(
            mesh_or_ref,
            tuple([(index, sharding) for index, sharding in changes if index < count]),
            tuple([(index - count, sharding) for index, sharding in changes if index >= count]),
            sorted_and_merged(reduction_axes, mesh),
        )
        return plan if any(plan[1:]) else None

    def _full_changes(self, op: PlanInput, mesh_or_ref: MeshOrRef, mesh: Mesh) -> _ShardingChanges:
        rule = op.rule
        tensors = project(rule, op.shardings, mesh, closed_if_missing=True)
        is_overflowing_reshape = issubclass(op.signature.op_class, ReshapeOp) and any(
            map(has_overflow, tensors)
        )
        if is_overflowing_reshape and op.keeps_places_of_axes(mesh):
            return _ShardingChanges()
        if is_overflowing_reshape:
            axes = self._find_reshape_axes(rule, tensors, mesh_or_ref, mesh)
        else:
            counts = enumerate(element_counts(op.signature))
            sizes = [0 if index in op.free else count for index, count in counts]
            axes = self._find_axes(op.signature, rule, tensors, sizes, mesh)
        changes = []
        for index, (projection, mapping) in enumerate(zip(tensors, rule.tensors, strict=True)):
            old = op.shardings[index]
            is_changed = not is_overflowing_reshape and _set_axes(projection, axes)
            new = unproject(projection, mapping, rule.factor_sizes, mesh_or_ref, mesh)
            if is_overflowing_reshape:
                is_changed = not new.is_equivalent(old if index else op.reshape_input)
            if is_changed or self._has_other_device_order(old, mesh):
                changes.append((index, _without_clash(new, mesh)))
        reduction_axes = tuple([axis for factor in rule.reduction for axis in axes[factor]])
        return _ShardingChanges(changes, reduction_axes)

    def _results_on_empty_meshes(self, op: PlanInput) -> Iterator[tuple[int, TensorSharding]]:
        """The results that cannot be all-reduced on their own mesh, because it has no axes."""
        first = len(op.rule.operands)
        for index, sharding in enumerate(op.shardings[first:], start=first):
            mesh = None if sharding is None else self._mesh_of(sharding.mesh_or_ref)
            if sharding is not None and mesh is not None and mesh.is_empty:
                yield index, sharding

    def _has_other_device_order(self, sharding: TensorSharding | None, mesh: Mesh) -> bool:
        if sharding is None or sharding.is_fully_replicated:
            return False
        other = self._mesh_of(sharding.mesh_or_ref)
        return other is not None and other.device_ids != mesh.device_ids

    def _most_used_mesh(self, shardings: Sequence[TensorSharding | None]) -> MeshOrRef | None:
        """The mesh of the largest number of shardings that are not fully replicated.

        The common mesh if all are fully replicated; in a tie, the mesh that reaches the number first. None if
        meshes are incompatible or no value has a sharding.
        """
        best, most = _compatible_mesh(shardings, self._mesh_of), 0
        if best is None:
            return None
        counts: Counter[MeshOrRef] = Counter()
        for sharding in shardings:
            if sharding is not None and not sharding.is_fully_replicated:
                counts[sharding.mesh_or_ref] += 1
                if counts[sharding.mesh_or_ref] > most:
                    best, most = sharding.mesh_or_ref, counts[sharding.mesh_or_ref]
        return best


def _without_clash(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """A new sharding, without unreduced axes that shard a dimension, too."""
    sharded = [axis for dim in sharding.dims for axis in dim.axes]
    if not overlap(sharding.unreduced_axes, sharded):
        return sharding
    return sharding.with_unreduced_axes(difference(sharding.unreduced_axes, sharded, mesh))


def _common_reduction_axes(rule: OpShardingRule, tensors: Sequence[TensorProjection]) -> Axes:
    reduction_axes: Axes = ()
    for factor in rule.reduction:
        axes = common_factor_axes(tensors, factor)
        if axes is None:
            raise IncompatibleReductionError
        reduction_axes += axes
    return reduction_axes


def _find_axes_by_sizes(
    _: OpSignature,
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
) -> list[Axes]:
    return find_common_axes(rule, tensors, sizes, mesh)


def _set_axes(tensor: TensorProjection, axes: Sequence[Axes]) -> bool:
    """Sets the axes of all factors of a tensor; returns whether any of them changes."""
    is_changed = False
    for factor, sharding in tensor.factors.items():
        if sharding.overflow_axes or sharding.axes != axes[factor]:
            tensor.factors[factor] = sharding._replace(axes=axes[factor], overflow_axes=())
            is_changed = True
    return is_changed


def element_counts(signature: OpSignature) -> list[int]:
    """The numbers of elements of operands and results; 0 for dynamic shapes."""
    return [_num_elements(type) for type in (*signature.operand_types, *signature.result_types)]


def _num_elements(type: Type) -> int:
    return type.num_elements if isinstance(type, RankedShapedType) and type.has_static_shape else 0


# --- Meshes ---------------------------------------------------------------------------------------


def _compatible_mesh(shardings: Sequence[TensorSharding | None], mesh_of: MeshLookup) -> MeshOrRef | None:
    """A mesh common to all shardings, up to device order; prefers one with the default order.

    An empty mesh is compatible with every other. None if axes differ or no value has a sharding.
    """
    common: MeshOrRef | None = None
    mesh: Mesh | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        other = mesh_of(sharding.mesh_or_ref)
        if other is None:
            return None
        if mesh is not None and not mesh.is_empty:
            if other.is_empty:
                continue
            if other.axes != mesh.axes or other.is_maximal != mesh.is_maximal:
                return None
            if other.device_ids:
                continue
        mesh, common = other, sharding.mesh_or_ref
    return common
