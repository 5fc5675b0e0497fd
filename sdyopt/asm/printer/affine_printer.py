"""Prints affine maps and integer sets."""

from __future__ import annotations

from sdyopt.ir.affine import (
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineOperator,
    AffineSymbol,
    IntegerSetAttr,
)


def map_text(map: AffineMapAttr) -> str:
    """`affine_map<(d0)[s0] -> (d0 + s0)>`."""
    results = ", ".join(expression_text(result) for result in map.results)
    return f"affine_map<{_dims_and_symbols(map.num_dims, map.num_symbols)} -> ({results})>"


def set_text(set: IntegerSetAttr) -> str:
    """`affine_set<(d0) : (d0 - 1 >= 0)>`."""
    constraints = ", ".join(
        f"{expression_text(expression)} {'==' if is_equality else '>='} 0"
        for expression, is_equality in set.constraints
    )
    return f"affine_set<{_dims_and_symbols(set.num_dims, set.num_symbols)} : ({constraints})>"


def expression_text(expression: AffineExpr, is_operand: bool = False) -> str:
    """The expression, in parentheses if it is a binary expression and `is_operand`."""
    if isinstance(expression, AffineDim):
        return f"d{expression.position}"
    if isinstance(expression, AffineSymbol):
        return f"s{expression.position}"
    if isinstance(expression, AffineConstant):
        return str(expression.value)
    assert isinstance(expression, AffineBinary)
    text = _sum(expression) if expression.operator is AffineOperator.ADD else _product(expression)
    return f"({text})" if is_operand else text


def _dims_and_symbols(num_dims: int, num_symbols: int) -> str:
    dims = ", ".join(f"d{position}" for position in range(num_dims))
    symbols = ", ".join(f"s{position}" for position in range(num_symbols))
    return f"({dims})[{symbols}]" if symbols else f"({dims})"


def _product(expression: AffineBinary) -> str:
    lhs = expression_text(expression.lhs, is_operand=True)
    factor = expression.rhs
    is_product = expression.operator is AffineOperator.MULTIPLY
    if is_product and isinstance(factor, AffineConstant) and factor.value == -1:
        return f"-{lhs}"
    return f"{lhs} {expression.operator.value} {expression_text(factor, is_operand=True)}"


def _sum(expression: AffineBinary) -> str:
    """A sum, in which negative terms are subtracted."""
    lhs, rhs = expression_text(expression.lhs), expression.rhs
    if isinstance(rhs, AffineConstant) and rhs.value < 0:
        return f"{lhs} - {-rhs.value}"
    if isinstance(rhs, AffineBinary) and rhs.operator is AffineOperator.MULTIPLY:
        factor = rhs.rhs
        if isinstance(factor, AffineConstant) and factor.value == -1:
            is_sum = isinstance(rhs.lhs, AffineBinary) and rhs.lhs.operator is AffineOperator.ADD
            return f"{lhs} - {expression_text(rhs.lhs, is_operand=is_sum)}"
        if isinstance(factor, AffineConstant) and factor.value < -1:
            return f"{lhs} - {expression_text(rhs.lhs, is_operand=True)} * {-factor.value}"
    return f"{lhs} + {expression_text(rhs)}"
