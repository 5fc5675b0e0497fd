"""sdy-import-hlo-shardings: import the shardings of a program that has only those of HLO.

    func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) …
becomes
    sdy.mesh @mesh = <["_axis_0"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}]>}) …

A program that XLA dumped before Shardy, as `00.input_module.mlir`, is imported as XLA does: by
`xla-sdy-round-trip-import-pipeline`, from frontend attributes or from shardings by mesh axes. A program whose
shardings are by devices, as JAX lowers it without Shardy, is imported by `xla-sdy-stablehlo-import-pipeline`.
Nothing is done to a program with a mesh or a sharding of sdy. `sdy-jax-pipeline` begins with this pass.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import FUNCTION, Pass, Pipeline
from sdyopt.mlir.registry import lookup, register
from sdyopt.shardy.notation.hlo_programs import hlo_shardings


@register("sdy-import-hlo-shardings")
class ImportHloShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        kind = hlo_shardings(module)
        if kind is None:
            return False
        pipeline = Pipeline()
        pipeline.add_nested(lookup(kind.pipeline).build(kind.options))
        changed = False
        for each in pipeline.passes():
            targets: list[Op] = [module]
            if each.anchor == FUNCTION:
                targets = [op for op in module.block.ops if isinstance(op, FuncOp)]
            for target in targets:
                changed |= each.run(target)
        return changed
