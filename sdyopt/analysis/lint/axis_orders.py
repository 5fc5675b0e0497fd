"""An edit for trials: writes the axes of each dimension in one order, in all shardings of a program."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.analysis.trials.trials import Edit
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter

# Names of axes, major to minor.
Order = tuple[str, ...]


def in_order(order: Order) -> Edit:
    """Writes these axes in this order; in a dimension with others, they change indices among themselves."""

    def edit(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for op in copies.values():
            if isinstance(op, FuncOp):
                _edit_function(op, order, rewriter)
            elif isinstance(op, ShardingConstraintOp):
                rewriter.set_attribute(op, "sharding", _sorted(op.sharding, order))
            elif isinstance(shardings := op.attributes.get(SHARDING), ShardingPerValue):
                new = ShardingPerValue(tuple([_sorted(sharding, order) for sharding in shardings]))
                rewriter.set_attribute(op, SHARDING, new)

    return edit


def _edit_function(function: FuncOp, order: Order, rewriter: Rewriter) -> None:
    for index, attributes in enumerate(function.argument_attributes):
        if isinstance(sharding := attributes.get(SHARDING), TensorSharding):
            rewriter.set_argument_attribute(function, index, SHARDING, _sorted(sharding, order))
    for index, attributes in enumerate(function.result_attributes):
        if isinstance(sharding := attributes.get(SHARDING), TensorSharding):
            rewriter.set_result_attribute(function, index, SHARDING, _sorted(sharding, order))


def _sorted(sharding: TensorSharding, order: Order) -> TensorSharding:
    return sharding.with_dims(tuple([_sorted_dimension(dim, order) for dim in sharding.dims]))


def _sorted_dimension(dim: DimensionSharding, order: Order) -> DimensionSharding:
    axes = list(dim.axes)
    # Sub-axes of one axis keep their order: merged, they would be another sharding.
    indices = [index for index, axis in enumerate(axes) if axis.name in order and axis.sub_axis is None]
    ordered = sorted([axes[index] for index in indices], key=lambda axis: order.index(axis.name))
    for index, axis in zip(indices, ordered, strict=True):
        axes[index] = axis
    return DimensionSharding(tuple(axes), dim.is_closed, dim.priority)
