"""Operations that functions run only for results that none of their calls uses.

    %0:2 = call @f(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#0

If this is the only call of `@f`, its second result is dead, and so is what only that result depends on. A
compiler that inlines the call does not compute it.
"""

from __future__ import annotations

from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.ir.interfaces import would_be_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value


class DeadResults:
    """The dead results of calls, and the values and operations of the functions that compute only them."""

    def __init__(self, module: Op, counts: ExecutionCounts) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._counts = counts
        self._pending: list[Value] = []
        for op in module.walk():
            if isinstance(op, CallOp):
                for result in op.results:
                    if result.first_use is None:
                        self._add(result)
        while self._pending:
            self._visit(self._pending.pop())

    def contains(self, op: Op) -> bool:
        """Whether an operation, or one that it is nested in, is dead."""
        return bool(self.ops) and any(ancestor in self.ops for ancestor in (op, *op.ancestors()))

    def _add(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self._pending.append(value)

    def _visit(self, value: Value) -> None:
        """Looks at what a dead value is computed from."""
        if isinstance(value, OpResult):
            op = value.op
            if isinstance(op, CallOp):
                self._visit_callee(op, value.index)
            elif would_be_dead(op) and all(result in self.values for result in op.results):
                self.ops.add(op)
                for operand in op.operands:
                    self._check(operand)
        elif isinstance(value, BlockArgument) and isinstance(function := value.block.parent_op, FuncOp):
            for call in self._counts.call_sites(function):
                self._check(call.operand_at(value.index))

    def _visit_callee(self, call: CallOp, index: int) -> None:
        callee = lookup_symbol(call, call.callee)
        if not isinstance(callee, FuncOp) or not self._is_unused(callee, index):
            return
        for block in callee.body.blocks:
            if isinstance(block.last, ReturnOp):
                self._check(block.last.operand_at(index))

    def _is_unused(self, function: FuncOp, index: int) -> bool:
        """Whether no one needs a result of a function."""
        calls = self._counts.call_sites(function)
        return not self._counts.is_entry(function) and all(
            call.results[index] in self.values for call in calls
        )

    def _check(self, value: Value) -> None:
        """Adds a value of which a use is dead, if all of them are."""
        if all(self._is_dead_use(user, value) for user in value.users):
            self._add(value)

    def _is_dead_use(self, user: Op, value: Value) -> bool:
        if user in self.ops:
            return True
        used = [index for index, operand in enumerate(user.operands) if operand is value]
        if isinstance(user, ReturnOp):
            function = user.parent_op
            return isinstance(function, FuncOp) and all(self._is_unused(function, index) for index in used)
        callee = lookup_symbol(user, user.callee) if isinstance(user, CallOp) else None
        if not isinstance(callee, FuncOp) or callee.is_declaration:
            return False
        return all(callee.entry.arguments[index] in self.values for index in used)
