"""The products that a machine computes, of those of the program.

Not every product is one in the end: a compiler multiplies a vector and sums up, and computes of a product
what a slice takes. Which compiler does what is in the table of `base/compilers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.analysis.figures.flops import flops_of
from sdyopt.analysis.figures.loop_invariants import only_user
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.conversion import ComplexPartOp, ConvertOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, ComplexType, RankedShapedType, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.elementwise import is_elementwise

Shape = tuple[int, ...]

# A product with a vector is one on a GPU if the matrix and the vectors have so many elements.
_LARGE = 10_000_000
# The least size of the vectors of a batch for which the matrix units of a TPU are used.
_LEAST_VECTOR = 64
# Products of real numbers for one of complex numbers.
_COMPLEX_PRODUCTS = 3
# A Fourier transform on TPU is one of this length, and one of the rest, if it is longer than two of these.
_DFT_BLOCK = 128
# Products of products, and what computes an operand, are followed so far.
_MOST_PRODUCTS = 100


def is_multiplied(op: Op, lhs: Shape, rhs: Shape, out: Shape, compiler: str) -> bool:
    """Whether a product with these local shapes is multiplied and summed up outside of matrix units."""
    if not isinstance(op, DotGeneralOp):
        return False
    dims = op.dot_dimension_numbers
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
    # Vectors for several elements of a batch are left to the matrix units, if they are no rows, and long.
    is_row = (bool(left) and rows == 1) or (bool(right) and columns == 1)
    count = prod(lhs[dim] for dim in dims.lhs_batching_dimensions)
    if count == 1 or is_row or min(contracted, max(rows, columns)) < _LEAST_VECTOR:
        return True
    return _is_spread(op.lhs if rows > 1 else op.rhs)


def product_flops(op: Op, lhs: Shape, rhs: Shape, out: Shape, compiler: str) -> int | None:
    """FLOPs of one run of a product with these shapes, as a compiler computes it; None if one is dynamic."""
    flops = flops_of(op, lhs, rhs, out)
    if flops is None or not CompilerBehavior.COMPLEX_PRODUCTS.holds(compiler):
        return flops
    if not isinstance(op, FftOp):
        is_complex = isinstance(element_of(op.operand_types[0]), ComplexType)
        return _COMPLEX_PRODUCTS * flops if is_complex else flops
    operand, result = _shape(op.operand), _shape(op.out)
    # The last dimension has all its frequencies for that, the others have those that are kept.
    kept, lengths = min(operand[-1], result[-1]), op.fft_length
    sizes = [*(kept * _dft_size(length) for length in lengths[:-1]), lengths[-1] * _dft_size(lengths[-1])]
    count = _COMPLEX_PRODUCTS
    if len(lengths) == 1 and all(isinstance(use.owner, ComplexPartOp) for use in op.out.uses):
        count -= 1
    whole = 2 * count * prod(operand[:-1]) * sum(sizes)
    return whole * prod(lhs) // max(1, prod(operand))


def fft_operand(op: Op, compiler: str) -> Value:
    """The operand of a Fourier transform that decides on what each device computes; for others, the first.

    A sharded dimension is summed up along, as by a product, and not gathered before.
    """
    value = op.operand_at(0)
    if isinstance(op, FftOp) and CompilerBehavior.COMPLEX_PRODUCTS.holds(compiler):
        while isinstance(gather := value.defining_op, AllGatherOp):
            value = gather.tensor
    return value


def _dft_size(length: int) -> int:
    """The sum of the sizes of the matrices that transform so many numbers: one, or two for long ones."""
    parts, rest = divmod(length, _DFT_BLOCK)
    if length <= 2 * _DFT_BLOCK or rest:
        return length
    return _DFT_BLOCK + _dft_size(parts)


def _is_spread(matrix: Value) -> bool:
    """Whether a value is elementwise of one that is broadcast, looked up, or sliced at a dynamic position."""
    pending, visited = [matrix], {matrix}
    while pending and len(visited) < _MOST_PRODUCTS:
        op = pending.pop().defining_op
        if isinstance(op, BroadcastInDimOp):
            if prod(_shape(op.operand)) > 1:
                return True
        elif isinstance(op, GatherOp | DynamicSliceOp):
            return True
        # What is looked up in the shards of a table is masked before it is summed up.
        elif isinstance(op, AllReduceOp) or (op is not None and op.signature.cached(is_elementwise)):
            new = [operand for operand in op.operands if operand not in visited]
            visited.update(new)
            pending += new
    return False


def _shape(value: Value) -> Shape:
    return value.type.shape if isinstance(value.type, RankedShapedType) else ()


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
