"""Runs programs for each device, and compares them with the reshards that they are converted from."""

from __future__ import annotations

import numpy as np

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.value import Value
from tests.interpreter.collectives import COLLECTIVES
from tests.interpreter.machine import Machine
from tests.simulation.devices import Devices
from tests.simulation.programs import function_of
from tests.simulation.reshards import Argument, Simulation, origin
from tests.simulation.shards import Tensor, wrong_devices


def simulate_local(before: FuncOp, local: ModuleOp) -> Simulation:
    """Runs the function of each device on the shards of its arguments, and checks its results.

    `before` is the function with reshards. The shardings of its signature define the arguments and results.
    """
    result = Simulation()
    arguments: dict[Value, Argument] = {value: Argument(value, before) for value in before.entry.arguments}
    shards = [argument.sharded().shards for argument in arguments.values()]
    after = function_of(local)
    result.counts.update(op.name for op in after.entry.ops if op.name in COLLECTIVES)
    returned = Machine(local, shards[0].shape[0]).call(after.sym_name, [list(each) for each in shards])
    assert before.entry.last is not None
    targets = zip(returned, before.entry.last.operands, before.result_attributes, strict=True)
    for number, (arrays, target, attributes) in enumerate(targets):
        sharding = attributes[SHARDING]
        assert isinstance(sharding, TensorSharding)
        mesh = mesh_of(sharding, before)
        assert mesh is not None
        whole = arguments[origin(target)].whole
        wrong = wrong_devices(Tensor(whole.shape, np.stack(arrays)), whole, sharding, Devices(mesh))
        if wrong:
            result.problems.append(f"result {number} is wrong on devices {list(wrong)}")
    return result
