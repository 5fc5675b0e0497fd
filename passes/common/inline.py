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

Callees come before their callers, and each function is simplified by `default-pipeline` before its
calls are looked at. A private function that nobody calls any more goes. Calls stay where the function
or the call says `no_inline`, where a function calls itself, and where the body holds operations of a
dialect that does not allow it: the mesh dialect of LLVM 19 is one. What is put in place of a call says
in its location where the call was.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sdyopt.diagnostics.location import CallSite, Location, UnknownLoc
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.cf import BranchOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.symbols import is_private, symbol_references
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass, option, parse_pipeline
from sdyopt.pipeline.tree import Pipeline
from sdyopt.registry import lookup, register

from .call_graph import MOST_COPIED_OPERATIONS, callee_of, callees_first, calls_in

_NO_LIMIT = (1 << 32) - 1


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

    def run(self, module: ModuleOp) -> bool:
        text = self.default_pipeline
        simplify = parse_pipeline(f"func.func({text})", lookup) if text else Pipeline()
        inlining = _Inlining(module, simplify, self.inlining_threshold)
        for function in callees_first(module):
            inlining.function(function, self.max_iterations)
        inlining.erase_dead()
        return True


@dataclass(eq=False)
class _Call:
    """A call, and the functions whose bodies it came out of, which are not inlined into themselves."""

    op: CallOp
    history: tuple[FuncOp, ...] = ()


@dataclass(eq=False)
class _Inlining:
    module: ModuleOp
    simplify: Pipeline
    threshold: int
    rewriter: Rewriter = field(default_factory=Rewriter)

    def __post_init__(self) -> None:
        # Which functions are referred to from where, and how often in all.
        self._references: dict[FuncOp, Counter[str]] = {}
        self._uses: Counter[str] = _references(self.module)
        self._dead: dict[FuncOp, None] = {}
        self._is_legal: dict[FuncOp, bool] = {}
        self._copied = 0
        # Who calls whom before anything is inlined.
        self._callees = {
            function: {callee_of(call) for call in calls_in(function)}
            for function in callees_first(self.module)
        }

    def function(self, function: FuncOp, max_iterations: int) -> None:
        """Simplifies a function and inlines its calls, as long as there are any and it is allowed."""
        self._references[function] = _references(function)
        for _ in range(max_iterations):
            if self.simplify.elements:
                for single in self.simplify.passes():
                    single.run(function)
                self._recount(function)
            if self._is_unused(function):
                # What it refers to counts as referred to all the same.
                self._dead[function] = None
                return
            if not self._inline_calls(function):
                return

    def erase_dead(self) -> None:
        """Removes the functions that nobody refers to any more."""
        for function in self._dead:
            self.rewriter.erase(function)

    # --- References -----------------------------------------------------------------------

    def _recount(self, function: FuncOp) -> None:
        old, new = self._references[function], _references(function)
        self._uses.subtract(old)
        self._uses.update(new)
        self._references[function] = new

    def _is_unused(self, function: FuncOp) -> bool:
        return is_private(function) and self._uses[function.sym_name] == 0

    # --- Calls ----------------------------------------------------------------------------

    def _inline_calls(self, caller: FuncOp) -> bool:
        calls = [_Call(op) for op in caller.walk() if isinstance(op, CallOp)]
        has_changed = False
        for call in calls:
            callee = callee_of(call.op)
            if callee is None or not self._may_inline(call, callee, caller):
                continue
            self._check_growth(call.op, callee)
            inner = _inline(call.op, callee, self.rewriter)
            calls += [_Call(op, (*call.history, callee)) for op in inner]
            has_changed = True
            copied = self._references.get(callee) or _references(callee)
            self._references[caller].update(copied)
            self._references[caller][callee.sym_name] -= 1
            self._uses[callee.sym_name] -= 1
            if self._is_unused(callee):
                self._dead[callee] = None
            else:
                self._uses.update(copied)
        return has_changed

    def _check_growth(self, call: CallOp, callee: FuncOp) -> None:
        """Stops chains of functions that call the next one twice, which grow to the power of two."""
        if is_private(callee) and self._uses[callee.sym_name] == 1:
            return
        self._copied += sum(1 for _ in callee.walk())
        if self._copied > MOST_COPIED_OPERATIONS:
            raise call.op_error(
                f"cannot be replaced by the body of '{callee.sym_name}', because the copies made for all "
                f"calls would have more than {MOST_COPIED_OPERATIONS} operations"
            )

    def _may_inline(self, call: _Call, callee: FuncOp, caller: FuncOp) -> bool:
        if callee is caller or callee.is_declaration or callee in call.history or callee in self._dead:
            return False
        if callee.no_inline or call.op.no_inline:
            return False
        if not self._callees[callee].isdisjoint((callee, caller)):
            return False
        if len(callee.body.blocks) > 1 and not isinstance(call.op.parent_op, FuncOp):
            return False
        return self._is_profitable(callee, caller) and self._is_allowed(callee)

    def _is_profitable(self, callee: FuncOp, caller: FuncOp) -> bool:
        if self.threshold >= _NO_LIMIT:
            return True
        sizes = [sum(1 for _ in function.walk()) - 1 for function in (callee, caller)]
        return sizes[1] == 0 or sizes[0] * 100 // sizes[1] <= self.threshold

    def _is_allowed(self, callee: FuncOp) -> bool:
        """Whether all operations of a body may stand elsewhere."""
        if callee not in self._is_legal:
            body = (op for op in callee.walk() if op is not callee)
            self._is_legal[callee] = all(op.dialect is not None and op.dialect.is_inlinable for op in body)
        return self._is_legal[callee]


