"""sdy-inline-unsharded-calls: inline the calls that have no shardings of their own.

    %0 = call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
becomes the body of `@double`, but
    %1 = call @sharded(%a) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @sharded(%b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> …
stays, because the sharding of its argument would be lost.

A `stablehlo.composite` becomes a call of its decomposition first.

XLA inlines calls, so that results without uses and equal operations of several calls are found. A call
stays if it has shardings, or an argument or result of its function has one: the import pipeline inlines such
calls as named computations, which keep them. In a program without `@main`, a call of a public function stays,
so that the program still starts in the only function that is not called. The pass is `inline` otherwise, with
its options.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.attribute_names import SHARDING
from sdyopt.mlir.dialects.stablehlo.tuple_composite import CompositeOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import is_public, lookup_symbol
from sdyopt.mlir.pipeline import RunNested, option
from sdyopt.mlir.registry import register

from ..common.inline import Inliner


@register("sdy-inline-unsharded-calls")
class InlineUnshardedCalls(Inliner):
    default_pipeline: str = option(
        default="", help="pipeline that simplifies a function before the calls in it are inlined"
    )

    def run_with(self, module: ModuleOp, run_nested: RunNested) -> bool:
        ops = list(module.walk())
        if not any(isinstance(op, CallOp | CompositeOp) for op in ops):
            return False
        rewriter = Rewriter()
        for op in (op for op in ops if isinstance(op, CompositeOp)):
            if not op.regions and isinstance(lookup_symbol(op, op.decomposition), FuncOp):
                types, callee = op.signature.result_types, SymbolRef(op.decomposition)
                call = rewriter.create(
                    CallOp, op.operands, types, {"callee": callee}, before=op, location=op.lazy_location
                )
                rewriter.set_attributes(call, op.attributes)
                rewriter.replace(op, call.results)
        return super().run_with(module, run_nested)

    def keeps(self, call: CallOp, callee: FuncOp) -> bool:
        """Whether a call or its function has a sharding, or the function could become the entry function."""
        if is_public(callee) and lookup_symbol(callee, "main") is None:
            return True
        boundary = (*callee.argument_attributes, *callee.result_attributes, call.attributes)
        return any(SHARDING in attributes for attributes in boundary)
