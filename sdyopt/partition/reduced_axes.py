"""Checks that partial results are combined by the collectives that follow."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.ir.operation import Op
from sdyopt.partition.local_context import LocalContext

_HELP = "run -sdy-insert-explicit-reshards=enable-full-version before, which inserts all-reduces"


def check_is_combined(
    op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext, wrong_user: str, wrong_axes: str
) -> None:
    """Checks that all users of an operation combine its partial results along `axes`.

    Along unreduced axes the result keeps its partial results.
    """
    needed = sorted_and_merged(axes, mesh)
    for result in op.results:
        sharding = local.sharding(result)
        kept = () if sharding is None else sharding.unreduced_axes
        if sorted_and_merged(kept, mesh) == needed:
            continue
        for user in result.users:
            if not isinstance(user, AllReduceOp | ReduceScatterOp):
                raise op.op_error(wrong_user).help(_HELP)
            if sorted_and_merged((*_axes_of(user), *kept), mesh) != needed:
                raise op.op_error(wrong_axes).help(_HELP)


def _axes_of(op: AllReduceOp | ReduceScatterOp) -> Iterable[AxisRef]:
    if isinstance(op, AllReduceOp):
        return op.reduction_axes.axes
    return op.reduce_scatter_axes.axes
