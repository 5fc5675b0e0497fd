"""sdy-merge-collectives: merge equal collectives on one value, and erase unused ones.

    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
becomes
    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %0 : tensor<8xf32>

A collective on global tensors has no effect but its result. `cse` keeps equal ones, because C++ declares no
collective free of memory effects. Like `cse`, the pass merges other equal operations without memory effects,
and erases dead ones. Run it before `sdy-convert-global-to-local`: afterwards the channels of collectives
differ.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.collective_base import CollectiveOp
from sdyopt.ir.cse import CseDriver
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register


@register("sdy-merge-collectives")
class MergeCollectives(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        cse = CseDriver(rewriter, pure=CollectiveOp)
        for region in module.regions:
            cse.visit_region(region)
        cse.finish()
        return rewriter.changed
