"""strip-debuginfo: remove source locations.

    %0 = stablehlo.add %a, %b : tensor<8xf32> loc("model.py":3:7)
becomes
    %0 = stablehlo.add %a, %b : tensor<8xf32> loc(unknown)

Operations and block arguments get unknown locations.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("strip-debuginfo")
class StripDebugInfo(Pass):
    anchor = None

    def run(self, op: Op) -> bool:
        unknown = UnknownLoc()
        for inner in op.walk():
            inner.location = unknown
            for region in inner.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        argument.location = unknown
        return True
