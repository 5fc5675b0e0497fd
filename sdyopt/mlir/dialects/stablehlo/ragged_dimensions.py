"""Checks of chlo.ragged_dot and mhlo.ragged_dot, in which one lhs dimension is divided into groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sdyopt.mlir.dialects.stablehlo.contraction import check_result_shape
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import listing
from sdyopt.mlir.dialects.stablehlo.dimensions import check_distinct, check_within
from sdyopt.mlir.dialects.stablehlo.dot_dimensions import check_dot_dimensions, free_sizes
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr
from sdyopt.mlir.dialects.stablehlo.precision import check_precision
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.types import RankedTensor


class RaggedDimensions(NamedTuple):
    """Batching, contracting, lhs ragged and rhs group dimensions."""

    lhs_batching: tuple[int, ...]
    rhs_batching: tuple[int, ...]
    lhs_contracting: tuple[int, ...]
    rhs_contracting: tuple[int, ...]
    lhs_ragged: tuple[int, ...]
    rhs_group: tuple[int, ...]


def check_ragged_dot(
    signature: OpSignature, dims: RaggedDimensions, precision_config: Sequence[EnumAttr] | None
) -> None:
    """Checks a ragged dot with the operands lhs, rhs and group_sizes. Raises a SignatureError."""
    lhs, rhs, group_sizes = signature.operand_types
    check_precision(signature, precision_config)
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        raise signature.op_error("expects lhs and rhs to be ranked tensors")
    assert isinstance(group_sizes, RankedTensor)
    check_dot_dimensions(signature, lhs, rhs, dims)
    if len(dims.lhs_ragged) != 1:
        raise signature.error_without_op_note("There must be exactly one ragged dimension in the lhs.")
    (ragged,) = dims.lhs_ragged
    check_within(signature, ragged, lhs.rank, "lhs_ragged_dim", "lhs_rank")
    _check_group_sizes(signature, dims, lhs, group_sizes, ragged)
    _check_group_dimension(signature, dims, rhs, group_sizes.shape[-1], ragged)
    groups = [group_sizes.shape[-1]] if ragged in dims.lhs_contracting else []
    batches = [lhs.shape[dimension] for dimension in dims.lhs_batching]
    rows = free_sizes(lhs, dims.lhs_batching, dims.lhs_contracting)
    columns = free_sizes(rhs, dims.rhs_batching, dims.rhs_contracting, dims.rhs_group)
    check_result_shape(signature, [*groups, *batches, *rows, *columns])


def _check_group_sizes(
    signature: OpSignature, dims: RaggedDimensions, lhs: RankedTensor, group_sizes: RankedTensor, ragged: int
) -> None:
    """Checks that group_sizes is a list of sizes, or a list per index along `_group_batching_dimensions`."""
    if group_sizes.rank == 1:
        return
    prefix = [lhs.shape[dimension] for dimension in _group_batching_dimensions(dims, ragged)]
    if group_sizes.rank != len(prefix) + 1:
        raise signature.error_without_op_note(
            f"expected group_sizes to have rank {len(prefix) + 1}, got {group_sizes.rank}"
        )
    if prefix != list(group_sizes.shape[:-1]):
        raise signature.error_without_op_note(
            f"group_sizes is expected to have shape [{listing([*prefix, group_sizes.shape[-1]])}], "
            f"got [{listing(group_sizes.shape)}]"
        )


def _group_batching_dimensions(dims: RaggedDimensions, ragged: int) -> list[int]:
    """The lhs dimensions whose indices may have group sizes of their own.

    They are the dimensions before the ragged dimension that are of its kind (batching, contracting or free)
    and, unless the ragged dimension is a batching dimension, all batching dimensions.
    """
    batching, contracting = list(dims.lhs_batching), list(dims.lhs_contracting)
    if ragged in batching:
        return batching[: batching.index(ragged)]
    if ragged in contracting:
        return batching + contracting[: contracting.index(ragged)]
    return batching + [d for d in range(ragged) if d not in (*batching, *contracting)]


def _check_group_dimension(
    signature: OpSignature, dims: RaggedDimensions, rhs: RankedTensor, count: int, ragged: int
) -> None:
    """Checks that rhs has one group dimension, of size `count`, if `ragged` is free, and none otherwise."""
    group = dims.rhs_group
    for dimension in group:
        check_within(signature, dimension, rhs.rank, "rhs_group_dim", "rhs_rank")
    name = "rhs_group_dimensions"
    check_distinct(signature, group, dims.rhs_batching, name, "rhs_batching_dimensions")
    check_distinct(signature, group, dims.rhs_contracting, name, "rhs_contracting_dimensions")
    if ragged in dims.lhs_batching or ragged in dims.lhs_contracting:
        if group:
            raise signature.error_without_op_note(
                "There must be zero group dimensions in the rhs when the ragged dimension is batch or "
                "contracting."
            )
        return
    if len(group) != 1:
        raise signature.error_without_op_note(
            "There must be exactly one group dimension in the rhs when the lhs ragged dimension is "
            "non-contracting."
        )
    size = rhs.shape[group[0]]
    if not are_compatible_sizes(count, size):
        raise signature.error_without_op_note(
            f"rhs group dimension is expected to have size={count}, got {size}"
        )
