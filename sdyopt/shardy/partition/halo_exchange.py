"""Halos: the elements of other shards that each shard needs along one dimension, and their exchange.

A dimension of 8 elements on four devices, and windows of 3 elements with stride 1:

    device      0      1      2      3
    has        0 1    2 3    4 5    6 7
    results    0 1    2 3    4 5
    reads     0 … 3  2 … 5  4 … 7

Every device but the last reads the whole shard of the next device, which is one *hop* away. A plan lists what
is received over each hop. The pieces, in the order of their hops, form a buffer in which the elements that a
device reads are consecutive.

Positions are those of the elements after dilation: with a base dilation of 2, element 3 is at position 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp
from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import constant_of
from sdyopt.shardy.partition.local_builder import dense_integers, shape_of
from sdyopt.shardy.partition.local_context import Axes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, shape_along
from sdyopt.shardy.sharding.axis_lists import replica_groups


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


# More collectives than this for one dimension cost more than a single one that moves more bytes.
_MAX_PIECES = 16
# Sizes and offsets must fit into 64-bit numbers.
_LARGEST = 1 << 62


class Reads(NamedTuple):
    """The reads of the shards of a result along one dimension of an operand.

    Shard j computes with `length` positions from `positions[j]` on. Of these it needs `needed[j]`, a pair of
    the first position and the one after the last; None if its results are all padding. `dilation` is the base
    dilation. With `is_replicated`, each device has the whole dimension of the operand.
    """

    size: int
    positions: Sequence[int]
    length: int
    needed: Sequence[tuple[int, int] | None]
    dilation: int = 1
    is_replicated: bool = False

    @property
    def shards(self) -> int:
        """The number of shards."""
        return len(self.positions)


def reads_of_windows(
    size: int,
    result_size: int,
    shards: int,
    window: WindowDimension,
    results: tuple[int, int] | None = None,
    is_replicated: bool = False,
) -> Reads:
    """The reads of the windows of the results; only of those in the range `results`, if it is given."""
    per_shard = -(-result_size // shards)
    extent = (window.size - 1) * window.window_dilation + 1
    first, end = results or (0, result_size)
    needed: list[tuple[int, int] | None] = []
    for shard in range(shards):
        start, stop = max(first, shard * per_shard), min(end, (shard + 1) * per_shard)
        positions = (start * window.stride - window.low, (stop - 1) * window.stride + extent - window.low)
        needed.append(positions if start < stop else None)
    return Reads(
        size,
        [shard * per_shard * window.stride - window.low for shard in range(shards)],
        (per_shard - 1) * window.stride + extent,
        needed,
        window.base_dilation,
        is_replicated,
    )


class Piece(NamedTuple):
    """The elements from `start` to `end` of some shards: each receiver j gets those of shard `j + hop`."""

    hop: int
    start: int
    end: int
    receivers: tuple[int, ...]

    def from_border(self, reads: Reads) -> Piece:
        """A piece from a neighbor, extended to the border between them, and received by all shards."""
        if self.hop < 0:
            return Piece(self.hop, self.start, reads.size // reads.shards, tuple(range(1, reads.shards)))
        if self.hop > 0:
            return Piece(self.hop, 0, self.end, tuple(range(reads.shards - 1)))
        return self


class HaloPlan(NamedTuple):
    """The sources of the elements that a shard reads.

    The pieces are concatenated to a buffer. Shard j takes `num_elements` elements of it from `starts[j]` on;
    None is any start. Elements outside of the buffer are padding. The first element is element
    `first_elements[j]` of the dimension, and is `phases[j]` positions after the first position of the shard.

    With `has_foreign_padding`, some elements before the first and after the last of the whole dimension are
    not padding but zeros, because nothing was sent to this device.
    """

    pieces: Sequence[Piece]
    starts: Sequence[int | None]
    num_elements: int
    first_elements: Sequence[int]
    phases: Sequence[int]
    has_foreign_padding: bool

    @property
    def received(self) -> int:
        """The largest number of elements that a device receives."""
        received = [0] * len(self.starts)
        for piece in self.pieces:
            if piece.hop:
                for shard in piece.receivers:
                    received[shard] += piece.end - piece.start
        return max(received)

    @property
    def is_local(self) -> bool:
        """Whether nothing is received."""
        return all(piece.hop == 0 for piece in self.pieces)


def plan_halo(reads: Reads, from_borders: bool = False) -> HaloPlan | None:
    """The plan; None if the halos are too many, or as large as the rest of the dimension.

    None also for an empty or very large dimension. With `from_borders`, all neighbors send halos, from the
    border of their shard up to the farthest element that any shard reads, if only neighbors do, and no halo
    is longer than two shards of the result.
    """
    positions, dilation = reads.positions, reads.dilation
    if not reads.size or reads.length <= 0 or max(reads.size, reads.length, *map(abs, positions)) > _LARGEST:
        return None
    firsts = [-(-position // dilation) for position in positions]
    counts = [
        (position + reads.length - 1) // dilation - first + 1
        for position, first in zip(positions, firsts, strict=True)
    ]
    count = max(counts)
    needed_elements = [_elements(needed, reads) for needed in reads.needed]
    pieces = _pieces(needed_elements, reads)
    if pieces is None or count <= 0:
        return None
    if from_borders and all(abs(piece.hop) <= 1 for piece in pieces):
        extended = [piece.from_border(reads) for piece in pieces]
        if all(not piece.hop or piece.end - piece.start <= 2 * reads.length for piece in extended):
            pieces = extended
    buffer = _Buffer(pieces, 1 if reads.is_replicated else reads.shards, reads.size)
    starts: list[int | None] = []
    is_foreign = False
    for shard, (elements, first, needed) in enumerate(
        zip(needed_elements, firsts, reads.needed, strict=True)
    ):
        if needed is None:
            starts.append(None)
        elif elements is None:
            starts.append(buffer.size)  # only padding, which is after the buffer
        else:
            start = buffer.position(shard, elements[0]) - (elements[0] - first)
            starts.append(start)
            read = -(-needed[0] // dilation), (needed[1] - 1) // dilation
            is_foreign = is_foreign or buffer.has_foreign_padding(shard, start - first, read)
    phases = [first * dilation - position for first, position in zip(firsts, positions, strict=True)]
    plan = HaloPlan(pieces, starts, count, firsts, phases, is_foreign)
    shard_size = -(-reads.size // reads.shards)
    if plan.received and plan.received >= (reads.shards - 1) * shard_size:
        return None
    return plan


def _elements(needed: tuple[int, int] | None, reads: Reads) -> tuple[int, int] | None:
    """The first and the last element at these positions; None if there are none."""
    if needed is None:
        return None
    first = max(0, -(-needed[0] // reads.dilation))
    last = min(reads.size - 1, (needed[1] - 1) // reads.dilation)
    return (first, last) if first <= last else None


def _pieces(needed: Sequence[tuple[int, int] | None], reads: Reads) -> Sequence[Piece] | None:
    """The elements needed over each hop; None if there are too many hops."""
    if reads.is_replicated:
        return [Piece(0, 0, reads.size, ())]
    size = -(-reads.size // reads.shards)
    ranges: dict[int, tuple[int, int]] = {}
    receivers: dict[int, list[int]] = {}
    for shard, elements in enumerate(needed):
        if elements is None:
            continue
        first, last = elements
        if last // size - first // size >= _MAX_PIECES:
            return None
        for source in range(first // size, last // size + 1):
            hop = source - shard
            start, end = max(first - source * size, 0), min(last - source * size + 1, size)
            old_start, old_end = ranges.get(hop, (start, end))
            ranges[hop] = min(start, old_start), max(end, old_end)
            receivers.setdefault(hop, []).append(shard)
        if len(ranges) > _MAX_PIECES:
            return None
    if not ranges:
        return [Piece(0, 0, size, ())]
    return [Piece(hop, *ranges[hop], tuple(receivers[hop])) for hop in sorted(ranges)]


class _Buffer:
    """The pieces one after the other."""

    def __init__(self, pieces: Sequence[Piece], shards: int, size: int) -> None:
        self._shard_size = -(-size // shards)
        self._shards = shards
        self._last = size - 1
        self._pieces = {piece.hop: piece for piece in pieces}
        self._starts: dict[int, int] = {}
        self.size = 0
        for piece in pieces:
            self._starts[piece.hop] = self.size
            self.size += piece.end - piece.start

    def position(self, shard: int, element: int) -> int:
        """The source of an element that a shard needs."""
        if self._shards == 1:
            return element
        source, index = divmod(element, self._shard_size)
        hop = source - shard
        return self._starts[hop] + index - self._pieces[hop].start

    def has_foreign_padding(self, shard: int, offset: int, read: tuple[int, int]) -> bool:
        """Whether a shard reads elements outside of the dimension from pieces that it does not get.

        Element e is at position `e + offset` of the buffer.
        """
        first, last = read
        if first < 0 and offset > 0:
            return True
        if last <= self._last or self._last + 1 + offset >= self.size:
            return False
        # The last shards end with padding, which their own pieces include.
        source = last // self._shard_size
        piece = self._pieces.get(source - shard)
        if piece is None or source >= self._shards or self._shards == 1:
            return True
        is_received = piece.hop == 0 or shard in piece.receivers
        begins_there = (self._last + 1) // self._shard_size == source
        is_consecutive = self._starts[piece.hop] - piece.start - source * self._shard_size == offset
        is_included = last - source * self._shard_size < piece.end
        return not (is_received and begins_there and is_consecutive and is_included)
