"""Values that have to be sharded as somebody says: sources of data-flow edges, arguments and results."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.manual_axes import with_manual_axes, without_manual_axes
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, OpOperand, OpResult

from ...common.support.call_graph import called_function
from ...common.support.function_shardings import argument_shardings
from .insertion import reshard_use
from .insertion_points import insertion_point_after_definition
from .unreduced_axes import MeshOf, reduce_use, unreduce_use


class UseShardings:
    """Gives uses of values the shardings that are wanted there. If not in full, sums only, and makes sums."""

    def __init__(self, mesh_of: MeshOf, in_full: bool, rewriter: Rewriter) -> None:
        self._mesh_of = mesh_of
        self._in_full = in_full
        self._rewriter = rewriter

    def reshard_edge_sources(self, op: Op) -> None:
        """Makes the sources of each data-flow edge what its owner is, those of results first."""
        flow = op.data_flow
        owners: Sequence[OpResult | BlockArgument] = flow.owners(op)
        for owner in sorted(owners, key=lambda owner: isinstance(owner, BlockArgument)):
            wanted = _at_source(op, owner)
            for source in flow.sources(op, owner):
                self._reshard_use(
                    source, wanted, insertion_point_after_definition(source.value), self._in_full
                )

    def reshard_call_operands(self, call: CallOp) -> None:
        """Makes what is passed what the called function takes; replicated if it does not say anything.

        This is always done in full: else a function would need a copy for each way in which it is called.
        """
        declared = argument_shardings(called_function(call))
        if declared is None:
            held = (sharding_of(value) for value in call.operands)
            like = next((sharding for sharding in held if self._is_sharded(sharding)), None)
            if like is None:
                return
            ranks = [rank_of(value.type) for value in call.operands]
            declared = ShardingPerValue(
                tuple([fully_replicated(rank, like.mesh_or_ref, True) for rank in ranks])
            )
        for use, wanted in zip(call.operand_uses, declared, strict=True):
            self._reshard_use(use, wanted, insertion_point_after_definition(use.value), in_full=True)

    def reshard_returned_values(self, function: FuncOp) -> None:
        """Lets a function return what it says it does."""
        end = None if function.is_declaration else function.entry.last
        if end is None:
            return
        declared = function.result_attributes
        for index, use in enumerate(end.operand_uses):
            # A first block that ends with something else than a return may give more than there are results.
            sharding = declared[index].get(SHARDING) if index < len(declared) else None
            wanted = sharding if isinstance(sharding, TensorSharding) else None
            self._reshard_use(use, wanted, {"before": end}, self._in_full)

    def _is_sharded(self, sharding: TensorSharding | None) -> bool:
        mesh = None if sharding is None else self._mesh_of(sharding.mesh_or_ref)
        return mesh is not None and not mesh.is_maximal

    def _reshard_use(
        self, use: OpOperand, wanted: TensorSharding | None, insertion_point: InsertionPoint, in_full: bool
    ) -> None:
        """Makes one use of a value what is wanted of it, by what is inserted at `place`."""
        held = reduce_use(use, wanted, self._mesh_of, insertion_point, self._rewriter)
        held = unreduce_use(use, wanted, self._mesh_of, insertion_point, self._rewriter) or held
        if in_full and not _are_equivalent(held, wanted):
            some = wanted or held
            assert some is not None, "both split nothing"
            sharding = wanted or fully_replicated(some.rank, some.mesh_or_ref, True)
            reshard_use(use, sharding, insertion_point, self._rewriter)


def _are_equivalent(first: TensorSharding | None, second: TensorSharding | None) -> bool:
    if first is None:
        return second is None or second.is_fully_replicated
    return first.is_equivalent(second)


def _at_source(op: Op, owner: OpResult | BlockArgument) -> TensorSharding | None:
    """The sharding of the owner of an edge, as it is where the sources are."""
    if not isinstance(op, ShardingOwner):
        shardings = op.attributes.get(SHARDING)
        return shardings.at(owner.index) if isinstance(shardings, ShardingPerValue) else None
    if isinstance(owner, OpResult):
        inside = op.result_sharding(owner.index)
        if isinstance(op, ManualComputationOp) and inside is not None:
            return without_manual_axes(inside, op.manual_axes)
        return inside
    found = op.argument_sharding(owner.index)
    if isinstance(op, ManualComputationOp) and found is not None:
        return with_manual_axes(found, op.in_shardings.shardings[owner.index], op.manual_axes)
    return found
