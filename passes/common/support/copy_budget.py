"""Limits for cloning and inlining functions."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from sdyopt.mlir.dialects.func import CallOp, FuncOp

from .call_graph import CallGraph, called_function

# The limits for copies, for each program and in addition for each of its operations: a chain of functions
# that each call the next one twice grows exponentially.
MAX_COPIED_OPERATIONS = 100_000
MAX_COPIES_OF_OPERATION = 100
# The limit for the nesting depth of regions after inlining.
MAX_NESTING_DEPTH = 1000


class InlinedSize(NamedTuple):
    """The size of a function after all its calls have been inlined, transitively.

    `depth` is the nesting depth of its regions. Both are infinite if its calls are recursive.
    """

    operations: float
    depth: float


def most_copied_operations(graph: CallGraph) -> int:
    """How many operations copies may add to the module of a call graph."""
    return MAX_COPIED_OPERATIONS + MAX_COPIES_OF_OPERATION * sum(graph.op_counts.values())


_DECLARATION = InlinedSize(1, 0)
_RECURSIVE = InlinedSize(inf, inf)


class CopyBudget:
    """Limits the number of operations that copies of functions add to a module."""

    def __init__(self, graph: CallGraph) -> None:
        self._limit = most_copied_operations(graph)
        self._copied: float = 0
        self._sizes: dict[FuncOp, InlinedSize] = {}
        for function in graph.callees_first():
            self._sizes[function] = self._measure(function, graph)

    def is_recursive(self, function: FuncOp) -> bool:
        """Whether the calls of a function lead back to it, or to another recursion."""
        return self._sizes.get(function, _DECLARATION).operations == inf

    def spend(self, call: CallOp, function: FuncOp) -> None:
        """Counts a copy of a function and its callees, made for a call.

        Raises DiagnosticError if the limit is exceeded or the function is recursive.
        """
        operations = self._sizes.get(function, _DECLARATION).operations
        if operations == inf:
            raise call.op_error(f"cannot clone '{function.sym_name}' for this call: its calls are recursive")
        self.spend_operations(call, function, operations)

    def spend_operations(self, call: CallOp, function: FuncOp, operations: float) -> None:
        """Counts a copy of so many operations, made for a call.

        Raises DiagnosticError if the limit is exceeded.
        """
        self._copied += operations
        if self._copied > self._limit:
            raise call.op_error(
                f"cannot clone '{function.sym_name}' for this call: the copies for all calls would exceed "
                f"{self._limit} operations"
            )

    def check_nesting(self, call: CallOp, function: FuncOp) -> None:
        """Raises DiagnosticError if regions would nest too deeply with all calls in `function` inlined.

        It also does so if the function is recursive. The error is located at `call`, a call of the function.
        """
        depth = self._sizes.get(function, _DECLARATION).depth
        if depth == inf:
            raise call.op_error(f"cannot inline '{function.sym_name}': its calls are recursive")
        if depth > MAX_NESTING_DEPTH:
            raise call.op_error(
                f"cannot inline '{function.sym_name}': regions would nest deeper than {MAX_NESTING_DEPTH}"
            )

    def _measure(self, function: FuncOp, graph: CallGraph) -> InlinedSize:
        operations: float = graph.op_counts[function]
        depth: float = 1
        for call in graph.calls[function]:
            callee = called_function(call)
            # Callees are measured first, so a callee without a size is part of a recursion.
            default = _DECLARATION if callee.is_declaration else _RECURSIVE
            size = self._sizes.get(callee, default)
            operations += size.operations
            depth = max(depth, size.depth + _nesting(call, function))
        return InlinedSize(operations, depth)


def _nesting(call: CallOp, function: FuncOp) -> int:
    """The number of operations around a call, up to and including its function."""
    return 1 + next(depth for depth, op in enumerate(call.ancestors()) if op is function)
