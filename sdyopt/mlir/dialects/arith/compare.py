"""arith.cmpi, cmpf, select and constant."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import isnan

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom, declare_syntax
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import WRONG_ENUM
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import (
    BOOL_LIKE,
    FAST_MATH,
    FLOAT_LIKE,
    INTEGER_LIKE,
    NO_FAST_MATH,
    Constants,
    FoldResult,
    arith,
    element_type,
    float_of,
    fold_integers,
    signed,
    splat,
    splat_of,
    unsigned,
    with_element,
)
from sdyopt.mlir.dialects.arith.floats import ExtUIOp
from sdyopt.mlir.dialects.arith.integers import MaxSIOp, MaxUIOp, MinSIOp, MinUIOp, XOrIOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, StringAttr, dictionary
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    DenseResource,
    FloatAttr,
    IntegerAttr,
    SparseElements,
    integer,
)
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_fields import OperandField, attr, operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, NOT_THE_SAME, are_compatible_shapes
from sdyopt.mlir.ir.traits import ANY_TYPE, CONSTANT_LIKE, PURE, AttrConstraint, Trait, any_attribute
from sdyopt.mlir.ir.types import (
    I1,
    I64,
    NONE,
    IndexType,
    IntegerType,
    RankedTensor,
    ShapedType,
    Type,
    UnrankedTensor,
    VectorType,
    element_of,
)
from sdyopt.mlir.ir.value import LazyLocation, Value


class _Predicate(NamedTuple):
    keyword: str
    compare: Callable[[int, int], bool]
    is_unsigned: bool
    # The predicate for swapped operands.
    swapped: str


_PREDICATES = (
    _Predicate("eq", operator.eq, False, "eq"),
    _Predicate("ne", operator.ne, False, "ne"),
    _Predicate("slt", operator.lt, False, "sgt"),
    _Predicate("sle", operator.le, False, "sge"),
    _Predicate("sgt", operator.gt, False, "slt"),
    _Predicate("sge", operator.ge, False, "sle"),
    _Predicate("ult", operator.lt, True, "ugt"),
    _Predicate("ule", operator.le, True, "uge"),
    _Predicate("ugt", operator.gt, True, "ult"),
    _Predicate("uge", operator.ge, True, "ule"),
)
_KEYWORDS = [predicate.keyword for predicate in _PREDICATES]

_FLOAT_KEYWORDS = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


def _declare_predicate(keywords: Sequence[str]) -> AttrConstraint[int]:
    """The constraint of a predicate, an `i64` that is written as a keyword."""
    numbers = ", ".join(map(str, range(len(keywords))))
    expected = WRONG_ENUM(attribute="predicate", names=", ".join(keywords))

    def parse(op_parser: OpAsmParser) -> Attribute:
        offset = op_parser.skip_trivia()
        keyword = op_parser.accept_keyword() or op_parser.accept_string()
        if keyword not in keywords:
            raise op_parser.error(expected, offset)
        return integer(keywords.index(keyword), I64)

    constraint = AttrConstraint[int](
        f"allowed 64-bit signless integer cases: {numbers}",
        lambda a: isinstance(a, IntegerAttr) and a.type is I64 and 0 <= a.value < len(keywords),
        lambda a: a.value,
    )
    declare_syntax(constraint, parse, lambda attribute, attribute_printer: keywords[attribute.value])
    return constraint


PREDICATE = _declare_predicate(_KEYWORDS)
_FLOAT_PREDICATE = _declare_predicate(_FLOAT_KEYWORDS)


def predicate_attr(keyword: str) -> IntegerAttr:
    """The attribute of a predicate keyword such as `eq` or `slt`."""
    return integer(_KEYWORDS.index(keyword), I64)


def boolean_like(type: Type) -> Type:
    """The type of the result of comparing values of this type."""
    return with_element(type, I1) if isinstance(type, ShapedType) else I1


def _check_result(signature: OpSignature) -> None:
    lhs, rhs = signature.operand_types
    if lhs is not rhs:
        raise signature.op_error("requires all operands to have the same type")
    if signature.result_types[0] is not boolean_like(lhs):
        raise signature.op_error(
            "failed to verify that result type has i1 element type and same shape as operands"
        )


def _infer_boolean(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
    type, lhs = signature.operand_types[0], signature.op_class.fields["lhs"]
    assert isinstance(lhs, OperandField)
    if not lhs.constraint.accepts(type):
        raise signature.error(
            f"custom op '{signature.name}' 'lhs' must be {lhs.constraint.description}, but got "
            f"'{plain_type(type)}'"
        )
    return [boolean_like(type)]


_RESULT_IS_BOOLEAN = Trait("result-is-boolean", _check_result)


@arith.op("cmpi", PURE, _RESULT_IS_BOOLEAN, ELEMENTWISE)
class CmpIOp(Op):
    """Compares two integers elementwise."""

    predicate = attr(PREDICATE)
    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    out = result(BOOL_LIKE)

    assembly = assembly("$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs, $rhs)")

    infer_result_types = staticmethod(_infer_boolean)

    @property
    def keyword(self) -> str:
        """The predicate, such as `eq` or `slt`."""
        return _KEYWORDS[self.predicate]

    def fold(self, constants: Constants) -> FoldResult:
        _, compare, is_unsigned, swapped = _PREDICATES[self.predicate]
        if self.lhs is self.rhs:
            value = splat(int(compare(0, 0)), self.result_types[0])
            return None if value is None else [value]
        if constants[0] is not None and constants[1] is None:
            self._swap(swapped)
            return []
        type = element_type(constants[0])

        def compute(a: int, b: int) -> int:
            assert type is not None
            read = unsigned if is_unsigned else signed
            return int(compare(read(a, type), read(b, type)))

        value = fold_integers(constants, compute, I1)
        return None if value is None else [value]

    def _swap(self, swapped: str) -> None:
        """Swaps operands and predicate in place, so that the constant is on the right; a fold may do this."""
        left, right = self.operands
        for use, new in zip(self.operand_uses, (right, left), strict=True):
            use.unlink()
            use.link(new)
        attributes: DictAttr = self.signature.attributes.with_entry("predicate", predicate_attr(swapped))
        self.signature = self.signature.with_attributes(attributes)


@arith.op("cmpf", PURE, _RESULT_IS_BOOLEAN, ELEMENTWISE)
class CmpFOp(Op):
    """Compares two floating-point numbers elementwise."""

    predicate = attr(_FLOAT_PREDICATE)
    lhs = operand(FLOAT_LIKE)
    rhs = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(BOOL_LIKE)

    assembly = assembly(
        "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs, $rhs)"
    )

    infer_result_types = staticmethod(_infer_boolean)

    def fold(self, constants: Constants) -> FoldResult:
        a, b = constants
        if not isinstance(a, FloatAttr) or not isinstance(b, FloatAttr):
            return None
        left, right = float_of(a), float_of(b)
        assert left is not None and right is not None
        keyword = _FLOAT_KEYWORDS[self.predicate]
        if keyword in ("true", "false"):
            return [integer(int(keyword == "true"), I1)]
        is_unordered = isnan(left) or isnan(right)
        if keyword in ("ord", "uno"):
            return [integer(int(is_unordered is (keyword == "uno")), I1)]
        compare: Callable[[float, float], bool] = getattr(operator, keyword[1:])
        holds = keyword[0] == "u" if is_unordered else compare(left, right)
        return [integer(int(holds), I1)]


_CONSTANT_ATTRIBUTES = (IntegerAttr, FloatAttr, DenseElements, DenseResource, SparseElements)


def _parse_value(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    value = op_parser.attribute()
    if type_of(value) is None:
        raise op_parser.error("invalid kind of attribute specified", offset)
    return value


# Any attribute that has a type.
_TYPED_ATTR = any_attribute("any attribute")
declare_syntax(_TYPED_ATTR, _parse_value, lambda value, attribute_printer: attribute_printer.attribute(value))


def type_of(value: Attribute) -> Type | None:
    """The type of an attribute; None if the attribute is not typed."""
    if isinstance(value, StringAttr):
        return value.type or NONE
    type = getattr(value, "type", None)
    return type if isinstance(type, Type) else None


def _check_same_type(signature: OpSignature) -> None:
    if type_of(signature[ConstantOp.value]) is not signature.result_types[0]:
        raise signature.op_error(NOT_THE_SAME(names="value, result", what="type"))


_SAME_TYPE = Trait("value-has-type-of-result", _check_same_type)


@arith.op("constant", CONSTANT_LIKE, PURE, _SAME_TYPE)
class ConstantOp(Op):
    """A constant number, tensor or vector."""

    value = attr(_TYPED_ATTR)
    out = result(ANY_TYPE)

    assembly = assembly("attr-dict $value")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        type = type_of(signature[ConstantOp.value])
        assert type is not None
        return [type]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        type = signature.result_types[0]
        element = element_of(type)
        if isinstance(element, IntegerType) and not element.is_signless:
            raise signature.op_error("integer return type must be signless")
        if not isinstance(signature[ConstantOp.value], _CONSTANT_ATTRIBUTES):
            raise signature.op_error("value must be an integer, float, or elements attribute")
        value = signature[ConstantOp.value]
        is_scalable = isinstance(type, VectorType) and any(type.scalable)
        if is_scalable and not (isinstance(value, DenseElements) and value.is_splat):
            raise signature.op_error(
                "intializing scalable vectors with elements attribute is not supported unless it's a "
                "vector splat"
            )

    def name_results(self) -> list[tuple[int, str]]:
        value = self.value
        if not isinstance(value, IntegerAttr):
            return [(0, "cst")]
        if value.type is I1:
            return [(0, "true" if value.value else "false")]
        suffix = "" if isinstance(value.type, IndexType) else f"_{plain_type(value.type)}"
        return [(0, f"c{value.value}{suffix}")]


def make_constant(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    """A detached constant; None if the attribute cannot be the value of a constant of this type."""
    if not isinstance(value, _CONSTANT_ATTRIBUTES) or value.type is not type:
        return None
    if isinstance(type, IntegerType) and not type.is_signless:
        return None
    signature = OpSignature(ConstantOp, ConstantOp.name, dictionary({"value": value}), (), (type,))
    return build(signature, (), EMPTY_DICT, location)


arith.materialize_constant = make_constant


_MAPPABLE = (RankedTensor, UnrankedTensor, VectorType)


def _check_condition(signature: OpSignature) -> None:
    condition, type, *_ = signature.operand_types
    if condition is not I1 and not are_compatible_shapes([condition, type]):
        raise signature.op_error("failed to verify that condition is signless i1 or has matching shape")


def _check_values(signature: OpSignature) -> None:
    _, true_type, false_type = signature.operand_types
    if true_type is not false_type or true_type is not signature.result_types[0]:
        raise signature.op_error(NOT_THE_SAME(names="true_value, false_value, result", what="type"))


_MATCHING_CONDITION = Trait("condition-has-shape-of-values", _check_condition)
_SAME_TYPES = Trait("values-have-type-of-result", _check_values)


# What a predicate selects of its own operands, and of these in the other order.
_EXTREMA = {
    **dict.fromkeys(("slt", "sle"), (MinSIOp, MaxSIOp)),
    **dict.fromkeys(("sgt", "sge"), (MaxSIOp, MinSIOp)),
    **dict.fromkeys(("ult", "ule"), (MinUIOp, MaxUIOp)),
    **dict.fromkeys(("ugt", "uge"), (MaxUIOp, MinUIOp)),
}


@arith.op("select", PURE, _SAME_TYPES, _MATCHING_CONDITION, ELEMENTWISE)
class SelectOp(Op):
    """One of two values, or elements of these."""

    condition = operand(BOOL_LIKE)
    true_value = operand(ANY_TYPE)
    false_value = operand(ANY_TYPE)
    out = result(ANY_TYPE)

    def _print_types(self, printer: OpAsmPrinter) -> None:
        condition = self.condition.type
        prefix = f"{printer.type(condition)}, " if isinstance(condition, ShapedType) else ""
        printer.write(f" : {prefix}{printer.type(self.out.type)}")

    @staticmethod
    def _parse_types(op_parser: OpAsmParser) -> None:
        op_parser.expect(":")
        first = op_parser.type()
        is_scalar = not op_parser.accept(",")
        type = first if is_scalar else op_parser.type()
        op_parser.types["condition"] = [I1 if is_scalar else first]
        for name in ("true_value", "false_value", "out"):
            op_parser.types[name] = [type]

    assembly = assembly(
        "$condition `,` $true_value `,` $false_value attr-dict custom<types>",
        types=custom(_parse_types, print=_print_types),
    )

    def _drop_inner(self, rewriter: Rewriter) -> bool:
        """`select(c, select(c, a, b), d)` becomes `select(c, a, d)`, and the same on the other side."""
        values = [self.true_value, self.false_value]
        for index, value in enumerate(values):
            inner = value.defining_op
            if isinstance(inner, SelectOp) and inner.condition is self.condition:
                values[index] = inner.operand_at(1 + index)
        return self._replace(rewriter, SelectOp, [self.condition, *values])

    def _swap(self, rewriter: Rewriter) -> bool:
        """`select(not c, a, b)` becomes `select(c, b, a)`."""
        negation = self.condition.defining_op
        if self.condition.type is not I1 or not isinstance(negation, XOrIOp):
            return False
        if splat_of(constant_value(negation.rhs.defining_op)) != 1:
            return False
        return self._replace(rewriter, SelectOp, [negation.lhs, self.false_value, self.true_value])

    def _extend(self, rewriter: Rewriter) -> bool:
        """`select(c, 1, 0)` becomes `extui(c)`, and with 0 and 1 that of the negated condition."""
        if not isinstance(self.out.type, IntegerType) or not self.out.type.is_signless:
            return False
        values = [splat_of(constant_value(value.defining_op)) for value in self.operands[1:]]
        if values == [1, 0]:
            return self._replace(rewriter, ExtUIOp, [self.condition])
        if values != [0, 1]:
            return False
        if self.out.type is I1:
            return self._replace(rewriter, XOrIOp, [self.condition, self.false_value])
        true = make_constant(integer(1, I1), I1, self.location)
        assert true is not None
        rewriter.insert(true, before=self)
        operands = [self.condition, true.results[0]]
        negation = rewriter.create(XOrIOp, operands, [I1], before=self, location=self.location)
        return self._replace(rewriter, ExtUIOp, negation.results)

    def _order(self, rewriter: Rewriter) -> bool:
        """`select(a < b, a, b)` becomes `minsi(a, b)`, and so on."""
        compare = self.condition.defining_op
        if not isinstance(compare, CmpIOp) or compare.keyword not in _EXTREMA:
            return False
        operands, values = [compare.lhs, compare.rhs], [self.true_value, self.false_value]
        smaller, larger = _EXTREMA[compare.keyword]
        if values == operands:
            return self._replace(rewriter, smaller, operands)
        return values == operands[::-1] and self._replace(rewriter, larger, operands)

    def _replace(self, rewriter: Rewriter, op_class: type[Op], operands: Sequence[Value]) -> bool:
        """Replaces the operation by one of a class, unless the operands are its own."""
        if op_class is SelectOp and list(operands) == list(self.operands):
            return False
        new = rewriter.create(op_class, operands, self.result_types, before=self, location=self.location)
        rewriter.replace(self, new)
        return True

    canonicalizations = (Pattern(_drop_inner), Pattern(_swap), Pattern(_extend), Pattern(_order))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        condition, type = signature.operand_types[0], signature.result_types[0]
        if condition is I1:
            return
        if not isinstance(type, _MAPPABLE):
            raise signature.op_error(
                f"expected condition to be a signless i1, but got '{plain_type(condition)}'"
            )
        expected = with_element(type, I1)
        if condition is not expected:
            raise signature.op_error(
                "expected condition type to have the same shape as the result type, expected "
                f"'{plain_type(expected)}', but got '{plain_type(condition)}'"
            )

    def fold(self, constants: Constants) -> FoldResult:
        if self.true_value is self.false_value:
            return [self.true_value]
        condition = splat_of(constants[0])
        if condition is not None:
            return [self.true_value if condition else self.false_value]
        if self.out.type is I1 and splat_of(constants[1]) == 1 and splat_of(constants[2]) == 0:
            return [self.condition]
        # `select(a == b, a, b)` is b, and `select(a != b, a, b)` is a.
        compare = self.condition.defining_op
        if isinstance(compare, CmpIOp) and compare.keyword in ("eq", "ne"):
            values = {self.true_value, self.false_value}
            if values == {compare.lhs, compare.rhs}:
                return [self.false_value if compare.keyword == "eq" else self.true_value]
        value = fold_integers(constants, lambda c, a, b: a if c else b, element_type(constants[1]))
        return None if value is None else [value]
