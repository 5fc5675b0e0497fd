"""sdy-pad-for-divisibility: pad dimensions so that all shards have the same size.

Over `sdy.mesh @mesh = <["x"=4]>`,

    %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
    %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
becomes
    %0 = stablehlo.pad %a, %zero, low = [0], high = [1], interior = [0] : tensor<8xf32>
    %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %3 = stablehlo.slice %2 [0:7] : tensor<7xf32>

Every sharded dimension is rounded up to a multiple of its number of shards. The elements of the padding are
undefined after most operations, so they are overwritten where they would count: with zero before a dot along
a padded dimension, with the identity before a reduction. The indices of a gather stay outside of the
padding, and those of a scatter that are padding themselves become out of bounds.

If a collective changes the borders between shards, the dimension is gathered and sliced again: 6 elements are
2+2+2+0 on four devices and 3+3 on two. Inputs and outputs of public functions must divide into shards of the
same size; the types of private functions become padded ones.

This pass comes after `sdy-reshard-to-collectives` and before `sdy-convert-global-to-local`, which needs
shards of the same size.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior, on_change
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import enclosing_module
from sdyopt.mlir.dialects.sdy.value_shardings import distinct_values
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, MODULE, Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.operations.functions import pad_function
from sdyopt.shardy.partition.padding import Padder


@register("sdy-pad-for-divisibility")
class PadForDivisibility(Pass):
    def run(self, op: ModuleOp | FuncOp) -> bool:
        functions = [op] if isinstance(op, FuncOp) else op.nested(FuncOp)
        changed = [self._pad(function) for function in functions]
        return any(changed)

    def _pad(self, function: FuncOp) -> bool:
        module, rewriter = enclosing_module(function), Rewriter()
        padder = Padder(LocalTypes(function if module is None else module), rewriter)
        pad_function(function, padder)
        if all(padder.padded_type(value) is value.type for value in distinct_values(function)):
            return rewriter.changed
        for op in list(function.walk()):
            padder.visit(op)
        padder.finish()
        return rewriter.changed


@on_change
def _set_anchor() -> None:
    PadForDivisibility.anchor = MODULE if Behavior.PADDED_MODULES.active else FUNCTION


_set_anchor()
