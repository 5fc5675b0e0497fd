"""Programs of reshards, before and after these have become collectives, on simulated devices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedTensor
from sdyopt.ir.value import Value
from tests.simulation.collectives import MEANING, run_collective
from tests.simulation.devices import Devices
from tests.simulation.programs import run
from tests.simulation.shards import Tensor, parts_of_sum, shards, wrong_devices

# What leaves the tensor as it is, on every device.
PASS_THROUGH = ("sdy.propagation_barrier",)


@dataclass
class Simulation:
    """What came out of running a function."""

    # Which result is wrong, and on which devices.
    problems: list[str] = field(default_factory=list)
    # How often each collective was run.
    counts: Counter[str] = field(default_factory=Counter)
    # How often borders between shards had to move, because sizes do not divide.
    moves: int = 0


def simulate(before: FuncOp, after: FuncOp) -> Simulation:
    """Gives the devices what the shardings of the arguments say, runs what became of a function of reshards,
    and compares what the devices return with what the function's own shardings say."""
    result = Simulation()

    def execute(op: Op, tensor: Tensor) -> Tensor:
        if op.signature.name in PASS_THROUGH:
            return tensor
        assert op.signature.name in MEANING, f"cannot simulate {op.signature.name}"
        result.counts[op.signature.name] += 1
        return run_collective(op, tensor)

    sources: dict[Value, _Source] = {value: _Source(value, before) for value in before.entry.arguments}
    returned = run(after, [source.dealt() for source in sources.values()], execute)
    assert before.entry.last is not None
    targets = before.entry.last.operands
    for number, (tensor, target) in enumerate(zip(returned, targets, strict=True)):
        result.moves += tensor.moves
        whole = sources[_origin(target)].whole
        sharding, mesh = _sharding_and_mesh(target, before)
        wrong = wrong_devices(tensor, whole, sharding, Devices(mesh))
        if wrong:
            result.problems.append(f"result {number} is wrong on devices {list(wrong)}")
    return result


class _Source:
    """An argument: the tensor as a whole, and as it is dealt to the devices."""

    def __init__(self, value: Value, function: FuncOp) -> None:
        assert isinstance(value.type, RankedTensor)
        self._sharding, mesh = _sharding_and_mesh(value, function)
        self._devices = Devices(mesh)
        self._parts = parts_of_sum(value.type.shape, self._sharding, self._devices)
        self.whole = self._parts.sum(axis=0)

    def dealt(self) -> Tensor:
        held = shards(self._parts, self._sharding, self._devices)
        return Tensor(self.whole.shape, held)


def _sharding_and_mesh(value: Value, function: FuncOp) -> tuple[TensorSharding, Mesh]:
    """The sharding of a value; without one, copies on the devices of a mesh that the function speaks of."""
    sharding = sharding_of(value)
    if sharding is None:
        assert isinstance(value.type, RankedTensor)
        others = (sharding_of(result) for op in function.entry.ops for result in op.results)
        mesh_or_ref = next(other.mesh_or_ref for other in others if other is not None)
        sharding = fully_replicated(value.type.rank, mesh_or_ref, is_closed=True)
    mesh = mesh_of(sharding, function)
    assert mesh is not None
    return sharding, mesh


def _origin(value: Value) -> Value:
    """The argument that a value of a function of reshards is, however sharded."""
    op: Any = value.defining_op
    while op is not None:
        value = op.operand_at(0)
        op = value.defining_op
    return value
