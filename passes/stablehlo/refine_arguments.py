"""stablehlo-refine-arguments: set the argument types of the entry function.

    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.tanh %x : tensor<?xf32>
becomes, with types=tensor<16xf32>,
    func.func @main(%x: tensor<16xf32>) -> tensor<?xf32> {
      %c = stablehlo.constant dense<16> : tensor<1xi64>
      %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %c)
        {indices_of_shape_operands = dense<1> : tensor<1xi64>}
        : (tensor<16xf32>, tensor<1xi64>) -> tensor<?xf32>
      %0 = stablehlo.tanh %1 : tensor<?xf32>

`types` lists the types of all arguments; each is the old type, or has sizes in place of its `?`. The pass is
the first step to a static program: `stablehlo-refine-shapes` replaces the custom calls, and propagates the
sizes. The entry function is the only function of the module, or the one called `main`.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import dialects_of_run, register

from .support.refinement import entry_function, refine_arguments


@register("stablehlo-refine-arguments")
class StablehloRefineArguments(Pass):
    types: tuple[str, ...] = option(default=(), help="the types of the arguments of the entry function")

    def run(self, module: ModuleOp) -> bool:
        function = entry_function(module)
        if function is None:
            raise module.op_error("has no function")
        refine_arguments(function, [self._parsed(text, module) for text in self.types])
        return True

    def _parsed(self, text: str, module: ModuleOp) -> Type:
        source = Source("types", text)
        state = ParserState(source, dialects_of_run(), True)
        parser = AsmParser(source, state.attribute_parser)
        try:
            type = parser.type()
        except DiagnosticError:
            type = None
        if type is None or not parser.at_end:
            raise module.op_error(f"Invalid type string: {text}").help(
                "write types=tensor<8x16xf32>,tensor<f32>"
            )
        return type
