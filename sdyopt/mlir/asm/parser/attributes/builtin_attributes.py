"""Semantic actions of builtin attributes other than `dense<…>`, `sparse<…>` and `array<…>`."""

from __future__ import annotations

from typing import Protocol

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.asm.lexical import unescape
from sdyopt.mlir.asm.parser.attributes.element_literals import float_bits, integer_value
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.affine import (
    MAX_DEPTH,
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineOperator,
    AffineSymbol,
    IntegerSetAttr,
    add,
    ceil_divide,
    floor_divide,
    modulo,
    multiply,
    negate,
    subtract,
)
from sdyopt.mlir.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictAttr,
    DistinctAttr,
    LocationAttr,
    StringAttr,
    SymbolRef,
    TypeAttr,
    UnitAttr,
    dictionary,
)
from sdyopt.mlir.ir.builtin_attributes import (
    FALSE,
    TRUE,
    DenseResource,
    FloatAttr,
    IntegerAttr,
    StridedLayout,
)
from sdyopt.mlir.ir.types import DYNAMIC, F64, I64, FloatType, IndexType, IntegerType, ShapedType, Type

_LARGEST_CONSTANT = (1 << 63) - 1


@action("affine_map")
@action("affine_set")
def _affine(_context: ActionContext, parts: Parts, _offsets: list[int]) -> AffineMapAttr | IntegerSetAttr:
    attribute: AffineMapAttr | IntegerSetAttr = parts[2]
    return attribute


@action("only_map")
def _only_map(context: ActionContext, parts: Parts, offsets: list[int]) -> AffineMapAttr:
    if not isinstance(parts[0], AffineMapAttr):
        raise context.error("expected AffineMap, but got IntegerSet", offsets[0])
    return parts[0]


@action("only_set")
def _only_set(context: ActionContext, parts: Parts, offsets: list[int]) -> IntegerSetAttr:
    if not isinstance(parts[0], IntegerSetAttr):
        raise context.error("expected IntegerSet, but got AffineMap", offsets[0])
    return parts[0]


