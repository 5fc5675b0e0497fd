"""stablehlo-legalize-composite-to-call: replace composites with calls of their decompositions.

    %0 = stablehlo.composite "chlo.sinh" %a {decomposition = @chlo.sinh.impl} : …
becomes
    %0 = call @chlo.sinh.impl(%a) : …

The decomposition defines what a composite computes. Composites have no sharding rule, but the operations of
their decompositions do. A sharding of the composite becomes that of the call.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CompositeOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("stablehlo-legalize-composite-to-call")
class LegalizeCompositeToCall(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(CompositeOp):
            types = [result.type for result in op.results]
            callee = op.attribute("decomposition")
            assert callee is not None
            attributes: dict[str, Attribute] = {**dict(op.attributes), "callee": callee}
            location = op.lazy_location
            call = rewriter.create(CallOp, op.operands, types, attributes, before=op, location=location)
            rewriter.replace(op, call)
        return rewriter.changed
