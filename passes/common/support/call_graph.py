"""The call graph of a module, and copies of its functions under fresh names within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, no_function
from sdyopt.mlir.ir.attribute import StringAttr, SymbolRef, string
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import SymbolTableOp, is_public, lookup_symbol, symbol_name, symbol_references


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
        raise call.op_error(no_function(call.callee))
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


# The attribute of a copy with the name of the original function, which is not a copy itself.
ORIGINAL_NAME = "sdy.original_func_name"


def original_name(function: FuncOp) -> str:
    """The name of the function, or of the function that it is a copy of."""
    original = function.attributes.get(ORIGINAL_NAME)
    return original.value if isinstance(original, StringAttr) else function.sym_name


class FunctionCopies:
    """Clones functions to the end of a module, with unique names."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._names = FreshNames(module)
        self._functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}

    def callee(self, call: CallOp) -> FuncOp:
        """The callee of a call, also if the call is in a copy that is not in the module yet.

        Raises DiagnosticError if the module does not contain the callee, as in a nested module.
        """
        function = self._functions.get(call.callee)
        if function is None:
            error = call.error(f"Failed to lookup function: {call.callee}")
            raise error.help(f"add the function `{symbol_text(call.callee)}` to the module")
        return function

    def copy_for_each(self, calls: Iterable[CallOp], budget: CopyBudget) -> None:
        """Gives each of these calls a function of its own; the first call of a function keeps it.

        Raises DiagnosticError if that exceeds the budget, before anything is copied.
        """
        called: set[FuncOp] = set()
        repeated: list[CallOp] = []
        for call in calls:
            function = self.callee(call)
            if function in called:
                budget.spend(call, function)
                repeated.append(call)
            called.add(function)
        for call in repeated:
            self.copy_for(call)

    def copy_for(self, call: CallOp) -> None:
        """Copies the callee of a call, with copies of all its callees, and redirects the call to the copy.

        Copies of callees are named and inserted first. The callee must not be recursive; `CopyBudget` ensures
        that.
        """
        # The calls whose callees are being copied, each with the copy and the remaining calls in it.
        path = [(call, *self._start(call))]
        while path:
            caller, copy, calls = path[-1]
            if calls:
                inner = calls.pop()
                path.append((inner, *self._start(inner)))
                continue
            path.pop()
            self._insert(copy)
            self._rewriter.set_attribute(caller, "callee", SymbolRef(copy.sym_name))

    def _start(self, call: CallOp) -> tuple[FuncOp, list[CallOp]]:
        """A copy of the callee that is not in the module yet, and the calls in it in reverse order."""
        function = self.callee(call)
        copy = self._rewriter.clone(function)
        assert isinstance(copy, FuncOp)
        self._rewriter.set_attribute(copy, ORIGINAL_NAME, string(original_name(function)))
        return copy, calls_in(copy)[::-1]

    def _insert(self, copy: FuncOp) -> None:
        self._rewriter.set_attribute(copy, "sym_name", string(self._names.take(copy.sym_name)))
        self._rewriter.insert(copy, at_end_of=self._module.block)
        self._functions[copy.sym_name] = copy


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
    """The number of operations that copies may add to the module of a call graph."""
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


class FreshNames:
    """Creates unique names for a symbol table, from a base name and, if it is taken, a number.

    As in MLIR, one counter serves all names: if `a` and `b` are taken, the new names are `a_0` and `b_1`.
    """

    def __init__(self, table: SymbolTableOp) -> None:
        self._taken = {symbol_name(op) for op in table.symbols()}
        self._number = 0

    def take(self, base: str) -> str:
        """A unique name, which is taken from now on."""
        name = base
        while name in self._taken:
            name = f"{base}_{self._number}"
            self._number += 1
        self._taken.add(name)
        return name


def functions_with_known_calls(root: Op) -> Iterator[FuncOp]:
    """The functions in `root` that only calls in it refer to: private ones, to which nothing else refers."""
    tables = [op for op in root.walk() if isinstance(op, SymbolTableOp)]
    others: set[Op] = set()
    for op in root.walk():
        if not isinstance(op, CallOp):
            for reference in _references(op):
                symbol = lookup_symbol(op, reference)
                if symbol is not None:
                    others.add(symbol)
    for table in tables:
        for symbol in table.symbols():
            if isinstance(symbol, FuncOp) and not is_public(symbol) and not symbol.is_declaration:
                is_hidden = symbol.sym_visibility == "private" or root.parent is None
                if is_hidden and symbol not in others:
                    yield symbol


def _references(op: Op) -> Iterator[SymbolRef]:
    """The symbol references in the attributes of an operation."""
    yield from symbol_references(op.inherent_attributes())
    yield from symbol_references(op.attributes)
