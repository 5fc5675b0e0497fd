"""sdy-remove-propagation-debug-info: remove what the debug options of propagation added.

    %0 = stablehlo.negate %a {sdy.propagation_edges = …, sdy.sharding = …} : tensor<8xf32>
becomes
    %0 = stablehlo.negate %a {sdy.sharding = …} : tensor<8xf32>

Removes sharding origins and propagation edges, which are for debugging. The origin names of sharding
constraints and manual computations are kept.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import (
    BLOCK_ARGUMENT_ORIGINS,
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    ORIGINS,
    PROPAGATION_EDGES,
    RESULT_ORIGINS,
    RESULT_PROPAGATION_EDGES,
)
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import remove_from_signature

_NAMES = (
    PROPAGATION_EDGES,
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    RESULT_PROPAGATION_EDGES,
    ORIGINS,
    BLOCK_ARGUMENT_ORIGINS,
    RESULT_ORIGINS,
)


@register("sdy-remove-propagation-debug-info")
class RemovePropagationDebugInfo(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk():
            if isinstance(op, FuncOp):
                remove_from_signature(op, _NAMES, rewriter)
            else:
                rewriter.set_attributes(op, op.attributes.without(*_NAMES))
        return rewriter.changed
