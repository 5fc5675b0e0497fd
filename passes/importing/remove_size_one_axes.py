"""sdy-remove-size-one-axes: forget axes along which there is nothing to split.

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {?}], replicated={…}>]>}
becomes
    sdy.mesh @mesh = <["x"=1, "y"=2]>
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {?}]>]>}

An axis of size one does not move any data, but in propagation it could conflict with other axes and so
keep them out of a dimension. It is taken out of dimensions, replicated and unreduced axes; meshes and
manual axes keep it. A closed dimension that has no axes left loses its priority, too, which it could not
have.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.shardings import transform_shardings


@register("sdy-remove-size-one-axes")
class RemoveSizeOneAxes(Pass):
    def run(self, module: ModuleOp) -> bool:
        # As in the reference, only named meshes decide whether there is anything to do.
        named = [op.mesh for op in module.block.ops if isinstance(op, MeshOp)]
        if not any(axis.size == 1 for mesh in named for axis in mesh.axes):
            return False
        rewriter = Rewriter()

        def reduce(sharding: TensorSharding) -> TensorSharding:
            mesh = find_mesh(sharding.mesh_or_ref, module)
            return sharding if mesh is None else _without_size_one(sharding, mesh)

        transform_shardings(module, reduce, rewriter)
        return rewriter.changed


def _without_size_one(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    def longer(axes: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
        return tuple([axis for axis in axes if axis.size(mesh) != 1])

    dims = []
    for dim in sharding.dims:
        axes = longer(dim.axes)
        has_no_say = dim.is_closed and not axes
        dims.append(DimensionSharding(axes, dim.is_closed, None if has_no_say else dim.priority))
    return TensorSharding(
        sharding.mesh_or_ref, tuple(dims), longer(sharding.replicated_axes), longer(sharding.unreduced_axes)
    )
