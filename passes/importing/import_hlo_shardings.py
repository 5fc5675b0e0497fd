"""sdy-import-hlo-shardings: import the shardings of a program that has only those of HLO.

    func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) …
becomes
    sdy.mesh @mesh = <["_axis_0"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}]>}) …

A program that XLA dumped before Shardy, as `00.input_module.mlir`, is imported as XLA does: by
`xla-sdy-round-trip-import-pipeline`, from frontend attributes or from shardings by mesh axes. A program whose
shardings are by devices, as JAX lowers it without Shardy, is imported by `xla-sdy-stablehlo-import-pipeline`.
The shardings of a program with a mesh or a sharding of sdy are left alone. In any program of HLO, results
that take the memory of an argument (`mhlo.input_output_alias`) become the attribute `tf.aliasing_output` of
the argument, as JAX writes it. `sdy-jax-pipeline` begins with this pass.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.pipeline import FUNCTION, Pass, Pipeline
from sdyopt.mlir.registry import lookup, register
from sdyopt.shardy.notation.hlo_programs import hlo_shardings
from sdyopt.shardy.partition.outlining import MAIN

_ALIASES = "mhlo.input_output_alias"
_ALIASING_OUTPUT = "tf.aliasing_output"


@register("sdy-import-hlo-shardings")
class ImportHloShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        kind = hlo_shardings(module)
        changed = _import_aliases(module)
        if kind is None:
            return changed
        pipeline = Pipeline()
        pipeline.add_nested(lookup(kind.pipeline).build(kind.options))
        for step in pipeline.passes():
            targets: list[Op] = [module]
            if step.anchor == FUNCTION:
                targets = [op for op in module.block.ops if isinstance(op, FuncOp)]
            for target in targets:
                changed |= step.run(target)
        return changed


def _import_aliases(module: ModuleOp) -> bool:
    """Gives arguments whose memory a result takes the number of the result."""
    aliases = module.attributes.get(_ALIASES)
    main = next((op for op in module.block.ops if isinstance(op, FuncOp) and op.sym_name == MAIN), None)
    if main is None or not isinstance(aliases, ArrayAttr):
        return False
    rewriter = Rewriter()
    for name in aliases:
        pair = _argument_and_result(name)
        if pair is not None and pair[0] < len(main.argument_attributes):
            rewriter.set_argument_attribute(main, pair[0], _ALIASING_OUTPUT, integer(pair[1], I32))
    return rewriter.changed


def _argument_and_result(entry: Attribute) -> tuple[int, int] | None:
    """The numbers of an argument and of the result that takes its memory; None for parts of a tuple."""
    alias = entry.get("alias") if isinstance(entry, DictAttr) else None
    output = entry.get("output_index") if isinstance(entry, DictAttr) else None
    if not isinstance(alias, DictAttr) or not isinstance(output, DenseArray) or len(output) > 1:
        return None
    number, index = alias.get("parameter_number"), alias.get("parameter_index")
    if not isinstance(number, IntegerAttr) or not isinstance(index, DenseArray) or len(index):
        return None
    return number.value, (output.values or (0,))[0]
