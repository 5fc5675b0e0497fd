"""vhlo-legalize-to-stablehlo: convert VHLO to StableHLO.

    %0 = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, …) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
becomes
    %0 = stablehlo.add %a, %b : tensor<4xf32>

VHLO is the form of StableHLO in portable artifacts, in which each operation has a version. All operations
must have their current version, which -vhlo-to-version converts to. Input in VHLO is converted when it is
read, unless the pipeline has one of these passes.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.vhlo.from_vhlo import legalize_to_stablehlo
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("vhlo-legalize-to-stablehlo")
class VhloLegalizeToStablehlo(Pass):
    def run(self, module: Op) -> bool:
        legalize_to_stablehlo(module)
        return True
