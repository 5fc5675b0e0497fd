"""The structure of a program: two numbers for each value, equal for values that are computed or used alike.

`defined` stands for the operations that a value is computed from, `used` for those that it is used by. After
a change of an operation, the values before it keep `defined`, and those after it keep `used`. Names,
locations and shardings do not count, and neither do operations that only move data: reshards, collectives of
sdy and sharding constraints.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sdyopt.comparison.operation_labels import label_of
from sdyopt.dialects.sdy.collective_base import CollectiveOp
from sdyopt.dialects.sdy.data_flow_ops import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.ir.function_interface import FunctionOpInterface
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value
from sdyopt.report.constants import constant_of

# What sharding passes insert and remove: a result stands for the operand.
_TRANSPARENT = (ReshardOp, CollectiveOp, PropagationBarrierOp, DataFlowEdgeOp, FuncDataFlowEdgeOp)
_GSPMD_CONSTRAINT = "Sharding"


def is_transparent(op: Op) -> bool:
    """Whether an operation changes the sharding of its operand alone, and is not from the user."""
    return isinstance(op, _TRANSPARENT)


def is_constraint(op: Op) -> bool:
    """Whether an operation is a sharding constraint, of sdy or of GSPMD."""
    if isinstance(op, CustomCallOp):
        return op.call_target_name == _GSPMD_CONSTRAINT
    return isinstance(op, ShardingConstraintOp)


class Structure:
    """The structure of the functions that are added.

    `constants` are the operations that compute with constants alone: passes copy and merge these. `alive` has
    what the numbers are hashes of: these objects are compared by identity, so they must not be freed.
    """

    def __init__(self) -> None:
        self.defined: dict[Value, int] = {}
        self.used: dict[Value, int] = {}
        self.constants: set[Op] = set()
        self.alive: set[Hashable] = set()
        self._returned: dict[Op, Sequence[Value]] = {}

    def returned(self, function: Op) -> Sequence[Value]:
        """The values that a function returns; none for a declaration."""
        return self._returned.get(function, ())

    def add_function(self, function: FunctionOpInterface) -> None:
        """Adds the values in a function."""
        entry = function.regions[0].entry
        if entry is None:
            return
        for argument in entry.arguments:
            self.alive.add(argument.type)
            self.defined[argument] = hash(("argument", argument.index, argument.type))
        ops = [op for op in function.walk() if op is not function]
        for op in ops:
            self._define(op)
        for op in reversed(ops):
            self._use(op)
        if entry.last is not None:
            self._returned[function] = entry.last.operands

    def _define(self, op: Op) -> None:
        defined = self.defined
        operands = [use.value for use in op.operand_uses]
        if operands and (is_transparent(op) or is_constraint(op)):
            for result in op.results:
                defined[result] = defined.get(operands[0], 0)
            return
        if constant_of(op) is not None or (
            not op.regions and all(value.defining_op in self.constants for value in operands)
        ):
            self.constants.add(op)
        label = label_of(op)
        self.alive.add(label)
        key = hash((label, *[defined.get(value, 0) for value in operands]))
        for result in op.results:
            defined[result] = hash((key, result.index))
        for number, region in enumerate(op.regions):
            for block_number, block in enumerate(region.blocks):
                for argument in block.arguments:
                    defined[argument] = hash((key, number, block_number, argument.index))

    def _use(self, op: Op) -> None:
        used = self.used
        uses = op.operand_uses
        if uses and (is_transparent(op) or is_constraint(op)):
            value = uses[0].value
            used[value] = used.get(value, 0) + sum([used.get(result, 0) for result in op.results])
            return
        key = hash((label_of(op), *[used.get(result, 0) for result in op.results]))
        for use in uses:
            # A sum, because the order of uses is no structure.
            used[use.value] = used.get(use.value, 0) + hash((key, use.index))
