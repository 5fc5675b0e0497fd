"""test-mesh-process-multi-index-op-lowering: lower mesh.process_multi_index to the linear index.

    %0 = mesh.process_multi_index on @grid axes = [1] : index
becomes
    %linear_index = mesh.process_linear_index on @grid : index
    %sizes:2 = mesh.mesh_shape @grid : index, index
    %indices:2 = affine.delinearize_index %linear_index into (%sizes#0, %sizes#1) : index, index

and `%indices#1` replaces `%0`. A runtime provides only the linear index of a device.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.affine import DelinearizeIndexOp
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.mesh.mesh_op import (
    MeshShapeOp,
    ProcessLinearIndexOp,
    ProcessMultiIndexOp,
    find_mesh,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import INDEX
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


def _lower(op: ProcessMultiIndexOp, rewriter: Rewriter) -> bool:
    mesh_op = find_mesh(op, op.mesh)
    mesh = {"mesh": op.signature.attributes["mesh"]}
    types = [INDEX] * mesh_op.rank
    linear_index = rewriter.create(ProcessLinearIndexOp, (), [INDEX], mesh, before=op, location=op.location)
    sizes = rewriter.create(MeshShapeOp, (), types, mesh, before=op, location=op.location)
    indices = rewriter.create(
        DelinearizeIndexOp, [*linear_index.results, *sizes.results], types, before=op, location=op.location
    )
    rewriter.replace(op, [indices.results[axis] for axis in op.axes or range(mesh_op.rank)])
    return True


_PATTERNS = (Pattern(_lower),)


def _patterns(op_class: type[Op]) -> Sequence[Pattern]:
    return _PATTERNS if issubclass(op_class, ProcessMultiIndexOp) else ()


@register("test-mesh-process-multi-index-op-lowering")
class TestMeshProcessMultiIndexOpLowering(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(module, _patterns)
        return changed
