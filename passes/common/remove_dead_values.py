"""remove-dead-values: remove values that nothing needs, in functions, calls, branches and blocks.

    func.func private @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.tanh %b : tensor<4xf32>
      return %a, %0 : tensor<4xf32>, tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0:2 = call @f(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return %0#0 : tensor<4xf32>
    }
becomes
    func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }

A value is live if an operation with effects uses it, if a public function returns it, or if a live value is
computed from it. Removed are arguments and results of private functions of which all calls are known, block
arguments, results of `scf.if`, and operations without effects. Calls themselves stay, and so do loop-carried
values of `stablehlo.while`, which MLIR does not see through. Calls lose the shardings of removed results.
Where C++ puts a `ub.poison` in place of an operand that must remain, the operand stays.
With `canonicalize`, which is the default, the operations of `scf` with regions are canonicalized afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.scf import IfOp, YieldOp
from sdyopt.mlir.dialects.sdy.sharding_edits import replace_call, returns_of, set_function_type
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.interfaces import (
    IncomingBranches,
    forwarded_operands,
    is_memory_effect_free,
    is_trivially_dead,
    keep_successor_operands,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import SYMBOL, TERMINATOR
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from .support.call_graph import callee_of, functions_with_known_calls


@register("remove-dead-values")
class RemoveDeadValues(Pass):
    anchor = None

    canonicalize: bool = option(default=True, help="canonicalize operations of scf with regions afterwards")

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        liveness = _Liveness(op)
        _Removal(op, liveness, rewriter).run()
        if self.canonicalize:
            _canonicalize_regions(op, rewriter)
        return rewriter.changed


# As `canonicalize` does by default.
_MAX_ROUNDS = 10


def _canonicalize_regions(root: Op, rewriter: Rewriter) -> None:
    """Applies the canonicalizations of scf.if, for and while, innermost first, until nothing changes."""
    for _ in range(_MAX_ROUNDS):
        ops = [op for op in root.walk() if op.dialect_name == "scf" and op.regions and op is not root]
        has_changed = False
        for op in reversed(ops):
            for pattern in type(op).canonicalizations:
                if op.parent is not None and is_trivially_dead(op):
                    rewriter.erase(op)
                    has_changed = True
                elif op.parent is not None and pattern.rewrite(op, rewriter):
                    has_changed = True
        if not has_changed:
            return


class _Liveness:
    """The values that are needed."""

    def __init__(self, root: Op) -> None:
        self.live: set[Value] = set()
        self.calls: dict[FuncOp, list[CallOp]] = {function: [] for function in _known_functions(root)}
        self._pending: list[Value] = []
        self._branches = IncomingBranches()
        ops = list(root.walk())
        for op in ops:
            if isinstance(op, CallOp) and (function := callee_of(op)) in self.calls:
                assert function is not None
                self.calls[function].append(op)
        self.unreachable = self._unreachable_functions(root)
        for op in ops:
            # Calls stay, with their operands if these are not erased.
            if op is not root and (isinstance(op, CallOp) or not self.is_unreachable(op)):
                self._mark_all(self._needed_operands(op))
        while self._pending:
            self._mark_all(self._sources(self._pending.pop()))

    def is_unreachable(self, op: Op) -> bool:
        """Whether an operation is in a function that is never called."""
        return not self.unreachable.isdisjoint(op.ancestors())

    def _unreachable_functions(self, root: Op) -> set[Op]:
        """The private functions that are not called, or only by each other."""
        unreachable: set[Op] = set(self.calls)
        pending = [op for op in root.walk() if isinstance(op, FuncOp) and op not in self.calls]
        # Calls outside of functions of the root, or in the function that is the root.
        pending += [
            function
            for function, calls in self.calls.items()
            if any(call.parent_of_type(FuncOp) not in self.calls for call in calls)
        ]
        callees: dict[Op | None, list[FuncOp]] = {}
        for function, calls in self.calls.items():
            for call in calls:
                callees.setdefault(call.parent_of_type(FuncOp), []).append(function)
        while pending:
            function = pending.pop()
            for callee in [function, *callees.get(function, ())]:
                if callee in unreachable:
                    unreachable.discard(callee)
                    pending.append(callee)
        return unreachable

    def _mark_all(self, values: Iterable[Value]) -> None:
        for value in values:
            if value not in self.live:
                self.live.add(value)
                self._pending.append(value)

    def _needed_operands(self, op: Op) -> Iterable[Value]:
        """The operands that are live whatever the results are used for."""
        if isinstance(op, CallOp):
            return () if callee_of(op) in self.calls else op.operands
        if isinstance(op, ReturnOp):
            return () if op.parent_op in self.calls else op.operands
        if isinstance(op, YieldOp) and isinstance(op.parent_op, IfOp):
            return ()
        if op.successors:
            forwarded = forwarded_operands(op)
            return [value for index, value in enumerate(op.operands) if index not in forwarded]
        if TERMINATOR in op.traits or not is_memory_effect_free(op):
            return op.operands
        return ()

    def _sources(self, value: Value) -> Iterable[Value]:
        """The values that a live value is computed from."""
        if isinstance(value, BlockArgument):
            return self._sources_of_argument(value)
        assert isinstance(value, OpResult)
        op = value.op
        if isinstance(op, CallOp):
            function = callee_of(op)
            if function not in self.calls:
                return ()
            assert function is not None
            return [terminator.operand_at(value.index) for terminator in returns_of(function)]
        if isinstance(op, IfOp):
            yields = [block.terminator for region in op.regions for block in region.blocks]
            return [
                op.condition,
                *(terminator.operand_at(value.index) for terminator in yields if terminator is not None),
            ]
        return op.operands

    def _sources_of_argument(self, argument: BlockArgument) -> Iterable[Value]:
        block = argument.block
        parent = block.parent_op
        if not (block.parent is not None and block.parent.blocks[0] is block):
            return self._branches.forwarded(argument)
        if isinstance(parent, FuncOp) and parent in self.calls:
            return [call.operand_at(argument.index) for call in self.calls[parent]]
        return ()


def _known_functions(root: Op) -> Iterable[FuncOp]:
    return [function for function in functions_with_known_calls(root) if function is not root]


class _Removal:
    """Removes the values that are not live: first uses, then operations, then arguments and results."""

    def __init__(self, root: Op, liveness: _Liveness, rewriter: Rewriter) -> None:
        self._live = liveness.live
        self._calls = liveness.calls
        self._is_unreachable = liveness.is_unreachable
        self._rewriter = rewriter
        self._ops = [op for op in root.walk() if op is not root]
        # Which operands become the arguments of a block, only branches that declare successor operands tell.
        self._successors = dict.fromkeys(
            block for op in self._ops if op.successor_operands for block in op.successors
        )

    def run(self) -> None:
        dead = {op for op in self._ops if self._is_dead(op)}
        for function, calls in self._calls.items():
            for end in returns_of(function):
                self._erase_operands(end, self._dead_results(function, calls))
            for call in calls:
                self._erase_operands(call, self._dead(function.entry.arguments))
        for op in self._ops:
            if op.successor_operands:
                arguments = {argument for block in op.successors for argument in block.arguments}
                keep_successor_operands(self._rewriter, op, arguments & self._live)
            elif isinstance(op, YieldOp) and isinstance(branch := op.parent_op, IfOp):
                self._erase_operands(op, self._dead(branch.results))
        self._erase_ops(dead)
        for op in self._ops:
            if isinstance(op, IfOp) and op not in dead:
                self._erase_branch_results(op)
        for function, calls in self._calls.items():
            self._erase_from_function(function, calls)
        for block in self._successors:
            self._erase_arguments(block)

    def _is_dead(self, op: Op) -> bool:
        if isinstance(op, CallOp) or not op.traits.isdisjoint((SYMBOL, TERMINATOR)):
            return False
        if not self._live.isdisjoint(op.results) or isinstance(op, FuncOp):
            return False
        return self._is_unreachable(op) or is_memory_effect_free(op)

    def _dead(self, values: Sequence[Value]) -> list[int]:
        return [index for index, value in enumerate(values) if value not in self._live]

    def _dead_results(self, function: FuncOp, calls: Sequence[CallOp]) -> list[int]:
        indices = range(len(function.function_type.results))
        return [index for index in indices if self._live.isdisjoint([call.results[index] for call in calls])]

    def _erase_operands(self, op: Op, indices: Sequence[int]) -> None:
        if indices:
            self._rewriter.erase_operands(op, indices)

    def _erase_ops(self, dead: set[Op]) -> None:
        """Erases operations that only use each other, users before definitions."""
        pending = [op for op in self._ops if op in dead and dead.isdisjoint(op.ancestors())]
        while pending:
            used = []
            for op in reversed(pending):
                if any(result.has_uses for result in op.results):
                    used.append(op)
                else:
                    self._rewriter.erase(op)
            assert len(used) < len(pending)
            pending = used[::-1]

    def _erase_arguments(self, block: Block) -> None:
        for index in reversed(self._dead(block.arguments)):
            self._rewriter.erase_argument(block.arguments[index])

    def _erase_branch_results(self, op: IfOp) -> None:
        kept = [result for result in op.results if result in self._live]
        if len(kept) == len(op.results):
            return
        regions = [Region(), Region()]
        for old, new in zip(op.regions, regions, strict=True):
            self._rewriter.take_body(old, new)
        new_op = self._rewriter.create(
            IfOp,
            op.operands,
            [result.type for result in kept],
            dict(op.attributes.entries),
            before=op,
            location=op.lazy_location,
            regions=regions,
        )
        for result, replacement in zip(kept, new_op.results, strict=True):
            self._rewriter.replace_all_uses(result, replacement)
        self._rewriter.erase(op)

    def _erase_from_function(self, function: FuncOp, calls: Sequence[CallOp]) -> None:
        """Erases dead arguments and results, and the results of the calls."""
        type = function.function_type
        dead_arguments = self._dead(function.entry.arguments)
        dead_results = self._dead_results(function, calls)
        if not dead_arguments and not dead_results:
            return
        kept_results = [index for index in range(len(type.results)) if index not in dead_results]
        kept_inputs = [index for index in range(len(type.inputs)) if index not in dead_arguments]
        attributes = [function.argument_attributes[index] for index in kept_inputs]
        result_attributes = [function.result_attributes[index] for index in kept_results]
        self._erase_arguments(function.entry)
        inputs, results = [type.inputs[i] for i in kept_inputs], [type.results[i] for i in kept_results]
        set_function_type(function, inputs, results, self._rewriter)
        function.argument_attributes, function.result_attributes = attributes, result_attributes
        if dead_results:
            for call in calls:
                replace_call(call, kept_results, (), self._rewriter)
