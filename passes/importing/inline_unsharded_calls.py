"""sdy-inline-unsharded-calls: inline the calls that have no shardings of their own.

    %0 = call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
becomes the body of `@double`, but
    %1 = call @sharded(%a) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @sharded(%b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> …
stays, because the sharding of its argument would be lost.

XLA inlines calls, so that results without uses and equal operations of several calls are found. A call
stays if it has shardings, or an argument or result of its function has one: the import pipeline inlines such
calls as named computations, which keep them. The pass is `inline` otherwise, with its options.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.registry import register

from ..common.inline import Inliner


@register("sdy-inline-unsharded-calls")
class InlineUnshardedCalls(Inliner):
    def keeps(self, call: CallOp, callee: FuncOp) -> bool:
        """Whether a call or its function has a sharding."""
        boundary = (*callee.argument_attributes, *callee.result_attributes, call.attributes)
        return any(SHARDING in attributes for attributes in boundary)
