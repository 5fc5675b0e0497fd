"""Runs functions of collectives on simulated devices, and compares them with those of reshards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from tests.simulation.collectives import COLLECTIVES, run_collective
from tests.simulation.devices import Devices
from tests.simulation.programs import run
from tests.simulation.shards import Tensor, partial_sums, shards, wrong_devices

# Operations that return their operand.
PASS_THROUGH = ("sdy.propagation_barrier",)


@dataclass
class Simulation:
    """The outcome of running a function."""

    # The wrong results, and the devices on which they are wrong.
    problems: list[str] = field(default_factory=list)
    # The number of runs of each collective.
    counts: Counter[str] = field(default_factory=Counter)
    # The number of moves of shard boundaries, because sizes do not divide.
    moves: int = 0


def simulate(before: FuncOp, after: FuncOp) -> Simulation:
    """Runs the lowered function `after` on the shards of its arguments, and checks its results.

    `before` is the function with reshards. Its shardings define the arguments and the expected results.
    """
    result = Simulation()

    def execute(op: Op, tensor: Tensor) -> Tensor:
        if op.signature.name in PASS_THROUGH:
            return tensor
        assert op.signature.name in COLLECTIVES, f"cannot simulate {op.signature.name}"
        result.counts[op.signature.name] += 1
        return run_collective(op, tensor)

    arguments: dict[Value, Argument] = {value: Argument(value, before) for value in before.entry.arguments}
    returned = run(after, [argument.sharded() for argument in arguments.values()], execute)
    assert before.entry.last is not None
    targets = before.entry.last.operands
    for number, (tensor, target) in enumerate(zip(returned, targets, strict=True)):
        result.moves += tensor.moves
        whole = arguments[origin(target)].whole
        sharding, mesh = _sharding_and_mesh(target, before)
        wrong = wrong_devices(tensor, whole, sharding, Devices(mesh))
        if wrong:
            result.problems.append(f"result {number} is wrong on devices {list(wrong)}")
    return result


class Argument:
    """An argument: the global tensor `whole` and its shards."""

    def __init__(self, value: Value, function: FuncOp) -> None:
        assert isinstance(value.type, RankedTensor)
        self._sharding, mesh = _sharding_and_mesh(value, function)
        self._devices = Devices(mesh)
        self._partial_sums = partial_sums(value.type.shape, self._sharding, self._devices)
        self.whole = self._partial_sums.sum(axis=0)

    def sharded(self) -> Tensor:
        return Tensor(self.whole.shape, shards(self._partial_sums, self._sharding, self._devices))


def _sharding_and_mesh(value: Value, function: FuncOp) -> tuple[TensorSharding, Mesh]:
    """The sharding of a value and its mesh.

    Without a sharding, the value is fully replicated on the mesh of the first result that has one.
    """
    sharding = sharding_of(value)
    if sharding is None:
        assert isinstance(value.type, RankedTensor)
        others = (sharding_of(result) for op in function.entry.ops for result in op.results)
        mesh_or_ref = next(other.mesh_or_ref for other in others if other is not None)
        sharding = fully_replicated(value.type.rank, mesh_or_ref, is_closed=True)
    mesh = mesh_of(sharding, function)
    assert mesh is not None
    return sharding, mesh


def origin(value: Value) -> Value:
    """The argument from which a value is computed by reshards and barriers."""
    op = value.defining_op
    while op is not None:
        value = op.operand_at(0)
        op = value.defining_op
    return value
