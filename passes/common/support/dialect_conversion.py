"""Dialect conversion: replaces all operations of one class, in the order of MLIR's conversion driver.

The result is that of replacing the operations one after the other, except for the order of use lists, on
which later passes depend: uses by new and by visited operations come first, in program order, and results are
replaced only after all patterns have run. Operations that fold are folded too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.cse import fold
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.value import Value

ConvertedOp = TypeVar("ConvertedOp", bound=Op)


@dataclass(frozen=True, slots=True)
class ConversionPattern(Generic[ConvertedOp]):
    """Converts the operations of one class.

    `convert` takes an operation, its converted operands and the rewriter. It inserts new operations before
    the old one and returns the replacements of its results. Operations for which `is_legal` holds are kept.
    """

    op_class: type[ConvertedOp]
    convert: Callable[[ConvertedOp, Sequence[Value], Rewriter], Sequence[Value]]
    is_legal: Callable[[ConvertedOp], bool] = lambda op: False


def convert(
    root: Op,
    pattern: ConversionPattern[ConvertedOp] | None,
    rewriter: Rewriter,
    legal: Collection[type[Op]] = (),
) -> None:
    """Folds the operations in `root` and converts them by a pattern, except those of `legal` classes."""
    replaced: dict[Op, Sequence[Value]] = {}
    mapping: dict[Value, Value] = {}
    converted_class = () if pattern is None else pattern.op_class
    for op in list(root.walk()):
        if type(op) in legal or (pattern and isinstance(op, pattern.op_class) and pattern.is_legal(op)):
            continue
        rewriter.refresh_uses(op)
        if op.fold is None and not isinstance(op, converted_class):
            continue
        values = _replacement(op, pattern, mapping, rewriter)
        if values is not None:
            replaced[op] = values
            mapping.update(zip(op.results, values, strict=True))
    for op, values in replaced.items():
        for result, value in zip(op.results, values, strict=True):
            rewriter.replace_all_uses(result, _final_value(value, mapping, op))
    for op in replaced:
        rewriter.erase(op)


def _final_value(value: Value, mapping: Mapping[Value, Value], op: Op) -> Value:
    """The replacement that is not replaced itself: a pattern may return a value that is replaced later."""
    visited: set[Value] = set()
    while value in mapping:
        if value in visited:
            # Possible in a graph region, where operations may use their own results.
            raise op.op_error("cannot be replaced: its replacement is its own result")
        visited.add(value)
        value = mapping[value]
    return value


def _replacement(
    op: Op, pattern: ConversionPattern[ConvertedOp] | None, mapping: Mapping[Value, Value], rewriter: Rewriter
) -> Sequence[Value] | None:
    folded = _fold(op, rewriter)
    if folded is not None:
        return [mapping.get(value, value) for value in folded]
    if pattern is None or not isinstance(op, pattern.op_class):
        return None
    return pattern.convert(op, [mapping.get(value, value) for value in op.operands], rewriter)


# An operation is folded in place a few times, if there is an end of it.
_MOST_FOLDS = 100


def _fold(op: Op, rewriter: Rewriter) -> list[Value] | None:
    """The values that an operation folds to; None if it does not fold to values."""
    if op.fold is None or CONSTANT_LIKE in op.traits:
        return None
    folded = fold(op, rewriter)
    for _ in range(_MOST_FOLDS):
        if folded is None or folded:
            break
        folded = fold(op, rewriter)  # an empty result: folded in place, may fold again
    values = [value for value in folded or () if isinstance(value, Value)]
    return values if folded and len(values) == len(folded) else None
