"""inline: put the bodies of functions in place of their calls.

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

Callees come before their callers, and each function is simplified by `default-pipeline` before its calls are
looked at. A private function that nobody calls any more goes. Calls stay where the function or the call says
`no_inline`, where a function calls itself or its caller, and where the body holds operations of a dialect
that does not allow it: the mesh dialect of LLVM 19 is one. Functions that call each other in a circle are
simplified and inlined in turns, at most `max-iterations` times. What is put in place of a call says in its
location where the call was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.operation import Op
from sdyopt.ir.region_traits import SINGLE_BLOCK
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass, RunInside, option, parse_pipeline
from sdyopt.registry import lookup, register

from .support.call_graph import (
    MOST_COPIED_OPERATIONS,
    callee_of,
    calls_by_block,
    calls_in,
    strongly_connected_components,
)
from .support.function_uses import FunctionUses
from .support.inline_call import inline_call

_NO_LIMIT = (1 << 32) - 1
# So many operations are copied before it is worked out where that leads.
_FORESIGHT_FROM = 10_000


@register("inline")
class Inliner(Pass):
    default_pipeline: str = option(
        default="canonicalize",
        help="The optimizer pipeline used for callables that do not have a dedicated optimizer pipeline in "
        "opPipelineList",
    )
    max_iterations: int = option(default=4, help="Maximum number of iterations when inlining within an SCC")
    inlining_threshold: int = option(
        default=_NO_LIMIT,
        help="If the ratio between the number of the operations in the callee and the number of the "
        "operations in the caller exceeds this value (in percentage), then the callee is not inlined even "
        "if it is legal to inline it",
    )

    def run_with(self, module: ModuleOp, run_inside: RunInside) -> bool:
        text = self.default_pipeline
        passes = list(parse_pipeline(f"func.func({text})", lookup).passes()) if text else []
        inlining = _Inlining(module, self.inlining_threshold)
        for circle in inlining.circles:
            for _ in range(max(self.max_iterations, 1)):
                functions = [function for function in circle if function not in inlining.dead]
                run_inside(passes, functions)
                if not inlining.inline_calls(functions):
                    break
        inlining.erase_dead()
        return True


@dataclass(eq=False)
class _Call:
    """A call in a function, and the functions that it came out of, which are not inlined into themselves."""

    op: CallOp
    caller: FuncOp
    history: tuple[FuncOp, ...] = ()


@dataclass(eq=False)
class _Inlining:
    module: ModuleOp
    threshold: int
    rewriter: Rewriter = field(default_factory=Rewriter)

    def __post_init__(self) -> None:
        self.circles = strongly_connected_components(self.module)
        self.dead: dict[FuncOp, None] = {}
        self._uses = FunctionUses(self.module)
        functions = [function for circle in self.circles for function in circle]
        for function in functions:
            self._uses.recount(function)
        # Who calls whom before anything is inlined.
        self._callees = {f: {callee_of(call) for call in calls_in(f)} for f in functions}
        self._copied = 0
        self._foreseen = _FORESIGHT_FROM

    def inline_calls(self, functions: list[FuncOp]) -> bool:
        """Inlines the calls in functions of one circle, which have just been simplified."""
        for function in functions:
            self._uses.recount(function)
        # What a dead function refers to counts as referred to all the same.
        dead = dict.fromkeys(function for function in functions if self._uses.is_dead(function))
        living = (function for function in functions if function not in dead)
        calls = [_Call(op, function) for function in living for op in calls_by_block(function.body.blocks)]
        has_changed = False
        for call in calls:
            if call.caller in dead:
                continue
            callee = self._inlinable_callee(call)
            if callee is None or callee in call.history:
                continue
            moves = self._uses.has_last_use(callee)
            if not moves:
                self._check_growth(call, callee)
            inner = inline_call(call.op, callee, self.rewriter, moves)
            calls += [_Call(op, call.caller, (*call.history, callee)) for op in inner]
            self._uses.inlined(callee, call.caller, moves)
            if moves:
                dead[callee] = None
            has_changed = True
        self.dead |= dead
        return has_changed

    def erase_dead(self) -> None:
        """Removes the functions that nobody refers to any more."""
        for function in self.dead:
            self.rewriter.erase(function)

    # --- Which calls ----------------------------------------------------------------------

    def _inlinable_callee(self, call: _Call) -> FuncOp | None:
        """The function whose body may take the place of a call."""
        callee = callee_of(call.op)
        if callee is None or callee is call.caller or callee.is_declaration:
            return None
        if callee.no_inline or call.op.no_inline:
            return None
        if not self._callees[callee].isdisjoint((callee, call.caller)):
            return None
        if len(callee.body.blocks) > 1 and not _may_hold_blocks(call.op.parent_op):
            return None
        return callee if self._is_profitable(callee, call.caller) and _is_movable(callee) else None

    def _is_profitable(self, callee: FuncOp, caller: FuncOp) -> bool:
        if self.threshold in (0, _NO_LIMIT):
            return self.threshold != 0
        sizes = [_size(function) - 1 for function in (callee, caller)]
        return sizes[1] == 0 or sizes[0] * 100 // sizes[1] <= self.threshold

    # --- Growth ---------------------------------------------------------------------------

    def _check_growth(self, call: _Call, callee: FuncOp) -> None:
        """Stops chains of functions that call the next one twice, which grow to the power of two."""
        self._copied += _size(callee)
        if self._copied > MOST_COPIED_OPERATIONS:
            raise _growth_error(call.op, callee)
        if self._copied > self._foreseen and self.threshold == _NO_LIMIT:
            self._foreseen *= 2
            self._look_ahead(call.caller)

    def _look_ahead(self, caller: FuncOp) -> None:
        """Stops at once if going on like this, from the circle that is being worked on, leads too far."""
        position = next(i for i, circle in enumerate(self.circles) if caller in circle)
        finished = {function for circle in self.circles[:position] for function in circle}
        sizes = {function: _size(function) for function in finished - self.dead.keys()}
        copied = self._copied
        for circle in self.circles[position:]:
            sizes.update((function, _size(function)) for function in circle)
            for call, callee in self._calls_out(circle):
                sizes[call.caller] += sizes[callee]
                copied += 0 if self._uses.has_last_use(callee) else sizes[callee]
                if copied > MOST_COPIED_OPERATIONS:
                    raise _growth_error(call.op, callee)

    def _calls_out(self, circle: list[FuncOp]) -> Iterator[tuple[_Call, FuncOp]]:
        """The calls in the functions of a circle that may be inlined, but for those of each other."""
        for function in circle:
            for op in calls_by_block(function.body.blocks):
                call = _Call(op, function)
                callee = self._inlinable_callee(call)
                if callee is not None and callee not in circle:
                    yield call, callee


def _growth_error(call: CallOp, callee: FuncOp) -> DiagnosticError:
    return call.op_error(
        f"cannot be replaced by the body of '{callee.sym_name}', because the copies made for all "
        f"calls would have more than {MOST_COPIED_OPERATIONS} operations"
    )


def _size(function: FuncOp) -> int:
    return sum(1 for _ in function.walk())


def _may_hold_blocks(op: Op | None) -> bool:
    return op is not None and (isinstance(op, FuncOp) or SINGLE_BLOCK not in op.traits)


def _is_movable(function: FuncOp) -> bool:
    """Whether all operations of a body may stand elsewhere."""
    body = (op for op in function.walk() if op is not function)
    return all(op.dialect is not None and op.dialect.is_inlinable for op in body)