def _references(op: Op) -> Counter[str]:
    """How often each symbol is named inside an operation."""
    found: Counter[str] = Counter()
    known: dict[Attribute, list[str]] = {}
    for inner in op.walk():
        for attributes in (inner.inherent_attributes(), inner.attributes):
            if attributes.entries:
                if attributes not in known:
                    known[attributes] = [reference.root for reference in symbol_references(attributes)]
                found.update(known[attributes])
    return found


# --- One call -------------------------------------------------------------------------------


def _inline(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> list[CallOp]:
    """Puts a copy of a body in place of a call; returns the calls in it."""
    if len(callee.body.blocks) == 1:
        inserted, values = _copy_block(call, callee, rewriter)
    else:
        inserted, values = _copy_blocks(call, callee, rewriter)
    here = call.location
    # A call that is nowhere leaves what takes its place where it was.
    for op in inserted if not isinstance(here, UnknownLoc) else ():
        for inner in op.walk():
            rewriter.set_location(inner, _called(inner.location, here))
            for argument in (
                a for region in inner.regions for block in region.blocks for a in block.arguments
            ):
                argument.location = _called(argument.location, here)
    rewriter.replace(call, values)
    return [inner for op in inserted for inner in op.walk() if isinstance(inner, CallOp)]


def _called(location: Location, here: Location) -> Location:
    """A location inside a body that was put in place of a call: the way there from the outermost call."""
    way = []
    while isinstance(location, CallSite):
        way.append(location.callee)
        location = location.caller
    called = CallSite(location, here)
    for callee in reversed(way):
        called = CallSite(callee, called)
    return called


def _copy_block(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> tuple[list[Op], list[Value]]:
    """Puts a body of one block before a call; what it returns takes the place of the results."""
    mapping: dict[Value, Value] = dict(zip(callee.entry.arguments, call.operands, strict=True))
    inserted: list[Op] = []
    for op in callee.entry.ops:
        if op.is_terminator:
            return inserted, [mapping.get(value, value) for value in op.operands]
        copy = rewriter.clone(op, mapping)
        rewriter.insert(copy, before=call)
        inserted.append(copy)
    raise AssertionError("a function ends with a terminator")


def _copy_blocks(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> tuple[list[Op], list[Value]]:
    """Puts several blocks between what comes before a call and what comes behind it."""
    before = call.parent
    assert before is not None and before.parent is not None
    region = before.parent
    copy = rewriter.clone(callee)
    blocks = list(copy.regions[0].blocks)
    after = Block()
    values: list[Value] = [after.add_argument(result.type, call.location) for result in call.results]
    while call.next is not None:
        rewriter.move(call.next, at_end_of=after)
    position = region.blocks.index(before) + 1
    region.blocks[position:position] = [*blocks[1:], after]
    for block in (*blocks[1:], after):
        block.parent = region
    arguments: dict[Value, Value] = dict(zip(blocks[0].arguments, call.operands, strict=True))
    inserted: list[Op] = []
    for block in blocks:
        for op in list(block.ops):
            for inner in op.walk():
                for use in inner.operand_uses:
                    rewriter.set_operand(use, arguments.get(use.value, use.value))
            if block is blocks[0]:
                rewriter.move(op, before=call)
            if op.form.name == "func.return":
                branch = rewriter.create(BranchOp, op.operands, before=op, location=op.location)
                branch.successors = [after]
                rewriter.erase(op)
                op = branch
            inserted.append(op)
    # What stood before the call now ends with a branch, so the call itself goes to what comes behind.
    first = after.first
    if first is None:
        rewriter.move(call, at_end_of=after)
    else:
        rewriter.move(call, before=first)
    return inserted, values
