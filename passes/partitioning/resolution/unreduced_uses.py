"""Uses at which explicit reshards neither combine nor make partial results.

- A value without a sharding is used where an unreduced one is required: a function returns it.
- An unreduced value selects a branch, or ends a loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRefList, difference
from sdyopt.mlir.dialects.sdy.collectives import ReplicatedToUnreducedOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, OptimizationBarrierOp, WhileOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import OpOperand, Value
from sdyopt.shardy.partition.local_context import LocalTypes

from ...exporting.explicit_reshards.insertion import UseResharder
from ...exporting.explicit_reshards.unreduced_axes import all_reduce_use, unreduce_use

# Besides operations with data-flow edges, those with uses to reshard.
_WITH_USES = (FuncOp, CallOp, ReshardOp, CaseOp, IfOp)


def resolve_unreduced_uses(ops: Sequence[Op], types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes partial what must be, and combines what selects a branch."""
    resharder = PartialUseResharder(types, rewriter, only_without_sharding=True)
    for op in ops:
        if op.data_flow is None and not isinstance(op, _WITH_USES):
            continue
        if isinstance(op, FuncOp):
            resharder.reshard_returned_values(op)
        elif isinstance(op, CallOp):
            resharder.reshard_call_operands(op)
        elif op.data_flow is not None:
            resharder.reshard_edge_sources(op)
        elif isinstance(op, ReshardOp):
            resharder.reshard(op.operand_uses[0], op.sharding, {"before": op}, True)
            _lower_to_unreduced(op, types, rewriter)
        if isinstance(op, CaseOp | IfOp):
            all_reduce_use(op.operand_uses[0], None, types.find_mesh, {"before": op}, rewriter)
        elif isinstance(op, WhileOp):
            returned = op.regions[0].blocks[0].last
            assert returned is not None
            all_reduce_use(returned.operand_uses[0], None, types.find_mesh, {"before": returned}, rewriter)


def _lower_to_unreduced(op: ReshardOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes the input of a reshard unreduced along new axes of its target, which no later pass does."""
    (use,) = op.operand_uses
    before, mesh = sharding_of(use.value), types.mesh(op.sharding)
    if before is None or mesh is None or types.mesh(before) is not mesh:
        return
    if not difference(before.unreduced_axes, op.sharding.unreduced_axes, mesh):
        unreduce_use(use, op.sharding, types.find_mesh, {"before": op}, rewriter)


class PartialUseResharder(UseResharder):
    """Reshards uses, also of values without a sharding to unreduced ones."""

    def __init__(self, types: LocalTypes, rewriter: Rewriter, only_without_sharding: bool = False) -> None:
        super().__init__(types.find_mesh, True, rewriter)
        self._types = types
        self._rewriter = rewriter
        self._only_without_sharding = only_without_sharding

    def reshard(
        self, use: OpOperand, required: TensorSharding | None, insertion_point: InsertionPoint, full: bool
    ) -> None:
        """Reshards a used value to the sharding that its user requires."""
        if required is not None and required.unreduced_axes and _is_whole(use.value):
            self._make_partial(use, required, insertion_point)
        if not self._only_without_sharding:
            super().reshard(use, required, insertion_point, full)

    def _make_partial(
        self, use: OpOperand, required: TensorSharding, insertion_point: InsertionPoint
    ) -> None:
        value = use.value
        if required.reduction is not ReductionKind.SUM or self._types.mesh(required) is None:
            return
        replicated = fully_replicated(rank_of(value.type), required.mesh_or_ref, is_closed=True)
        if sharding_of(value) is None:
            set_sharding(value, replicated, self._rewriter)
        attributes: dict[str, Attribute] = {
            "axes": AxisRefList(required.unreduced_axes),
            "out_sharding": replicated.with_unreduced_axes(required.unreduced_axes),
        }
        partial = self._rewriter.create(
            ReplicatedToUnreducedOp,
            [value],
            [value.type],
            attributes,
            location=value.lazy_location,
            **insertion_point,
        )
        self._rewriter.set_operand(use, partial.result)


def _is_whole(value: Value) -> bool:
    sharding = sharding_of(value)
    return sharding is None or (sharding.is_fully_replicated and not sharding.unreduced_axes)


# Propagation barriers: they are removed, and become reshards where their users need their sharding.
#
# Explicit reshards look through a barrier: the shardings that they make compatible are those of its input.
# Only functions, calls, operations with data-flow edges, and operations of sdy other than reshards have seen
# the sharding of its result.


def remove_barriers(
    module: ModuleOp, types: LocalTypes, resharder: PartialUseResharder, rewriter: Rewriter
) -> None:
    """Removes all barriers of a program, except one of each circle, which has no other value."""
    for barrier in module.nested(PropagationBarrierOp):
        _remove(barrier, types, resharder, rewriter)


def _remove(
    barrier: PropagationBarrierOp, types: LocalTypes, resharder: PartialUseResharder, rewriter: Rewriter
) -> None:
    if barrier.input is barrier.result:
        return
    before, after = types.sharding(barrier.input), types.sharding(barrier.result)
    if before is after or (before is not None and before.is_equivalent(after)):
        rewriter.replace(barrier, [barrier.input])
        return
    for use in list(barrier.result.uses):
        rewriter.set_operand(use, barrier.input)
        if _depends_on_barrier(use.owner):
            resharder.reshard(use, after, {"before": barrier}, True)
    rewriter.erase(barrier)


def _depends_on_barrier(user: Op) -> bool:
    if isinstance(user, PropagationBarrierOp | ReshardOp):
        return False
    return (
        isinstance(user, CallOp)
        or user.is_terminator
        or user.data_flow is not None
        or user.dialect_name == "sdy"
    )


# stablehlo.if and optimization_barrier: values that become results are resharded to the results' shardings.
#
# sdy has data-flow edges for case, but none for if.


def reshard_barrier_operands(op: OptimizationBarrierOp, resharder: PartialUseResharder) -> None:
    """Reshards the operands of a barrier, where its results have other shardings."""
    for use, result in zip(op.operand_uses, op.results, strict=True):
        after = sharding_of(result)
        if after is not None:
            resharder.reshard(use, after, {"before": op}, True)


def reshard_branches(op: IfOp, resharder: PartialUseResharder) -> None:
    """Reshards the values that the branches return; a result without a sharding is replicated."""
    for region in op.regions:
        returned = region.blocks[0].last
        assert returned is not None
        for use, result in zip(returned.operand_uses, op.results, strict=True):
            before, after = sharding_of(use.value), sharding_of(result)
            if after is None and before is not None:
                after = fully_replicated(rank_of(result.type), before.mesh_or_ref, is_closed=True)
            if after is not None:
                resharder.reshard(use, after, {"before": returned}, True)
