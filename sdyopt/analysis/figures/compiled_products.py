"""The products that a machine computes, of those of the program.

Not every product is one in the end: a compiler multiplies a vector and sums up, and computes of a product
what a slice takes. Which compiler does what is in the table of `base/compilers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.analysis.figures.loop_invariants import only_user
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType

Shape = tuple[int, ...]

# A product with a vector is one on a GPU if the matrix and the vectors have so many elements.
_LARGE = 10_000_000
# Products of products are followed so far.
_MOST_PRODUCTS = 100


def is_multiplied(op: Op, lhs: Shape, rhs: Shape, out: Shape, compiler: str) -> bool:
    """Whether a product with these local shapes is multiplied and summed up outside of matrix units."""
    if not isinstance(op, DotGeneralOp):
        return False
    dims = op.dot_dimension_numbers
    batches = len(dims.lhs_batching_dimensions)
    left = [size for dim, size in enumerate(lhs) if dim not in _shared(op, 0)]
    right = [size for dim, size in enumerate(rhs) if dim not in _shared(op, 1)]
    contracted = prod(lhs[dim] for dim in dims.lhs_contracting_dimensions)
    rows, columns = prod(left), prod(right)
    if min(rows, columns, contracted) != 1:
        return False
    if CompilerBehavior.SUMS_SMALL_VECTORS.holds(compiler):
        return contracted * (rows + columns) < _LARGE
    if not CompilerBehavior.SUMS_VECTORS.holds(compiler):
        return False
    # A vector for each element of the batch is left to the matrix units, but not one that is a row.
    is_row = (bool(left) and rows == 1) or (bool(right) and columns == 1)
    return not batches or contracted == 1 or rows == columns or is_row


def computed_shapes(
    op: Op, shapes: Sequence[Shape | None], compiler: str
) -> tuple[Shape, Shape, Shape] | None:
    """The local or global shapes of operands and result of a product, or of what is computed of the result.

    If only a slice takes the result, or a product of which that holds, no more is computed. None if a shape
    is unknown.
    """
    lhs, rhs, out = shapes
    if lhs is None or rhs is None or out is None:
        return None
    if isinstance(op, DotGeneralOp) and CompilerBehavior.SLICES_PRODUCTS.holds(compiler):
        taken = _taken(op, _MOST_PRODUCTS)
        if taken is not None and DYNAMIC not in out:
            pairs = zip(out, taken, strict=True)
            out = tuple([-(-size * part // whole) if whole else size for size, (part, whole) in pairs])
    return lhs, rhs, out


def _taken(product: DotGeneralOp, most: int) -> list[tuple[int, int]] | None:
    """The elements that are taken along each dimension of a result, and how many there are; None for all."""
    user = only_user(product.results[0])
    while isinstance(user, ConvertOp):
        user = only_user(user.results[0])
    if isinstance(user, SliceOp):
        before, after = user.operand_types[0], user.signature.result_types[0]
        if isinstance(before, RankedShapedType) and isinstance(after, RankedShapedType):
            return list(zip(after.shape, before.shape, strict=True))
    if not isinstance(user, DotGeneralOp) or not most or (later := _taken(user, most - 1)) is None:
        return None
    number = int(user.operand_at(1) is product.results[0])
    operand = user.operand_types[number]
    assert isinstance(operand, RankedShapedType)
    dims, shared = user.dot_dimension_numbers, _shared(user, number)
    batches = (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions)[number]
    other = user.operand_types[0]
    assert isinstance(other, RankedShapedType)
    start = len(batches) + (len(other.shape) - len(_shared(user, 0))) * number
    free = iter(later[start:])
    return [
        later[batches.index(dim)]
        if dim in batches
        else (operand.shape[dim], operand.shape[dim])
        if dim in shared
        else next(free)
        for dim in range(len(operand.shape))
    ]


def _shared(product: DotGeneralOp, number: int) -> tuple[int, ...]:
    """The dimensions of an operand that are not its own: of the batch, and contracted."""
    dims = product.dot_dimension_numbers
    if number:
        return *dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions
    return *dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions
