"""stablehlo-target-independent-optimization: fold constants and simplify operations.

    %c = stablehlo.constant dense<1> : tensor<4xi32>
    %0 = stablehlo.subtract %c, %c : tensor<4xi32>
    %1 = stablehlo.add %0, %x : tensor<4xi32>
becomes
    %x

The patterns of `stablehlo-aggressive-folder` and `stablehlo-aggressive-simplification` are applied together,
folds first, so that each finds what the other one leaves. Its options are those of both.
"""

from __future__ import annotations

from sdyopt.base.dataclasses import replace
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, apply_greedily
from sdyopt.mlir.registry import register

from .aggressive_folder import StablehloAggressiveFolder, folds
from .aggressive_simplification import check_convergence
from .support.folds import FoldOptions
from .support.simplifications import simplifications


@register("stablehlo-target-independent-optimization")
class StablehloTargetIndependentOptimization(StablehloAggressiveFolder):
    def run(self, function: Op) -> bool:
        limit = self.fold_op_element_limit
        patterns = folds(FoldOptions(limit, self.optimize_float), self.assume_no_undeclared_side_effects)
        first = {
            op_class: [replace(pattern, benefit=2) for pattern in folds]
            for op_class, folds in patterns.items()
        }
        options = GreedyOptions()
        changed, converged = apply_greedily(function, simplifications(limit, first), options)
        check_convergence(function, converged, options)
        return changed
