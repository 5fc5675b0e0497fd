"""The number of devices along the manual axes around an operation, which each run it on data of their own."""

from __future__ import annotations

from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.ir.operation import Op


class ManualDevices:
    """Products of the sizes of the manual axes around operations and around the calls of their functions."""

    def __init__(self, counts: ExecutionCounts, shapes: LocalShapes) -> None:
        self._counts = counts
        self._shapes = shapes
        self._of_function: dict[FuncOp, int | None] = {}

    def devices(self, op: Op) -> int | None:
        """The number of devices along all manual axes around an operation; None if calls differ in it."""
        devices = 1
        for parent in op.ancestors():
            if isinstance(parent, ManualComputationOp):
                devices *= self._along_axes(parent)
            elif isinstance(parent, FuncOp):
                outside = self._function(parent)
                return None if outside is None else devices * outside
        return devices

    def _along_axes(self, computation: ManualComputationOp) -> int:
        mesh = mesh_of_manual(computation, self._shapes)
        devices = 1
        for name in computation.manual_axes:
            devices *= mesh.axis_size(name) if mesh is not None and mesh.has_axis(name) else 1
        return devices

    def _function(self, function: FuncOp) -> int | None:
        if function not in self._of_function:
            self._of_function[function] = None  # for recursion
            sites = self._counts.call_sites(function)
            found = {self.devices(call) for call in sites} | (
                {1} if self._counts.is_entry(function) else set()
            )
            self._of_function[function] = found.pop() if len(found) == 1 else None if found else 1
        return self._of_function[function]


def mesh_of_manual(computation: ManualComputationOp, shapes: LocalShapes) -> Mesh | None:
    """The mesh of a manual computation: that of its first sharding on a mesh that is not empty."""
    for sharding in (*computation.in_shardings, *computation.out_shardings):
        mesh = shapes.mesh(sharding.mesh_or_ref)
        if mesh is not None and not mesh.is_empty:
            return mesh
    return None
