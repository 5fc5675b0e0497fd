"""Runs functions on devices in lockstep. The value of a tensor is a list of arrays, one per device."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, WhileOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from tests.interpreter.arrays import Array
from tests.interpreter.collectives import COLLECTIVES
from tests.interpreter.indexing import INDEXING
from tests.interpreter.operations import OPERATIONS
from tests.interpreter.windows import WINDOWS

PerDevice = list[Array]
_LOCAL = {**OPERATIONS, **WINDOWS, **INDEXING}
_IDENTITIES = (
    "sdy.sharding_constraint",
    "sdy.reshard",
    "sdy.propagation_barrier",
    "stablehlo.optimization_barrier",
)


class Machine:
    """Devices that run the functions of a module."""

    def __init__(self, module: ModuleOp, devices: int = 1) -> None:
        self._module = module
        self._functions = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}
        self.devices = devices

    def call(self, name: str, arguments: Sequence[PerDevice]) -> list[PerDevice]:
        """The results of a function."""
        return self._run_block(self._functions[name].entry, arguments, {})

    def body(self, region: Region, values: dict[Value, PerDevice]) -> Callable[..., Array]:
        """A region as a function of arrays on one device; what it captures must be equal on all devices."""

        def run(*arguments: Array) -> Array:
            return Machine(self._module)._run_block(region.blocks[0], [[each] for each in arguments], values)[
                0
            ][0]

        return run

    def _run_block(
        self, block: Block, arguments: Sequence[PerDevice], outer: dict[Value, PerDevice]
    ) -> list[PerDevice]:
        values = dict(outer)
        values.update(zip(block.arguments, arguments, strict=True))
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op.is_terminator:
                return operands
            values.update(zip(op.results, self._run(op, operands, values), strict=True))
        raise AssertionError("a block ends with a terminator")

    def _run(self, op: Op, operands: list[PerDevice], values: dict[Value, PerDevice]) -> list[PerDevice]:
        if op.name in _IDENTITIES:
            return operands
        if isinstance(op, CallOp):
            return self.call(op.callee, operands)
        if isinstance(op, WhileOp):
            return self._loop(op, operands, values)
        if isinstance(op, (IfOp, CaseOp)):
            return self._branch(op, operands, values)
        bodies = [self.body(region, values) for region in op.regions]
        if op.name in COLLECTIVES:
            return COLLECTIVES[op.name](op, operands, bodies, self.devices)
        function = _LOCAL[op.name]
        per_device = [
            function(op, [each[device] for each in operands], bodies) for device in range(self.devices)
        ]
        return [list(each) for each in zip(*per_device, strict=True)]

    def _loop(self, op: WhileOp, state: list[PerDevice], values: dict[Value, PerDevice]) -> list[PerDevice]:
        condition, body = op.regions
        while _same(self._run_block(condition.blocks[0], state, values)[0]):
            state = self._run_block(body.blocks[0], state, values)
        return state

    def _branch(self, op: Op, operands: list[PerDevice], values: dict[Value, PerDevice]) -> list[PerDevice]:
        chosen = _same(operands[0])
        index = (not chosen) if isinstance(op, IfOp) else chosen
        count = len(op.regions)
        return self._run_block(op.regions[index if 0 <= index < count else count - 1].blocks[0], [], values)


def _same(each: PerDevice) -> int:
    """A scalar that all devices must have, because they run in lockstep."""
    first, *others = [int(array) for array in each]
    assert all(other == first for other in others), "devices take different branches"
    return first
