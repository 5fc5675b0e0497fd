"""Halo exchange: each device gets the elements of other shards that it reads, by a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import constant_of
from sdyopt.shardy.partition.halo_plan import HaloPlan, Piece, Reads, plan_halo, reads_of_windows
from sdyopt.shardy.partition.local_builder import dense_integers, shape_of
from sdyopt.shardy.partition.local_context import Axes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, shape_along
from sdyopt.shardy.sharding.replica_groups import replica_groups


class ReadDimension(NamedTuple):
    """A sharded dimension of an operand, and how its shards get what they read."""

    dim: int
    axes: Axes
    reads: Reads
    plan: HaloPlan


class Padding(NamedTuple):
    """The scalar that elements outside of a dimension have."""

    value: Value
    is_zero: bool


def padding_of(outside: Value, inside: Value) -> Padding:
    """Padding with a scalar, which has the value `outside` of the manual computation and `inside` of it."""
    constant = constant_of(outside)
    return Padding(inside, constant is not None and not any(constant.data))


class Extended(NamedTuple):
    """A shard with its halos, and how much padding and dilation an operation has to add to it."""

    value: Value
    low: int = 0
    high: int = 0
    dilation: int = 1


def extend(body: ShardedBody, value: Value, read: ReadDimension, padding: Padding) -> Extended:
    """The shard of this device with the elements of other shards that it reads along one dimension.

    If shards begin at different phases of the base dilation, the value is dilated here.
    """
    plan, reads = read.plan, read.reads
    value = exchange(body, value, read, padding)
    dilated = (plan.num_elements - 1) * reads.dilation + 1
    if len(set(plan.phases)) == 1:
        low = plan.phases[0]
        return Extended(value, low, reads.length - low - dilated, reads.dilation)
    low = max(plan.phases)
    starts = [low - phase for phase in plan.phases]
    high = max(0, max(starts) + reads.length - low - dilated)
    value = _pad(body, value, read.dim, low, high, padding, reads.dilation - 1)
    return Extended(_take_at(body, value, read.dim, body.per_shard(starts, read.axes), reads.length))


def exchange(
    body: ShardedBody,
    value: Value,
    read: ReadDimension,
    padding: Padding,
    received: Mapping[Piece, Value] | None = None,
) -> Value:
    """The elements that this device reads along one dimension, and padding outside of it.

    Pieces that are in `received` are not sent again.
    """
    plan, dim = read.plan, read.dim
    pieces = [
        (received or {}).get(piece) or receive(body, value, piece, dim, read.axes) for piece in plan.pieces
    ]
    value = pieces[0] if len(pieces) == 1 else body.concatenate(pieces, dim)
    value = crop(body, value, read, plan.starts, plan.num_elements, padding)
    if plan.has_foreign_padding and not padding.is_zero:
        value = _mask(body, value, read, padding)
    return value


def crop(
    body: ShardedBody,
    value: Value,
    read: ReadDimension,
    starts: Sequence[int | None],
    size: int,
    padding: Padding,
) -> Value:
    """`size` elements of a value, from a start for each shard; those outside of the value are padding."""
    known = [number for number in starts if number is not None]
    old_size = shape_of(value)[read.dim]
    if len(set(known)) <= 1:
        start = known[0] if known else 0
        return _pad(body, value, read.dim, -start, start + size - old_size, padding)
    low = max(0, -min(known))
    value = _pad(body, value, read.dim, low, max(0, max(known) + size - old_size), padding)
    shifted = [None if number is None else number + low for number in starts]
    return _take_at(body, value, read.dim, body.per_shard(shifted, read.axes), size)


def receive(body: ShardedBody, value: Value, piece: Piece, dim: int, axes: Axes) -> Value:
    """The piece that this device receives, zeros if it receives none. `value` is the shard of this device."""
    value = take(body, value, dim, piece.start, piece.end)
    if not piece.hop:
        return value
    groups = replica_groups(axes, body.mesh)
    shards = len(groups[0])
    pairs = [
        (group[(shard + piece.hop) % shards], group[shard]) for group in groups for shard in piece.receivers
    ]
    return permute(body, value, pairs)


def take(body: ShardedBody, value: Value, dim: int, start: int, end: int) -> Value:
    """The elements from start to end along one dimension."""
    shape = shape_of(value)
    if (start, end) == (0, shape[dim]):
        return value
    starts = [0] * len(shape)
    starts[dim] = start
    return body.slice(value, starts, shape_along(value, dim, end))


def permute(body: ShardedBody, value: Value, pairs: Sequence[tuple[int, int]]) -> Value:
    """A collective permute from the first to the second device of each pair."""
    numbers = [device for pair in sorted(pairs) for device in pair]
    attributes = {
        "source_target_pairs": dense_integers(tensor((len(pairs), 2), I64), numbers),
        "channel_handle": body.context.channels.new(),
    }
    return body.create(CollectivePermuteOp, [value], [value.type], attributes).result


def all_gather(body: ShardedBody, value: Value, dim: int, axes: Axes) -> Value:
    """The shards of a value of all devices along some axes, one after the other along one dimension."""
    groups = replica_groups(axes, body.mesh)
    return body.all_gather(value, dim, _listed(groups), len(groups[0]), body.context.channels.new())


def all_reduce(body: ShardedBody, value: Value, axes: Axes, combiner: type[Op]) -> Value:
    """The values of all devices along some axes, combined by a binary operation."""
    groups = _listed(replica_groups(axes, body.mesh))
    return body.all_reduce(value, groups, body.context.channels.new(), combiner)


def _listed(groups: list[list[int]]) -> Attribute:
    type = tensor((len(groups), len(groups[0])), I64)
    return dense_integers(type, [device for group in groups for device in group])


def _pad(
    body: ShardedBody, value: Value, dim: int, low: int, high: int, padding: Padding, interior: int = 0
) -> Value:
    """A value with padding, or without its first or last elements if `low` or `high` is negative."""
    if not low and not high and not interior:
        return value
    zeros = [0] * ranked(value).rank
    lows, highs, interiors = list(zeros), list(zeros), list(zeros)
    lows[dim], highs[dim], interiors[dim] = low, high, interior
    if low <= 0 and high <= 0 and not interior:
        size = shape_of(value)[dim]
        lows[dim] = -low
        return body.slice(value, lows, shape_along(value, dim, size + high))
    return body.pad(value, padding.value, lows, highs, interiors)


def _take_at(body: ShardedBody, value: Value, dim: int, start: Value | int, count: int) -> Value:
    """`count` elements along one dimension, from a start that may depend on the device."""
    if isinstance(start, int):
        start = body.index(start)
    zero = body.index(0)
    starts = [start if other == dim else zero for other in range(ranked(value).rank)]
    return body.dynamic_slice(value, starts, shape_along(value, dim, count))


def _mask(body: ShardedBody, value: Value, read: ReadDimension, padding: Padding) -> Value:
    """A value whose elements outside of the whole dimension are padding."""
    index = element_index(body, value, read.dim, body.per_shard(read.plan.first_elements, read.axes))
    type = ranked(index)
    is_after_start = body.compare(index, body.integers(type, [0]), "GE")
    is_before_end = body.compare(index, body.integers(type, [read.reads.size]), "LT")
    mask = body.binary(AndOp, is_after_start, is_before_end)
    mask = body.broadcast(mask, tensor(shape_of(value), I1), [read.dim])
    filler = body.broadcast(padding.value, ranked(value))
    return body.select(mask, value, filler)


def element_index(body: ShardedBody, value: Value, dim: int, first: Value | int) -> Value:
    """The indices of elements along one dimension, of which the first is `first`."""
    type = tensor((shape_of(value)[dim],), I64)
    index = body.iota(type, 0)
    if isinstance(first, int):
        if not first:
            return index
        first = body.index(first)
    return body.binary(AddOp, index, body.broadcast(first, type))


def read_dimensions(
    operand: Value,
    result: Value,
    windows: list[WindowDimension],
    context: HaloContext,
    from_borders: bool = False,
) -> list[ReadDimension] | None:
    """The reads of the shards along the sharded dimensions, if operand and result are sharded alike.

    With `from_borders`, even shards get halos as by this option of `plan_halo`.
    """
    types, reads = context.types, []
    result_axes = types.axes_per_dim(result)
    for dim, axes in enumerate(types.axes_per_dim(operand)):
        if axes != result_axes[dim]:
            return None
        if axes:
            shards = types.shard_count(axes, operand)
            sizes = shape_of(operand)[dim], shape_of(result)[dim]
            read = reads_of_windows(*sizes, shards, windows[dim])
            is_even = not any(size % shards for size in sizes)
            plan = plan_halo(read, from_borders and is_even) if all(sizes) else None
            if plan is None:
                return None
            reads.append(ReadDimension(dim, axes, read, plan))
    return reads
