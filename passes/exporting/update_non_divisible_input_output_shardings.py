"""sdy-update-non-divisible-input-output-shardings: make input and output shardings divide their dimensions.

    sdy.mesh @mesh = <["x"=4, "y"=2, "z"=2]>
    func.func @main(%a: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z"}]>})
becomes
    func.func @main(%a: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"y"}]>})

Inside a program, a sharded size need not divide its dimension: shards are padded. At the boundary of a
function or manual computation they are not. The pass truncates the axes of each dimension of function
arguments and results, call results, and inputs and outputs of manual computations to the longest prefix whose
sharded size divides the dimension; it may end with a sub-axis. For the inputs of a manual computation, only
the free axes are truncated, to divide the local shapes in the body.

A dimension that is divisible is kept. A truncated dimension loses its priority. The prefix ends before an
axis of size one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from math import gcd

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    ShardingPerValue,
    TensorSharding,
    with_manual_axes,
    without_manual_axes,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import Truncation
from sdyopt.shardy.sharding.axis_lists import major_sub_axis

from ..common.support.function_shardings import transform_function_shardings


@register("sdy-update-non-divisible-input-output-shardings")
class UpdateNonDivisibleInputOutputShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.block.ops:
            if isinstance(op, FuncOp):
                make_divisible = cache(partial(_make_divisible, op=op))
                transform_function_shardings(op, make_divisible, rewriter, Truncation.NOT_DIVISIBLE)
        for op in module.walk():
            update = _UPDATES.get(type(op))
            if update is not None:
                update(op, rewriter)
        return rewriter.changed


def _update_call(call: Op, rewriter: Rewriter) -> None:
    shardings = call.attributes.get(SHARDING)
    if isinstance(shardings, ShardingPerValue):
        new = _make_all_divisible(shardings, call.signature.result_types, call)
        rewriter.set_attribute(call, SHARDING, ShardingPerValue(new))


def _update_manual(op: Op, rewriter: Rewriter) -> None:
    assert isinstance(op, ManualComputationOp)
    manual = op.manual_axes
    free = [without_manual_axes(sharding, manual) for sharding in op.in_shardings]
    local = _make_all_divisible(free, [argument.type for argument in op.block.arguments], op)
    operands = [with_manual_axes(new, old, manual) for new, old in zip(local, op.in_shardings, strict=True)]
    rewriter.set_attribute(op, "in_shardings", ShardingPerValue(tuple(operands)))
    results = _make_all_divisible(op.out_shardings, op.signature.result_types, op)
    rewriter.set_attribute(op, "out_shardings", ShardingPerValue(results))


_UPDATES: dict[type[Op], Callable[[Op, Rewriter], None]] = {
    CallOp: _update_call,
    ManualComputationOp: _update_manual,
}


# --- Shardings --------------------------------------------------------------------------------------


def _make_all_divisible(
    shardings: Iterable[TensorSharding], types: Sequence[Type], op: Op
) -> tuple[TensorSharding, ...]:
    return tuple(
        [_make_divisible(sharding, type, op) for sharding, type in zip(shardings, types, strict=True)]
    )


def _make_divisible(sharding: TensorSharding, type: Type, op: Op) -> TensorSharding:
    """A sharding of a value of this type, with the axes of every dimension truncated."""
    mesh = mesh_of(sharding, op)
    if mesh is None or not isinstance(type, RankedShapedType) or not type.has_static_shape:
        return sharding
    # A maximal sharding has no dimension shardings.
    sizes = zip(sharding.dims, type.shape, strict=False)
    return sharding.with_dims([_divisible_prefix(dim, size, mesh) for dim, size in sizes])


def _divisible_prefix(dim: DimensionSharding, size: int, mesh: Mesh) -> DimensionSharding:
    """The longest prefix of the axes whose sharded size divides a dimension of this size."""
    if size % dim.sharded_size(mesh) == 0:
        return dim
    axes: list[AxisRef] = []
    for axis in dim.axes:
        axis_size = axis.size(mesh)
        divisor = gcd(axis_size, size)
        if divisor == 1:
            break
        if divisor < axis_size:
            axes.append(major_sub_axis(axis, divisor))
            break
        axes.append(axis)
        size //= divisor
    return DimensionSharding(tuple(axes), dim.is_closed)
