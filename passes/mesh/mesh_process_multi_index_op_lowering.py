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

from sdyopt.mlir.dialects.affine import DelinearizeIndex21Op, DelinearizeIndexOp
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.mesh.attributes import mesh as mesh19
from sdyopt.mlir.dialects.mesh.mesh_op import (
    MeshShapeOp,
    ProcessLinearIndexOp,
    ProcessMultiIndexOp,
    find_mesh,
    op_class_in,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import INDEX
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


def _lower(op: ProcessMultiIndexOp, rewriter: Rewriter) -> bool:
    mesh_op = find_mesh(op, op.mesh)
    name = type(op).mesh.name
    mesh = {name: op.signature.attributes[name]}
    types = [INDEX] * mesh_op.rank
    linear_index = rewriter.create(
        op_class_in(op.dialect, ProcessLinearIndexOp), (), [INDEX], mesh, before=op, location=op.location
    )
    sizes = rewriter.create(
        op_class_in(op.dialect, MeshShapeOp), (), types, mesh, before=op, location=op.location
    )
    op_class = DelinearizeIndexOp if op.dialect is mesh19 else DelinearizeIndex21Op
    indices = op_class.insert_before(op, rewriter, linear_index.results[0], sizes.results)
    rewriter.replace(op, [indices.results[axis] for axis in op.axes or range(mesh_op.rank)])
    return True


_PATTERNS = (Pattern(_lower),)


def _patterns(op_class: type[Op]) -> Sequence[Pattern]:
    if issubclass(op_class, DelinearizeIndex21Op):
        return (op_class.folding,)
    return _PATTERNS if issubclass(op_class, ProcessMultiIndexOp) else ()


@register("test-mesh-process-multi-index-op-lowering")
class TestMeshProcessMultiIndexOpLowering(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(module, _patterns)
        return changed


@register("test-grid-process-multi-index-op-lowering")
class TestMultiIndexOpLoweringPass(TestMeshProcessMultiIndexOpLowering):
    """test-grid-process-multi-index-op-lowering: the same pass, as LLVM 22 names it.

    With `--mesh-version=22`.
    """
