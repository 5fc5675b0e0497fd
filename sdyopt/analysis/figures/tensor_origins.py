"""The argument of the program that a tensor is a part or a copy of, such as a weight that a loop slices.

%0 = stablehlo.while(%w = %arg0, …)                  // jax.lax.scan over params['layers']
    %1 = stablehlo.dynamic_slice %w, …
    %2 = sdy.all_gather [{"x"}] %1                   // gathers params['layers']
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.figures import ARGUMENT, COPY, RESULT, TEMPORARY
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.ops import (
    ManualComputationOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
)
from sdyopt.mlir.dialects.stablehlo.compare_select import BitcastConvertOp, ConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# Operations whose result has elements of their first operand only, in another form.
_VIEWS: tuple[type[Op], ...] = (
    *(BitcastConvertOp, ConvertOp, DynamicSliceOp, ReshapeOp, SliceOp, TransposeOp),
    *(PropagationBarrierOp, ReshardOp, ShardingConstraintOp),
)
_REDUCTIONS = (AllReduceOp, ReduceScatterOp)
_BODIES = (ManualComputationOp, NamedComputationOp)

# An update is looked for among this many values that are computed from a gradient.
_MAX_VALUES = 64


class TensorOrigins:
    """The arguments that tensors of a module come from, and those that gradients update."""

    def __init__(self, counts: ExecutionCounts) -> None:
        self._counts = counts
        self._arguments: dict[Value, BlockArgument | None] = {}

    def argument(self, value: Value) -> BlockArgument | None:
        """The argument of the program that a value is a part or a copy of; None if it is computed."""
        if value not in self._arguments:
            here: Value | None = value
            visited: set[Value] = set()
            while here is not None and here not in visited:
                visited.add(here)
                if isinstance(here, BlockArgument) and self._is_argument(here):
                    break
                here = self._source(here)
            is_found = isinstance(here, BlockArgument) and self._is_argument(here)
            self._arguments[value] = here if isinstance(here, BlockArgument) and is_found else None
        return self._arguments[value]

    def name(self, value: Value) -> str:
        """The name of that argument; "" for none."""
        argument = self.argument(value)
        return "" if argument is None else name_of(argument)

    def role(self, value: Value) -> tuple[str, str]:
        """What a value is to the program, and its name: that of the argument of a copy, too."""
        if self.argument(value) is value:
            return ARGUMENT, self.name(value)
        for use in value.uses:
            function = use.owner.parent_op if isinstance(use.owner, FuncReturnOp) else None
            if isinstance(function, FuncOp) and self._counts.is_entry(function):
                return RESULT, name_of_result(function, use.index)
        return TEMPORARY if self.argument(value) is None else COPY, self.name(value)

    def is_gathered(self, value: Value) -> bool:
        """Whether a part or copy of an argument has been gathered: a device has more of it then."""
        here: Value | None = value
        while here is not None and self.argument(here) is not here:
            if isinstance(here, OpResult) and isinstance(here.op, AllGatherOp):
                return True
            here = self._source(here)
        return False

    def updated(self, value: Value) -> str:
        """The name of the argument that a gradient is combined with, or of the result that it becomes.

        "" if there is none.
        """
        argument, name = self._updated(value)
        return name if argument is None else name_of(argument)

    def updated_argument(self, value: Value) -> BlockArgument | None:
        """The argument that a gradient is combined with; None if there is none."""
        return self._updated(value)[0]

    def _updated(self, value: Value) -> tuple[BlockArgument | None, str]:
        """The argument that a gradient updates; without one, the name of the result that it becomes.

        Only elementwise operations and views are between. Of several arguments, it is one that other
        operations use: a weight, and not the state of an optimizer.
        """
        pending, visited, first = [value], {value}, ""
        state: BlockArgument | None = None
        while pending and len(visited) < _MAX_VALUES:
            value = pending.pop(0)
            for use in value.uses:
                op = use.owner
                if isinstance(op, FuncReturnOp) and isinstance(function := op.parent_op, FuncOp):
                    first = first or (name_of_result(function, use.index) if state is None else "")
                    continue
                if is_elementwise(op.signature):
                    for argument in self._other_operands(op, value):
                        if _is_weight(argument):
                            return argument, ""
                        if not first and state is None:
                            state = argument
                for result in _results_of_use(op, use.index):
                    if result not in visited:
                        visited.add(result)
                        pending.append(result)
        return state, first

    def _other_operands(self, op: Op, value: Value) -> Iterator[BlockArgument]:
        """The arguments of the same type with names that an operation combines a value with."""
        others = [operand for operand in op.operands if operand is not value and operand.type is value.type]
        for item in list(others):
            # Such as a momentum that is scaled.
            if isinstance(item, OpResult) and is_elementwise(item.op.signature):
                others += item.op.operands
        result = map(self.argument, others)
        return (argument for argument in result if argument is not None and name_of(argument))

    def _is_argument(self, value: BlockArgument) -> bool:
        function = value.block.parent_op
        return isinstance(function, FuncOp) and self._counts.is_entry(function)

    def _source(self, value: Value) -> Value | None:
        """The value that another one is a part or a copy of."""
        if isinstance(value, BlockArgument):
            op = value.block.parent_op
            if isinstance(op, _BODIES):
                return op.operand_at(value.index)
            if isinstance(op, WhileOp):
                return _loop_operand(op, value.index)
            calls = self._counts.call_sites(op) if isinstance(op, FuncOp) else ()
            return calls[0].operand_at(value.index) if len(calls) == 1 else None
        assert isinstance(value, OpResult)
        op = value.op
        if _is_view(op) or (isinstance(op, CollectiveOp) and not isinstance(op, _REDUCTIONS)):
            return op.operand_at(0)
        if isinstance(op, OptimizationBarrierOp):
            return op.operand_at(value.index)
        if isinstance(op, WhileOp):
            return _loop_operand(op, value.index)
        if isinstance(op, CallOp) and isinstance(callee := lookup_symbol(op, op.callee), FuncOp):
            last = None if callee.is_declaration else callee.entry.last
            return None if last is None else last.operand_at(value.index)
        return None


def _is_weight(argument: BlockArgument) -> bool:
    """Whether an operation that is not elementwise uses an argument, or a view of it."""
    pending: list[Value] = [argument]
    while pending:
        for op in pending.pop().users:
            if _is_view(op) or isinstance(op, CollectiveOp):
                pending += op.results
            elif not isinstance(op, FuncReturnOp) and not is_elementwise(op.signature):
                return True
    return False


def _is_view(op: Op) -> bool:
    if isinstance(op, BroadcastInDimOp):
        # Adds dimensions of size 1.
        old, new = op.operand_at(0).type, op.results[0].type
        if not isinstance(old, RankedShapedType) or not isinstance(new, RankedShapedType):
            return False
        return old.has_static_shape and old.num_elements == new.num_elements
    return isinstance(op, _VIEWS)


def _loop_operand(loop: WhileOp, index: int) -> Value | None:
    """The operand of a loop that the loop passes on as it is."""
    block = loop.body.blocks[0]
    returned = None if block.last is None else block.last.operand_at(index)
    while isinstance(returned, OpResult) and isinstance(returned.op, CollectiveOp | ReshardOp):
        returned = returned.op.operand_at(0)
    return loop.operand_at(index) if returned is block.arguments[index] else None


def _results_of_use(op: Op, index: int) -> list[OpResult]:
    """The results that have the elements of an operand, or each is computed from one of them."""
    if _is_view(op) or isinstance(op, CollectiveOp) or is_elementwise(op.signature):
        return list(op.results)
    if isinstance(op, DynamicUpdateSliceOp):
        return list(op.results) if index == 1 else []
    # What a scatter adds to, such as the other gradient of an embedding.
    if isinstance(op, ScatterOp):
        return [op.results[index]] if index < len(op.results) else []
    parent = op.parent_op
    if op.is_terminator and isinstance(parent, _BODIES):
        return [parent.results[index]]
    if op.is_terminator and isinstance(parent, WhileOp) and op.parent_region is parent.body:
        return [parent.results[index]]
    return []
