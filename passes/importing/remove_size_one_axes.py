"""sdy-remove-size-one-axes: remove axes of size one from shardings.

    sdy.mesh @mesh = <["x"=1, "y"=2, "z"=1]>
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {?}], replicated={"z"}>]>}
becomes
    sdy.mesh @mesh = <["x"=1, "y"=2, "z"=1]>
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {?}]>]>}

Sharding along an axis of size one has no effect, but the axis could conflict with others in propagation. It
is removed from dimension shardings, replicated axes and unreduced axes; meshes and manual axes keep it. A
closed dimension sharding without axes cannot have a priority, so one that becomes empty loses it.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import record_removal

from ..common.support.function_shardings import transform_shardings


@register("sdy-remove-size-one-axes")
class RemoveSizeOneAxes(Pass):
    def run(self, module: ModuleOp) -> bool:
        # As in Shardy, only named meshes decide whether there is anything to do.
        named = [op.mesh for op in module.block.ops if isinstance(op, MeshOp)]
        if not any(axis.size == 1 for mesh in named for axis in mesh.axes):
            return False
        rewriter = Rewriter()

        def clean(sharding: TensorSharding) -> TensorSharding:
            mesh = find_mesh(sharding.mesh_or_ref, module)
            if mesh is None:
                return sharding
            new = _without_size_one(sharding, mesh)
            record_removal(sharding, new)
            return new

        transform_shardings(module, clean, rewriter)
        return rewriter.changed


def _without_size_one(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    def without(axes: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
        return tuple([axis for axis in axes if axis.size(mesh) != 1])

    dims = []
    for dim in sharding.dims:
        # Sub-axes that were apart may be one now, as in "x":(1)2, "one", "x":(2)3.
        axes = with_axes((), without(dim.axes), mesh)
        is_empty = dim.is_closed and not axes
        dims.append(DimensionSharding(axes, dim.is_closed, None if is_empty else dim.priority))
    return (
        sharding.with_dims(dims)
        .with_replicated_axes(without(sharding.replicated_axes))
        .with_unreduced_axes(without(sharding.unreduced_axes))
    )
