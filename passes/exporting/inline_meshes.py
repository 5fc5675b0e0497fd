"""sdy-inline-meshes: replace mesh names in shardings with the meshes.

    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { … }
becomes
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) { … }

The inverse of `sdy-lift-inlined-meshes`. Shardings no longer refer to symbols, so a function can be moved to
another module. Meshes of nested modules are not inlined. Meshes of replica groups are inlined too;
with `--sdy-version=jaxlib-0.10.2`, replica groups that refer to a mesh are an error.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.replica_groups import ReplicaGroupMeshAxes
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.axis_lists import stablehlo_mesh

from ..common.support.function_shardings import transform_shardings

REPLICA_GROUPS = "replica_groups"


@register("sdy-inline-meshes")
class InlineMeshes(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        named = [op for op in module.block.ops if isinstance(op, MeshOp)]
        meshes = {op.sym_name: op.mesh for op in named}

        def inline(sharding: TensorSharding) -> TensorSharding:
            # A mesh that is not in the table is inlined already, or belongs to a nested module.
            mesh = meshes.get(sharding.mesh_name or "")
            return sharding if mesh is None else sharding.with_mesh(mesh)

        transform_shardings(module, inline, rewriter)
        for op in module.walk() if Behavior.INLINED_REPLICA_GROUP_MESHES.active else ():
            groups = op.signature.attributes.get(REPLICA_GROUPS)
            if isinstance(groups, ReplicaGroupMeshAxes) and isinstance(groups.mesh, SymbolRef):
                mesh = meshes.get(groups.mesh.root)
                if mesh is not None:
                    inlined = ReplicaGroupMeshAxes(stablehlo_mesh(mesh), groups.axes)
                    rewriter.set_attribute(op, REPLICA_GROUPS, inlined)
        for op in named:
            rewriter.erase(op)
        return rewriter.changed
