"""Halos: the elements of other shards that each shard needs along one dimension.

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

from collections.abc import Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension

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
