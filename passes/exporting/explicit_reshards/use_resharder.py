"""Reshards data-flow edge sources, call operands and returned values to the required shardings."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
    with_manual_axes,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult
from sdyopt.shardy.record import record_required

from ...common.support.call_graph import called_function
from ...common.support.function_shardings import argument_shardings
from .insertion import insertion_point_after_definition, reshard_use
from .unreduced_axes import all_reduce_use, change_unreduced_mesh, unreduce_use


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
        terminator = None if function.is_declaration else function.entry.last
        if terminator is None:
            return
        results = function.result_attributes
        for index, use in enumerate(terminator.operand_uses):
            # The entry block may end with another terminator that has more operands than there are results.
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
        shardings = op.attributes.get(SHARDING)
        return shardings.at(owner.index) if isinstance(shardings, ShardingPerValue) else None
    if isinstance(owner, OpResult):
        sharding = op.result_sharding(owner.index)
        if isinstance(op, ManualComputationOp) and sharding is not None:
            return without_manual_axes(sharding, op.manual_axes)
        return sharding
    sharding = op.argument_sharding(owner.index)
    if isinstance(op, ManualComputationOp) and sharding is not None:
        return with_manual_axes(sharding, op.in_shardings.shardings[owner.index], op.manual_axes)
    return sharding
