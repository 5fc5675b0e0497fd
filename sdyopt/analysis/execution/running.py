"""Execution of one program on given inputs."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

from sdyopt.analysis.execution.global_program import (
    entry_names,
    has_manual_computation,
    local_text,
    make_global,
    program_of,
    program_text,
)
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.execution.validation import check_is_array, placement
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.types import FunctionType, RankedTensor, Type
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.sharding.axis_lists import sharded_size

# The attributes that a partitioned program has.
_COUNTS = ("mhlo.num_partitions", "mhlo.num_replicas")


class Execution:
    """The execution of @main; `arguments` and `results` are the placements of what it takes and returns.

    A partitioned program runs on all of its devices, any other program on a single device and without its
    shardings.
    """

    def __init__(self, program: ModuleOp, mode: str, worker: Worker) -> None:
        names = entry_names(program)
        if len(names) != 1:
            raise NotValidated("the program has no function @main")
        self._module, self._entry = program_of(program, names[0])
        self._mode = mode
        self._worker = worker
        self.devices = _partitions(program)
        if self.devices == 1:
            if has_manual_computation(self._module):
                raise NotValidated("it has a manual computation, so it must be partitioned first")
            make_global(self._module)
        type: FunctionType = self._entry.function_type
        self.arguments = self._placed(type.inputs, self._entry.argument_attributes)
        self.results = self._placed(type.results, self._entry.result_attributes)

    def _placed(self, types: Sequence[Type], attributes: Sequence[DictAttr]) -> list[dict[str, Any]]:
        known, placed = LocalTypes(self._module), []
        for local, attribute in zip(types, attributes, strict=True):
            check_is_array(local)
            assert isinstance(local, RankedTensor)
            result = attribute.get(SHARDING) if self.devices > 1 else None
            mesh = known.mesh(result) if isinstance(result, TensorSharding) else None
            whole = local
            if isinstance(result, TensorSharding) and mesh is not None and result.rank == local.rank:
                counts = [sharded_size(dim.axes, mesh) for dim in result.dims]
                shape = tuple([size * count for size, count in zip(local.shape, counts, strict=True)])
                whole = RankedTensor(shape, local.element, local.encoding)
                placed.append(placement(whole, result, mesh, local, self.devices))
            else:
                placed.append(placement(whole, None, None, local, self.devices))
        return placed

    def run(self, values: Sequence[bytes], steps: int, carry: Sequence[tuple[int, int]]) -> list[list[bytes]]:
        """The bytes of the whole results of each step. Raises NotValidated or NoJax.

        `carry` has the results that become arguments of the next step, as (result, argument).
        """
        is_whole = self.devices == 1
        text = program_text(self._module) if is_whole else self._text()
        request = {
            "devices": self.devices,
            "mode": self._mode,
            "text": text,
            "arguments": self.arguments,
            "results": self.results,
            "values": [b64encode(value).decode() for value in values],
            "steps": steps,
            "carry": [list(pair) for pair in carry],
        }
        [answer] = self._worker.run("execute", request)
        if "cannot" in answer:
            raise NotValidated(answer["cannot"])
        return [[b64decode(result) for result in step] for step in answer["steps"]]

    def _text(self) -> str:
        return local_text(self._module, self._entry, self.devices, self._mode)


def _partitions(program: ModuleOp) -> int:
    """The number of devices of a partitioned program; 1 for any other program."""
    if any(op.dialect_name == "sdy" and not isinstance(op, MeshOp) for op in program.walk()):
        return 1
    counts = (program.attributes.get(name) for name in _COUNTS)
    return max((count.value for count in counts if isinstance(count, IntegerAttr)), default=1)
