"""reduce_window and select_and_scatter: local if every window lies in one shard."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import SelectAndScatterOp
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.windows import check_windows_stay, windows_of


@lowering(ReduceWindowOp, SelectAndScatterOp)
def lower_window(op: ReduceWindowOp | SelectAndScatterOp, local: LocalContext) -> Lowered:
    """Checks that no window crosses a border between shards."""
    check_windows_stay(op, windows_of(op, local))
    return None
