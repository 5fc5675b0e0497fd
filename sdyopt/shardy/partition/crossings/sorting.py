"""sort: the dimension that it sorts, which may count from the end."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.stablehlo.reduction import SortOp
from sdyopt.shardy.partition.local_builder import ranked
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards


@crosses_shards(SortOp)
def sort(op: SortOp, types: LocalTypes) -> Iterator[Dim]:
    """The sorted dimension. The sharding rule has a factor for it only if it counts from the start."""
    yield from by_rule(op, types)
    rank = ranked(op.results[0]).rank
    for number in range(len(op.operands) + len(op.results)):
        yield Dim(number, op.dimension % rank)
