"""What a machine computes in place of operations of the program: products, Fourier transforms, softmax.

Not every product is one in the end: a compiler multiplies a vector and sums up, and computes of a product
what a slice takes. Which compiler does what is in the table of `base/compilers.py`.

Of a Fourier transform, each dimension is transformed by a product, the last one first. Along a sharded
dimension it sums up parts, or its operand is gathered if the result is sharded along the same axes; other
dimensions keep theirs.

A softmax in attention is an operation of its own: it finds the maximum of each row, and writes the
exponentials and their sums. What it reads of a product is in memory as the product wrote it: of long rows,
after the scale and the mask in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.flops import flops_of
from sdyopt.analysis.figures.loop_invariants import only_user
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp, AllSliceOp, AllToAllOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.compare_select import ComplexPartOp, ConvertOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.elementwise import DivOp, ExpOp, MulOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, PadOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, ComplexType, RankedShapedType, RankedTensor, element_of
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

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
    shared_left, shared_right = _shared(op, 0), _shared(op, 1)
    left = [size for dim, size in enumerate(lhs) if dim not in shared_left]
    right = [size for dim, size in enumerate(rhs) if dim not in shared_right]
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
    """Whether a value is elementwise of one that is broadcast, looked up, or at a dynamic position.

    An update at one counts if the program computes it, as that of a cache.
    """
    pending, visited = [matrix], {matrix}
    while pending and len(visited) < _MOST_PRODUCTS:
        op = pending.pop().defining_op
        if isinstance(op, BroadcastInDimOp):
            if prod(_shape(op.operand)) > 1:
                return True
        elif isinstance(op, GatherOp | DynamicSliceOp):
            return True
        elif isinstance(op, DynamicUpdateSliceOp):
            return op.operand_at(1).defining_op is not None
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


# A product of complex numbers is so many of real ones; if one side is real, so many.
_COMPLEX, _REAL = 3, 2
# The bytes of a real number.
_BYTES = 4
# So many values are followed.
_MOST_VALUES = 100


def of_transform(op: Op, collective: Collective) -> Collective | None:
    """A collective for a Fourier transform as one for its products; None for another one."""
    if not isinstance(op, AllGatherOp | AllToAllOp):
        return None
    transform = only_user(op.results[0])
    if not isinstance(transform, FftOp):
        return None
    mesh, operand = find_mesh(op.out_sharding.mesh_or_ref, op), sharding_of(op.tensor)
    before, after = transform.operand.type, transform.out.type
    if mesh is None or operand is None or collective.wire_bytes is None:
        return None
    if not (isinstance(before, RankedTensor) and isinstance(after, RankedTensor)):
        return None
    if DYNAMIC in (*before.shape, *after.shape):
        return None
    first = len(before.shape) - len(transform.fft_length)
    sizes = [dim.sharded_size(mesh) for dim in operand.dims]
    devices = prod(sizes[first:])
    if devices > 1 and _is_whole(op.tensor):
        reason = "computed from a transform, which is whole on each device"
        return replace(collective, wire_bytes=Fraction(0), compiled=reason)
    batch = prod(-(-size // count) for size, count in zip(before.shape[:first], sizes[:first], strict=True))
    given = _sharding_after(transform)
    parts = 1 if given is None else prod(dim.sharded_size(mesh) for dim in given.dims[first:])
    if devices == parts == 1:
        # Only the batch is gathered.
        return None
    if devices == 1:
        size = batch * prod(after.shape[first:]) * _BYTES
        size *= 2 if isinstance(element_of(after), ComplexType) else 1
        reason = "for the result of a Fourier transform, which is a product for each dimension"
        wire_bytes = size * (1 - Fraction(1, parts))
        return replace(collective, kind="all_to_all", wire_bytes=wire_bytes, compiled=reason)
    dim = max(dim for dim in range(first, len(sizes)) if sizes[dim] > 1)
    is_real = dim == len(sizes) - 1 and not isinstance(element_of(before), ComplexType)
    share = 1 - Fraction(1, devices)
    kept = [] if given is None else [sharding.axes for sharding in given.dims[first:]]
    if kept == [sharding.axes for sharding in operand.dims[first:]]:
        shape = (*before.shape[first : dim + 1], *after.shape[dim + 1 :])
        size = (1 if is_real else _COMPLEX) * batch * prod(shape) * _BYTES
        reason = "for the real products of a Fourier transform"
        return replace(collective, kind="all_gather", wire_bytes=size * share, compiled=reason)
    # The last dimension has all its frequencies at first.
    last = transform.fft_length[-1] if dim == len(sizes) - 1 else after.shape[-1]
    shape = (*before.shape[first:dim], *after.shape[dim:-1], last)
    size = (_REAL if is_real else _COMPLEX) * batch * prod(shape) * _BYTES
    reason = "summed up: a Fourier transform is a product for each dimension"
    return replace(collective, kind="all_reduce", wire_bytes=2 * size * share, compiled=reason)


def _sharding_after(transform: FftOp) -> TensorSharding | None:
    """The sharding that the program needs of a result; None if it needs none."""
    user = only_user(transform.out)
    if not isinstance(user, AllSliceOp):
        return None
    return None if _is_for_transforms(user.results[0]) else sharding_of(user.results[0])


def _is_passed(op: Op) -> bool:
    """Whether a result is as its operands: elementwise, or of more or fewer frequencies."""
    return isinstance(op, PadOp | SliceOp) or op.signature.cached(is_elementwise)


def _is_whole(value: Value) -> bool:
    """Whether a value is computed from the result of a transform of which each device has all."""
    pending, visited = [value], {value}
    while pending and len(visited) < _MOST_VALUES:
        op = pending.pop().defining_op
        if isinstance(op, AllSliceOp) and isinstance(transform := op.tensor.defining_op, FftOp):
            return isinstance(transform.operand.defining_op, AllGatherOp)
        if op is not None and _is_passed(op):
            new = [operand for operand in op.operands if operand not in visited]
            visited.update(new)
            pending += new
    return False


def _is_for_transforms(value: Value) -> bool:
    """Whether only other transforms use a value, or what is computed from it, and gather it."""
    pending, visited = [value], {value}
    while pending and len(visited) < _MOST_VALUES:
        for user in pending.pop().users:
            if isinstance(user, AllGatherOp) and isinstance(only_user(user.results[0]), FftOp):
                continue
            if not _is_passed(user):
                return False
            new = [result for result in user.results if result not in visited]
            visited.update(new)
            pending += new
    return not pending


# Rows of at least so many elements are masked, or scaled, before they are written.
_MASKED_ROW = 1536
_LONG_ROW = 4096
# Products of rows of at most so many elements are computed in the softmax.
_SHORT = 64
# Exponentials are summed up and divided; gradients use them, too.
_FORWARD_USES = 2
# At most this many operations are between the product and the exponentials.
_MAX_STEPS = 8


@dataclass(frozen=True, slots=True)
class Softmax:
    """The softmax of a product: `logits` are what the exponentials are of, less the maximum.

    Before that, they are scaled, masked, or both.
    """

    product: DotGeneralOp
    logits: Value
    is_scaled: bool
    is_masked: bool


def softmax_of(op: Op) -> Softmax | None:
    """The softmax whose exponentials an operation computes; None if it is none, or none of a product."""
    if not isinstance(op, ExpOp) or not _is_summed_and_divided(op):
        return None
    shifted = _defining(op.operand_at(0))
    if not isinstance(shifted, SubtractOp):
        return None
    logits = value = shifted.operand_at(0)
    is_scaled = is_masked = False
    # The exponentials of a transposed product are computed again for gradients.
    is_forward = len(list(op.results[0].users)) == _FORWARD_USES
    for _ in range(_MAX_STEPS):
        inner = _defining(value)
        if isinstance(inner, DotGeneralOp):
            return Softmax(inner, logits, is_scaled, is_masked)
        if isinstance(inner, TransposeOp) and is_forward:
            value = inner.operand_at(0)
        elif isinstance(inner, SelectOp):
            is_masked = True
            value = inner.operand_at(1)
        elif isinstance(inner, ConvertOp):
            value = inner.operand_at(0)
        elif isinstance(inner, MulOp | DivOp):
            is_scaled = True
            is_scale_first = isinstance(_defining(inner.operand_at(0)), BroadcastInDimOp)
            value = inner.operand_at(1 if is_scale_first else 0)
        else:
            return None
    return None


def writes_exponentials(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether the exponentials are written: not if the only batch is of heads after positions.

    Then the rows are not contiguous in memory. Nor are they if nothing is computed before them.
    """
    shape = shape_of(softmax.product.results[0])
    dims = softmax.product.dot_dimension_numbers
    batch = dims.lhs_batching_dimensions
    if shape is None or not (softmax.is_scaled or softmax.is_masked):
        return shape is None
    sizes = [size for size in shape[: len(batch)] if size > 1]
    return len(sizes) > 1 or (len(sizes) == 1 and batch == tuple(range(len(batch))))


