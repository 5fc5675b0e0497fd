"""Plans of reshards and all-reduces: of one operation, and of a use that requires unreduced axes.

A plan depends on the signature of the operation, its sharding rule, and the shardings of its operands and
results. `sdy-insert-explicit-reshards` passes the sharding of a `sdy.propagation_barrier`'s input in place of
that of its result.

A used value gets the unreduced axes that its user requires:

value unreduced={"x"}, required unreduced={}           ->  all-reduce along "x"
value replicated along "x", required unreduced={"x"}   ->  replicated-to-unreduced along "x"
value sharded along "x", required unreduced={"x"}      ->  sharded-to-unreduced along "x"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReplicatedToUnreducedOp, ShardedToUnreducedOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, unknown_mesh_error
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import OpOperand, Value
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix, overlap
from sdyopt.shardy.sharding.explicit_reshards.common_axes import common_factor_axes, find_common_axes
from sdyopt.shardy.sharding.explicit_reshards.lookups import Stages
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import (
    axis_places,
    better_dot_result_axes,
    find_common_reshape_axes,
    has_overflow,
)
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, unproject

# (class of an operation, rule, projections, numbers of elements, mesh) -> the axes of each factor
FindCommonAxes = Callable[
    [OpSignature, OpShardingRule, Sequence[TensorProjection], Sequence[int], Mesh], list[Axes]
]
# (class of an operation, rule, projections, mesh) -> shardings between those given and computed with
FindStages = Callable[[OpSignature, OpShardingRule, Sequence[TensorProjection], Mesh], Stages]
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
    replicated if there was none. `stages` are the shardings in between, by index, operands before results.
    """

    mesh_or_ref: MeshOrRef
    operands: tuple[tuple[int, TensorSharding], ...] = ()
    results: tuple[tuple[int, TensorSharding], ...] = ()
    reduction_axes: Axes = ()
    stages: tuple[tuple[TensorSharding, ...], ...] = ()

    def stages_of(self, index: int) -> tuple[TensorSharding, ...]:
        """The stages of an operand or result, in the order of the program."""
        return self.stages[index] if self.stages else ()


class _ShardingChanges(NamedTuple):
    """New shardings by index, operands before results, and the axes that shard reduction factors."""

    shardings: Sequence[tuple[int, TensorSharding]] = ()
    reduction_axes: Axes = ()
    stages: tuple[tuple[TensorSharding, ...], ...] = ()


class IncompatibleReductionError(Exception):
    """The result has unreduced axes, but operands are sharded differently along a reduction factor."""


class ReshardPlanner:
    """Plans the reshards of operations. `find_axes` and `find_reshape_axes` resolve conflicts.

    `find_stages` finds the shardings through which operands and results are resharded.
    """

    def __init__(
        self,
        mesh_of: MeshLookup,
        find_axes: FindCommonAxes | None = None,
        find_reshape_axes: FindReshapeAxes = find_common_reshape_axes,
        find_stages: FindStages | None = None,
    ) -> None:
        self._mesh_of = mesh_of
        self._find_axes = find_axes or _find_axes_by_sizes
        self._find_reshape_axes = find_reshape_axes
        self._find_stages = find_stages

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
        changes, reduction_axes, stages = find_changes(op, mesh_or_ref, mesh)
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
            stages,
        )
        return plan if plan.operands or plan.results or plan.reduction_axes else None

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
        stages = self._stages(op, tensors, mesh_or_ref, mesh)
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
        return _ShardingChanges(changes, reduction_axes, stages)

    def _stages(
        self, op: PlanInput, tensors: Sequence[TensorProjection], mesh_or_ref: MeshOrRef, mesh: Mesh
    ) -> tuple[tuple[TensorSharding, ...], ...]:
        if self._find_stages is None:
            return ()

        def shardings(stages: Sequence[Sequence[Axes]]) -> tuple[TensorSharding, ...]:
            return tuple(
                [TensorSharding(mesh_or_ref, tuple(map(DimensionSharding, stage))) for stage in stages]
            )

        of_tensors = self._find_stages(op.signature, op.rule, tensors, mesh)
        return tuple(
            [() if index in op.free else shardings(stages) for index, stages in enumerate(of_tensors)]
        )

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


