"""Replacing all operations of some classes, in the order of MLIR's dialect conversion.

What one gets is the same as with one replacement after the other, but for the order in which values list
their uses: first come those by new operations and by operations that were looked at, in program order, and
results are put to use only when everything has been made. Later passes visit uses in this order, so it is
kept. An operation that can be folded is folded on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sdyopt.ir.folding import fold
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import CONSTANT_LIKE
from sdyopt.ir.value import Value

# (operation, its operands as they will be, rewriter) -> what to put in place of its results. New
# operations stand before the old one.
Convert = Callable[[Any, Sequence[Value], Rewriter], Sequence[Value]]


def convert(
    root: Op,
    patterns: Mapping[type[Op], Convert],
    rewriter: Rewriter,
    legal: Collection[type[Op]] = (),
    is_legal: Callable[[Any], bool] = lambda op: False,
) -> None:
    """Replaces the operations inside `root` that have a pattern.

    Operations of `legal` classes, and those with a pattern for which `is_legal` holds, are not looked at.
    """
    replaced: dict[Op, Sequence[Value]] = {}
    latest: dict[Value, Value] = {}
    for op in list(root.walk()):
        if type(op) in legal or (type(op) in patterns and is_legal(op)):
            continue
        rewriter.refresh_uses(op)
        values = _replacement(op, patterns, latest, rewriter)
        if values is not None:
            replaced[op] = values
            latest.update(zip(op.results, values, strict=True))
    for op, values in replaced.items():
        for result, value in zip(op.results, values, strict=True):
            rewriter.replace_all_uses(result, _in_the_end(value, latest, op))
    for op in replaced:
        rewriter.erase(op)


def _in_the_end(value: Value, latest: Mapping[Value, Value], op: Op) -> Value:
    """What a value has become: a pattern may have looked past its operands, at what went as well."""
    passed: set[Value] = set()
    while value in latest:
        if value in passed:
            # In a graph region, where operations may use themselves.
            raise op.op_error("cannot be replaced by what it is made of, which is itself")
        passed.add(value)
        value = latest[value]
    return value


def _replacement(
    op: Op, patterns: Mapping[type[Op], Convert], latest: Mapping[Value, Value], rewriter: Rewriter
) -> Sequence[Value] | None:
    folded = _fold(op, rewriter)
    if folded is not None:
        return [latest.get(value, value) for value in folded]
    pattern = patterns.get(type(op))
    if pattern is None:
        return None
    return pattern(op, [latest.get(value, value) for value in op.operands], rewriter)


def _fold(op: Op, rewriter: Rewriter) -> list[Value] | None:
    """The values that an operation folds to, None if it does not fold to values."""
    if op.fold is None or CONSTANT_LIKE in op.traits:
        return None
    found = fold(op, rewriter)
    while found is not None and not found:
        found = fold(op, rewriter)  # changed in place, and now perhaps something to replace
    values = [value for value in found or () if isinstance(value, Value)]
    return values if found and len(values) == len(found) else None
