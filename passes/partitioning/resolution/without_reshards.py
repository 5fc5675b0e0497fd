"""Top-k operations whose operand was resharded for them, although the largest elements of shards are enough.

    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x1024xf32>
    %2:2 = stablehlo.custom_call @mhlo.topk(%1) … : (tensor<8x1024xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
becomes, if %0 is sharded along the second dimension, a manual computation of %0, whose results are replicated
along this dimension, and reshards of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.chlo.operations import TopKOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, dense_array, element_size, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import all_gather
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import Axes, LocalTypes
from sdyopt.shardy.partition.sharded_body import (
    HaloContext,
    ShardedBody,
    attributes_of,
    begin_body,
    exchange_halos,
    may_be_sharded_more,
    may_exchange,
    shape_along,
)

from ...exporting.explicit_reshards.insertion import apply_plan
from ...exporting.explicit_reshards.reshard_plan import ReshardPlan


def exchange_top_k(op: Op, context: HaloContext) -> bool:
    """Exchanges the largest elements of shards instead of the shards; returns whether it did so."""
    top_k = top_k_of(op)
    if top_k is None:
        return False
    reshard, source = top_k.operand.defining_op, top_k.operand
    if isinstance(reshard, ReshardOp):
        source = reshard.input
    sharding = context.types.sharding(source)
    if sharding is None or not sharding.dims[-1].axes or sharding.unreduced_axes:
        return False
    axes, mesh = sharding.dims[-1].axes, context.types.mesh(sharding)
    if mesh is None or not may_exchange(mesh):
        return False
    if not top_k.is_worth_exchanging(context.types.shard_count(axes, source), top_k.is_gathered(context)):
        return False
    rewriter, last = context.rewriter, sharding.rank - 1
    rewriter.set_operand(op.operand_uses[0], source)
    replicated = sharding.with_dims(
        DimensionSharding() if number == last else dim for number, dim in enumerate(sharding.dims)
    )
    plan = ReshardPlan(sharding.mesh_or_ref, results=((0, replicated), (1, replicated)))
    apply_plan(op, plan, rewriter)
    body = begin_body(op, context)
    assert body is not None
    rewriter.replace(op, exchange_largest(top_k, body, axes))
    if isinstance(reshard, ReshardOp):
        erase_unused([reshard], rewriter)
    return True


def _shards(value: Value, context: HaloContext) -> int:
    return prod(context.types.shard_count(axes, value) for axes in context.types.axes_per_dim(value))


# Operations whose operands were gathered for them, although halos are enough.
#
# By its sharding rule a concatenation needs whole operands, so `sdy-insert-explicit-reshards` gathers them,
# and slices the result. If halos are smaller, these reshards are removed: the operation gets the sharded
# operands and has the sharded result.


def exchange_instead_of_reshards(op: Op, context: HaloContext) -> bool:
    """Exchanges halos in place of the reshards around an operation; returns whether it did so."""
    if not may_be_sharded_more(type(op)) or len(op.results) != 1:
        return False
    gathers = [gather_of(value, op, context.types) for value in op.operands]
    slices = _slices_of(op, context.types)
    if not any(gathers) and not slices:
        return False
    rewriter, operands, sharding = context.rewriter, op.operands, op.attributes.get(SHARDING)
    inputs = [
        value if gather is None else gather.input for value, gather in zip(operands, gathers, strict=True)
    ]
    rewriter.set_operands(op, inputs)
    if slices:
        rewriter.set_attribute(op, SHARDING, ShardingPerValue((slices[0].sharding,)))
    values = exchange_halos(op, context)
    if values is None:
        rewriter.set_operands(op, operands)
        if slices and sharding is not None:
            rewriter.set_attribute(op, SHARDING, sharding)
        return False
    for sliced in slices:
        rewriter.replace(sliced, values)
    rewriter.replace(op, values)
    erase_unused([gather for gather in gathers if gather is not None], rewriter)
    return True


def erase_unused(ops: Sequence[Op], rewriter: Rewriter) -> None:
    """Erases those of these operations whose results are not used."""
    for op in dict.fromkeys(ops):
        if not any(result.has_uses for result in op.results):
            rewriter.erase(op)


def gather_of(value: Value, op: Op, types: LocalTypes) -> ReshardOp | None:
    """The reshard that computes an operand, if it only removes axes and only this operation uses it."""
    reshard = value.defining_op
    if not isinstance(reshard, ReshardOp) or any(use.owner is not op for use in value.uses):
        return None
    before = types.sharding(reshard.input)
    return reshard if before is not None and _is_prefix(reshard.sharding, before) else None


def _slices_of(op: Op, types: LocalTypes) -> Sequence[ReshardOp]:
    """The users of the result, if they are reshards to one sharding that only adds axes."""
    owners = [use.owner for use in op.results[0].uses]
    slices = [owner for owner in owners if isinstance(owner, ReshardOp)]
    before = types.sharding(op.results[0])
    if before is None or not slices or len(slices) != len(owners):
        return []
    is_same = all(sliced.sharding is slices[0].sharding for sliced in slices)
    return slices if is_same and _is_prefix(before, slices[0].sharding) else []


def _is_prefix(fewer: TensorSharding, more: TensorSharding) -> bool:
    """Whether the axes of each dimension in `fewer` are a prefix of those in `more`."""
    if fewer.mesh_or_ref is not more.mesh_or_ref or fewer.rank != more.rank:
        return False
    if fewer.unreduced_axes or more.unreduced_axes:
        return False
    return all(
        dim.axes == other.axes[: len(dim.axes)] for dim, other in zip(fewer.dims, more.dims, strict=True)
    )


# The k largest elements along a sharded dimension: the largest of each shard, then the largest of these.
#
# With k = 2 and 8 elements on two devices:
#
#     device                     0          1
#     has                     4 1 7 3    2 9 5 8
#     largest, their indices  7 4  2 0   9 8  5 7
#     gathered                7 4 9 8 and 2 0 5 7
#     result                  9 8 and 5 7
#
# Of equal elements the first one comes first, as in the whole tensor, because shards are gathered in order.


_TARGET = "mhlo.topk"

# Where a custom call has its k.
_ATTRIBUTES = "mhlo.attributes"


class TopK(NamedTuple):
    """An operation that returns the k largest, or smallest, elements along the last dimension.

    Its second result is their indices.
    """

    op: Op
    k: int

    @property
    def operand(self) -> Value:
        """The tensor whose elements are compared."""
        return self.op.operand_at(0)

    def is_worth_exchanging(self, shards: int, is_gathered: bool) -> bool:
        """Whether the largest elements of all shards and their indices take fewer bytes than the reshard.

        If the tensor is gathered, a device gets all shards, else one shard, by an all-to-all.
        """
        type, index_type = ranked(self.operand), ranked(self.op.results[1])
        size, remainder = divmod(type.shape[-1], shards)
        element, index = element_size(type.element), element_size(index_type.element)
        exchanged = min(self.k, size) * (element + index) * (1 if is_gathered else shards)
        # Padding could be among the largest elements.
        return not remainder and exchanged < size * element

    def attributes(self, k: int) -> dict[str, Attribute]:
        """The attributes of an operation of this kind with another k."""
        attributes = attributes_of(self.op)
        if isinstance(self.op, TopKOp):
            return {**attributes, "k": integer(k, I64)}
        own = attributes[_ATTRIBUTES]
        assert isinstance(own, DictAttr)
        return {**attributes, _ATTRIBUTES: dictionary({**dict(own.entries), "k": integer(k, I64)})}

    def is_gathered(self, context: HaloContext) -> bool:
        """Whether the operand is or would be gathered for the operation, not sharded along others."""
        reshard = self.operand.defining_op
        if not isinstance(reshard, ReshardOp):
            return True
        return _shards(reshard.result, context) < _shards(reshard.input, context)


def top_k_of(op: Op) -> TopK | None:
    """The operation as a top-k; None for another one."""
    if not _is_top_k(op):
        return None
    types = (*op.operand_types, *op.result_types)
    shapes = [type.shape for type in types if isinstance(type, RankedTensor) and type.has_static_shape]
    if len(shapes) != len(types) or len(types) != 3:
        return None
    operand, values, indices = shapes
    if not operand or values != indices or values[:-1] != operand[:-1] or 0 in values:
        return None
    return TopK(op, values[-1])


def _is_top_k(op: Op) -> bool:
    if isinstance(op, TopKOp):
        return True
    if not isinstance(op, CustomCallOp) or op.call_target_name != _TARGET or op.has_side_effect:
        return False
    if op.operand_layouts is not None or op.result_layouts is not None:
        return False
    attributes = op.attributes.get(_ATTRIBUTES)
    return isinstance(attributes, DictAttr) and isinstance(attributes.get("k"), IntegerAttr)


def exchange_largest(top_k: TopK, body: ShardedBody, axes: Axes) -> Sequence[Value]:
    """Builds the body of a manual computation in place of a top-k, and returns what replaces its results."""
    shard = body.shard_of(top_k.operand)
    dim = ranked(shard).rank - 1
    size = shape_of(shard)[dim]
    values, indices = _top_k(body, top_k, shard, min(top_k.k, size))
    offset = body.binary(MulOp, body.shard_index(axes), body.index(size))
    offset = body.convert(offset, ranked(indices).element)
    indices = body.binary(AddOp, indices, body.broadcast(offset, ranked(indices)))
    gathered = all_gather(body, values, dim, axes)
    values, positions = _top_k(body, top_k, gathered, top_k.k)
    return body.finish([values, _take_along_last(body, all_gather(body, indices, dim, axes), positions)])


def _top_k(body: ShardedBody, top_k: TopK, value: Value, k: int) -> Sequence[Value]:
    shape = tuple(shape_along(value, ranked(value).rank - 1, k))
    elements = [ranked(value).element, ranked(top_k.op.results[1]).element]
    types = [RankedTensor(shape, element) for element in elements]
    return body.create(type(top_k.op), [value], types, top_k.attributes(k)).results


def _take_along_last(body: ShardedBody, value: Value, positions: Value) -> Value:
    """The elements of a tensor at these positions of its last dimension."""
    shape = shape_of(positions)
    batch = tuple(range(len(shape) - 1))
    dims = GatherDimensions((), (len(batch),), batch, batch, (len(batch),), len(shape))
    attributes = {"dimension_numbers": dims, "slice_sizes": dense_array(I64, [1] * len(shape))}
    indices = body.reshape(positions, (*shape, 1))
    type = RankedTensor(shape, ranked(value).element)
    return body.create(GatherOp, [value, indices], [type], attributes).result
