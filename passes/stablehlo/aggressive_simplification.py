"""stablehlo-aggressive-simplification: simplify operations of StableHLO.

    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    %2 = stablehlo.multiply %c, %1 : tensor<4x8xf32>
becomes
    %x

Operations that change nothing are removed: arithmetic with neutral elements, conversions to the same type,
slices and pads of whole tensors. Two reshapes, transposes, broadcasts or concatenations are merged. Simpler
operations replace gathers and dynamic slices at constant indices, dynamic operations of constant shapes,
iotas of several dimensions, and operations on empty tensors. Constants move to the right. Unused results of
reductions and sorts are removed, and loop-invariant arguments of loops.

The value that replaces an operation gets its attributes, so that its sharding stays.
`stablehlo-aggressive-folder` computes with constants; here only a `select` is computed, of at most
`fold-op-element-limit` elements.
"""

from __future__ import annotations

from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, apply_greedily
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from .support.simplifications import simplifications


@register("stablehlo-aggressive-simplification")
class StablehloAggressiveSimplification(Pass):
    anchor = FUNCTION

    fold_op_element_limit: int = option(
        default=65536, help="fold to at most this number of elements, unless they are equal"
    )

    def run(self, function: Op) -> bool:
        options = GreedyOptions()
        changed, converged = apply_greedily(function, simplifications(self.fold_op_element_limit), options)
        check_convergence(function, converged, options)
        return changed


def check_convergence(function: Op, converged: bool, options: GreedyOptions) -> None:
    """Raises unless a fixed point was reached."""
    if not converged:
        raise function.error(f"simplification did not converge in {options.max_iterations} iterations")
