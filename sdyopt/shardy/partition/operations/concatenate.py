"""`concatenate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension
from sdyopt.mlir.ir.types import I1, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import (
    Padding,
    ReadDimension,
    element_index,
    exchange,
    receive,
    take,
)
from sdyopt.shardy.partition.halo_plan import Piece, plan_halo, reads_of_windows
from sdyopt.shardy.partition.local_builder import ranked, scalar_type, shape_of
from sdyopt.shardy.partition.local_context import RESHARD_HELP, LocalContext
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, Values, begin_body, exchanges_halos

# A concatenation of more operands takes more selects than its communication is worth.
_MAX_OPERANDS = 16


@lowering(ConcatenateOp)
def lower_concatenate(op: ConcatenateOp, local: LocalContext) -> Lowered:
    """A concatenation is local if the concatenated dimension is not sharded."""
    result_axes, dimension = local.axes_per_dim(op.out), op.dimension
    if result_axes[dimension]:
        raise op.op_error(
            f"dimension {dimension} is sharded but the concatenation is on this dimension."
        ).help(RESHARD_HELP)
    for number, operand in enumerate(op.inputs):
        axes_per_dim = local.axes_per_dim(operand)
        if axes_per_dim[dimension]:
            raise op.op_error(
                f"operand {number} is sharded on concatenation dimension {dimension}. This is not supported."
            ).help(RESHARD_HELP)
        local.check_same_axes(op, operand)
    return None


class _Part(NamedTuple):
    """A range of the result, whose element i is element `i - shift` of a tensor."""

    value: Value
    shift: int
    start: int
    end: int


@exchanges_halos(ConcatenateOp)
def exchange_concatenate(op: ConcatenateOp, context: HaloContext) -> Values:
    """Each device reads, of each operand, the elements in its shard of the result, and selects among them."""
    types, dim = context.types, op.dimension
    result_axes = types.axes_per_dim(op.out)
    axes = result_axes[dim]
    if not axes or len(op.inputs) > _MAX_OPERANDS:
        return None
    reads: list[tuple[_Part, ReadDimension]] = []
    for part in _parts(op, types):
        read = _read(part, op, axes, context)
        if read is None:
            return None
        reads.append((part, read))
    received = sum(read.plan.received for _, read in reads)
    shards = types.shard_count(axes, op.out)
    if received >= shape_of(op.out)[dim] // shards * (shards - 1):
        return None
    body = begin_body(op, context)
    return None if body is None else body.finish([_select(body, reads, dim, axes, op)])


def _parts(op: ConcatenateOp, types: LocalTypes) -> list[_Part]:
    """The parts of the result. A part whose operand is a slice refers to the sliced tensor."""
    parts, start = [], 0
    for operand in op.inputs:
        end = start + shape_of(operand)[op.dimension]
        source, offset = _sliced(operand, op.dimension, types)
        if end > start:
            parts.append(_Part(source, start - offset, start, end))
        start = end
    return parts


def _sliced(value: Value, dim: int, types: LocalTypes) -> tuple[Value, int]:
    """The tensor that a value is a slice of along one dimension, and the start; else the value and 0."""
    op = value.defining_op
    if not isinstance(op, SliceOp) or any(stride != 1 for stride in op.strides):
        return value, 0
    shapes = zip(shape_of(op.operand), shape_of(value), strict=True)
    is_whole = all(old == new or other == dim for other, (old, new) in enumerate(shapes))
    if not is_whole or types.sharding(op.operand) is not types.sharding(value):
        return value, 0
    return op.operand, op.start_indices[dim]


def _read(part: _Part, op: ConcatenateOp, axes: Axes, context: HaloContext) -> ReadDimension | None:
    """The reads of an operand by the shards of the result.

    None if the operand is sharded differently from the result, except that the concatenated dimension may be
    replicated, or if there is no plan.
    """
    types, dim = context.types, op.dimension
    operand_axes, result_axes = list(types.axes_per_dim(part.value)), list(types.axes_per_dim(op.out))
    is_replicated = not operand_axes[dim]
    if operand_axes[dim] not in (axes, ()):
        return None
    operand_axes[dim] = result_axes[dim] = ()
    if operand_axes != result_axes:
        return None
    read = reads_of_windows(
        shape_of(part.value)[dim],
        shape_of(op.out)[dim],
        types.shard_count(axes, op.out),
        WindowDimension(1, low=part.shift),
        (part.start, part.end),
        is_replicated,
    )
    plan = plan_halo(read)
    return None if plan is None else ReadDimension(dim, axes, read, plan)


def _select(
    body: ShardedBody, reads: list[tuple[_Part, ReadDimension]], dim: int, axes: Axes, op: ConcatenateOp
) -> Value:
    """The shard of the result: the first part up to its end, then the second, and so on."""
    shards = {value: body.shard_of(value) for value in dict.fromkeys([part.value for part, _ in reads])}
    received = {
        value: _receive_in_rings(body, shard, [read for part, read in reads if part.value is value])
        for value, shard in shards.items()
    }
    values = []
    for part, read in reads:
        shard = shards[part.value]
        zero = Padding(body.zero(scalar_type(shard)), is_zero=True)
        values.append(exchange(body, shard, read, zero, received[part.value]))
    result = values.pop()
    size = shape_of(result)[dim]
    shard_count = reads[0][1].reads.shards
    index = element_index(body, result, dim, body.per_shard([n * size for n in range(shard_count)], axes))
    for value, (part, _) in zip(reversed(values), reversed(reads[:-1]), strict=True):
        mask = body.compare(index, body.integers(ranked(index), [part.end]), "LT")
        mask = body.broadcast(mask, tensor(shape_of(result), I1), [dim])
        result = body.select(mask, value, result)
    return result


def _receive_in_rings(
    body: ShardedBody, shard: Value, reads: Sequence[ReadDimension]
) -> Mapping[Piece, Value]:
    """The pieces that several parts of the result get over the same hop, if the shards are taken as a ring.

    In a rotation, the first shard gets elements of the last one, and all others of the shard before them.
    One collective sends both.
    """
    rings: dict[int, list[Piece]] = {}
    for read in reads:
        for piece in read.plan.pieces:
            if piece.hop:
                rings.setdefault(piece.hop % read.reads.shards, []).append(piece)
    received: dict[Piece, Value] = {}
    for hop, pieces in rings.items():
        receivers = [receiver for piece in pieces for receiver in piece.receivers]
        if len(pieces) == 1 or len(set(receivers)) != len(receivers):
            continue
        start, end = min(piece.start for piece in pieces), max(piece.end for piece in pieces)
        dim, axes = reads[0].dim, reads[0].axes
        ring = receive(body, shard, Piece(hop, start, end, tuple(receivers)), dim, axes)
        for piece in pieces:
            received[piece] = take(body, ring, dim, piece.start - start, piece.end - start)
    return received