def all_reduce_use(
    use: OpOperand,
    required: TensorSharding | None,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """All-reduces a used value along its unreduced axes that are not required.

    Returns the sharding that the use then has.
    """
    sharding = sharding_of(use.value)
    if sharding is None or not sharding.unreduced_axes:
        return sharding
    mesh = mesh_of(sharding.mesh_or_ref)
    if mesh is None:
        raise unknown_mesh_error(sharding, use.owner)
    if required is not None and mesh_of(required.mesh_or_ref) is not mesh:
        raise use.owner.error("source and user shardings have different meshes for unreduced axes.")
    required_axes = () if required is None else required.unreduced_axes
    reduction_axes = difference(sharding.unreduced_axes, required_axes, mesh)
    if not reduction_axes:
        return sharding
    unreduced_axes = difference(sharding.unreduced_axes, reduction_axes, mesh)
    new = sharding.with_unreduced_axes(unreduced_axes)
    attributes: dict[str, Attribute] = {
        "reduction_axes": AxisRefList(reduction_axes),
        "out_sharding": new,
        **reduction_attributes(sharding.reduction),
    }
    rewriter.set_operand(use, _insert(AllReduceOp, use.value, attributes, use, insertion_point, rewriter))
    return new


def change_unreduced_mesh(
    use: OpOperand,
    required: TensorSharding,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> None:
    """Reshards a used value to the mesh that its user requires, if it is unreduced on either mesh.

    It is all-reduced on its own mesh, and has the required sharding without the unreduced axes on the other.
    """
    sharding = sharding_of(use.value)
    if sharding is None or mesh_of(sharding.mesh_or_ref) is mesh_of(required.mesh_or_ref):
        return
    if sharding.unreduced_axes or required.unreduced_axes:
        all_reduce_use(use, None, mesh_of, insertion_point, rewriter)
        new = required.with_unreduced_axes(())
        value = _insert(ReshardOp, use.value, {"sharding": new}, use, insertion_point, rewriter)
        rewriter.set_operand(use, value)


def unreduce_use(
    use: OpOperand,
    required: TensorSharding | None,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """Makes a used value unreduced along the required axes. Returns its new sharding; None without a change.

    If a dimension has more axes after its required ones, and all of these must become unreduced, they do so
    directly. A dimension that differs in another way is resharded first.
    """
    sharding = sharding_of(use.value)
    if sharding is None or required is None or not required.unreduced_axes:
        return None
    mesh = mesh_of(sharding.mesh_or_ref)
    if mesh is None:
        raise unknown_mesh_error(sharding, use.owner)
    if mesh_of(required.mesh_or_ref) is not mesh:
        raise use.owner.error(
            "Input and output shardings have different meshes. The result has non-empty unreduced axes."
        )
    missing = difference(required.unreduced_axes, sharding.unreduced_axes, mesh)
    if not missing:
        return None
    if difference(sharding.unreduced_axes, required.unreduced_axes, mesh):
        raise use.owner.error("Both input and output have unreduced axes that does not appear in the other.")
    plan = _Plan.of(sharding, required, missing, mesh)
    value, new = use.value, sharding
    if plan.needs_reshard:
        new = sharding.with_dims(plan.dims)
        value = _insert(ReshardOp, value, {"sharding": new}, use, insertion_point, rewriter)
    replicated = difference(missing, [axis for axes in plan.axes_per_dim for axis in axes], mesh)
    if replicated:
        unreduced = sorted_and_merged((*sharding.unreduced_axes, *replicated), mesh)
        new = required.with_mesh(sharding.mesh_or_ref).with_dims(plan.dims).with_unreduced_axes(unreduced)
        attributes: dict[str, Attribute] = {"axes": AxisRefList(replicated), "out_sharding": new}
        value = _insert(ReplicatedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    if any(plan.axes_per_dim):
        new = required
        axes_per_dim = AxesPerDim(tuple([AxisRefList(axes) for axes in plan.axes_per_dim]))
        attributes = {"axes": axes_per_dim, "out_sharding": new}
        value = _insert(ShardedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    rewriter.set_operand(use, value)
    return new


class _Plan(NamedTuple):
    """The axes of each dimension that become unreduced, and the dimension shardings before that."""

    axes_per_dim: list[Axes]
    dims: tuple[DimensionSharding, ...]
    needs_reshard: bool

    @classmethod
    def of(cls, sharding: TensorSharding, required: TensorSharding, missing: Axes, mesh: Mesh) -> _Plan:
        axes_per_dim: list[Axes] = []
        dims = []
        needs_reshard = False
        for old, new in zip(sharding.dims, required.dims, strict=True):
            axes: Axes = ()
            dim = new
            if not is_prefix(new.axes, old.axes):
                needs_reshard = True
            elif new.axes != old.axes:
                suffix = _suffix(new.axes, old.axes, mesh)
                if suffix is None or difference(suffix, missing, mesh):
                    needs_reshard = True
                else:
                    axes, dim = suffix, old
            axes_per_dim.append(axes)
            dims.append(dim)
        return cls(axes_per_dim, tuple(dims), needs_reshard)


def _suffix(prefix: Axes, axes: Axes, mesh: Mesh) -> Axes | None:
    """The axes after a strict prefix of an axis list; None if a sub-axis cannot be split at its end."""
    count = len(prefix)
    rest = axes[count:]
    if not prefix or prefix[-1] is axes[count - 1]:
        return rest
    sub_axis = axes[count - 1].suffix_without_overlap(prefix[-1], mesh)
    return None if sub_axis is None else (sub_axis, *rest)


def _insert(
    op_class: type[Op],
    value: Value,
    attributes: dict[str, Attribute],
    use: OpOperand,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> Value:
    location = use.value.lazy_location
    return rewriter.create(
        op_class, [value], [value.type], attributes, location=location, **insertion_point
    ).result
