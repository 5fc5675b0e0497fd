"""The k largest elements along a sharded dimension: the largest of each shard, then the largest of these.

With k = 2 and 8 elements on two devices:

    device                     0          1
    has                     4 1 7 3    2 9 5 8
    largest, their indices  7 4  2 0   9 8  5 7
    gathered                7 4 9 8 and 2 0 5 7
    result                  9 8 and 5 7

Of equal elements the first one comes first, as in the whole tensor, because shards are gathered in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sdyopt.mlir.dialects.chlo.top_k import TopKOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MulOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, dense_array, element_size, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I64, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import all_gather
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.sharded_body import ShardedBody, attributes_of, shape_along

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
