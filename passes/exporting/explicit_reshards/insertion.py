"""Insertion of reshards and all-reduces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, ManualComputationOp, PropagationBarrierOp, ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind, reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
    with_manual_axes,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    rank_of,
    sharding_of,
    sharding_of_argument,
    sharding_of_result,
    sharding_or_replicated,
)
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value
from sdyopt.shardy.record import record_required
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix, overlap
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import reduction_kind
from sdyopt.shardy.sharding.reshard_to_collectives.state import axes_per_dim

from ...common.support.call_graph import called_function
from ...common.support.function_shardings import argument_shardings
from .reshard_plan import ReshardPlan, all_reduce_use, change_unreduced_mesh, unreduce_use


def apply_plan(
    op: Op, plan: ReshardPlan, rewriter: Rewriter, mark_partial: bool = False
) -> list[tuple[Op, int]]:
    """Applies a plan: reshards operands, changes and reshards results, and all-reduces results.

    With `mark_partial`, results that are all-reduced become unreduced along the axes.

    Returns the operations that it creates, each with the index of the operand or result of `op` that it
    changes. The indices of results follow those of operands.
    """
    created = []
    for index, sharding in plan.operands:
        use = op.operand_uses[index]
        old = sharding_of(use.value)
        if old is not None and old.unreduced_axes and old.unreduced_axes != sharding.unreduced_axes:
            # The new sharding has some of the unreduced axes in a dimension.
            all_reduce_use(use, sharding, partial(find_mesh, op=op), {"before": op}, rewriter)
        for stage in plan.stages_of(index):
            before = sharding_of(use.value)
            if before is not None and not (_has_same_axes(stage, before) or _has_same_axes(stage, sharding)):
                created.append((reshard_use(use, stage, {"before": op}, rewriter), index))
        created.append((reshard_use(use, sharding, {"before": op}, rewriter), index))
    after_op = insertion_point_after(op)
    for index, sharding in plan.results:
        result = op.results[index]
        target = sharding_or_replicated(result, plan.mesh_or_ref, is_closed=True)
        reshard = _replace_uses_with(ReshardOp, result, {"sharding": target}, after_op, rewriter)
        created.append((reshard, len(op.operands) + index))
        for stage in reversed(plan.stages_of(len(op.operands) + index)):
            if not (_has_same_axes(stage, sharding) or _has_same_axes(stage, target)):
                place: InsertionPoint = {"before": reshard}
                reshard = _replace_uses_with(ReshardOp, result, {"sharding": stage}, place, rewriter)
                created.append((reshard, len(op.operands) + index))
        set_sharding(result, sharding, rewriter)
    if plan.reduction_axes:
        created += _all_reduce_results(op, plan, rewriter, mark_partial)
    return created


def _has_same_axes(sharding: TensorSharding, other: TensorSharding) -> bool:
    """Whether two shardings shard each dimension along the same axes."""
    return [dim.axes for dim in sharding.dims] == [dim.axes for dim in other.dims]


def gather_batch_of_product(
    op: DotGeneralOp, created: Iterable[tuple[Op, int]], summed: Sequence[AxisRef], rewriter: Rewriter
) -> None:
    """Gathers the batch of a product before a reshard that shards it along axes that are summed, too.

    XLA does so: it reduce-scatters only along the other dimensions, or one without other axes.
    """
    for reshard, _ in created:
        before = sharding_of(reshard.input) if isinstance(reshard, ReshardOp) else None
        if before is None or not isinstance(reshard, ReshardOp) or reshard.input.defining_op is op:
            continue
        gathered: list[Axes] = [()] * before.rank
        for dim in range(len(op.dot_dimension_numbers.lhs_batching_dimensions)):
            old, new = before.dims[dim].axes, reshard.sharding.dims[dim].axes
            if old and common_prefix(old, new) == old and overlap(new[len(old) :], tuple(summed)):
                gathered[dim] = old
        _gather_before(reshard, gathered, rewriter)


def _gather_before(reshard: ReshardOp, gathered: Sequence[Axes], rewriter: Rewriter) -> None:
    """Gathers the minor axes of each dimension of the input of a reshard."""
    before = sharding_of(reshard.input)
    if before is None or not any(gathered):
        return
    stage = before.with_dims(
        DimensionSharding(old.axes[: len(old.axes) - len(axes)])
        for old, axes in zip(before.dims, gathered, strict=True)
    )
    gather = rewriter.create(
        AllGatherOp,
        [reshard.input],
        [reshard.input.type],
        {"gathering_axes": axes_per_dim(gathered), "out_sharding": stage},
        location=reshard.lazy_location,
        before=reshard,
    )
    rewriter.set_operand(reshard.operand_uses[0], gather.results[0])


def is_splat(value: Value) -> bool:
    """Whether all elements of a value are one number, which each device can repeat by itself."""
    op = value.defining_op
    if isinstance(op, BroadcastInDimOp):
        return rank_of(op.operand_at(0).type) == 0
    constant = op.signature.attributes.get("value") if isinstance(op, ConstantOp) else None
    return isinstance(constant, DenseElements) and constant.is_splat


def recreate_splats(created: Iterable[tuple[Op, int]], rewriter: Rewriter) -> list[tuple[Op, int]]:
    """Replaces reshards of splats by splats with the other sharding, as XLA does; returns the others."""
    others = []
    for reshard, index in created:
        if not isinstance(reshard, ReshardOp) or not is_splat(reshard.input):
            others.append((reshard, index))
            continue
        op = reshard.input.defining_op
        assert op is not None, "splats are results"
        attributes = {**dict(op.signature.attributes), SHARDING: ShardingPerValue((reshard.sharding,))}
        splat = rewriter.create(
            type(op),
            op.operands,
            [reshard.input.type],
            attributes,
            location=op.lazy_location,
            before=reshard,
        )
        rewriter.replace(reshard, [splat.results[0]])
    return others


def reshard_use(
    use: OpOperand, sharding: TensorSharding, insertion_point: InsertionPoint, rewriter: Rewriter
) -> Op:
    """Reshards a value for one of its uses, and returns the reshard."""
    value = use.value
    reshard = rewriter.create(
        ReshardOp,
        [value],
        [value.type],
        {"sharding": sharding},
        location=value.lazy_location,
        **insertion_point,
    )
    rewriter.set_operand(use, reshard.result)
    return reshard


def _all_reduce_results(
    op: Op, plan: ReshardPlan, rewriter: Rewriter, mark_partial: bool
) -> list[tuple[Op, int]]:
    """All-reduces the results along the plan's axes.

    With `mark_partial`, the results become unreduced along these axes.
    """
    kind = reduction_kind(op) if Behavior.REDUCTION_KINDS_OF_BODIES.active else None
    if kind is None and Behavior.REDUCTIONS_OF_NO_KIND.active:
        return []
    after_op = insertion_point_after(op)
    axes = AxisRefList(plan.reduction_axes)
    created = []
    for result in op.results:
        sharding = sharding_or_replicated(result, plan.mesh_or_ref, is_closed=True)
        attributes = {
            "reduction_axes": axes,
            "out_sharding": sharding,
            **reduction_attributes(kind or ReductionKind.SUM),
        }
        all_reduce = _replace_uses_with(AllReduceOp, result, attributes, after_op, rewriter)
        created.append((all_reduce, len(op.operands) + result.index))
        if mark_partial and kind is not None:
            mesh = find_mesh(plan.mesh_or_ref, op)
            assert mesh is not None, "plans are over meshes"
            unreduced = sorted_and_merged((*sharding.unreduced_axes, *plan.reduction_axes), mesh)
            set_sharding(result, sharding.with_unreduced_axes(unreduced, kind), rewriter)
    return created


def _replace_uses_with(
    op_class: type[Op],
    result: OpResult,
    attributes: Mapping[str, Attribute],
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> Op:
    """Inserts an operation on a result, replaces the other uses of the result with it, and returns it."""
    op = rewriter.create(
        op_class, [result], [result.type], attributes, location=result.lazy_location, **insertion_point
    )
    rewriter.replace_uses_except(result, op.result, op)
    return op


# --- Insertion points, at which several operations are inserted in order -----------------------------


def insertion_point_after(op: Op) -> InsertionPoint:
    """After an operation."""
    if op.next is not None:
        return {"before": op.next}
    assert op.parent is not None
    return {"at_end_of": op.parent}


def insertion_point_after_definition(value: Value) -> InsertionPoint:
    """The first point where a value can be used.

    It is the end of a block if the last operation defines the value, whose uses in a graph region may come
    before it.
    """
    if isinstance(value, BlockArgument):
        first = value.block.first
        assert first is not None, "the block of an argument with uses has operations"
        return {"before": first}
    op = value.defining_op
    assert op is not None
    return insertion_point_after(op)


# In place of the sharding of a propagation barrier: a plan also depends on the sharding before the barrier.
_BARRIER = object()


class ShardingCache(dict[Value, object]):
    """The sharding of each value. Callers must invalidate the cache after changing a sharding."""

    def __missing__(self, value: Value) -> object:
        is_barrier = isinstance(value.defining_op, PropagationBarrierOp)
        sharding = self[value] = _BARRIER if is_barrier else sharding_of(value)
        return sharding

    def invalidate(self, values: Iterable[Value]) -> None:
        for value in values:
            self.pop(value, None)


def is_sufficient_key(sharding: object) -> bool:
    """Whether a plan may be cached by this operand sharding.

    Not if it is unreduced, because the operand may be all-reduced before the plan is made; nor for a barrier.
    """
    return sharding is None or (isinstance(sharding, TensorSharding) and not sharding.unreduced_axes)


class UseResharder:
    """Reshards uses of values.

    Without `full`, reshards are inserted for call operands only; other uses only get all-reduces and
    conversions to unreduced. A value that is unreduced on another mesh than its user requires, or required
    so, is resharded with `change_meshes`, and an error without.
    """

    def __init__(
        self, mesh_of: MeshLookup, full: bool, rewriter: Rewriter, change_meshes: bool = False
    ) -> None:
        self._mesh_of = mesh_of
        self._full = full
        self._rewriter = rewriter
        self._change_meshes = change_meshes

    def reshard_edge_sources(self, op: Op) -> None:
        """Reshards the sources of each data-flow edge to the sharding of its owner, results first."""
        flow = op.data_flow
        owners: Sequence[OpResult | BlockArgument] = flow.owners(op)
        for owner in sorted(owners, key=lambda owner: isinstance(owner, BlockArgument)):
            required = _sharding_at_sources(op, owner)
            for source in flow.sources(op, owner):
                point = insertion_point_after_definition(source.value)
                self.reshard(source, required, point, self._full)

    def reshard_call_operands(self, call: CallOp) -> None:
        """Reshards call operands to the callee's argument shardings; replicates them if the callee has none.

        Both versions of the pass do this, because otherwise a function would need a copy per call.
        """
        required = argument_shardings(called_function(call))
        if required is None:
            shardings = (sharding_of(value) for value in call.operands)
            like = next((sharding for sharding in shardings if self._has_non_maximal_mesh(sharding)), None)
            if like is None:
                return
            ranks = [rank_of(value.type) for value in call.operands]
            required = ShardingPerValue(
                tuple([fully_replicated(rank, like.mesh_or_ref, True) for rank in ranks])
            )
        for use, sharding in zip(call.operand_uses, required, strict=True):
            self.reshard(use, sharding, insertion_point_after_definition(use.value), full=True)

    def reshard_returned_values(self, function: FuncOp) -> None:
        """Reshards the returned values of a function to its result shardings."""
        results = function.result_attributes
        for block in function.body.blocks:
            terminator = block.last
            if terminator is None or terminator.successors:
                continue
            for index, use in enumerate(terminator.operand_uses):
                attribute = results[index].get(SHARDING) if index < len(results) else None
                required = attribute if isinstance(attribute, TensorSharding) else None
                self.reshard(use, required, {"before": terminator}, self._full)

    def _has_non_maximal_mesh(self, sharding: TensorSharding | None) -> bool:
        mesh = None if sharding is None else self._mesh_of(sharding.mesh_or_ref)
        return mesh is not None and not mesh.is_maximal

    def reshard(
        self, use: OpOperand, required: TensorSharding | None, insertion_point: InsertionPoint, full: bool
    ) -> None:
        """Reshards a used value to the sharding that its user requires; None requires it replicated."""
        if self._change_meshes and required is not None:
            change_unreduced_mesh(use, required, self._mesh_of, insertion_point, self._rewriter)
        sharding = all_reduce_use(use, required, self._mesh_of, insertion_point, self._rewriter)
        sharding = unreduce_use(use, required, self._mesh_of, insertion_point, self._rewriter) or sharding
        if full and not _are_equivalent(sharding, required):
            like = required or sharding
            assert like is not None, "missing shardings are equivalent"
            target = required or fully_replicated(like.rank, like.mesh_or_ref, True)
            created = reshard_use(use, target, insertion_point, self._rewriter)
            record_required(use.owner, use.index, target, created)


def _are_equivalent(first: TensorSharding | None, second: TensorSharding | None) -> bool:
    if first is None:
        return second is None or second.is_fully_replicated
    return first.is_equivalent(second)


def _sharding_at_sources(op: Op, owner: OpResult | BlockArgument) -> TensorSharding | None:
    """The sharding that the sources of a data-flow edge must have, by the sharding of the edge's owner.

    The sources of a manual computation's arguments are outside, where shardings have the manual axes; those
    of its results are inside, where they do not.
    """
    if not isinstance(op, ShardingOwner):
        return sharding_of_result(owner) if isinstance(owner, OpResult) else sharding_of_argument(owner)
    if isinstance(owner, OpResult):
        sharding = op.result_sharding(owner.index)
        if isinstance(op, ManualComputationOp) and sharding is not None:
            return without_manual_axes(sharding, op.manual_axes)
        return sharding
    sharding = op.argument_sharding(owner.index)
    if isinstance(op, ManualComputationOp) and sharding is not None:
        return with_manual_axes(sharding, op.in_shardings.shardings[owner.index], op.manual_axes)
    return sharding
