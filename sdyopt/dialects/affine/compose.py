"""Affine maps with what they are applied to: composing them, and one form for those that are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sdyopt.ir.affine import (
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineOperator,
    AffineSymbol,
    add,
    ceil_divide,
    constant,
    floor_divide,
    modulo,
    multiply,
)
from sdyopt.ir.folding import constant_value
from sdyopt.ir.numeric_attributes import IntegerAttr
from sdyopt.ir.traits import AFFINE_SCOPE
from sdyopt.ir.value import BlockArgument, OpResult, Value

_BUILD: dict[AffineOperator, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    AffineOperator.ADD: add,
    AffineOperator.MULTIPLY: multiply,
    AffineOperator.MODULO: modulo,
    AffineOperator.FLOOR_DIVIDE: floor_divide,
    AffineOperator.CEIL_DIVIDE: ceil_divide,
}


@dataclass(frozen=True)
class AppliedMap:
    """A map of one result and its operands, dimensions first."""

    map: AffineMapAttr
    operands: tuple[Value, ...]


def substitute(expression: AffineExpr, new: Callable[[AffineExpr], AffineExpr]) -> AffineExpr:
    """The expression with something else for its dimensions and symbols."""
    if isinstance(expression, AffineDim | AffineSymbol):
        return new(expression)
    if not isinstance(expression, AffineBinary):
        return expression
    lhs, rhs = substitute(expression.lhs, new), substitute(expression.rhs, new)
    return _BUILD[expression.operator](lhs, rhs)


def partial_constant(map: AffineMapAttr, numbers: Sequence[int | None]) -> list[AffineExpr]:
    """The results of a map some of whose operands are known."""

    def known(expression: AffineExpr) -> AffineExpr:
        assert isinstance(expression, AffineDim | AffineSymbol)
        is_dim = isinstance(expression, AffineDim)
        number = numbers[expression.position + (0 if is_dim else map.num_dims)]
        return expression if number is None else constant(number)

    return [substitute(expression, known) for expression in map.results]


def is_symbol(value: Value) -> bool:
    """Whether a value does not change within the function: it belongs to its top level, or is constant."""
    if isinstance(value, BlockArgument):
        owner = value.owner.parent_op
        return owner is not None and AFFINE_SCOPE in owner.traits
    assert isinstance(value, OpResult)
    op = value.op
    if op.parent_op is not None and AFFINE_SCOPE in op.parent_op.traits:
        return True
    if constant_value(op) is not None:
        return True
    return op.name == "affine.apply" and all(is_symbol(operand) for operand in op.operands)


def canonical(applied: AppliedMap) -> AppliedMap:
    """The map composed with those that make its operands, in one form for all that are equal."""
    while (composed := _composed(applied)) is not None:
        applied = composed
    map, operands = applied.map, applied.operands
    dims: list[Value] = []
    symbols: list[Value] = []
    names: dict[AffineExpr, AffineExpr] = {}
    used = _used(map.results[0])
    for kind, position, value in _operands_of(map, operands):
        old: AffineExpr = kind(position)
        known = constant_value(value.defining_op)
        if old not in used:
            continue
        if isinstance(known, IntegerAttr):
            names[old] = constant(known.value)
        elif kind is AffineSymbol or is_symbol(value):
            if value not in symbols:
                symbols.append(value)
            names[old] = AffineSymbol(symbols.index(value))
        else:
            if value not in dims:
                dims.append(value)
            names[old] = AffineDim(dims.index(value))
    # Symbols that were symbols come before those that were dimensions.
    order = _symbols_first(map, operands, symbols, used)
    renumbered = {AffineSymbol(old): AffineSymbol(order.index(value)) for old, value in enumerate(symbols)}
    names = {old: renumbered.get(new, new) for old, new in names.items()}  # type: ignore[call-overload]
    expression = simplified(substitute(map.results[0], lambda old: names[old]))
    return AppliedMap(AffineMapAttr(len(dims), len(order), (expression,)), (*dims, *order))


def _symbols_first(
    map: AffineMapAttr, operands: tuple[Value, ...], symbols: list[Value], used: set[AffineExpr]
) -> list[Value]:
    old = [v for p, v in enumerate(operands[map.num_dims :]) if AffineSymbol(p) in used]
    ordered = [value for value in dict.fromkeys(old) if value in symbols]
    return ordered + [value for value in symbols if value not in ordered]


def _operands_of(
    map: AffineMapAttr, operands: tuple[Value, ...]
) -> list[tuple[type[AffineDim] | type[AffineSymbol], int, Value]]:
    dims = [(AffineDim, i, value) for i, value in enumerate(operands[: map.num_dims])]
    symbols = [(AffineSymbol, i, value) for i, value in enumerate(operands[map.num_dims :])]
    return [*dims, *symbols]


def _used(expression: AffineExpr) -> set[AffineExpr]:
    if isinstance(expression, AffineBinary):
        return _used(expression.lhs) | _used(expression.rhs)
    return {expression} if isinstance(expression, AffineDim | AffineSymbol) else set()


def _composed(applied: AppliedMap) -> AppliedMap | None:
    """The map with the maps of its operands put in; None if no operand has one."""
    map, operands = applied.map, applied.operands
    if not any(_applies(value) for value in operands):
        return None
    dims: list[Value] = []
    symbols: list[Value] = []
    names: dict[AffineExpr, AffineExpr] = {}
    inner: list[tuple[AffineExpr, AppliedMap]] = []
    for kind, position, value in _operands_of(map, operands):
        found = _applies(value)
        if found is not None:
            inner.append((kind(position), found))
        elif kind is AffineDim:
            names[kind(position)] = AffineDim(len(dims))
            dims.append(value)
        else:
            names[kind(position)] = AffineSymbol(len(symbols))
            symbols.append(value)
    for old, found in inner:
        renamed: dict[AffineExpr, AffineExpr] = {}
        for kind, position, value in _operands_of(found.map, found.operands):
            # What is put in for a symbol is made of symbols.
            if kind is AffineDim and isinstance(old, AffineDim):
                renamed[kind(position)] = AffineDim(len(dims))
                dims.append(value)
            else:
                renamed[kind(position)] = AffineSymbol(len(symbols))
                symbols.append(value)
        names[old] = substitute(found.map.results[0], renamed.__getitem__)
    expression = substitute(map.results[0], names.__getitem__)
    return AppliedMap(AffineMapAttr(len(dims), len(symbols), (expression,)), (*dims, *symbols))


def _applies(value: Value) -> AppliedMap | None:
    op = value.defining_op
    if op is None or op.name != "affine.apply":
        return None
    map = op.signature.map
    return AppliedMap(map, tuple(op.operands))


def simplified(expression: AffineExpr) -> AffineExpr:
    """A sum of multiples of dimensions and symbols in their order; any other expression as it is."""
    terms = _linear(expression)
    if terms is None:
        return expression
    total: AffineExpr = constant(0)
    parts = sorted((t for t in terms if t is not None), key=_position)
    for part in parts:
        if terms[part]:
            total = add(total, multiply(part, constant(terms[part])))
    return add(total, constant(terms.get(None, 0)))


def _position(part: AffineExpr | None) -> tuple[bool, int]:
    assert isinstance(part, AffineDim | AffineSymbol)
    return isinstance(part, AffineSymbol), part.position


def _linear(expression: AffineExpr) -> dict[AffineExpr | None, int] | None:
    """The factor of each dimension and symbol, and the number that is added, under None."""
    if isinstance(expression, AffineConstant):
        return {None: expression.value}
    if isinstance(expression, AffineDim | AffineSymbol):
        return {expression: 1}
    assert isinstance(expression, AffineBinary)
    lhs, rhs = _linear(expression.lhs), _linear(expression.rhs)
    if lhs is None or rhs is None:
        return None
    if expression.operator is AffineOperator.ADD:
        return {part: lhs.get(part, 0) + rhs.get(part, 0) for part in [*lhs, *rhs]}
    if expression.operator is AffineOperator.MULTIPLY and isinstance(expression.rhs, AffineConstant):
        return {part: factor * expression.rhs.value for part, factor in lhs.items()}
    return None
