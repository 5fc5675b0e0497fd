"""Cumulative operations along a sharded dimension: a scan of each shard, and the totals of other shards.

A cumulative sum is a reduce_window whose windows reach from each element to the first one, or to the last
one. With 8 elements on 4 devices:

    device            0      1      2      3
    has              1 1    1 1    1 1    1 1
    sums of a shard  1 2    1 2    1 2    1 2
    total of others   0      2      4      6
    result           1 2    3 4    5 6    7 8

Only the totals are gathered: one element of each shard.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.window import WindowDimension
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.halo_exchange import all_gather, element_index, take
from sdyopt.shardy.partition.identities import is_identity
from sdyopt.shardy.partition.local_builder import dense_integers, ranked, shape_of
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, Values, attributes_of, begin_body


class Scan(NamedTuple):
    """A reduce_window that combines each element along `dim` with all before it or, if reversed, after it."""

    op: ReduceWindowOp
    dim: int
    is_reversed: bool
    # The operations that combine the elements of each input.
    combiners: Sequence[type[Op]]


def scan_of(op: ReduceWindowOp, windows: Sequence[WindowDimension], axes: Sequence[Axes]) -> Scan | None:
    """The scan along a sharded dimension that an operation is; None if it is something else.

    The initial values must be identities, since the padding of the windows has them too.
    """
    dims = [dim for dim, window in enumerate(windows) if window != WindowDimension(1)]
    if len(dims) != 1 or not axes[dims[0]]:
        return None
    (dim,) = dims
    size = shape_of(op.inputs[0])[dim]
    forward, backward = WindowDimension(size, low=size - 1), WindowDimension(size, high=size - 1)
    combiners = [binary_body(op.body, number) for number in range(len(op.inputs))]
    known = [combiner for combiner in combiners if combiner is not None]
    has_identities = len(known) == len(combiners) and all(map(is_identity, known, op.init_values))
    if windows[dim] not in (forward, backward) or not has_identities:
        return None
    return Scan(op, dim, windows[dim] == backward, known)


def exchange_totals(scan: Scan, context: HaloContext) -> Values:
    """Scans the shards, and combines each with the totals of the shards before, or after, it."""
    op, dim = scan.op, scan.dim
    axes = context.types.axes_per_dim(op.inputs[0])[dim]
    if context.types.shard_size(shape_of(op.inputs[0])[dim], axes, op.inputs[0]) == 1:
        return None  # the totals are all elements
    body = begin_body(op, context)
    if body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    shards = [body.shard_of(input, init) for input, init in zip(op.inputs, op.init_values, strict=True)]
    sums = _scan_shards(body, scan, shards, inits)
    totals = _totals_of_others(body, scan, sums, inits, axes)
    results = []
    for combiner, total, value in zip(scan.combiners, totals, sums, strict=True):
        kept = [other for other in range(ranked(value).rank) if other != dim]
        results.append(body.binary(combiner, body.broadcast(total, ranked(value), kept), value))
    return body.finish(results)


def _scan_shards(
    body: ShardedBody, scan: Scan, shards: Sequence[Value], inits: Sequence[Value]
) -> Sequence[Value]:
    shape = shape_of(shards[0])
    sizes, pairs = [1] * len(shape), [0] * (2 * len(shape))
    sizes[scan.dim] = shape[scan.dim]
    pairs[2 * scan.dim + scan.is_reversed] = shape[scan.dim] - 1
    attributes = {
        **attributes_of(scan.op),
        "window_dimensions": dense_array(I64, sizes),
        "padding": dense_integers(tensor((len(shape), 2), I64), pairs),
    }
    types = [shard.type for shard in shards]
    return body.create(ReduceWindowOp, [*shards, *inits], types, attributes, [_body_of(scan, body)]).results


def _totals_of_others(
    body: ShardedBody, scan: Scan, sums: Sequence[Value], inits: Sequence[Value], axes: Axes
) -> Sequence[Value]:
    """The combined totals of all shards before, or after, the shard of this device."""
    dim, last = scan.dim, 0 if scan.is_reversed else shape_of(sums[0])[scan.dim] - 1
    masked = []
    for value, init in zip(sums, inits, strict=True):
        totals = all_gather(body, take(body, value, dim, last, last + 1), dim, axes)
        index = element_index(body, totals, dim, 0)
        own = body.broadcast(body.shard_index(axes), ranked(index))
        others = body.compare(index, own, "GT" if scan.is_reversed else "LT")
        mask = body.broadcast(others, tensor(shape_of(totals), I1), [dim])
        masked.append(body.select(mask, totals, body.broadcast(init, ranked(totals))))
    shape = [size for other, size in enumerate(shape_of(masked[0])) if other != dim]
    types = [tensor(tuple(shape), ranked(value).element) for value in masked]
    attributes = {"dimensions": dense_array(I64, [dim])}
    return body.create(ReduceOp, [*masked, *inits], types, attributes, [_body_of(scan, body)]).results


def _body_of(scan: Scan, body: ShardedBody) -> Region:
    region = Region()
    body.rewriter.copy_region(scan.op.body, region)
    return region
