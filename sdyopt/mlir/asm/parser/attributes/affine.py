"""Semantic actions of affine maps and integer sets."""

from __future__ import annotations

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
