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

If a collective changes the borders between shards, halos are exchanged before or after it: 6 elements are
2+2+2+0 on four devices and 3+3 on two, so after an all-gather of pairs of shards the second pair gets an
element from the first one. If halos are as large as the dimension, it is gathered and sliced again.

Inputs and outputs of public functions must divide into shards of the same size; the types of private
functions become padded ones.

This pass comes after `sdy-reshard-to-collectives` and before `sdy-convert-global-to-local`, which needs
shards of the same size.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior, ByRelease
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import enclosing_module
from sdyopt.mlir.dialects.sdy.value_shardings import distinct_values
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, MODULE, Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import Channels
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.operations.functions import pad_function
from sdyopt.shardy.partition.padding import Padder
from sdyopt.shardy.partition.sharded_body import HaloContext


@register("sdy-pad-for-divisibility")
class PadForDivisibility(Pass):
    anchor = ByRelease(Behavior.PADDED_MODULES, MODULE, FUNCTION)
    replica_count: int = option(default=1, help="number of replicas of the program", is_addition=True)

    def run(self, op: ModuleOp | FuncOp) -> bool:
        functions = [op] if isinstance(op, FuncOp) else op.nested(FuncOp)
        channels = Channels(enclosing_module(op) or op)
        changed = [self._pad(function, channels) for function in functions]
        return any(changed)

    def _pad(self, function: FuncOp, channels: Channels) -> bool:
        module, rewriter = enclosing_module(function), Rewriter()
        types = LocalTypes(function if module is None else module)
        padder = Padder(HaloContext(types, rewriter, channels, self.replica_count))
        pad_function(function, padder)
        if all(padder.padded_type(value) is value.type for value in distinct_values(function)):
            return rewriter.changed
        for op in list(function.walk()):
            padder.visit(op)
        padder.finish()
        return rewriter.changed
