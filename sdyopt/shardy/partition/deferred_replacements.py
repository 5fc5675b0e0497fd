"""Replacements that are applied after all operations have been visited.

Until then, users find the original definition of each operand, with its sharding.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value


class DeferredReplacements:
    """Operations that are to be replaced by values."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._values: dict[Op, Sequence[Value]] = {}

    def add(self, op: Op, values: Sequence[Value]) -> None:
        """Replaces the results of an operation later, and erases it. `values` may be replaced results too."""
        self._values[op] = values

    def apply(self) -> None:
        """Applies all replacements. Raises DiagnosticError if operations are to replace each other."""
        replacements = {
            result: value
            for op, values in self._values.items()
            for result, value in zip(op.results, values, strict=True)
        }
        for result, value in replacements.items():
            visited = {result}
            while value in replacements:
                if value in visited:
                    assert value.defining_op is not None
                    error = value.defining_op.op_error("has a result that depends on nothing but itself")
                    raise error.help("give an operation of the circle another operand")
                visited.add(value)
                value = replacements[value]
            self._rewriter.replace_all_uses(result, value)
        for op in reversed(self._values):
            self._rewriter.erase(op)
