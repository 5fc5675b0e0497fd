"""Checks that the collectives that follow a reduction combine its partial results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, AllSliceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import LocalContext

_HELP = "run -sdy-insert-explicit-reshards=enable-full-version before, which inserts all-reduces"


def check_is_combined(
    op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext, wrong_user: str, wrong_axes: str
) -> None:
    """Checks that all users of an operation combine its partial results along `axes`.

    Along its unreduced axes, a result remains partial. `wrong_user` and `wrong_axes` are error messages. If
    no user combines the results, the conversion does, since jaxlib 0.12.0.1.
    """
    if is_combined_by_none(op, axes := list(axes), mesh, local):
        return
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


def is_combined_by_none(op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext) -> bool:
    """Whether the conversion must combine the partial results of an operation itself. If so, notes it."""
    if not Behavior.COMBINED_PARTIAL_RESULTS.active:
        return False
    for result in op.results:
        sharding = local.sharding(result)
        if sharding is not None and sharding.unreduced_axes:
            return False
        if any(isinstance(user, AllReduceOp | ReduceScatterOp) for user in _users(result)):
            return False
    local.uncombined[op] = sorted_and_merged(axes, mesh)
    return True


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