@action("affine_space")
def _affine_space(context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[int, int]:
    dimensions, symbols = parts[0], parts[1] if len(parts) == 2 else []
    names: dict[str, AffineExpr] = {}
    expressions: list[AffineExpr] = [AffineDim(position) for position in range(len(dimensions))]
    expressions += [AffineSymbol(position) for position in range(len(symbols))]
    for (name, offset), expression in zip([*dimensions, *symbols], expressions, strict=True):
        if name in names:
            raise context.error(f"redefinition of identifier '{name}'", offset)
        names[name] = expression
    context.affine_names = names
    return len(dimensions), len(symbols)


@action("map")
def _map(_context: ActionContext, parts: Parts, _offsets: list[int]) -> AffineMapAttr:
    num_dims, num_symbols = parts[0]
    return AffineMapAttr(num_dims, num_symbols, tuple(parts[3]) if len(parts) == 5 else ())


@action("set")
def _set(_context: ActionContext, parts: Parts, _offsets: list[int]) -> IntegerSetAttr:
    # As in MLIR, a set without constraints gets the constraint 0 == 0.
    constraints = tuple(parts[3]) if len(parts) == 5 else ((AffineConstant(0), True),)
    num_dims, num_symbols = parts[0]
    return IntegerSetAttr(num_dims, num_symbols, constraints)


@action("at_least")
def _at_least(_context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[0], parts[3]), False


@action("at_most")
def _at_most(_context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[3], parts[0]), False


@action("equal")
def _equal(_context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[0], parts[3]), True


@action("affine_constant")
def _constant(context: ActionContext, parts: Parts, offsets: list[int]) -> AffineExpr:
    digits = parts[0]
    value = int(digits[:40], 16 if digits[1:2] == "x" else 10)
    if value > _LARGEST_CONSTANT:
        raise context.error("constant too large for index", offsets[0])
    return AffineConstant(value)


@action("affine_name")
def _name(context: ActionContext, parts: Parts, offsets: list[int]) -> AffineExpr:
    expression = context.affine_names.get(parts[0])
    if expression is None:
        raise context.wrong_token_error("use of undeclared identifier", offsets[0])
    return expression


@action("negate")
def _negate(context: ActionContext, parts: Parts, _offsets: list[int]) -> AffineExpr:
    return _bounded(context, negate(parts[1]))


@action("add")
def _add(context: ActionContext, parts: Parts, _offsets: list[int]) -> AffineExpr:
    return _bounded(context, add(parts[0], parts[2]))


@action("subtract")
def _subtract(context: ActionContext, parts: Parts, _offsets: list[int]) -> AffineExpr:
    return _bounded(context, subtract(parts[0], parts[2]))


@action("multiply")
def _multiply(context: ActionContext, parts: Parts, offsets: list[int]) -> AffineExpr:
    if not parts[0].is_symbolic and not parts[2].is_symbolic:
        message = "at least one of the multiply operands has to be either a constant or symbolic"
        raise context.error(f"non-affine expression: {message}", offsets[1])
    return _bounded(context, multiply(parts[0], parts[2]))


_DIVISIONS = {"floordiv": floor_divide, "ceildiv": ceil_divide, "mod": modulo}


@action("floor_divide")
@action("ceil_divide")
@action("modulo")
def _divide(context: ActionContext, parts: Parts, offsets: list[int]) -> AffineExpr:
    lhs, operator, rhs = parts
    if not rhs.is_symbolic:
        message = f"right operand of {operator} has to be either a constant or symbolic"
        raise context.error(f"non-affine expression: {message}", offsets[1])
    # Simplifies the division of a symbol by itself, as MLIR does when it builds a map.
    if isinstance(lhs, AffineSymbol) and lhs is rhs:
        return AffineConstant(int(operator != AffineOperator.MODULO.value))
    return _bounded(context, _DIVISIONS[operator](lhs, rhs))


def _bounded(context: ActionContext, expression: AffineExpr) -> AffineExpr:
    if isinstance(expression, AffineBinary) and expression.depth > MAX_DEPTH:
        raise context.error_at_next_token("affine expression is too large")
    return expression


_LARGEST_INT64 = (1 << 63) - 1


class ElementsLiteral(Protocol):
    """A literal. Its attribute depends on its type, which is written after it or expected, or missing."""

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute: ...


@action("untyped")
def _untyped(context: ActionContext, parts: Parts, _offsets: list[int]) -> Attribute:
    literal: ElementsLiteral = parts[0]
    return literal.attribute_of(context, None)


@action("typed")
def _typed(context: ActionContext, parts: Parts, offsets: list[int]) -> Attribute:
    literal: ElementsLiteral = parts[0]
    context.colon_offset = offsets[1]
    return literal.attribute_of(context, parts[2])


@action("of_type")
def _of_type(context: ActionContext, parts: Parts, _offsets: list[int]) -> Attribute:
    literal: ElementsLiteral = parts[0]
    return literal.attribute_of(context, context.expected_type)


# --- Numbers and strings -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """The digits of a number, their offset, and whether there is a minus before them."""

    digits: str
    offset: int
    is_negative: bool

    def attribute_of(self, context: ActionContext, type: Type | None) -> IntegerAttr | FloatAttr:
        if type is None:
            type = F64 if "." in self.digits else I64
        if isinstance(type, FloatType):
            return FloatAttr(float_bits(context, self.digits, self.is_negative, type, self.offset), type)
        if "." in self.digits:
            raise context.error_at_next_token("floating point value not valid for specified type")
        if not isinstance(type, IntegerType | IndexType):
            raise context.error("integer literal not valid for specified type", self.offset)
        if self.is_negative and isinstance(type, IntegerType) and type.is_unsigned:
            message = "negative integer literal not valid for unsigned integer type"
            raise context.error(message, self.offset)
        value = integer_value(self.digits, self.is_negative, type)
        if value is None:
            raise context.error("integer constant out of range for attribute", self.offset)
        return IntegerAttr(value, type)


@action("integer")
@action("float")
def _number(_context: ActionContext, parts: Parts, offsets: list[int]) -> NumberLiteral:
    return NumberLiteral(parts[0], offsets[0], False)


@action("negative_integer")
@action("negative_float")
def _negative_number(_context: ActionContext, parts: Parts, offsets: list[int]) -> NumberLiteral:
    return NumberLiteral(parts[1], offsets[1], True)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """The value of a string literal."""

    value: str

    def attribute_of(self, _context: ActionContext, type: Type | None) -> StringAttr:
        return StringAttr(self.value, type)


@action("string")
def _string(_context: ActionContext, parts: Parts, _offsets: list[int]) -> StringLiteral:
    return StringLiteral(unescape(parts[0][1:-1]))


@action("true")
def _true(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> IntegerAttr:
    return TRUE


@action("false")
def _false(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> IntegerAttr:
    return FALSE


@action("unit")
def _unit(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> UnitAttr:
    return UNIT


# --- Symbols, arrays, dictionaries ---------------------------------------------------------------


@action("symbol")
def _symbol(_context: ActionContext, parts: Parts, _offsets: list[int]) -> SymbolRef:
    root, *nested = map(_symbol_name, parts[0])
    return SymbolRef(root, tuple(nested))


def _symbol_name(text: str) -> str:
    return unescape(text[2:-1]) if text.startswith('@"') else text[1:]


@action("type_attribute")
def _type_attribute(_context: ActionContext, parts: Parts, _offsets: list[int]) -> TypeAttr:
    return TypeAttr(parts[0])


@action("array")
def _array(_context: ActionContext, parts: Parts, _offsets: list[int]) -> ArrayAttr:
    return ArrayAttr(tuple(parts[1]) if len(parts) == 3 else ())


@action("key")
def _key(_context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[str, int]:
    return parts[0], offsets[0]


@action("quoted_key")
def _quoted_key(context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[str, int]:
    name = unescape(parts[0][1:-1])
    if not name:
        raise context.error("expected valid attribute name", offsets[0])
    return name, offsets[0]


@action("unit_entry")
def _unit_entry(_context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[str, int, Attribute]:
    name, offset = parts[0]
    return name, offset, UNIT


@action("entry")
def _entry(_context: ActionContext, parts: Parts, _offsets: list[int]) -> tuple[str, int, Attribute]:
    name, offset = parts[0]
    return name, offset, parts[2]


@action("dictionary")
def _dictionary(context: ActionContext, parts: Parts, _offsets: list[int]) -> DictAttr:
    entries: dict[str, Attribute] = {}
    for name, offset, value in parts[1] if len(parts) == 3 else ():
        if name in entries:
            raise context.error(f"duplicate key '{name}' in dictionary attribute", offset)
        entries[name] = value
    return dictionary(entries)


# --- Other attributes ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResourceLiteral:
    """The key of a dense resource."""

    key: str

    def attribute_of(self, context: ActionContext, type: Type | None) -> DenseResource:
        if type is None:
            raise context.wrong_token_error("expected ':'", context.next_offset)
        if not isinstance(type, ShapedType):
            raise context.error("`dense_resource` expected a shaped type", context.colon_offset)
        return DenseResource(type, self.key)


@action("dense_resource")
def _dense_resource(_context: ActionContext, parts: Parts, _offsets: list[int]) -> ResourceLiteral:
    return ResourceLiteral(parts[2])


@action("quoted_word")
def _quoted_word(_context: ActionContext, parts: Parts, _offsets: list[int]) -> str:
    return unescape(parts[0][1:-1])


@action("distinct")
def _distinct(context: ActionContext, parts: Parts, offsets: list[int]) -> DistinctAttr:
    digits = parts[2]
    id = int(digits, 0) if len(digits) < 30 and digits[1:2] == "x" else int(digits[:30])
    if id >> 64:
        raise context.error("expected an unsigned 64-bit integer", offsets[3])
    attribute = parts[5] if len(parts) == 7 else UNIT
    distinct = context.distinct.setdefault(id, DistinctAttr(id, attribute))
    if distinct.attribute is not attribute:
        text = context.attribute_printer.attribute(distinct.attribute)
        raise context.error(f"referenced attribute does not match previous definition: {text}", offsets[0])
    return distinct


@action("location_attribute")
def _location_attribute(_context: ActionContext, parts: Parts, _offsets: list[int]) -> LocationAttr:
    return LocationAttr(parts[2])


@action("strided")
def _strided(_context: ActionContext, parts: Parts, _offsets: list[int]) -> StridedLayout:
    return StridedLayout(tuple(parts[3]) if len(parts) == 6 else (), parts[-1])


@action("no_offset")
def _no_offset(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> int:
    return 0


@action("offset")
def _offset(_context: ActionContext, parts: Parts, _offsets: list[int]) -> int:
    offset: int = parts[3]
    return offset


@action("dynamic_stride")
def _dynamic_stride(_context: ActionContext, _parts: Parts, _offsets: list[int]) -> int:
    return DYNAMIC


@action("stride")
def _stride(context: ActionContext, parts: Parts, offsets: list[int]) -> int:
    return _int64(context, parts[0], offsets[0])


@action("negative_stride")
def _negative_stride(context: ActionContext, parts: Parts, offsets: list[int]) -> int:
    return -_int64(context, parts[1], offsets[0])


def _int64(context: ActionContext, digits: str, offset: int) -> int:
    value = int(digits[:40], 16 if digits[1:2] == "x" else 10)
    if value > _LARGEST_INT64:
        raise context.error("expected a 64-bit signed integer or '?'", offset)
    return value
