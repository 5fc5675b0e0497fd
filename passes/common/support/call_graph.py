"""The call graph: callees, orders of functions, strongly connected components, limits of copying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol

# The limit for copies: a chain of functions that each call the next one twice grows exponentially.
MAX_COPIED_OPERATIONS = 1_000_000
# The limit for the depth of calls that become nested regions.
MAX_NESTED_CALLS = 1000


def callee_of(call: CallOp) -> FuncOp | None:
    """The callee; None if there is no such function, which the verifier reports."""
    symbol = lookup_symbol(call, call.callee)
    return symbol if isinstance(symbol, FuncOp) else None


def called_function(call: CallOp) -> FuncOp:
    """The callee of a verified call."""
    function = callee_of(call)
    assert function is not None, "the verifier requires the callee to exist"
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
        # The functions on the path from the root, each with its unvisited callees.
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


# --- Limits of copying ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InlinedSize:
    """The size of a function after all its calls have been inlined, transitively.

    `depth` is the nesting depth of its regions. Both are infinite if its calls are recursive.
    """

    operations: float
    depth: float


_DECLARATION = InlinedSize(1, 0)
_RECURSIVE = InlinedSize(inf, inf)


class CopyBudget:
    """Limits the number of operations that copies of functions add to a module."""

    def __init__(self, functions: Iterable[FuncOp]) -> None:
        """`functions` are the functions of the module with a body, callees first."""
        self._copied: float = 0
        self._sizes: dict[FuncOp, InlinedSize] = {}
        for function in functions:
            self._sizes[function] = self._measure(function)

    def spend(self, call: CallOp, function: FuncOp) -> None:
        """Counts a copy of a function and its callees, made for a call. Raises if the limit is exceeded."""
        operations = self._sizes.get(function, _DECLARATION).operations
        if operations == inf:
            raise call.op_error(f"cannot clone '{function.sym_name}' for this call: its calls are recursive")
        self._copied += operations
        if self._copied > MAX_COPIED_OPERATIONS:
            raise call.op_error(
                f"cannot clone '{function.sym_name}' for this call: the copies for all calls would exceed "
                f"{MAX_COPIED_OPERATIONS} operations"
            )

    def check_nesting(self, call: CallOp, function: FuncOp) -> None:
        """Raises if a function, inlined for a call with all its callees, would nest too deeply."""
        depth = self._sizes.get(function, _DECLARATION).depth
        if depth == inf:
            raise call.op_error(f"cannot inline '{function.sym_name}': its calls are recursive")
        if depth > MAX_NESTED_CALLS:
            raise call.op_error(
                f"cannot inline '{function.sym_name}': its calls are nested deeper than {MAX_NESTED_CALLS}"
            )

    def _measure(self, function: FuncOp) -> InlinedSize:
        operations: float = 0
        depth: float = 1
        for op in function.walk():
            operations += 1
            if isinstance(op, CallOp):
                callee = called_function(op)
                # In this order, a callee without a size is also a caller.
                default = _DECLARATION if callee.is_declaration else _RECURSIVE
                size = self._sizes.get(callee, default)
                operations += size.operations
                depth = max(depth, size.depth + _nesting(op, function))
        return InlinedSize(operations, depth)


def _nesting(call: CallOp, function: FuncOp) -> int:
    """The number of operations around a call, up to and including its function."""
    return 1 + next(depth for depth, op in enumerate(call.ancestors()) if op is function)
