"""Reading affine maps and integer sets."""

from __future__ import annotations

from typing import Any

from sdyopt.ir.affine import (
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
from sdyopt.syntax.pieces.reader import Reader, action

# Operators nested deeper than this are refused: whoever walks an expression may recurse.
_MAX_DEPTH = 200
_LARGEST_CONSTANT = (1 << 63) - 1


@action("affine_map")
@action("affine_set")
def _affine(_reader: Reader, parts: list[Any], _places: list[int]) -> AffineMapAttr | IntegerSetAttr:
    found: AffineMapAttr | IntegerSetAttr = parts[2]
    return found


@action("only_map")
def _only_map(reader: Reader, parts: list[Any], places: list[int]) -> AffineMapAttr:
    if not isinstance(parts[0], AffineMapAttr):
        raise reader.error("expected AffineMap, but got IntegerSet", places[0])
    return parts[0]


@action("only_set")
def _only_set(reader: Reader, parts: list[Any], places: list[int]) -> IntegerSetAttr:
    if not isinstance(parts[0], IntegerSetAttr):
        raise reader.error("expected IntegerSet, but got AffineMap", places[0])
    return parts[0]


@action("affine_space")
def _affine_space(reader: Reader, parts: list[Any], _places: list[int]) -> tuple[int, int]:
    dimensions, symbols = parts[0], parts[1] if len(parts) == 2 else []
    names: dict[str, AffineExpr] = {}
    meanings: list[AffineExpr] = [AffineDim(position) for position in range(len(dimensions))]
    meanings += [AffineSymbol(position) for position in range(len(symbols))]
    for (name, place), meaning in zip([*dimensions, *symbols], meanings, strict=True):
        if name in names:
            raise reader.error(f"redefinition of identifier '{name}'", place)
        names[name] = meaning
    reader.affine_names = names
    return len(dimensions), len(symbols)


@action("map")
def _map(_reader: Reader, parts: list[Any], _places: list[int]) -> AffineMapAttr:
    num_dims, num_symbols = parts[0]
    return AffineMapAttr(num_dims, num_symbols, tuple(parts[3]) if len(parts) == 5 else ())


@action("set")
def _set(_reader: Reader, parts: list[Any], _places: list[int]) -> IntegerSetAttr:
    # A set without constraints is written as one that always holds.
    constraints = tuple(parts[3]) if len(parts) == 5 else ((AffineConstant(0), True),)
    num_dims, num_symbols = parts[0]
    return IntegerSetAttr(num_dims, num_symbols, constraints)


@action("at_least")
def _at_least(_reader: Reader, parts: list[Any], _places: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[0], parts[3]), False


@action("at_most")
def _at_most(_reader: Reader, parts: list[Any], _places: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[3], parts[0]), False


@action("equal")
def _equal(_reader: Reader, parts: list[Any], _places: list[int]) -> tuple[AffineExpr, bool]:
    return subtract(parts[0], parts[3]), True


@action("affine_constant")
def _constant(reader: Reader, parts: list[Any], places: list[int]) -> AffineExpr:
    digits = parts[0]
    value = int(digits[:40], 16 if digits[1:2] == "x" else 10)
    if value > _LARGEST_CONSTANT:
        raise reader.error("constant too large for index", places[0])
    return AffineConstant(value)


@action("affine_name")
def _name(reader: Reader, parts: list[Any], places: list[int]) -> AffineExpr:
    expression = reader.affine_names.get(parts[0])
    if expression is None:
        raise reader.misplaced("use of undeclared identifier", places[0])
    return expression


@action("negate")
def _negate(reader: Reader, parts: list[Any], _places: list[int]) -> AffineExpr:
    return _bounded(reader, negate(parts[1]))


@action("add")
def _add(reader: Reader, parts: list[Any], _places: list[int]) -> AffineExpr:
    return _bounded(reader, add(parts[0], parts[2]))


@action("subtract")
def _subtract(reader: Reader, parts: list[Any], _places: list[int]) -> AffineExpr:
    return _bounded(reader, subtract(parts[0], parts[2]))


@action("multiply")
def _multiply(reader: Reader, parts: list[Any], places: list[int]) -> AffineExpr:
    if not parts[0].is_symbolic and not parts[2].is_symbolic:
        message = "at least one of the multiply operands has to be either a constant or symbolic"
        raise reader.error(f"non-affine expression: {message}", places[1])
    return _bounded(reader, multiply(parts[0], parts[2]))


_DIVISIONS = {"floordiv": floor_divide, "ceildiv": ceil_divide, "mod": modulo}


@action("floor_divide")
@action("ceil_divide")
@action("modulo")
def _divide(reader: Reader, parts: list[Any], places: list[int]) -> AffineExpr:
    lhs, operator, rhs = parts
    if not rhs.is_symbolic:
        message = f"right operand of {operator} has to be either a constant or symbolic"
        raise reader.error(f"non-affine expression: {message}", places[1])
    # Division of a symbol by itself, which only the construction of a map simplifies.
    if isinstance(lhs, AffineSymbol) and lhs is rhs:
        return AffineConstant(int(operator != AffineOperator.MODULO.value))
    return _bounded(reader, _DIVISIONS[operator](lhs, rhs))


def _bounded(reader: Reader, expression: AffineExpr) -> AffineExpr:
    if isinstance(expression, AffineBinary) and expression.depth > _MAX_DEPTH:
        raise reader.error_ahead("affine expression is too large")
    return expression
