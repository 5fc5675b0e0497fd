"""xla-sdy-import-constants: convert stablehlo constants to sdy constants.

    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>

Folding and the patterns of `canonicalize` would merge stablehlo constants and move them out of loops, where
HLO has them for a reason. They leave sdy constants where they are. As a dialect conversion, the pass also
replaces operations that fold to an existing value.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.constants import convert_to_sdy_constants


@register("xla-sdy-import-constants")
class ImportConstants(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        convert_to_sdy_constants(function, rewriter)
        return rewriter.changed
