"""`pad` and `concatenate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, PadOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import (
    Padding,
    Piece,
    ReadDimension,
    element_index,
    exchange,
    extend,
    padding_of,
    plan_halo,
    read_dimensions,
    reads_of_windows,
    receive,
    take,
)
from sdyopt.shardy.partition.local_builder import scalar_type, shape_of
from sdyopt.shardy.partition.local_context import (
    RESHARD_HELP,
    Axes,
    LocalContext,
    LocalTypes,
    Lowered,
    check_device_count,
    lowering,
    offset_type,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.replication import Dim, both, crosses_shards
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, Values, begin_body, exchanges_halos
from sdyopt.shardy.sharding.axis_lists import shard_indices


@lowering(PadOp)
def lower_pad(op: PadOp, local: LocalContext) -> Lowered:
    """Pads each shard; it is an error if an element moves to another shard.

    If the shards need different padding, each is padded by the largest amount that any needs, and a dynamic
    slice takes the part of this device.
    """
    axes_per_dim = local.axes_per_dim(op.operand)
    local.check_same_axes(op, op.operand, "reshard collective")
    if not any(axes_per_dim):
        return None
    type = local.local_tensor(op.out, op)
    lows, highs, offsets = [], [], []
    for dim in range(type.rank):
        low, high, offset = _local_padding(op, dim, axes_per_dim[dim], type, local)
        lows.append(low)
        highs.append(high)
        offsets.append(offset)
    builder = local.builder(op)
    padded = builder.pad(op.operand, op.padding_value, lows, highs, op.interior_padding)
    if not any(offsets):
        return [padded]
    starts: list[Value] = []
    element = offset_type(start for offset in offsets for start in offset)
    for offset in offsets:
        if offset:
            starts.append(builder.reshape(local.lookup(builder, offset, element), ()))
        else:
            starts.append(builder.index(0, element))
    return [builder.dynamic_slice(padded, starts, type.shape)]


def _local_padding(
    op: PadOp, dim: int, axes: Axes, type: RankedTensor, local: LocalContext
) -> tuple[int, int, Sequence[int]]:
    """Low and high padding of all shards and, if shards differ, the start of the slice of each device."""
    low, interior = op.edge_padding_low[dim], op.interior_padding[dim]
    if not axes:
        return low, op.edge_padding_high[dim], ()
    size, result_size = shape_of(op.operand)[dim], type.shape[dim]
    expanded = size + (size - 1) * interior
    mesh = local.common_mesh(op)
    check_device_count(mesh, op)
    shards = shard_indices(axes, mesh)
    # Where the elements of a shard start in the corresponding shard of the result.
    starts = {
        shard: shard * size * (interior + 1) + low - shard * result_size for shard in sorted(set(shards))
    }
    _check_stays(op, dim, starts, expanded, result_size)
    if len(set(starts.values())) == 1:
        return starts[0], result_size - starts[0] - expanded, ()
    largest, smallest = max(0, *starts.values()), min(starts.values())
    table = [largest - starts[shard] for shard in shards]
    return largest, max(0, result_size - smallest - expanded), table


def _check_stays(op: PadOp, dim: int, starts: dict[int, int], expanded: int, result_size: int) -> None:
    """Checks that no element of a shard is needed in another shard of the result."""
    last = len(starts) - 1
    for shard, start in starts.items():
        before = shard > 0 and start < 0
        after = shard < last and start + expanded > result_size
        # Elements that are cut off at either end of the whole tensor are in no shard.
        if before or after:
            raise op.op_error(
                f"dimension {dim} is sharded but the padding moves elements between shards and requires "
                "device communication."
            ).help(RESHARD_HELP)


@crosses_shards(PadOp)
def pad(op: PadOp, types: LocalTypes) -> Iterator[Dim]:
    """Padding may be between the elements of each shard, or at the ends of the whole tensor."""
    for dim, axes in enumerate(types.axes_per_dim(op.operand)):
        if axes != types.axes_per_dim(op.out)[dim] or not pad_stays(
            op, dim, types.shard_count(axes, op.operand)
        ):
            yield from both(dim)


def pad_stays(op: PadOp, dim: int, shards: int) -> bool:
    """Whether padding a dimension with this many shards leaves every element in its shard."""
    low, high, interior = op.edge_padding_low[dim], op.edge_padding_high[dim], op.interior_padding[dim]
    if shards == 1 or (low, high, interior) == (0, 0, 0):
        return True
    size, remainder = divmod(shape_of(op.operand)[dim], shards)
    result_size, result_remainder = divmod(shape_of(op.out)[dim], shards)
    if remainder or result_remainder:
        return False
    extent = size + (size - 1) * interior
    step = size * (interior + 1) - result_size

    def starts_before(shard: int) -> bool:
        return low + shard * step < 0

    def ends_after(shard: int) -> bool:
        return low + shard * step + extent > result_size

    # Starts and ends are linear in the number of the shard.
    inner = (starts_before(1), starts_before(shards - 1), ends_after(0), ends_after(shards - 2))
    return not any(inner)


@exchanges_halos(PadOp)
def exchange_pad(op: PadOp, context: HaloContext) -> Values:
    """A pad reads elements from before the start of the tensor, which are padding."""
    windows = [
        WindowDimension(1, low=low, base_dilation=interior + 1)
        for low, interior in zip(op.edge_padding_low, op.interior_padding, strict=True)
    ]
    reads = read_dimensions(op.operand, op.out, windows, context)
    body = None if reads is None else begin_body(op, context)
    if reads is None or body is None:
        return None
    value = body.shard_of(op.operand, op.padding_value)
    padding = padding_of(op.padding_value, body.shard_of(op.padding_value))
    low, high, interior = list(op.edge_padding_low), list(op.edge_padding_high), list(op.interior_padding)
    for read in reads:
        extended = extend(body, value, read, padding)
        value = extended.value
        low[read.dim], high[read.dim] = extended.low, extended.high
        interior[read.dim] = extended.dilation - 1
    if any(low) or any(high) or any(interior):
        value = body.pad(value, padding.value, low, high, interior)
    return body.finish([value])


@pads(PadOp)
def pad_pad(op: PadOp, padder: Padder) -> Padded:
    """The high padding reaches to the padded size; the padding of the operand becomes the padding value."""
    padded = padder.padded_type(op.out)
    assert isinstance(padded, RankedTensor)
    unpadded, shape = unpadded_shape(op, 0), shape_of(op.operand)
    high, overwritten = list(op.edge_padding_high), []
    for dim, size in enumerate(padded.shape):
        low, interior = op.edge_padding_low[dim], op.interior_padding[dim]
        if (low, high[dim], interior) != (0, 0, 0) and shape[dim] != unpadded[dim]:
            overwritten.append(dim)
        expanded = shape[dim] + max(0, shape[dim] - 1) * interior
        high[dim] = size - low - expanded
    operand = padder.mask(op, op.operand, unpadded, overwritten, op.padding_value)
    if operand is not op.operand:
        padder.rewriter.set_operands(op, [operand, op.padding_value])
    padder.rewriter.set_attribute(op, "edge_padding_high", dense_array(I64, high))
    return None


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
    return None if body is None else body.finish([_select(body, reads, dim, axes)])


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


def _select(body: ShardedBody, reads: list[tuple[_Part, ReadDimension]], dim: int, axes: Axes) -> Value:
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
