"""Applied affine maps: composition and canonicalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.affine import (
    MAX_DEPTH,
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
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import TypeConstraint, of_class
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_fields import attr, operands
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import AFFINE_SCOPE
from sdyopt.mlir.ir.types import INDEX, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

_BUILD: dict[AffineOperator, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    AffineOperator.ADD: add,
    AffineOperator.MULTIPLY: multiply,
    AffineOperator.MODULO: modulo,
    AffineOperator.FLOOR_DIVIDE: floor_divide,
    AffineOperator.CEIL_DIVIDE: ceil_divide,
}


# Limits of a composed map. Its text and its operands can double with each map composed.
_MAX_SIZE = 1_000
_MAX_OPERANDS = 1_000

INDEX_VALUE = TypeConstraint[Type]("index", lambda type: type is INDEX)


class AffineApply(Op):
    """Base of the operation that applies a map: affine.apply."""

    __slots__ = ()

    map = attr(of_class(AffineMapAttr, "AffineMap attribute"))
    map_operands = operands(INDEX_VALUE)


@dataclass(frozen=True)
class AppliedMap:
    """A map with one result, and its operands: dimensions first, then symbols."""

    map: AffineMapAttr
    operands: tuple[Value, ...]


def substitute(expression: AffineExpr, replace: Callable[[AffineExpr], AffineExpr]) -> AffineExpr:
    """Replaces the dimensions and symbols of an expression; visits a shared subexpression once."""

    @cache
    def rebuild(expression: AffineExpr) -> AffineExpr:
        if isinstance(expression, AffineDim | AffineSymbol):
            return replace(expression)
        if not isinstance(expression, AffineBinary):
            return expression
        return _BUILD[expression.operator](rebuild(expression.lhs), rebuild(expression.rhs))

    return rebuild(expression)


def fold_operands(map: AffineMapAttr, constants: Sequence[int | None]) -> list[AffineExpr]:
    """The results of a map with constant operands folded. `constants` has None for the other operands."""

    def fold(expression: AffineExpr) -> AffineExpr:
        assert isinstance(expression, AffineDim | AffineSymbol)
        is_dim = isinstance(expression, AffineDim)
        number = constants[expression.position + (0 if is_dim else map.num_dims)]
        return expression if number is None else constant(number)

    return [substitute(expression, fold) for expression in map.results]


def is_symbol(value: Value) -> bool:
    """Whether a value can be a symbol operand.

    It must be defined at the top level of an affine scope, be constant, or result from an affine.apply of
    such values.
    """
    pending, visited = [value], {value}
    while pending:
        current = pending.pop()
        if _is_symbol_by_definition(current):
            continue
        if not isinstance(current.defining_op, AffineApply):
            return False
        operands = [operand for operand in current.defining_op.operands if operand not in visited]
        pending.extend(operands)
        visited.update(operands)
    return True


def _is_symbol_by_definition(value: Value) -> bool:
    """Whether a value can be a symbol operand, whatever the operands of its defining operation are."""
    if isinstance(value, BlockArgument):
        owner = value.owner.parent_op
        return owner is not None and AFFINE_SCOPE in owner.traits
    assert isinstance(value, OpResult)
    parent = value.op.parent_op
    return (parent is not None and AFFINE_SCOPE in parent.traits) or constant_value(value.op) is not None


def canonicalize(applied: AppliedMap) -> AppliedMap:
    """Composes a map with the maps of affine.apply operands, and folds constants.

    Unused and duplicate operands are removed.
    """
    while (composed := _compose(applied)) is not None:
        applied = composed
    map, operands = applied.map, applied.operands
    dims: list[Value] = []
    symbols: list[Value] = []
    replacements: dict[AffineExpr, AffineExpr] = {}
    used = _used(map.results[0])
    for kind, position, value in _operands_of(map, operands):
        old: AffineExpr = kind(position)
        folded = constant_value(value.defining_op)
        if old not in used:
            continue
        if isinstance(folded, IntegerAttr):
            replacements[old] = constant(folded.value)
        elif kind is AffineSymbol or is_symbol(value):
            if value not in symbols:
                symbols.append(value)
            replacements[old] = AffineSymbol(symbols.index(value))
        else:
            if value not in dims:
                dims.append(value)
            replacements[old] = AffineDim(dims.index(value))
    order = _order_symbols(map, operands, symbols, used)
    renumbered = {AffineSymbol(old): AffineSymbol(order.index(value)) for old, value in enumerate(symbols)}
    replacements = {old: renumbered.get(new, new) for old, new in replacements.items()}  # type: ignore[call-overload]
    expression = simplify(substitute(map.results[0], lambda old: replacements[old]))
    return AppliedMap(AffineMapAttr(len(dims), len(order), (expression,)), (*dims, *order))


def _order_symbols(
    map: AffineMapAttr, operands: tuple[Value, ...], symbols: list[Value], used: set[AffineExpr]
) -> list[Value]:
    """Orders symbol operands: those that are symbols of the map precede those that are its dimensions."""
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
    """The dimensions and symbols in an expression."""
    pending, visited = [expression], {expression}
    while pending:
        current = pending.pop()
        if isinstance(current, AffineBinary):
            operands = {current.lhs, current.rhs} - visited
            pending.extend(operands)
            visited |= operands
    return {each for each in visited if isinstance(each, AffineDim | AffineSymbol)}


def _compose(applied: AppliedMap) -> AppliedMap | None:
    """Substitutes the maps of affine.apply operands.

    None if no affine.apply defines an operand, or if the composed map would be too large.
    """
    map, operands = applied.map, applied.operands
    if not any(_applied_map(value) for value in operands):
        return None
    dims: list[Value] = []
    symbols: list[Value] = []
    replacements: dict[AffineExpr, AffineExpr] = {}
    inner: list[tuple[AffineExpr, AppliedMap]] = []
    for kind, position, value in _operands_of(map, operands):
        inner_map = _applied_map(value)
        if inner_map is not None:
            inner.append((kind(position), inner_map))
        elif kind is AffineDim:
            replacements[kind(position)] = AffineDim(len(dims))
            dims.append(value)
        else:
            replacements[kind(position)] = AffineSymbol(len(symbols))
            symbols.append(value)
    for old, inner_map in inner:
        renumbered: dict[AffineExpr, AffineExpr] = {}
        for kind, position, value in _operands_of(inner_map.map, inner_map.operands):
            # The operands of a map that replaces a symbol are all symbols.
            if kind is AffineDim and isinstance(old, AffineDim):
                renumbered[kind(position)] = AffineDim(len(dims))
                dims.append(value)
            else:
                renumbered[kind(position)] = AffineSymbol(len(symbols))
                symbols.append(value)
        replacements[old] = substitute(inner_map.map.results[0], renumbered.__getitem__)
    expression = substitute(map.results[0], replacements.__getitem__)
    if (
        expression.size > _MAX_SIZE
        or expression.depth > MAX_DEPTH
        or len(dims) + len(symbols) > _MAX_OPERANDS
    ):
        return None
    return AppliedMap(AffineMapAttr(len(dims), len(symbols), (expression,)), (*dims, *symbols))


def _applied_map(value: Value) -> AppliedMap | None:
    op = value.defining_op
    return AppliedMap(op.map, tuple(op.operands)) if isinstance(op, AffineApply) else None


def simplify(expression: AffineExpr) -> AffineExpr:
    """Merges the terms of a linear expression, and orders them by position; keeps any other expression."""
    terms = _linear_terms(expression)
    if terms is None:
        return expression
    total: AffineExpr = constant(0)
    for variable in sorted((term for term in terms if term is not None), key=_position):
        if terms[variable]:
            total = add(total, multiply(variable, constant(terms[variable])))
    return add(total, constant(terms.get(None, 0)))


def _position(variable: AffineExpr) -> tuple[bool, int]:
    assert isinstance(variable, AffineDim | AffineSymbol)
    return isinstance(variable, AffineSymbol), variable.position


def _linear_terms(expression: AffineExpr) -> dict[AffineExpr | None, int] | None:
    """The coefficient of each dimension and symbol, and the constant under None; None if not linear."""

    @cache
    def terms_of(expression: AffineExpr) -> dict[AffineExpr | None, int] | None:
        if isinstance(expression, AffineConstant):
            return {None: expression.value}
        if isinstance(expression, AffineDim | AffineSymbol):
            return {expression: 1}
        assert isinstance(expression, AffineBinary)
        lhs, rhs = terms_of(expression.lhs), terms_of(expression.rhs)
        if lhs is None or rhs is None:
            return None
        if expression.operator is AffineOperator.ADD:
            return {term: lhs.get(term, 0) + rhs.get(term, 0) for term in [*lhs, *rhs]}
        if expression.operator is AffineOperator.MULTIPLY and isinstance(expression.rhs, AffineConstant):
            return {term: factor * expression.rhs.value for term, factor in lhs.items()}
        return None

    return terms_of(expression)
