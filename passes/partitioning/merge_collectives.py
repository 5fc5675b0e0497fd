"""sdy-merge-collectives: merge equal collectives on one value, and erase unused ones.

    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
becomes
    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %0 : tensor<8xf32>

The result of a collective depends on its operand alone, so collectives of StableHLO that differ in their
channels are merged too. A reshard stands for the collectives that it will be lowered to; if it undoes another
one, the value before both is used. So it is if an all-slice undoes an all-gather on the other side of an edge
of a manual computation, of which the sharding changes. `cse` keeps equal collectives, because C++ declares
none of them free of memory effects. Like `cse`, the pass merges other equal operations without memory effects
too, and erases dead ones, unless `collectives-only` is set.

With `before-broadcasts`, what is broadcast is gathered, and not the result, as compilers for TPU and GPU do:

    %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x64xf32>
becomes
    %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>

With `max-distance`, a value is gathered again for what is computed long after: the compiler for TPU does not
merge all-gathers if more operations than that depend on each other between those that read their results. The
weights of most layers are so gathered for the forward pass and for the backward pass, and not in memory in
between.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import Any

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxesPerDim
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp as SdyAllGatherOp
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp, CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CollectiveReduceOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.cse import CseDriver
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

STABLEHLO_COLLECTIVES = (
    *(AllGatherOp, AllReduceOp, AllToAllOp),
    *(CollectiveBroadcastOp, CollectivePermuteOp, CollectiveReduceOp, ReduceScatterOp),
)
_COLLECTIVES = (CollectiveOp, ReshardOp, *STABLEHLO_COLLECTIVES)
_CHANNEL = "channel_handle"


@register("sdy-merge-collectives")
class MergeCollectives(Pass):
    collectives_only: bool = option(
        default=False, help="leave operations other than collectives and reshards alone"
    )

    before_broadcasts: bool = option(
        default=False, help="gather what is broadcast, and not the result of the broadcast"
    )

    max_distance: int = option(
        default=0, help="largest distance of all-gathers that are merged, in operations; 0: any"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        if self.before_broadcasts:
            for gather in list(module.nested(SdyAllGatherOp)):
                _gather_before_broadcast(gather, rewriter)
        for op in module.nested(ReshardOp):
            if (value := _value_before(op)) is not None:
                rewriter.replace(op, [value])
        for computation in list(module.nested(ManualComputationOp)):
            _merge_into(computation, rewriter)
            _merge_out_of(computation, rewriter)
        numbers = _numbers_of_distant(module, self.max_distance) if self.max_distance else {}

        def key(op: Op) -> Hashable | None:
            signature = _without_channel(op)
            return signature if op not in numbers else (signature, numbers[op])

        cse = CseDriver(rewriter, key, only_pure=self.collectives_only)
        for region in module.regions:
            cse.visit_region(region)
        cse.finish()
        return rewriter.changed


def _numbers_of_distant(module: ModuleOp, max_distance: int) -> dict[Op, int]:
    """A number of each all-gather and reshard of a value that is resharded several times.

    Equal ones are merged if their numbers are equal. The distance is that between the last operation that
    reads the earlier result and the later all-gather, by their distances to the end of the block.
    """
    equal: dict[Hashable, list[Op]] = {}
    for op_class in (SdyAllGatherOp, ReshardOp):
        for gather in module.nested(op_class):
            equal.setdefault((gather.parent, gather.operand_at(0), gather.signature), []).append(gather)
    heights: dict[Block, dict[Op, int]] = {}
    numbers: dict[Op, int] = {}
    for ops in equal.values():
        block = ops[0].parent
        if len(ops) == 1 or block is None:
            continue
        if block not in heights:
            heights[block] = _heights(block)
        height = heights[block]
        number, lowest = 0, height[ops[0]]
        for op in ops:
            if lowest > height[op] + max_distance:
                number, lowest = number + 1, height[op]
            lowest = min([lowest, *(height[user] for user in _users_in(op, block))])
            numbers[op] = number
    return numbers


def _heights(block: Block) -> dict[Op, int]:
    """The number of operations of the longest chain of users of each operation of a block."""
    heights: dict[Op, int] = {}
    op = block.last
    while op is not None:
        heights[op] = max([heights[user] + 1 for user in _users_in(op, block)], default=0)
        op = op.prev
    return heights


def _users_in(op: Op, block: Block) -> Iterator[Op]:
    """The users of an operation, those in regions by the operation of the block that they are in."""
    for result in op.results:
        for user in result.users:
            while user.parent is not block and user.parent_op is not None:
                user = user.parent_op
            yield user


def _value_before(op: ReshardOp) -> Value | None:
    """The value before the reshard that a reshard undoes; None if it undoes none."""
    inner = op.input.defining_op
    if not isinstance(inner, ReshardOp) or inner is op:
        return None
    source = sharding_of(inner.input)
    return inner.input if source is not None and op.sharding.is_equivalent(source) else None


def _gather_before_broadcast(op: SdyAllGatherOp, rewriter: Rewriter) -> None:
    """Gathers what is broadcast in place of the result, if that is gathered along its dimensions only."""
    broadcast, before = op.tensor.defining_op, sharding_of(op.tensor)
    if not isinstance(broadcast, BroadcastInDimOp) or before is None:
        return
    operand, dims = broadcast.operand, broadcast.broadcast_dimensions
    sharding, gathered, after = sharding_of(operand), list(op.gathering_axes), op.out_sharding
    if sharding is None or [dim.axes for dim in sharding.dims] != [before.dims[dim].axes for dim in dims]:
        return
    if any(axes and dim not in dims for dim, axes in enumerate(gathered)):
        return
    attributes = {
        "gathering_axes": AxesPerDim(tuple([gathered[dim] for dim in dims])),
        "out_sharding": sharding.with_dims([after.dims[dim] for dim in dims]),
    }
    types, location = [operand.type], op.lazy_location
    whole = rewriter.create(SdyAllGatherOp, [operand], types, attributes, before=op, location=location)
    again = rewriter.create(
        BroadcastInDimOp,
        whole.results,
        [op.result_types[0]],
        {**dict(broadcast.signature.attributes), SHARDING: ShardingPerValue((after,))},
        before=op,
        location=broadcast.lazy_location,
    )
    rewriter.replace(op, again.results)


def _merge_into(op: ManualComputationOp, rewriter: Rewriter) -> None:
    """Removes all-slices in a manual computation that undo the all-gathers of what it takes."""
    for argument, use in zip(op.block.arguments, op.operand_uses, strict=True):
        gather, slices = use.value.defining_op, _slices_of(argument, use.value.defining_op)
        within, before = op.argument_sharding(use.index), None
        if isinstance(gather, SdyAllGatherOp):
            before = sharding_of(gather.tensor)
        if not slices or before is None or within is None or not isinstance(gather, SdyAllGatherOp):
            continue
        _gather_for_others(argument, gather, within, slices, rewriter)
        shardings = [*op.in_shardings]
        shardings[use.index] = before
        rewriter.set_attribute(op, "in_shardings", ShardingPerValue(tuple(shardings)))
        rewriter.set_operand(use, gather.tensor)


def _merge_out_of(op: ManualComputationOp, rewriter: Rewriter) -> None:
    """Removes all-slices that undo the all-gathers of what a manual computation yields."""
    assert op.block.last is not None
    for result, use in zip(op.results, op.block.last.operand_uses, strict=True):
        gather, slices = use.value.defining_op, _slices_of(result, use.value.defining_op)
        outside = op.result_sharding(use.index)
        if not slices or outside is None or not isinstance(gather, SdyAllGatherOp):
            continue
        shardings = [*op.out_shardings]
        shardings[use.index] = slices[0].out_sharding
        _gather_for_others(result, gather, outside, slices, rewriter)
        rewriter.set_attribute(op, "out_shardings", ShardingPerValue(tuple(shardings)))
        rewriter.set_operand(use, gather.tensor)


def _slices_of(value: Value, gather: Op | None) -> list[AllSliceOp]:
    """The users of a value that undo a gather before it."""
    return [
        user
        for user in dict.fromkeys(value.users)
        if isinstance(user, AllSliceOp)
        and isinstance(gather, SdyAllGatherOp)
        and user.slicing_axes is gather.gathering_axes
    ]


def _gather_for_others(
    value: OpResult | BlockArgument,
    gather: SdyAllGatherOp,
    whole: TensorSharding,
    slices: Sequence[Op],
    rewriter: Rewriter,
) -> None:
    """Gathers a value, as before, for the users that need it; the all-slices are replaced by it."""
    others = [use for use in value.uses if use.owner not in slices]
    if others:
        attributes = {"gathering_axes": gather.gathering_axes, "out_sharding": whole}
        place: dict[str, Any] = (
            {"after": value.op} if isinstance(value, OpResult) else {"at_start_of": value.block}
        )
        location = gather.lazy_location
        again = rewriter.create(SdyAllGatherOp, [value], [value.type], attributes, location=location, **place)
        for use in others:
            rewriter.set_operand(use, again.results[0])
    for op in slices:
        rewriter.replace(op, [value])


@cache
def _is_collective(op_class: type[Op]) -> bool:
    return issubclass(op_class, _COLLECTIVES)


def _without_channel(op: Op) -> Hashable | None:
    """All that the result of a collective depends on besides its operand; None for other operations."""
    if not _is_collective(type(op)):
        return None
    signature = op.signature
    if op.dialect_name == "sdy":
        return signature
    channel = signature.attributes.get(_CHANNEL)
    # Whether there is a channel decides between groups of replicas and groups of partitions.
    kind = (channel.type, channel.handle > 0) if isinstance(channel, ChannelHandle) else channel
    return signature.name, kind, signature.attributes.without(_CHANNEL), signature.result_types