def computes_product(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether the product is computed by what computes the softmax, if it is cheap or laid out for it.

    What products compute is laid out for it, too. Long rows are not computed there, if the product is not
    cheap or they are masked.
    """
    dims = softmax.product.dot_dimension_numbers
    shape, rows = shape_of(softmax.product.lhs), shape_of(softmax.logits)
    contracted = 0 if shape is None else prod(shape[dim] for dim in dims.lhs_contracting_dimensions)
    is_cheap = contracted <= _SHORT
    if rows is not None and rows[-1] >= _LONG_ROW and (softmax.is_masked or not is_cheap):
        return False
    return (
        is_cheap
        or dims.lhs_batching_dimensions == tuple(range(len(dims.lhs_batching_dimensions)))
        or all(map(_is_product, softmax.product.operands))
    )


def writes_logits(softmax: Softmax, shape_of: Callable[[Value], tuple[int, ...] | None]) -> bool:
    """Whether what is exponentiated is written as it is, not the product that it is computed from."""
    shape = shape_of(softmax.logits)
    return shape is not None and shape[-1] >= (_MASKED_ROW if softmax.is_masked else _LONG_ROW)


def _is_summed_and_divided(op: ExpOp) -> bool:
    users = list(op.results[0].users)
    is_divided = any(isinstance(user, DivOp) for user in users)
    return is_divided and any(isinstance(_converted(user), ReduceOp) for user in users)


def _converted(user: Op) -> Op:
    while isinstance(user, ConvertOp) and user.results[0].has_one_use:
        user = next(iter(user.results[0].users))
    return user


def _is_product(value: Value) -> bool:
    op = _defining(value)
    while isinstance(op, ReshapeOp):
        op = _defining(op.operand_at(0))
    return isinstance(op, DotGeneralOp)


def _defining(value: Value) -> Op | None:
    return value.op if isinstance(value, OpResult) else None
