"""axis-order-permute: a collective_permute only changes the order of axes or devices.

    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>

`%0` is sharded along `{"x", "y"}`. Both shardings have the same shards; they are on other devices. Two meshes
with the same axes and different `device_ids` do the same to every value that is used under both.

The orders of the two shardings and of the mesh are tried in all shardings of a copy of the program. The rule
reports the permute if one of them saves bytes, and names the one that saves most. In JAX, a `PartitionSpec`
with `("y", "x")` in one place and `("x", "y")` in another is the usual cause, and a second `Mesh` whose
devices are transposed: use one order of devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    LintedPrograms,
    Looks,
    Rule,
    collective_text,
    rule,
    runs_text,
)
from sdyopt.analysis.trials.effect import bytes_of_runs
from sdyopt.analysis.trials.remedies import Remedy
from sdyopt.analysis.trials.trials import Edit
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter


@rule("axis-order-permute", Severity.WARNING, Looks.TRIALS)
class AxisOrderPermute(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        permutes: dict[CollectivePermuteOp, str] = {}
        for op, figures in program.collectives.items():
            cost = bytes_of_runs(figures)
            if isinstance(op, CollectivePermuteOp) and cost and cost >= self.limit("min_bytes"):
                reason = _reason(op, program)
                if reason:
                    permutes[op] = reason
        remedies = self._remedies(programs, list(permutes))
        for op, reason in permutes.items():
            figures = program.collectives[op]
            cost = bytes_of_runs(figures)
            yield Finding(
                op,
                f"{collective_text(figures)} only changes an order: {reason}; {bytes_text(cost)} on the "
                f"wire{runs_text(figures.times)}",
                cost=cost,
                remedies=remedies,
            )

    def _remedies(self, programs: LintedPrograms, permutes: list[CollectivePermuteOp]) -> list[Remedy]:
        """The orders of axes in the shardings before and after the permutes, each for all shardings."""
        orders = _orders(permutes, programs.with_collectives) if permutes else []
        return [_remedy(order) for order in orders[: programs.trials.count]]


def _remedy(order: Order) -> Remedy:
    text = f"write {', '.join(map(repr, order))} in this order in each PartitionSpec"
    sdy = f"{', '.join([chr(34) + name + chr(34) for name in order])} in this order in all shardings"
    return Remedy(text, (sdy,), in_order(order), frozenset(["order"]))


def _orders(permutes: list[CollectivePermuteOp], program: LintedProgram) -> list[Order]:
    """The orders of axes in the shardings before and after permutes, and in their meshes."""
    orders: dict[Order, None] = {}
    for op in permutes:
        pairs = zip(op.operand_sharding.dims, op.out_sharding.dims, strict=True)
        for dims in (each for each in pairs if each[0].axes != each[1].axes):
            orders.update(dict.fromkeys(tuple([axis.name for axis in dim.axes]) for dim in dims))
        mesh = program.shapes.mesh(op.out_sharding.mesh_or_ref)
        names = [axis.name for dim in op.out_sharding.dims for axis in dim.axes]
        orders[tuple([axis.name for axis in mesh.axes if axis.name in names] if mesh else ())] = None
    return [order for order in orders if len(set(order)) == len(order) > 1]


def _reason(op: CollectivePermuteOp, program: LintedProgram) -> str:
    """The axes in another order before and after a permute; empty if more than an order changes."""
    before, after = op.operand_sharding, op.out_sharding
    meshes = [program.shapes.mesh(each.mesh_or_ref) for each in (before, after)]
    if None in meshes or before.rank != after.rank:
        return ""
    if meshes[0] is not meshes[1]:
        return _device_order(before, after, meshes)
    changes = []
    for number, (old, new) in enumerate(zip(before.dims, after.dims, strict=True)):
        if old.axes == new.axes:
            continue
        if sorted(old.axes, key=_sort_key) != sorted(new.axes, key=_sort_key):
            return ""
        changes.append(
            f"dimension {number} is sharded along {axis_refs_text(old.axes)} before and along "
            f"{axis_refs_text(new.axes)} after it"
        )
    return ", ".join(changes)


def _device_order(before: TensorSharding, after: TensorSharding, meshes: list[Mesh | None]) -> str:
    old, new = meshes
    assert old is not None and new is not None
    is_same = old.axes == new.axes and [dim.axes for dim in before.dims] == [dim.axes for dim in after.dims]
    return (
        f"the devices of @{before.mesh_name} and @{after.mesh_name} have different orders" if is_same else ""
    )


def _sort_key(axis: AxisRef) -> tuple[str, int, int]:
    return axis.sort_key


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
