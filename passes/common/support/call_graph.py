"""The call graph: callees, orders of functions, strongly connected components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol


def callee_of(call: CallOp) -> FuncOp | None:
    """The callee; None if there is no such function, which the verifier reports."""
    symbol = lookup_symbol(call, call.callee)
    return symbol if isinstance(symbol, FuncOp) else None


def called_function(call: CallOp) -> FuncOp:
    """The callee of a call.

    Raises DiagnosticError if there is none, which the verifier reports only inside of a module.
    """
    function = callee_of(call)
    if function is None:
        raise call.op_error(f"'{call.callee}' does not reference a valid function")
    return function


def calls_in(function: FuncOp) -> list[CallOp]:
    """The calls in a function, in program order."""
    return function.nested(CallOp)


def calls_by_block(blocks: Iterable[Block]) -> Iterator[CallOp]:
    """The calls in blocks: last block first, the calls of a block before those in its nested regions.

    This is the order in which MLIR's inliner visits them.
    """
    worklist = list(blocks)
    while worklist:
        for op in worklist.pop().ops:
            if isinstance(op, CallOp):
                yield op
            else:
                worklist += [block for region in op.regions for block in region.blocks]


class CallGraph:
    """The functions of a module that have a body, in program order, with their calls in program order.

    `op_counts` are their numbers of operations, each with the function itself. Edits are not followed.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.calls: dict[FuncOp, list[CallOp]] = {}
        self.op_counts: dict[FuncOp, int] = {}
        self._add_nested(module, [])

    def callees_first(self) -> list[FuncOp]:
        """The functions, each after its callees, otherwise in program order: a post-order.

        Of a strongly connected component, the function that is visited first comes last.
        """
        order: list[FuncOp] = []
        visited: set[FuncOp] = set()
        for root in self.calls:
            if root in visited:
                continue
            visited.add(root)
            # The functions on the path from the root, each with an iterator of its remaining callees.
            path = [(root, self._callees(root))]
            while path:
                caller, callees = path[-1]
                callee = next((callee for callee in callees if callee not in visited), None)
                if callee is None:
                    order.append(caller)
                    path.pop()
                else:
                    visited.add(callee)
                    path.append((callee, self._callees(callee)))
        return order

    def strongly_connected_components(self) -> list[list[FuncOp]]:
        """The strongly connected components of the functions, callees first.

        Functions of a component are in reverse order of their visit. (Tarjan's algorithm, without recursion.)
        """
        components: list[list[FuncOp]] = []
        number: dict[FuncOp, int] = {}
        # The lowest number reachable from a function whose component is not complete: Tarjan's low link.
        low_link: dict[FuncOp, int] = {}
        stack: list[FuncOp] = []
        path: list[tuple[FuncOp, Iterator[FuncOp]]] = []

        def enter(function: FuncOp) -> None:
            number[function] = low_link[function] = len(number)
            stack.append(function)
            path.append((function, self._callees(function)))

        def leave(function: FuncOp) -> None:
            if path:
                caller, _ = path[-1]
                low_link[caller] = min(low_link[caller], low_link[function])
            if low_link[function] < number[function]:
                return
            component: list[FuncOp] = []
            while function not in component[-1:]:
                component.append(stack.pop())
                del low_link[component[-1]]
            components.append(component)

        for root in self.calls:
            if root not in number:
                enter(root)
            while path:
                caller, callees = path[-1]
                callee = next(callees, None)
                if callee is None:
                    path.pop()
                    leave(caller)
                elif callee not in number:
                    enter(callee)
                elif callee in low_link:
                    low_link[caller] = min(low_link[caller], number[callee])
        return components

    def _callees(self, function: FuncOp) -> Iterator[FuncOp]:
        for call in self.calls[function]:
            callee = callee_of(call)
            if callee is not None and not callee.is_declaration:
                yield callee

    def _add_nested(self, outer: Op, functions: list[FuncOp]) -> int:
        """Adds what is nested in an operation in `functions`; returns the number of nested operations."""
        count = 0
        for region in outer.regions:
            for block in region.blocks:
                op = block.first
                while op is not None:
                    count += 1
                    if op.regions:
                        if isinstance(op, FuncOp) and not op.is_declaration:
                            self.calls[op] = []
                            inside = self._add_nested(op, [*functions, op])
                            self.op_counts[op] = 1 + inside
                        else:
                            inside = self._add_nested(op, functions)
                        count += inside
                    elif isinstance(op, CallOp):
                        for function in functions:
                            self.calls[function].append(op)
                    op = op.next
        return count
