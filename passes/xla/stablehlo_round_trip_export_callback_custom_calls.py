"""xla-sdy-stablehlo-round-trip-export-callback-custom-calls: give Python callbacks a tuple as result.

    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {mhlo.sharding = …}
        : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {mhlo.sharding = …}
        : (tensor<8xf32>) -> tuple<tensor<8xf32>>
    %1 = stablehlo.get_tuple_element %0[0] {mhlo.sharding = …} : (tuple<tensor<8xf32>>) -> tensor<8xf32>

XLA expects that of callbacks on the CPU and the GPU. Those with several results, or whose result is unused,
are kept.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, TupleType
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import XLA_SHARDING

from .support.hlo_shardings import is_python_callback


@register("xla-sdy-stablehlo-round-trip-export-callback-custom-calls")
class StablehloRoundTripExportCallbackCustomCalls(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(CustomCallOp):
            if is_python_callback(op) and len(op.results) == 1 and op.results[0].has_uses:
                _wrap(op, rewriter)
        return rewriter.changed


def _wrap(op: CustomCallOp, rewriter: Rewriter) -> None:
    type = op.results[0].type
    if isinstance(type, TupleType):
        return
    location = op.lazy_location
    attributes = {**dict(op.signature.attributes), **dict(op.attributes)}
    call = rewriter.create(
        CustomCallOp, op.operands, [TupleType((type,))], attributes, before=op, location=location
    )
    sharding = op.attributes.get(XLA_SHARDING)
    index = {"index": integer(0, I32)}
    element = rewriter.create(
        GetTupleElementOp,
        call.results,
        [type],
        index if sharding is None else {**index, XLA_SHARDING: sharding},
        before=op,
        location=location,
    )
    rewriter.replace(op, element)
