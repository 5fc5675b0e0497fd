"""How compilers compute products, and which operations and values are in kernels with others."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import prod

from sdyopt.analysis.figures.compiled_products import (
    is_multiplied,
)
from sdyopt.analysis.figures.figures import ProductKernel
from sdyopt.analysis.figures.flops import FLOPS, flops_of
from sdyopt.analysis.figures.local_shapes import LocalShapes, elements_of_tiles
from sdyopt.analysis.figures.loop_invariants import sum_over_iterations
from sdyopt.analysis.figures.narrow_floats import is_for_products
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp, SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# What is read or written in place, or not at all.
_VIEWS = (BroadcastInDimOp, IotaOp, ReshapeOp, TransposeOp)
SLICES = (DynamicSliceOp, GatherOp, SliceOp)
_MOVES = (*SLICES, ConcatenateOp, DynamicUpdateSliceOp, PadOp, ReverseOp)
_MEMBERS = (*_VIEWS, *SLICES, ConcatenateOp, DynamicUpdateSliceOp, PadOp, ReduceOp, ReverseOp)
# Kernels of their own.
ALONE = (FftOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp)
# The bits of elements that products write more slowly than others.
_NARROW = 16
# The longest chain that is followed.
MAX_STEPS = 64


def kernel_of_product(product: Op, shapes: LocalShapes, compiler: str) -> ProductKernel:
    """How a compiler computes a product."""
    arguments = [argument_of(use.value) for use in product.operand_uses]
    slices = [value for use in product.operand_uses if (value := _slice_of_stack(use.value)) is not None]
    return ProductKernel(
        _is_narrow(product, shapes, compiler),
        any(map(is_returned, product.results)),
        _vector_elements(product, shapes, compiler),
        sum(shapes.bytes(argument) or 0 for argument in dict.fromkeys(arguments) if argument is not None),
        len({argument for argument in arguments if argument is not None}),
        None not in arguments,
        _features(product, shapes),
        len(slices),
        sum(shapes.bytes(value) or 0 for value in slices),
    )


def _features(product: Op, shapes: LocalShapes) -> int:
    if not isinstance(product, ConvolutionOp):
        return 0
    dims, shape = product.dimension_numbers, shapes.shape(product.rhs)
    if shape is None or prod(shape[dim] for dim in dims.kernel_spatial_dimensions) == 1:
        return 0
    features = max(0, shape[dims.kernel_input_feature_dimension])
    return features if product.feature_group_count == 1 or features == 1 else 0


def _is_narrow(product: Op, shapes: LocalShapes, compiler: str) -> bool:
    """Whether the elements that a product, and what follows it in its kernel, write have 16 bits or less.

    A kernel is of up to two products; the first one writes nothing.
    """
    if _is_computed_with_next(product, shapes, compiler):
        return False
    value: Value = product.results[0]
    for _ in range(MAX_STEPS):
        if has_narrow_floats(value):
            return True
        user = next(iter(value.users)) if value.has_one_use else None
        if (
            user is None
            or not user.signature.cached(is_member)
            or ends_kernel(type(user))
            or is_move(type(user))
        ):
            break
        value = user.results[0]
    # What only products read is written as they read it.
    return is_for_products(value)


def _is_computed_with_next(product: Op, shapes: LocalShapes, compiler: str) -> bool:
    """Whether the kernel of a product computes the next one, too: each second one of a row, from its end."""
    later, following = 0, _next_product(product)
    if following is not None and _vector_elements(following, shapes, compiler):
        return False
    while following is not None and later < MAX_STEPS:
        later, following = later + 1, _next_product(following)
    return later % 2 == 1


def _next_product(product: Op) -> Op | None:
    """The only product that uses what elementwise operations compute of another one, and nothing else does.

    None if that is its second operand, and another product computes the first one.
    """
    pending, visited = list(product.results), set[Op]()
    products = dict[Op, int]()
    while pending:
        for use in pending.pop().uses:
            user = use.owner
            if type(user) in FLOPS:
                products[user] = use.index
            elif not is_elementwise(user.signature) and not is_view(type(user)):
                return None
            elif user not in visited:
                visited.add(user)
                pending += user.results
        if len(visited) > MAX_STEPS or len(products) > 1:
            return None
    following, index = next(iter(products.items()), (None, 0))
    return None if following is not None and index and _is_of_product(following.operand_at(0)) else following


def _is_of_product(value: Value) -> bool:
    """Whether elementwise operations compute a value of the result of a product."""
    for _ in range(MAX_STEPS):
        op = value.defining_op
        if op is None or type(op) in FLOPS:
            return op is not None
        if not op.operand_uses or not (is_elementwise(op.signature) or is_view(type(op))):
            return False
        value = op.operand_at(0)
    return False


def _slice_of_stack(value: Value) -> Value | None:
    """What a loop takes of an argument of the program for a run, converted or as a view; None for others.

    A stack that is narrowed before the loop is in the cache.
    """
    for _ in range(MAX_STEPS):
        op = value.defining_op
        if op is None or not op.operand_uses:
            return None
        stack = op.operand_at(0)
        if isinstance(op, DynamicSliceOp):
            loop = stack.block.parent_op if isinstance(stack, BlockArgument) else None
            if not isinstance(stack, BlockArgument) or not isinstance(loop, WhileOp):
                return None
            whole = loop.operand_at(stack.index)
            is_kept = has_narrow_floats(whole) or not is_for_products(whole)
            return op.results[0] if is_kept and argument_of(whole) is not None else None
        if not is_view(type(op)) and not isinstance(op, ConvertOp):
            return None
        value = stack
    return None


def has_narrow_floats(value: Value) -> bool:
    """Whether the elements of a value are floats of 16 bits or less."""
    element = value.type.element if isinstance(value.type, RankedShapedType) else None
    return isinstance(element, FloatType) and element.width <= _NARROW


def _vector_elements(product: Op, shapes: LocalShapes, compiler: str) -> int:
    """The elements of the tiles that a vector unit multiplies and sums; 0 for the products of other units."""
    # The only operand of a Fourier transform stands for both.
    values = product.operand_at(0), product.operands[:2][-1], product.results[0]
    lhs, rhs, out = (shapes.shape(value) for value in values)
    if lhs is None or rhs is None or out is None or not is_multiplied(product, lhs, rhs, out, compiler):
        return 0
    is_narrow = has_narrow_floats(values[0])
    most = max((lhs, rhs, out), key=elements_of_tiles)
    # Less than the largest, if others are sharded along more axes; more, and faster, if all are broadcast.
    share = Fraction((flops_of(product, lhs, rhs, out) or 0) // 2, max(1, prod(most)))
    return int(elements_of_tiles(most, is_narrow) * (share * 2 / 3 if share > 1 else share))


def argument_of(value: Value) -> Value | None:
    """The argument of a function that a value is, converted or as a view; None for others."""
    for _ in range(MAX_STEPS):
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op
            if not isinstance(parent, ManualComputationOp):
                return value if isinstance(parent, FuncOp) else None
            value = parent.operand_at(value.index)
            continue
        op = value.defining_op
        if op is None or not op.operand_uses or not (is_view(type(op)) or isinstance(op, ConvertOp)):
            return None
        value = op.operand_at(0)
    return None


def is_returned(value: Value) -> bool:
    """Whether a program returns a value, converted or as a view."""
    values = [value]
    while values:
        for user in values.pop().users:
            if isinstance(user, ReturnOp):
                return True
            if is_view(type(user)) or isinstance(user, ConvertOp):
                values += user.results
    return False


def readers_of(value: Value) -> Iterator[Op]:
    """The operations that read a value, converted or as a view."""
    for user in value.users:
        yield user
        if isinstance(user, ConvertOp) or is_view(type(user)):
            yield from readers_of(user.results[0])


def summed_later(value: Value) -> Value:
    """What a loop sums up over its iterations: the operand of an all-reduce, which is done after it."""
    op = value.defining_op
    loop = op.parent_op if isinstance(op, AllReduceOp) else None
    if op is None or not isinstance(loop, WhileOp) or sum_over_iterations(value, loop) is None:
        return value
    return op.operand_at(0)


def has_same_vectors(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether the elements of a reshape stay in the rows and the vectors where they are."""
    first, second = ([size for size in shape if size > 1] for shape in (before, after))
    if not first or not second or first == second or prod(first) < 1024:
        return True
    if first[-1] != second[-1]:
        return False
    rows = [(sizes[-2] if len(sizes) > 1 else 1) for sizes in (first, second)]
    return rows[0] == rows[1] or all(size % 8 == 0 for size in rows)


@cache
def is_view(kind: type[Op]) -> bool:
    return issubclass(kind, _VIEWS)


@cache
def is_slice(kind: type[Op]) -> bool:
    return issubclass(kind, SLICES)


@cache
def is_move(kind: type[Op]) -> bool:
    return issubclass(kind, _MOVES)


@cache
def is_stored(kind: type[Op]) -> bool:
    """Whether no other kernel computes the result of an operation again."""
    return ends_kernel(kind) or issubclass(kind, (*SLICES, ConcatenateOp, DynamicUpdateSliceOp))


@cache
def ends_kernel(kind: type[Op]) -> bool:
    """Whether what uses the result of an operation is in a later kernel."""
    return issubclass(kind, (ReduceOp, *ALONE))


def is_member(signature: OpSignature) -> bool:
    """Whether an operation is in a kernel with others."""
    return len(signature.result_types) > 0 and (
        issubclass(signature.op_class, _MEMBERS) or is_elementwise(signature)
    )
