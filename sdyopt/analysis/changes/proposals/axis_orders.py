"""Proposals for permutes that only change an order of axes: these axes in one order in all shardings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter

# Names of axes, major to minor.
Order = tuple[str, ...]
# So many orders are tried.
_MAX_ORDERS = 4


@proposal("axis orders", share=1)
def axis_orders(program: ProposedOn) -> Iterator[Change]:
    """The orders of axes before and after permutes, and in their meshes, for all shardings."""
    orders: dict[Order, None] = {}
    for op in program.outcome.module.walk():
        if not isinstance(op, CollectivePermuteOp) or op.operand_sharding.rank != op.out_sharding.rank:
            continue
        pairs = zip(op.operand_sharding.dims, op.out_sharding.dims, strict=True)
        for dims in (pair for pair in pairs if pair[0].axes != pair[1].axes):
            orders.update(dict.fromkeys(tuple([axis.name for axis in dim.axes]) for dim in dims))
        mesh = program.shapes.mesh(op.out_sharding.mesh_or_ref)
        names = [axis.name for dim in op.out_sharding.dims for axis in dim.axes]
        orders[tuple([axis.name for axis in mesh.axes if axis.name in names] if mesh else ())] = None
    usable = [order for order in orders if len(set(order)) == len(order) > 1]
    for order in usable[:_MAX_ORDERS]:
        text = f"write {', '.join(map(repr, order))} in this order in each PartitionSpec"
        sdy = f"{', '.join([chr(34) + name + chr(34) for name in order])} in this order in all shardings"
        yield Change(rewrite=partial(_write, order), words=(text, sdy))


def _write(order: Order, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    """Writes these axes in this order; in a dimension with others, they change indices among themselves."""
    for op in copies.values():
        if isinstance(op, FuncOp):
            _write_in_function(op, order, rewriter)
        elif isinstance(op, ShardingConstraintOp):
            rewriter.set_attribute(op, "sharding", _sorted(op.sharding, order))
        elif isinstance(shardings := op.attributes.get(SHARDING), ShardingPerValue):
            new = ShardingPerValue(tuple([_sorted(sharding, order) for sharding in shardings]))
            rewriter.set_attribute(op, SHARDING, new)


def _write_in_function(function: FuncOp, order: Order, rewriter: Rewriter) -> None:
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
