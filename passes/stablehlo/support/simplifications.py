"""The patterns of stablehlo-aggressive-simplification: all of them by operation, and those of arithmetic.

A pattern has the name of that of StableHLO which does the same, and its benefit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdyopt.mlir.dialects.arith.dialect import float_of, unsigned
from sdyopt.mlir.dialects.arith.dialect import splat_of as number_of_splat
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    CompareOp,
    ComparisonDirection,
    ConvertOp,
    ImagOp,
    RealOp,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp, TupleOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense, element_size, integer
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, PatternsOf
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, I32, IntegerType
from sdyopt.mlir.ir.value import Value

from .dynamic_simplifications import DYNAMIC_SIMPLIFICATIONS
from .folds import cells, constant_of, create_constant, result_type
from .region_simplifications import REGION_SIMPLIFICATIONS, empty_tensors_to_constants
from .replacement import replace_with_new, replace_with_value
from .shape_simplifications import SHAPE_SIMPLIFICATIONS, remove_noop


def simplifications(
    max_elements: int, others: Mapping[type[Op], Sequence[Pattern]] | None = None
) -> PatternsOf:
    """The patterns of each class of operations, after other ones of the same benefit.

    A `select` of constants is folded if it has at most `max_elements` elements.
    """
    select = [*_INVERTED_SELECTS, Pattern(_select_constant(max_elements), "SelectOpCanon")]
    own: dict[type[Op], list[Pattern]] = {
        **_ARITHMETIC,
        **SHAPE_SIMPLIFICATIONS,
        **DYNAMIC_SIMPLIFICATIONS,
        **REGION_SIMPLIFICATIONS,
        SelectOp: select,
    }

    def patterns_of(op_class: type[Op]) -> Sequence[Pattern]:
        patterns = [*(others or {}).get(op_class, ()), *own.get(op_class, ())]
        if op_class.name.startswith("stablehlo.") and op_class is not ConstantOp:
            patterns.append(Pattern(empty_tensors_to_constants, "ZeroExtentToEmptyConstant"))
        return sorted(patterns, key=lambda pattern: -pattern.benefit)

    return patterns_of


# --- Arithmetic ---------------------------------------------------------------------------

# A property of the number that all elements of a constant equal.
Property = Callable[[Value], bool]


def _is_integer(*numbers: int) -> Property:
    """Whether a value is a constant whose elements are one of these integers, modulo its width."""

    def matches(value: Value) -> bool:
        constant = constant_value(value.defining_op)
        element = constant.type.element if isinstance(constant, DenseElements) else None
        number = number_of_splat(constant)
        if number is None or not isinstance(element, IntegerType):
            return False
        return any(unsigned(number, element) == unsigned(other, element) for other in numbers)

    return matches


_is_integer_zero = _is_integer(0)
_has_all_bits = _is_integer(-1)


def _is_zero(value: Value) -> bool:
    return _is_integer_zero(value) or float_of(constant_value(value.defining_op)) == 0.0


def _is_one(value: Value) -> bool:
    constant = constant_value(value.defining_op)
    element = constant.type.element if isinstance(constant, DenseElements) else None
    is_integer = isinstance(element, IntegerType) and number_of_splat(constant) == 1
    return is_integer or float_of(constant) == 1.0


def _swap_constant(op: Op, rewriter: Rewriter) -> bool:
    """Moves a constant to the right."""
    left, right = op.operands
    if not isinstance(left.defining_op, ConstantOp) or isinstance(right.defining_op, ConstantOp):
        return False
    return replace_with_new(op, type(op), [right, left], rewriter)


def _neutral(has_property: Property, any_constant: bool = False, keeps: bool = True) -> Any:
    """Replaces an operation by its left operand if the right one is a constant with a property."""

    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        left, right = op.operands
        if not any_constant and not isinstance(right.defining_op, ConstantOp):
            return False
        return has_property(right) and replace_with_value(op, left, rewriter, keeps)

    return rewrite


def _absorbing(has_property: Property, keeps: bool = True) -> Any:
    """Replaces an operation by its right operand if that is a constant with a property."""

    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        right = op.operand_at(1)
        is_constant = isinstance(right.defining_op, ConstantOp)
        return is_constant and has_property(right) and replace_with_value(op, right, rewriter, keeps)

    return rewrite


def _cancel(op: Op, rewriter: Rewriter) -> bool:
    """Replaces an operation on an integer and itself by zero."""
    left, right = op.operands
    type = result_type(op)
    if left is not right or left.type is not type or not type.has_static_shape:
        return False
    if not isinstance(type.element, IntegerType):
        return False
    zero = DenseElements(type, bytes(element_size(type.element)))
    rewriter.replace(op, create_constant(zero, op, rewriter))
    return True


def _commutative(name: str, *patterns: Pattern) -> list[Pattern]:
    return [Pattern(_swap_constant, f"{name}_CanonicalizeConstantToRhs", benefit=2), *patterns]


# --- Comparisons and selections -------------------------------------------------------------

_MIRRORED = {"EQ": "EQ", "NE": "NE", "GE": "LE", "GT": "LT", "LE": "GE", "LT": "GT"}


def _compare_boolean(direction: str, has_property: Property) -> Any:
    """Replaces a comparison of a boolean with a constant that is equal to the boolean."""

    def rewrite(op: CompareOp, rewriter: Rewriter) -> bool:
        element = op.signature[CompareOp.lhs].element
        if op.comparison_direction.value != direction or element is not I1:
            return False
        is_constant = isinstance(op.rhs.defining_op, ConstantOp)
        return is_constant and has_property(op.rhs) and replace_with_value(op, op.lhs, rewriter, False)

    return rewrite


def _compare(op: CompareOp, rewriter: Rewriter) -> bool:
    """Folds a comparison of an integer with itself; moves a constant to the right."""
    if op.compare_type is None or op.compare_type.value not in ("SIGNED", "UNSIGNED"):
        return False
    direction, type = op.comparison_direction.value, result_type(op)
    if op.lhs is op.rhs:
        if not type.has_static_shape:
            return False
        value = DenseElements(type, bytes([direction in ("EQ", "GE", "LE")]))
        rewriter.replace(op, create_constant(value, op, rewriter))
        return True
    left, right = (constant_value(value.defining_op) for value in op.operands)
    if left is None or right is not None:
        return False
    rewriter.set_attribute(op, "comparison_direction", ComparisonDirection(_MIRRORED[direction]))
    rewriter.set_operands(op, [op.rhs, op.lhs])
    return True


def _invert_select(op: SelectOp, rewriter: Rewriter) -> bool:
    negated = op.pred.defining_op
    if not isinstance(negated, hlo.NotOp):
        return False
    return replace_with_new(op, SelectOp, [negated.operand_at(0), op.on_false, op.on_true], rewriter)


def _invert_broadcast_select(op: SelectOp, rewriter: Rewriter) -> bool:
    broadcast = op.pred.defining_op
    if not isinstance(broadcast, BroadcastInDimOp) or not op.pred.has_one_use:
        return False
    negated = broadcast.operand.defining_op
    if not isinstance(negated, hlo.NotOp):
        return False
    new = rewriter.create(
        BroadcastInDimOp,
        negated.operands,
        [op.pred.type],
        dict(broadcast.signature.attributes.entries),
        before=op,
        location=op.lazy_location,
    )
    operands = [new.results[0], op.on_false, op.on_true]
    return replace_with_new(op, SelectOp, operands, rewriter, keeps_attributes=False)


def _select_constant(max_elements: int) -> Any:
    """Replaces a selection whose outcomes or conditions are equal, or whose operands are all constants."""

    def rewrite(op: SelectOp, rewriter: Rewriter) -> bool:
        if op.on_true is op.on_false:
            return replace_with_value(op, op.on_true, rewriter, False)
        condition = constant_of(op.pred)
        if condition is None:
            return False
        if condition.is_splat:
            chosen = op.on_true if condition.data[0] else op.on_false
            return replace_with_value(op, chosen, rewriter, False)
        on_true, on_false = constant_of(op.on_true), constant_of(op.on_false)
        type = result_type(op)
        if on_true is None or on_false is None or condition.type.num_elements > max_elements:
            return False
        if not on_true.type is on_false.type is type:
            return False
        rows = zip(cells(condition), cells(on_true), cells(on_false), strict=True)
        data = b"".join([true if predicate[0] else false for predicate, true, false in rows])
        rewriter.replace(op, create_constant(dense(type, data), op, rewriter))
        return True

    return rewrite


_INVERTED_SELECTS = (
    Pattern(_invert_broadcast_select, "SelectOp_InvertBroadcastPredicateAndSwap", benefit=3),
    Pattern(_invert_select, "SelectOp_InvertPredicateAndSwap", benefit=2),
)

# --- Complex numbers, conversions, tuples, custom calls -----------------------------------------


def _join_complex(op: hlo.ComplexOp, rewriter: Rewriter) -> bool:
    real, imag = (value.defining_op for value in op.operands)
    if not isinstance(real, RealOp) or not isinstance(imag, ImagOp):
        return False
    source = real.operand_at(0)
    return source is imag.operand_at(0) and replace_with_value(op, source, rewriter, False)


def _part_of_complex(index: int) -> Any:
    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        joined = op.operand_at(0).defining_op
        if not isinstance(joined, hlo.ComplexOp):
            return False
        return replace_with_value(op, joined.operand_at(index), rewriter, False)

    return rewrite


def take_element(op: GetTupleElementOp, rewriter: Rewriter) -> bool:
    """Replaces an element of a tuple that is made of its elements."""
    packed = op.operand.defining_op
    return isinstance(packed, TupleOp) and replace_with_value(op, packed.operands[op.index], rewriter, False)


def take_packed(op: TupleOp, rewriter: Rewriter) -> bool:
    """Replaces a tuple of all elements of another one by that."""
    elements = [value.defining_op for value in op.operands]
    first = elements[0] if elements else None
    if not isinstance(first, GetTupleElementOp):
        return False
    for index, element in enumerate(elements):
        if not isinstance(element, GetTupleElementOp) or element.operand is not first.operand:
            return False
        if element.index != index:
            return False
    return replace_with_value(op, first.operand, rewriter, False)


_MHLO_CONFIG = "mhlo.backend_config"
_ORIGINAL, _TYPED_FFI = 1, 4


def _use_typed_ffi(op: CustomCallOp, rewriter: Rewriter) -> bool:
    """Gives a custom call of the original API whose configuration is a dictionary the API that has these."""
    config, old = op.attributes.get(_MHLO_CONFIG), op.signature.attributes.get("backend_config")
    if config is None or op.api_version != _ORIGINAL or old not in (None, StringAttr("")):
        return False
    rewriter.set_attribute(op, "backend_config", config)
    rewriter.set_attribute(op, "api_version", integer(_TYPED_FFI, I32))
    rewriter.remove_attribute(op, _MHLO_CONFIG)
    return True


_ARITHMETIC: dict[type[Op], list[Pattern]] = {
    hlo.AddOp: _commutative("AddOp", Pattern(_neutral(_is_zero, any_constant=True), "AddOp_RemoveNoop")),
    hlo.AndOp: _commutative(
        "AndOp",
        Pattern(_absorbing(_is_integer_zero, keeps=False), "AndOp_FoldToZero", benefit=2),
        Pattern(_neutral(_has_all_bits), "AndOp_RemoveNoop", benefit=2),
    ),
    hlo.MaxOp: _commutative("MaxOp"),
    hlo.MinOp: _commutative("MinOp"),
    hlo.MulOp: _commutative(
        "MulOp",
        Pattern(_absorbing(_is_integer_zero), "MulOp_FoldToZero", benefit=2),
        Pattern(_neutral(_is_one), "MulOp_RemoveNoop", benefit=2),
    ),
    hlo.OrOp: _commutative(
        "OrOp",
        Pattern(_absorbing(_has_all_bits), "OrOp_FoldToOne", benefit=2),
        Pattern(_neutral(_is_integer_zero), "OrOp_RemoveNoop", benefit=2),
    ),
    hlo.SubtractOp: [
        Pattern(_neutral(_is_zero), "SubtractOp_RemoveNoop", benefit=2),
        Pattern(_cancel, "SubtractOp_FoldToZero"),
    ],
    hlo.XorOp: _commutative(
        "XorOp",
        Pattern(_cancel, "XorOp_FoldToZero"),
        Pattern(_neutral(_is_integer_zero, any_constant=True, keeps=False), "XorOp_RemoveNoop"),
    ),
    CompareOp: [
        Pattern(_compare_boolean("EQ", _has_all_bits), "CompareOp_EqBooleanTrue", benefit=2),
        Pattern(_compare_boolean("NE", _is_integer_zero), "CompareOp_NeBooleanFalse", benefit=2),
        Pattern(_compare, "CompareOpCanon"),
    ],
    ConvertOp: [Pattern(remove_noop, "ConvertOp_RemoveNoop")],
    CustomCallOp: [Pattern(_use_typed_ffi, "CustomCallUnregisteredBackendConfigToFfi")],
    GetTupleElementOp: [Pattern(take_element, "GetTupleElementOp_UnpackTuple", benefit=2)],
    ImagOp: [Pattern(_part_of_complex(1), "ImagOp_CancelOutComposedOps", benefit=2)],
    RealOp: [Pattern(_part_of_complex(0), "RealOp_CancelOutComposedOps", benefit=2)],
    TupleOp: [Pattern(take_packed, "TupleIsRepacking")],
    hlo.ComplexOp: [Pattern(_join_complex, "ComplexOp_CancelOutComposedOps", benefit=3)],
}
