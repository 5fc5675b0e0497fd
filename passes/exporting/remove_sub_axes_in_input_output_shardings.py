"""sdy-remove-sub-axes-in-input-output-shardings: split inputs and outputs along whole axes where one may.

    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, "z", ?}]>})
becomes
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})

An open dimension says that propagation, not the user, decided how it is split. Who feeds a program with
data and reads its results had better not have to know of parts of axes. So for the arguments and results of
the entry point, which is the only function of a module or else `main`, each open dimension keeps its axes
before the first that is part of an axis. A closed dimension stays as the user wrote it.
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import Type
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.function_shardings import transform_signature
from ..common.support.main_function import main_function


@register("sdy-remove-sub-axes-in-input-output-shardings")
class RemoveSubAxesInInputOutputShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        transform_signature(main_function(module), cache(_along_whole_axes), rewriter)
        return rewriter.changed


def _along_whole_axes(sharding: TensorSharding, type: Type) -> TensorSharding:
    return sharding.with_dims(dim if dim.is_closed else _up_to_sub_axis(dim) for dim in sharding.dims)


def _up_to_sub_axis(dim: DimensionSharding) -> DimensionSharding:
    axes = tuple(takewhile(lambda axis: axis.sub_axis is None, dim.axes))
    return DimensionSharding(axes, dim.is_closed, dim.priority)
