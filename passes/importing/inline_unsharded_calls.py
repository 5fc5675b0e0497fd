"""sdy-inline-unsharded-calls: inline the calls that have no shardings of their own.

    %0 = call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
becomes the body of `@double`, but
    %1 = call @sharded(%a) : (tensor<8xf32>) -> tensor<8xf32>
    func.func private @sharded(%b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> …
stays, because the sharding of its argument would be lost.

XLA inlines calls, so that results without uses and equal operations of several calls are found. A call
stays if it has shardings, or an argument or result of its function has one: the import pipeline inlines such
calls as named computations, which keep them. The pass is `inline` otherwise, with its options.

If the program starts at one function, public functions that are called become private, and are erased once
all calls of them are inlined.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.ir.attribute import string
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import RunNested, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.outlining import entry_functions

from ..common.inline import Inliner


@register("sdy-inline-unsharded-calls")
class InlineUnshardedCalls(Inliner):
    default_pipeline: str = option(
        default="", help="pipeline that simplifies a function before the calls in it are inlined"
    )

    def run_with(self, module: ModuleOp, run_nested: RunNested) -> bool:
        if not any(isinstance(op, CallOp) for op in module.walk()):
            return False
        _make_callees_private(module)
        return super().run_with(module, run_nested)

    def keeps(self, call: CallOp, callee: FuncOp) -> bool:
        """Whether a call or its function has a sharding."""
        boundary = (*callee.argument_attributes, *callee.result_attributes, call.attributes)
        return any(SHARDING in attributes for attributes in boundary)


def _make_callees_private(module: ModuleOp) -> None:
    """Makes called functions private, so that none looks like another entry once its calls are inlined."""
    entries, rewriter = entry_functions(module), Rewriter()
    if len(entries) != 1:
        return
    called = {op.callee for op in module.nested(CallOp)}
    for function in module.nested(FuncOp):
        if function is not entries[0] and function.sym_name in called and function.sym_visibility is None:
            rewriter.set_attribute(function, "sym_visibility", string("private"))
