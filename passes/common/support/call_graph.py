"""Who calls whom, and how much a program grows if every call gets a copy of what it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.symbols import lookup_symbol

# A chain of functions that call the next one twice grows to the power of two. Copying stops here.
MOST_COPIED_OPERATIONS = 1_000_000
# Calls nested deeper than this are not put into one another: regions may not be nested deeper.
MOST_NESTED_CALLS = 1000


def callee_of(call: CallOp) -> FuncOp | None:
    """The function that is called, None if there is no such function, which is an error elsewhere."""
    found = lookup_symbol(call, call.callee)
    return found if isinstance(found, FuncOp) else None


def called_function(call: CallOp) -> FuncOp:
    """The function that is called, of a call that has been verified."""
    function = callee_of(call)
    assert function is not None, "calls are verified with the symbols of their module"
    return function


def calls_in(function: FuncOp) -> list[CallOp]:
    """The calls in a function, innermost first."""
    return [op for op in function.walk_post_order() if isinstance(op, CallOp)]


def calls_by_block(blocks: Iterable[Block]) -> Iterator[CallOp]:
    """The calls in blocks, those of a block before those in regions inside it, the last block first.

    That is the order in which MLIR inlines them.
    """
    waiting = list(blocks)
    while waiting:
        for op in waiting.pop().ops:
            if isinstance(op, CallOp):
                yield op
            else:
                waiting += [block for region in op.regions for block in region.blocks]


def callees_first(module: ModuleOp) -> list[FuncOp]:
    """The functions that have a body, each behind all that it calls, otherwise in order.

    Of functions that call each other in a circle, the one through which the circle was entered is last.
    """
    order: list[FuncOp] = []
    seen: set[FuncOp] = set()
    for function in _with_body(module):
        if function in seen:
            continue
        seen.add(function)
        # The functions that are being looked at, each with the callees still to come.
        path = [(function, _callees(function))]
        while path:
            caller, callees = path[-1]
            following = next((callee for callee in callees if callee not in seen), None)
            if following is None:
                order.append(caller)
                path.pop()
            else:
                seen.add(following)
                path.append((following, _callees(following)))
    return order


def strongly_connected_components(module: ModuleOp) -> list[list[FuncOp]]:
    """The functions that have a body, in groups of those that call each other, callees first.

    Of a group, the function through which it was entered is last, and the one found last is first.
    (Tarjan's algorithm for strongly connected components.)
    """
    circles: list[list[FuncOp]] = []
    number: dict[FuncOp, int] = {}
    # The lowest number that a function leads to, among those whose circle is not complete yet.
    lowest: dict[FuncOp, int] = {}
    open_functions: list[FuncOp] = []
    path: list[tuple[FuncOp, Iterator[FuncOp]]] = []

    def enter(function: FuncOp) -> None:
        number[function] = lowest[function] = len(number)
        open_functions.append(function)
        path.append((function, _callees(function)))

    def leave(function: FuncOp) -> None:
        if path:
            caller, _ = path[-1]
            lowest[caller] = min(lowest[caller], lowest[function])
        if lowest[function] < number[function]:
            return
        circle: list[FuncOp] = []
        while function not in circle[-1:]:
            circle.append(open_functions.pop())
            del lowest[circle[-1]]
        circles.append(circle)

    for root in _with_body(module):
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
            elif callee in lowest:
                lowest[caller] = min(lowest[caller], number[callee])
    return circles


def _with_body(module: ModuleOp) -> Iterator[FuncOp]:
    for op in _holders(module):
        if isinstance(op, FuncOp) and not op.is_declaration:
            yield op


def _holders(op: Op) -> Iterator[Op]:
    """An operation and those inside it that have regions, in pre-order."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                if child.regions:
                    yield from _holders(child)
                child = child.next


def _callees(function: FuncOp) -> Iterator[FuncOp]:
    for op in function.walk():
        if isinstance(op, CallOp):
            callee = callee_of(op)
            if callee is not None and not callee.is_declaration:
                yield callee


# --- Growth ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extent:
    """What becomes of a function in which every call is replaced by the body of its callee.

    Both numbers are infinite if there is no end to that, because a function calls itself.
    """

    operations: float
    depth: float


_DECLARATION = Extent(1, 0)
_ENDLESS = Extent(inf, inf)


class CopyBudget:
    """Refuses to copy functions without end. Knows how large a copy gets before it is made."""

    def __init__(self, functions: Iterable[FuncOp]) -> None:
        """`functions` are those of the module that have a body, callees first."""
        self._copied: float = 0
        self._extents: dict[FuncOp, Extent] = {}
        for function in functions:
            self._extents[function] = self._measure(function)

    def spend(self, call: CallOp, function: FuncOp) -> None:
        """Allows a copy of a function, with copies of all that it calls, for a call; or raises."""
        operations = self._extents.get(function, _DECLARATION).operations
        if operations == inf:
            raise call.op_error(f"cannot be given a copy of '{function.sym_name}', which calls itself")
        self._copied += operations
        if self._copied > MOST_COPIED_OPERATIONS:
            raise call.op_error(
                f"cannot be given a copy of '{function.sym_name}', because the copies made for all calls "
                f"would have more than {MOST_COPIED_OPERATIONS} operations"
            )

    def check_nesting(self, call: CallOp, function: FuncOp) -> None:
        """Allows to put the body of a function in place of a call, and so on in that; or raises."""
        depth = self._extents.get(function, _DECLARATION).depth
        if depth == inf:
            raise call.op_error(
                f"cannot be replaced by the body of '{function.sym_name}', which calls itself"
            )
        if depth > MOST_NESTED_CALLS:
            raise call.op_error(
                f"cannot be replaced by the body of '{function.sym_name}', because calls in it are nested "
                f"deeper than {MOST_NESTED_CALLS}"
            )

    def _measure(self, function: FuncOp) -> Extent:
        operations: float = 0
        depth: float = 1
        for op in function.walk():
            operations += 1
            if isinstance(op, CallOp):
                callee = called_function(op)
                # Callees have been measured, unless they are callers as well.
                unknown = _DECLARATION if callee.is_declaration else _ENDLESS
                inner = self._extents.get(callee, unknown)
                operations += inner.operations
                depth = max(depth, inner.depth + _nesting(op, function))
        return Extent(operations, depth)


def _nesting(call: CallOp, function: FuncOp) -> int:
    """In how many operations inside a function a call stands, counting the function."""
    return 1 + next(depth for depth, op in enumerate(call.ancestors()) if op is function)
