"""inline: inline function calls.

    func.func private @double(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
becomes
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.add %a, %a : tensor<8xf32>
      return %0 : tensor<8xf32>
    }

The pass visits the call graph bottom-up, and runs `default-pipeline` on a function before it inlines the
calls in it. A function that is not public and has no uses left is erased. `no_inline` on the function or on
the call is respected. A call is also kept if its callee calls itself or the caller, if the callee contains
operations of a dialect that does not allow inlining, such as the mesh dialect of LLVM 19, or if the callee
has several blocks and the region of the call may have only one. For each strongly connected component of the
call graph, functions are simplified, and calls in them inlined, at most `max-iterations` times. Inlined
operations have call-site locations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import CallSite, Location, UnknownLoc
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.cf import BranchOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.value_shardings import FuncDataFlowEdgeOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.interfaces import has_single_blocks
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import is_public
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, RunNested, Unsigned, option, parse_pipeline
from sdyopt.mlir.registry import lookup, register

from .support.call_graph import CallGraph, callee_of, calls_by_block, most_copied_operations
from .support.function_shardings import FunctionUses, expect_invalid_edges

_NO_LIMIT = (1 << 32) - 1
# Only functions that call each other are inlined so often, and then without end.
MAX_ITERATIONS = 1000
# The number of copied operations at which the total growth is first estimated.
_FIRST_ESTIMATE_AT = 10_000


@register("inline")
class Inliner(Pass):
    default_pipeline: str = option(
        default="canonicalize",
        help="pipeline that simplifies a function before the calls in it are inlined",
    )
    max_iterations: Unsigned = option(
        default=4, help="maximum number of iterations per strongly connected component"
    )
    inlining_threshold: Unsigned = option(
        default=_NO_LIMIT,
        help="maximum size of a callee, in percent of the operations in the caller; 0 inlines no call",
    )

    def run_with(self, module: ModuleOp, run_nested: RunNested) -> bool:
        text = self.default_pipeline
        passes = list(parse_pipeline(f"func.func({text})", lookup).passes()) if text else []
        if not passes and not module.nested(CallOp) and all(map(is_public, module.nested(FuncOp))):
            return False
        expect_invalid_edges(module, FuncDataFlowEdgeOp, Rewriter())
        inlining = _Inlining(module, self.inlining_threshold, self.keeps)
        for component in inlining.components:
            for iteration in range(max(self.max_iterations, 1)):
                if iteration == MAX_ITERATIONS:
                    raise _recursion_error(component)
                functions = [function for function in component if function not in inlining.dead]
                run_nested(passes, functions)
                if not inlining.inline_calls(functions):
                    break
        inlining.erase_dead()
        return True

    def keeps(self, call: CallOp, callee: FuncOp) -> bool:
        """Whether a call stays, although it could be inlined."""
        return False


@dataclass(eq=False)
class _Call:
    """A call, and the functions whose inlined bodies it comes from; calls of these are not inlined again."""

    op: CallOp
    caller: FuncOp
    history: tuple[FuncOp, ...] = ()


@dataclass(eq=False)
class _Inlining:
    """Inlines calls in a module. Dead functions are erased at the end."""

    module: ModuleOp
    threshold: int
    keeps: Callable[[CallOp, FuncOp], bool]
    rewriter: Rewriter = field(default_factory=Rewriter)

    def __post_init__(self) -> None:
        graph = CallGraph(self.module)
        self.components = graph.strongly_connected_components()
        self.dead: dict[FuncOp, None] = {}
        self._uses = FunctionUses(self.module)
        functions = [function for component in self.components for function in component]
        # The callees of each function before any call is inlined.
        self._callees = {f: {callee_of(call) for call in graph.calls[f]} for f in functions}
        self._limit = most_copied_operations(graph)
        self._copied = 0
        self._next_estimate_at = _FIRST_ESTIMATE_AT

    def inline_calls(self, functions: list[FuncOp]) -> bool:
        """Inlines calls in the simplified functions of one component; returns whether any was inlined."""
        for function in functions:
            self._uses.recount(function)
        # As in MLIR, references from dead functions count as uses.
        dead = dict.fromkeys(function for function in functions if self._uses.is_dead(function))
        live = (function for function in functions if function not in dead)
        calls = [_Call(op, function) for function in live for op in calls_by_block(function.body.blocks)]
        has_changed = False
        for call in calls:
            if call.caller in dead:
                continue
            callee = self._inlinable_callee(call)
            if callee is None or callee in call.history:
                continue
            is_last_use = self._uses.has_one_use(callee)
            if not is_last_use:
                self._check_growth(call, callee)
            inner = inline_call(call.op, callee, self.rewriter, move_body=is_last_use)
            calls += [_Call(op, call.caller, (*call.history, callee)) for op in inner]
            self._uses.record_inlining(callee, call.caller, is_last_use)
            if is_last_use:
                dead[callee] = None
            has_changed = True
        self.dead |= dead
        return has_changed

    def erase_dead(self) -> None:
        """Erases the functions without uses."""
        for function in self.dead:
            self.rewriter.erase(function)

    # --- Legality and profitability -------------------------------------------------------

    def _inlinable_callee(self, call: _Call) -> FuncOp | None:
        """The callee of a call if it may be inlined."""
        callee = callee_of(call.op)
        if callee is None or callee is call.caller or callee.is_declaration:
            return None
        if callee.no_inline or call.op.no_inline or self.keeps(call.op, callee):
            return None
        if not self._callees[callee].isdisjoint((callee, call.caller)):
            return None
        assert call.op.parent_op is not None
        if len(callee.body.blocks) > 1 and has_single_blocks(call.op.parent_op):
            return None
        return callee if self._is_profitable(callee, call.caller) and _is_inlinable(callee) else None

    def _is_profitable(self, callee: FuncOp, caller: FuncOp) -> bool:
        if self.threshold in (0, _NO_LIMIT):
            return self.threshold != 0
        sizes = [_size(function) - 1 for function in (callee, caller)]
        return sizes[1] == 0 or sizes[0] * 100 // sizes[1] <= self.threshold

    # --- Growth ---------------------------------------------------------------------------

    def _check_growth(self, call: _Call, callee: FuncOp) -> None:
        """Counts a copy of the callee.

        Raises DiagnosticError before the copies grow exponentially, as in a chain of functions that each call
        the next one twice.
        """
        self._copied += _size(callee)
        if self._copied > self._limit:
            raise self._growth_error(call.op, callee)
        if self._copied > self._next_estimate_at and self.threshold == _NO_LIMIT:
            self._next_estimate_at *= 2
            self._estimate_growth(call.caller)

    def _estimate_growth(self, caller: FuncOp) -> None:
        """Raises if inlining the current and all later components would copy too many operations."""
        position = next(i for i, component in enumerate(self.components) if caller in component)
        finished = {function for component in self.components[:position] for function in component}
        sizes = {function: _size(function) for function in finished - self.dead.keys()}
        copied = self._copied
        for component in self.components[position:]:
            sizes.update((function, _size(function)) for function in component)
            for call, callee in self._outgoing_calls(component):
                sizes[call.caller] += sizes[callee]
                copied += 0 if self._uses.has_one_use(callee) else sizes[callee]
                if copied > self._limit:
                    raise self._growth_error(call.op, callee)

    def _growth_error(self, call: CallOp, callee: FuncOp) -> DiagnosticError:
        return call.op_error(
            f"cannot inline '{callee.sym_name}': the copies for all calls would exceed "
            f"{self._limit} operations"
        )

    def _outgoing_calls(self, component: list[FuncOp]) -> Iterator[tuple[_Call, FuncOp]]:
        """The calls from a component to other components that may be inlined."""
        for function in component:
            for op in calls_by_block(function.body.blocks):
                call = _Call(op, function)
                callee = self._inlinable_callee(call)
                if callee is not None and callee not in component:
                    yield call, callee


def _recursion_error(component: list[FuncOp]) -> DiagnosticError:
    names = ", ".join(f"@{function.sym_name}" for function in component[:3])
    error = component[0].op_error(f"calls are still inlined after {MAX_ITERATIONS} iterations")
    return error.help(f"lower max-iterations, or mark one of {names} no_inline: they call each other")


def _size(function: FuncOp) -> int:
    return sum(1 for _ in function.walk())


def _is_inlinable(function: FuncOp) -> bool:
    """Whether the dialects of all operations in a body allow inlining."""
    body = (op for op in function.walk() if op is not function)
    return all(op.dialect is not None and op.dialect.is_inlinable for op in body)


def inline_call(call: CallOp, callee: FuncOp, rewriter: Rewriter, move_body: bool) -> list[CallOp]:
    """Replaces a call with the body of its callee; returns the calls in the body.

    With `move_body`, the callee has no body afterwards. New uses are created in MLIR's order, on which later
    passes depend.
    """
    inlined = _InlinedCall(call, callee, rewriter)
    blocks = inlined.moved_blocks() if move_body else inlined.copied_blocks()
    # If the location of the call is unknown, inlined operations keep theirs.
    if not isinstance(call.location, UnknownLoc):
        inlined.add_call_sites(blocks, call.location)
    calls = list(calls_by_block(blocks))
    if len(blocks) == 1:
        inlined.inline_block(blocks[0])
    else:
        inlined.inline_blocks(blocks)
    return calls


@dataclass(frozen=True)
class _InlinedCall:
    """A call that is replaced by the body of its callee."""

    call: CallOp
    callee: FuncOp
    rewriter: Rewriter

    def copied_blocks(self) -> list[Block]:
        copy = Region()
        arguments: dict[Value, Value] = dict(
            zip(self.callee.entry.arguments, self.call.operands, strict=True)
        )
        self.rewriter.copy_region(self.callee.body, copy, arguments)
        return copy.blocks

    def moved_blocks(self) -> list[Block]:
        arguments: dict[Value, Value] = dict(
            zip(self.callee.entry.arguments, self.call.operands, strict=True)
        )
        for op in self.callee.walk_post_order():
            for use in op.operand_uses:
                self.rewriter.set_operand(use, arguments.get(use.value, use.value))
        moved = Region()
        self.rewriter.take_body(self.callee.body, moved)
        return moved.blocks

    def add_call_sites(self, blocks: Sequence[Block], caller: Location) -> None:
        """Replaces the locations of operations and block arguments with call-site locations."""
        call_sites: dict[Location, Location] = {}

        def at_call_site(location: Location) -> Location:
            return call_sites.get(location) or _call_site(location, caller, call_sites)

        for block in blocks:
            for argument in block.arguments:
                argument.location = at_call_site(argument.location)
            for child in block.ops:
                for op in child.walk():
                    self.rewriter.set_location(op, at_call_site(op.location))
                    for region in op.regions:
                        for argument in (a for inner in region.blocks for a in inner.arguments):
                            argument.location = at_call_site(argument.location)

    def inline_block(self, block: Block) -> None:
        """Moves the operations of a block before the call; operands of the terminator replace the results."""
        terminator = block.last
        assert terminator is not None and terminator.is_terminator, "the verifier requires a terminator"
        self._replace_results(self.call.results, terminator.operands)
        self.rewriter.erase(terminator)
        for op in block.ops:
            self.rewriter.move(op, before=self.call)
        self.rewriter.erase(self.call)

    def inline_blocks(self, blocks: list[Block]) -> None:
        """Splits the block of the call into `head` and `tail`, and inserts `blocks` between them.

        The operations of the entry block of the callee are appended to `head`.
        """
        head = self.call.parent
        assert head is not None
        tail = Block()
        while self.call.next is not None:
            self.rewriter.move(self.call.next, at_end_of=tail)
        values = [tail.add_argument(result.type, result.location) for result in self.call.results]
        self._replace_results(self.call.results, values)
        self.rewriter.insert_blocks([*blocks[1:], tail], after=head)
        for block in blocks:
            self._replace_return(block, tail)
        for op in blocks[0].ops:
            self.rewriter.move(op, at_end_of=head)
        self.rewriter.erase(self.call)

    def _replace_results(self, results: Sequence[Value], values: Sequence[Value]) -> None:
        for result, value in zip(results, values, strict=True):
            self.rewriter.replace_all_uses(result, value)

    def _replace_return(self, block: Block, successor: Block) -> None:
        """Replaces a return at the end of a block with a branch to a successor."""
        op = block.last
        if isinstance(op, ReturnOp):
            self.rewriter.create(
                BranchOp, op.operands, before=op, location=op.location, successors=[successor]
            )
            self.rewriter.erase(op)


# --- Source locations -----------------------------------------------------------------------


def _call_site(location: Location, caller: Location, known: dict[Location, Location]) -> Location:
    """Extends the chain of call sites of a location by `caller`, the location of the inlined call.

    `known` has the results for other locations, whose chains may share callers; new results are added to it.
    """
    chain: list[CallSite] = []
    while isinstance(location, CallSite) and location not in known:
        chain.append(location)
        location = location.caller
    call_site = known.get(location) or known.setdefault(location, CallSite(location, caller))
    for inner in reversed(chain):
        call_site = known[inner] = CallSite(inner.callee, call_site)
    return call_site


# --- Blocks ---------------------------------------------------------------------------------
