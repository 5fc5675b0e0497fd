"""sdy-update-non-divisible-input-output-shardings: split inputs and outputs into parts of one size.

    sdy.mesh @mesh = <["x"=4, "y"=2, "z"=2]>
    func.func @main(%a: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z"}]>})
becomes
    func.func @main(%a: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"y"}]>})

Inside a program a dimension may be split into more parts than divide it, and the last ones are padded. What
crosses the border of a function or of a manual computation is not padded. So the dimensions of arguments
and results of functions, of results of calls, and of what goes into and comes out of a manual computation
keep as many of their axes, major ones first, as divide them; the last one kept may be the major part of an
axis. In a manual computation what counts for its operands are the local shapes that the body sees, and the
axes that are not manual.

A dimension that was divided before stays as it is; one that is cut loses its priority. An axis of size one
ends the axes that can be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from math import gcd

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.manual_axes import with_manual_axes, without_manual_axes
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape, Type
from sdyopt.pipeline import Pass
from sdyopt.registry import register
from sdyopt.sharding.axis_lists import major_sub_axis

from ..common.support.function_shardings import transform_signature


@register("sdy-update-non-divisible-input-output-shardings")
class UpdateNonDivisibleInputOutputShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.block.ops:
            if isinstance(op, FuncOp):
                transform_signature(op, cache(partial(_divide, op=op)), rewriter)
        for op in module.walk():
            update = _UPDATES.get(type(op))
            if update is not None:
                update(op, rewriter)
        return rewriter.changed


def _update_call(call: Op, rewriter: Rewriter) -> None:
    shardings = call.attributes.get(SHARDING)
    if isinstance(shardings, ShardingPerValue):
        new = _divide_all(shardings, call.signature.result_types, call)
        rewriter.set_attribute(call, SHARDING, ShardingPerValue(new))


def _update_manual(op: Op, rewriter: Rewriter) -> None:
    assert isinstance(op, ManualComputationOp)
    manual = op.manual_axes
    free = [without_manual_axes(sharding, manual) for sharding in op.in_shardings]
    inside = _divide_all(free, [argument.type for argument in op.block.arguments], op)
    operands = [with_manual_axes(new, old, manual) for new, old in zip(inside, op.in_shardings, strict=True)]
    rewriter.set_attribute(op, "in_shardings", ShardingPerValue(tuple(operands)))
    results = _divide_all(op.out_shardings, op.signature.result_types, op)
    rewriter.set_attribute(op, "out_shardings", ShardingPerValue(results))


_UPDATES: dict[type[Op], Callable[[Op, Rewriter], None]] = {
    CallOp: _update_call,
    ManualComputationOp: _update_manual,
}


# --- One sharding ---------------------------------------------------------------------------------


def _divide_all(
    shardings: Iterable[TensorSharding], types: Sequence[Type], op: Op
) -> tuple[TensorSharding, ...]:
    return tuple([_divide(sharding, type, op) for sharding, type in zip(shardings, types, strict=True)])


def _divide(sharding: TensorSharding, type: Type, op: Op) -> TensorSharding:
    """The sharding of a value at an operation, with dimensions split into parts of one size."""
    mesh = mesh_of(sharding, op)
    if mesh is None or not isinstance(type, RankedShape) or not type.has_static_shape:
        return sharding
    # One that keeps a whole tensor on one device says nothing of dimensions.
    sizes = zip(sharding.dims, type.shape, strict=False)
    return sharding.with_dims([_dividing_part(dim, size, mesh) for dim, size in sizes])


def _dividing_part(dim: DimensionSharding, size: int, mesh: Mesh) -> DimensionSharding:
    """The longest beginning of the axes that divides a dimension of this size."""
    if size % dim.sharded_size(mesh) == 0:
        return dim
    axes: list[AxisRef] = []
    for axis in dim.axes:
        whole = axis.size(mesh)
        part = gcd(whole, size)
        if part == 1:
            break
        if part < whole:
            axes.append(major_sub_axis(axis, part))
            break
        axes.append(axis)
        size //= part
    return DimensionSharding(tuple(axes), dim.is_closed)
