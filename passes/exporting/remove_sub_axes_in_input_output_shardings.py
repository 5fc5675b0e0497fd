"""sdy-remove-sub-axes-in-input-output-shardings: remove sub-axes from inputs and outputs.

    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, "z", ?}]>})
becomes
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})

Callers should not have to handle sub-axes. The pass truncates every open dimension of the arguments and
results of the entry point before its first sub-axis. Propagation may have added the axes of an open
dimension; a closed dimension was sharded by the user and is kept. The entry point is the only function of the
module, or else `@main`, or else the only public function that is not called.
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import Truncation

from ..common.support.function_shardings import main_function, transform_function_shardings


@register("sdy-remove-sub-axes-in-input-output-shardings")
class RemoveSubAxesInInputOutputShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        transform = cache(_without_sub_axes)
        transform_function_shardings(main_function(module), transform, rewriter, Truncation.SUB_AXIS)
        return rewriter.changed


def _without_sub_axes(sharding: TensorSharding, type: Type) -> TensorSharding:
    return sharding.with_dims(dim if dim.is_closed else _before_sub_axis(dim) for dim in sharding.dims)


def _before_sub_axis(dim: DimensionSharding) -> DimensionSharding:
    axes = tuple(takewhile(lambda axis: axis.sub_axis is None, dim.axes))
    return DimensionSharding(axes, dim.is_closed, dim.priority)
