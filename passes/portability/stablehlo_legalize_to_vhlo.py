"""stablehlo-legalize-to-vhlo: convert StableHLO to VHLO.

    %0 = stablehlo.add %a, %b : tensor<4xf32>
becomes
    %0 = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, …) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>

VHLO is the form of StableHLO in portable artifacts. Operations of other dialects, such as sdy, stay as they
are if the option allows them, and casts connect them with the operations around them.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.vhlo.to_vhlo import legalize_to_vhlo
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register


@register("stablehlo-legalize-to-vhlo")
class StablehloLegalizeToVhlo(Pass):
    allow_other_dialects: bool = option(
        default=False, help="Allow operations, attributes and types of other dialects."
    )

    def run(self, module: Op) -> bool:
        legalize_to_vhlo(module, self.allow_other_dialects)
        return True
