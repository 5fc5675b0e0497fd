"""dot and dot_general: products of shards, with partial sums if contracting dimensions are sharded."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.reduced_axes import check_is_combined
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(DotOp)
def lower_dot(op: DotOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    lhs = op.signature[DotOp.lhs]
    _check_contraction(op, op.lhs, [lhs.rank - 1], "dot", local)
    return None


@lowering(DotGeneralOp)
def lower_dot_general(op: DotGeneralOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    contracting = list(op.dot_dimension_numbers.lhs_contracting)
    _check_contraction(op, op.lhs, contracting, "dot_general", local)
    return None


def _check_contraction(op: Op, lhs: Value, contracting: list[int], name: str, local: LocalContext) -> None:
    axes_per_dim = local.axes_per_dim(lhs)
    type = op.signature.operand_types[0]
    assert isinstance(type, RankedTensor)
    axes = [axis for dim in contracting for axis in axes_per_dim[dim]]
    if not axes:
        return
    check_is_combined(
        op,
        axes,
        local.common_mesh(op),
        local,
        f"Expected sharded contracting {name} to have one user and the user is an sdy.all_reduce.",
        f"The axes of the sdy.all_reduce should match the sharded contracting dimensions of the {name}.",
    )
