"""The call graph: callees, orders of functions, strongly connected components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol


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
    """The calls in a function, in post-order."""
    return [op for op in function.walk_post_order() if isinstance(op, CallOp)]


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


def callees_first(module: ModuleOp) -> list[FuncOp]:
    """The functions with a body, each after its callees, otherwise in program order: a post-order.

    Of a strongly connected component, the function that is visited first comes last.
    """
    order: list[FuncOp] = []
    visited: set[FuncOp] = set()
    for root in _functions_with_body(module):
        if root in visited:
            continue
        visited.add(root)
        # The functions on the path from the root, each with an iterator of its remaining callees.
        path = [(root, _callees(root))]
        while path:
            caller, callees = path[-1]
            callee = next((callee for callee in callees if callee not in visited), None)
            if callee is None:
                order.append(caller)
                path.pop()
            else:
                visited.add(callee)
                path.append((callee, _callees(callee)))
    return order


def strongly_connected_components(module: ModuleOp) -> list[list[FuncOp]]:
    """The strongly connected components of the functions with a body, callees first.

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
        path.append((function, _callees(function)))

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

    for root in _functions_with_body(module):
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


def _functions_with_body(module: ModuleOp) -> Iterator[FuncOp]:
    for op in _ops_with_regions(module):
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op


def _ops_with_regions(op: Op) -> Iterator[Op]:
    """An operation and the nested ones that have regions, in pre-order."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                if child.regions:
                    yield from _ops_with_regions(child)
                child = child.next


def _callees(function: FuncOp) -> Iterator[FuncOp]:
    for op in function.walk():
        if isinstance(op, CallOp):
            callee = callee_of(op)
            if callee is not None and not callee.is_declaration:
                yield callee
