"""Checks that the collectives that follow a reduction combine its partial results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.dialects.sdy.collectives import AllReduceOp, AllSliceOp, ReduceScatterOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.dialects.stablehlo.slicing import SliceOp
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value
from sdyopt.partition.local_context import LocalContext

_HELP = "run -sdy-insert-explicit-reshards=enable-full-version before, which inserts all-reduces"


def check_is_combined(
    op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext, wrong_user: str, wrong_axes: str
) -> None:
    """Checks that all users of an operation combine its partial results along `axes`.

    Along its unreduced axes, a result remains partial. `wrong_user` and `wrong_axes` are error messages.
    """
    needed = sorted_and_merged(axes, mesh)
    for result in op.results:
        sharding = local.sharding(result)
        kept = () if sharding is None else sharding.unreduced_axes
        if sorted_and_merged(kept, mesh) == needed:
            continue
        for user in _users(result):
            if not isinstance(user, AllReduceOp | ReduceScatterOp):
                raise op.op_error(wrong_user).help(_HELP)
            if sorted_and_merged((*_axes_of(user), *kept), mesh) != needed:
                raise op.op_error(wrong_axes).help(_HELP)


def _users(value: Value) -> Iterator[Op]:
    """The users of a value; in place of padding and slices, which may precede the collective, their users."""
    for use in value.uses:
        if isinstance(use.owner, PadOp | SliceOp | AllSliceOp) and use.index == 0:
            yield from _users(use.owner.results[0])
        else:
            yield use.owner


def _axes_of(op: AllReduceOp | ReduceScatterOp) -> Iterable[AxisRef]:
    if isinstance(op, AllReduceOp):
        return op.reduction_axes.axes
    return op.reduce_scatter_axes.axes
