"""sdy-drop-sharding-and-mesh: remove all shardings and meshes.

    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { … }
becomes
    func.func @main(%a: tensor<8xf32>) { … }

For programs whose tensors have local shapes already and whose consumers do not support sdy. The pass removes
the attribute `sdy.sharding` of operations and of function arguments and results, all meshes, and, unless
`keep-module-sharding-metadata` is set, the attributes `sdy.parameters_shardings` and `sdy.output_shardings`
of the module. It keeps sdy operations; one that still refers to a mesh is an error.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import SymbolTableOp, Visited, symbol_uses
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import remove_from_signature

# Shardings of the arguments and results of the entry point, for consumers of the module.
_METADATA = ("sdy.parameters_shardings", "sdy.output_shardings")


@register("sdy-drop-sharding-and-mesh")
class DropShardingAndMesh(Pass):
    keep_module_sharding_metadata: bool = option(
        default=False,
        help="keep `sdy.parameters_shardings` and `sdy.output_shardings` of the module",
        since=Since(Behavior.MODULE_SHARDING_METADATA),
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        if Behavior.MODULE_SHARDING_METADATA.active and not self.keep_module_sharding_metadata:
            for name in _METADATA:
                rewriter.remove_attribute(module, name)
        meshes: list[MeshOp] = []
        for op in module.walk_post_order():
            if isinstance(op, MeshOp):
                meshes.append(op)
            else:
                rewriter.remove_attribute(op, SHARDING)
                if isinstance(op, FuncOp):
                    remove_from_signature(op, (SHARDING,), rewriter)
        used = _referenced_names(module) if Behavior.KEPT_MESHES.active else ()
        for mesh in meshes:
            if mesh.sym_name not in used:
                rewriter.erase(mesh)
        return rewriter.changed


def _referenced_names(module: ModuleOp) -> set[str]:
    """The symbols that operations of a module and of nested ones refer to."""
    names: set[str] = set()
    visited: set[Visited] = set()
    for table in (op for op in module.walk() if isinstance(op, SymbolTableOp)):
        for region in table.regions:
            for op in (op for block in region.blocks for op in block.ops):
                names.update(use.root for use in symbol_uses(op, visited, []) or ())
    return names
