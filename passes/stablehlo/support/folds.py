"""Folds of StableHLO operations on constants, as rewrite patterns.

Those of `shape_folds` compute shapes; `stablehlo-aggressive-folder` has further ones.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import fmod, inf, isinf, isnan, nan, prod
from typing import TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.arith.dialect import (
    decode_to_double,
    encode,
    fold_floats,
    fold_integers,
    signed,
    unsigned,
)
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp, CompareOp, ConvertOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    AndOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    OrOp,
    RemOp,
    SignOp,
    SubtractOp,
)
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    GetDimensionSizeOp,
    ReshapeOp,
    SetDimensionSizeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, DynamicSliceOp, SliceOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense, element_size
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I1, I32, ComplexType, FloatType, IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value


@dataclass(frozen=True)
class FoldOptions:
    """Limits of folding: results with at most `max_elements` elements, unless splats, and `floats`."""

    max_elements: int
    floats: bool


# Computes the constant that an operation folds to; None if it does not fold.
Fold = Callable[[Op, FoldOptions], DenseElements | None]
R = TypeVar("R", bound=Callable[..., bool])


F = TypeVar("F", bound=Fold)


class Folds(dict[type[Op], Fold]):
    """Folds by class of operation, each declared where its function is defined."""

    def fold(self, op_class: type[Op]) -> Callable[[F], F]:
        """Decorator: registers the fold of a class of operations."""

        def register(function: F) -> F:
            self[op_class] = function
            return function

        return register


class Patterns(dict[type[Op], list[Pattern]]):
    """Patterns by class of operation, each declared where its function is defined."""

    def pattern(self, op_class: type[Op], name: str = "", benefit: int = 1) -> Callable[[R], R]:
        """Decorator: registers a function that rewrites operations of a class."""

        def register(rewrite: R) -> R:
            self.setdefault(op_class, []).append(Pattern(rewrite, name, benefit=benefit))
            return rewrite

        return register


def shape_folds(options: FoldOptions) -> Patterns:
    """The patterns that fold computations of shapes, by class of operation."""
    patterns = Patterns({op_class: [fold_pattern(fold, options)] for op_class, fold in _SHAPE_FOLDS.items()})
    patterns[ConcatenateOp].append(Pattern(_merge_adjacent_splats))
    patterns[SetDimensionSizeOp] = [Pattern(_erase_set_dimension_size)]
    return patterns


def fold_pattern(fold: Fold, options: FoldOptions) -> Pattern:
    """The pattern that replaces an operation by the constant that it folds to."""

    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        value = fold(op, options)
        if value is None:
            return False
        rewriter.replace(op, create_constant(value, op, rewriter))
        return True

    return Pattern(rewrite)


def create_constant(value: DenseElements, before: Op, rewriter: Rewriter) -> Op:
    """Inserts a constant, with the location of the operation before which it is."""
    return rewriter.create(
        ConstantOp, (), [value.type], {"value": value}, before=before, location=before.lazy_location
    )


def constant_of(value: Value) -> DenseElements | None:
    """The elements of a constant; None for other values."""
    elements = constant_value(value.defining_op)
    return elements if isinstance(elements, DenseElements) else None


def splat_of(value: Value) -> DenseElements | None:
    """The elements of a constant that are all equal; None for other values."""
    elements = constant_of(value)
    return elements if elements is not None and elements.is_splat else None


def result_type(op: Op) -> RankedTensor:
    """The type of the only result, which is a tensor."""
    type = op.results[0].type
    assert isinstance(type, RankedTensor)
    return type


def is_foldable(type: RankedTensor, options: FoldOptions, with_complex: bool = False) -> bool:
    """Whether tensors of a static type are folded: integers, and floats if the options allow it."""
    if not type.has_static_shape:
        return False
    if isinstance(type.element, IntegerType):
        return True
    return options.floats and isinstance(
        type.element, (FloatType, ComplexType) if with_complex else FloatType
    )


def cells(elements: DenseElements) -> list[bytes]:
    """The bytes of each element."""
    data, size = elements.expanded, element_size(elements.type.element)
    return [data[start : start + size] for start in range(0, len(data), size)]


def resized(elements: DenseElements, type: RankedTensor) -> DenseElements:
    """A splat, or elements in the same order, with another shape; the element type stays."""
    return DenseElements(RankedTensor(type.shape, elements.type.element, type.encoding), elements.data)


# --- Elementwise --------------------------------------------------------------------------


def elementwise(integers: Callable[..., int | None], floats: Callable[..., float | None] | None) -> Fold:
    """The fold of an elementwise operation: on integers, with wraparound, and on floats."""

    def fold(op: Op, options: FoldOptions) -> DenseElements | None:
        type = result_type(op)
        constants = [constant_of(operand) for operand in op.operands]
        if not is_foldable(type, options):
            return None
        if not isinstance(type.element, FloatType):
            return _with_type(fold_integers(constants, integers), type)
        return None if floats is None else _with_type(fold_floats(constants, floats), type)

    return fold


def _with_type(value: object, type: RankedTensor) -> DenseElements | None:
    if not isinstance(value, DenseElements):
        return None
    return DenseElements(type, value.data)


def _divide(left: int, right: int) -> int | None:
    """The quotient, rounded toward zero; None for division by zero."""
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int | None:
    """The remainder of division that rounds toward zero, with the sign of the dividend."""
    if right == 0:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _divide_floats(left: float, right: float) -> float:
    if right:
        return left / right
    if isnan(left) or not left:
        return nan
    return inf if (left < 0) == (str(right)[0] == "-") else -inf


def _float_remainder(left: float, right: float) -> float:
    return nan if isinf(left) or not right or isnan(right) else fmod(left, right)


def _max(left: float, right: float) -> float:
    return nan if isnan(left) or isnan(right) else max(left, right)


def _min(left: float, right: float) -> float:
    return nan if isnan(left) or isnan(right) else min(left, right)


def _sign(value: int | float) -> int:
    return (value > 0) - (value < 0)


def _float_sign(value: float) -> float | None:
    return None if isnan(value) else float(_sign(value))


_SHAPE_FOLDS = Folds()


@_SHAPE_FOLDS.fold(SignOp)
def fold_sign(op: Op, options: FoldOptions) -> DenseElements | None:
    element = result_type(op).element
    is_unsigned = isinstance(element, IntegerType) and element.is_unsigned
    return None if is_unsigned else elementwise(_sign, _float_sign)(op, options)


@_SHAPE_FOLDS.fold(ClampOp)
def fold_clamp(op: Op, options: FoldOptions) -> DenseElements | None:
    type = result_type(op)
    assert isinstance(op, ClampOp)
    low, value, high = constant_of(op.min), constant_of(op.operand), constant_of(op.max)
    if not is_foldable(type, options) or low is None or value is None or high is None:
        return None
    if not low.type is value.type is high.type:
        return None
    if isinstance(type.element, FloatType):
        return _with_type(
            fold_floats([low, value, high], lambda low, value, high: _min(high, _max(low, value))), type
        )
    return _with_type(
        fold_integers(
            [low, value, high],
            lambda *numbers: _clamp(*[signed(number, type.element) for number in numbers]),
        ),
        type,
    )


def _clamp(low: int, value: int, high: int) -> int:
    return min(high, max(low, value))


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "GE": operator.ge,
    "GT": operator.gt,
    "LE": operator.le,
    "LT": operator.lt,
}


@_SHAPE_FOLDS.fold(CompareOp)
def fold_compare(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, CompareOp)
    type, element = result_type(op), op.signature[CompareOp.lhs].element
    left, right = constant_of(op.lhs), constant_of(op.rhs)
    if not type.has_static_shape or left is None or right is None:
        return None
    compare = _COMPARISONS[op.comparison_direction.value]
    if isinstance(element, FloatType):
        return _compare_floats(left, right, compare, type)
    if not isinstance(element, IntegerType):
        return None
    kind = op.compare_type.value if op.compare_type is not None else "NOTYPE"
    if kind == "NOTYPE":
        kind = "UNSIGNED" if element.is_unsigned or element is I1 else "SIGNED"

    def compared(left: int, right: int) -> int:
        if kind == "UNSIGNED":
            left, right = unsigned(left, element), unsigned(right, element)
        else:
            left, right = signed(left, element), signed(right, element)
        return int(compare(left, right))

    return _with_type(fold_integers([left, right], compared, I1), type)


def _compare_floats(
    left: DenseElements, right: DenseElements, compare: Callable[[float, float], bool], type: RankedTensor
) -> DenseElements | None:
    element = left.type.element
    assert isinstance(element, FloatType)
    format, is_splat = element.format, left.is_splat and right.is_splat
    pairs = [(left.data, right.data)] if is_splat else list(zip(cells(left), cells(right), strict=True))
    numbers = [[decode_to_double(int.from_bytes(part, "little"), format) for part in pair] for pair in pairs]
    return dense(type, bytes([compare(*pair) for pair in numbers]))


@_SHAPE_FOLDS.fold(SelectOp)
def fold_select(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, SelectOp)
    type = result_type(op)
    pred, on_true, on_false = (constant_of(operand) for operand in (op.pred, op.on_true, op.on_false))
    if not is_foldable(type, options) or pred is None or on_true is None or on_false is None:
        return None
    if pred.is_splat:
        return on_true if pred.data[0] else on_false
    if isinstance(type.element, FloatType) or type.num_elements > options.max_elements:
        return None
    chosen = zip(cells(pred), cells(on_true), cells(on_false), strict=True)
    return dense(type, b"".join([true if predicate[0] else false for predicate, true, false in chosen]))


@_SHAPE_FOLDS.fold(ConvertOp)
def fold_convert(op: Op, options: FoldOptions) -> DenseElements | None:
    type, value = result_type(op), constant_of(op.operand_at(0))
    if value is None or not is_foldable(type, options) or type.num_elements > options.max_elements:
        return None
    source, target = value.type.element, type.element
    if isinstance(source, FloatType) or isinstance(target, FloatType):
        return _convert_floats(value, type) if options.floats else None
    if not isinstance(source, IntegerType):
        return None
    if target is I1:
        return _with_type(fold_integers([value], lambda number: int(number != 0), I1), type)
    return _with_type(fold_integers([value], lambda number: number, target), type)


def _convert_floats(value: DenseElements, type: RankedTensor) -> DenseElements | None:
    """Converts to or from floats; None if a number is not representable."""
    source, target = value.type.element, type.element
    converted = []
    size = element_size(source)
    for start in range(0, len(value.data), size):
        bits = int.from_bytes(value.data[start : start + size], "little")
        number = _number(bits, source)
        if number is None:
            return None
        element = _element(number, target)
        if element is None:
            return None
        converted.append(element)
    return dense(type, b"".join(converted))


def _number(bits: int, type: Type) -> float | int | None:
    if isinstance(type, FloatType):
        return decode_to_double(bits, type.format)
    if not isinstance(type, IntegerType):
        return None
    is_negative = not type.is_unsigned and type is not I1 and bits >> (type.width - 1)
    return bits - (1 << type.width) if is_negative else bits


def _element(number: float | int, type: Type) -> bytes | None:
    """The bytes of a number; None if an integer type has no such number."""
    if isinstance(type, FloatType):
        return encode(float(number), type.format).to_bytes(element_size(type), "little")
    assert isinstance(type, IntegerType)
    if type is I1:
        return bytes([number != 0])
    if isnan(number) or isinf(number) or str(number) == "-0.0":
        return None
    integer = int(number)
    low = 0 if type.is_unsigned else -(1 << (type.width - 1))
    if not low <= integer < low + (1 << type.width):
        return None
    size = element_size(type)
    return (integer & ((1 << 8 * size) - 1)).to_bytes(size, "little")


# --- Shapes -------------------------------------------------------------------------------


@_SHAPE_FOLDS.fold(BroadcastInDimOp)
def fold_broadcast(op: Op, options: FoldOptions) -> DenseElements | None:
    value, type = splat_of(op.operand_at(0)), result_type(op)
    return resized(value, type) if value is not None and is_foldable(type, options, True) else None


@_SHAPE_FOLDS.fold(ReshapeOp)
def fold_reshape(op: Op, options: FoldOptions) -> DenseElements | None:
    value, type = constant_of(op.operand_at(0)), result_type(op)
    return resized(value, type) if value is not None and is_foldable(type, options, True) else None


@_SHAPE_FOLDS.fold(GetDimensionSizeOp)
def fold_get_dimension_size(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, GetDimensionSizeOp)
    size = op.signature[GetDimensionSizeOp.operand].shape[op.dimension]
    if size == DYNAMIC:
        return None
    return DenseElements(RankedTensor((), I32), (size & 0xFFFFFFFF).to_bytes(4, "little"))


@_SHAPE_FOLDS.fold(ConcatenateOp)
def fold_concatenate(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, ConcatenateOp)
    type = result_type(op)
    if not is_foldable(type, options) or type.num_elements > options.max_elements:
        return None
    constants = [constant for constant in map(constant_of, op.operands) if constant is not None]
    if len(constants) != len(op.operands):
        return None
    rows = prod(type.shape[: op.dimension])
    parts = [constant.expanded for constant in constants]
    lengths = [len(part) // rows if rows else 0 for part in parts]
    pieces = [
        part[row * length : (row + 1) * length]
        for row in range(rows)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return dense(type, b"".join(pieces))


def _merge_adjacent_splats(op: Op, rewriter: Rewriter) -> bool:
    """Merges neighbours of a concatenation that are equal splats into one."""
    assert isinstance(op, ConcatenateOp)
    groups: list[tuple[DenseElements | None, list[Value]]] = []
    for value in op.operands:
        splat = splat_of(value)
        if splat is not None and groups and groups[-1][0] is splat:
            groups[-1][1].append(value)
        else:
            groups.append((splat, [value]))
    if len(groups) == len(op.operands):
        return False
    operands = []
    for splat, values in groups:
        if splat is None or len(values) == 1:
            operands += values
            continue
        shape = list(splat.type.shape)
        shape[op.dimension] *= len(values)
        merged = DenseElements(RankedTensor(tuple(shape), splat.type.element), splat.data)
        operands += create_constant(merged, op, rewriter).results
    new = rewriter.create(
        ConcatenateOp,
        operands,
        [op.results[0].type],
        {"dimension": op.signature.attributes["dimension"]},
        before=op,
        location=op.lazy_location,
    )
    rewriter.replace(op, new)
    return True


@_SHAPE_FOLDS.fold(SliceOp)
def fold_slice(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, SliceOp)
    value, type = constant_of(op.operand), result_type(op)
    if value is None or not is_foldable(type, options):
        return None
    if value.is_splat:
        return resized(value, type)
    ranges = zip(op.start_indices, op.limit_indices, op.strides, strict=True)
    return dense(type, b"".join(sliced(value, [range(*bounds) for bounds in ranges])))


def sliced(value: DenseElements, indices: Sequence[Sequence[int]]) -> Iterator[bytes]:
    """The elements whose index in each dimension is one of those given for it."""
    size, strides, stride = element_size(value.type.element), [], 1
    for extent in reversed(value.type.shape):
        strides.append(stride)
        stride *= extent
    data, strides = value.expanded, strides[::-1]
    for index in product(*indices):
        start = sum(map(operator.mul, index, strides)) * size
        yield data[start : start + size]


@_SHAPE_FOLDS.fold(DynamicSliceOp)
def fold_dynamic_slice(op: Op, options: FoldOptions) -> DenseElements | None:
    value, type = splat_of(op.operand_at(0)), result_type(op)
    return resized(value, type) if value is not None and type.has_static_shape else None


def _erase_set_dimension_size(op: Op, rewriter: Rewriter) -> bool:
    """Replaces an operation that sets a static size to itself."""
    assert isinstance(op, SetDimensionSizeOp)
    size, type = splat_of(op.size), result_type(op)
    if size is None or op.operand.type is not type or not op.results[0].has_uses:
        return False
    if int.from_bytes(size.data, "little", signed=True) != type.shape[op.dimension]:
        return False
    rewriter.replace_all_uses(op.results[0], op.operand)
    return True


_SHAPE_FOLDS |= {
    AddOp: elementwise(operator.add, operator.add),
    AndOp: elementwise(operator.and_, None),
    DivOp: elementwise(_divide, _divide_floats),
    MaxOp: elementwise(max, _max),
    MinOp: elementwise(min, _min),
    MulOp: elementwise(operator.mul, operator.mul),
    OrOp: elementwise(operator.or_, None),
    RemOp: elementwise(_remainder, _float_remainder),
    SubtractOp: elementwise(operator.sub, operator.sub),
}
