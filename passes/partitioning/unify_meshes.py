"""sdy-unify-meshes: express shardings on meshes of the same devices on one mesh.

    sdy.mesh @mesh = <["x"=8]>
    sdy.mesh @other = <["a"=2, "b"=4]>
    %1 = sdy.reshard %0 <@other, [{"a"}, {"b"}]> : tensor<64x64xf32>
becomes
    %1 = sdy.reshard %0 <@mesh, [{"x":(1)2}, {"x":(2)4}]> : tensor<64x64xf32>

Both name the same shard of each device. Between shardings on meshes with different axes, tensors would be
gathered. The mesh is the first one with the most devices. Another mesh is replaced if it has as many devices
in the same order, and each of its axes consists of whole axes and sub-axes of the first mesh. Meshes of
manual computations and collectives are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, sorted_and_merged, with_axes
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.axis_lists import Axes, digit_of, sharded_size

from ..common.support.function_shardings import transform_shardings


@register("sdy-unify-meshes")
class UnifyMeshes(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        named = [op for op in module.block.ops if isinstance(op, MeshOp) and not op.mesh.is_maximal]
        if len(named) < 2:
            return False
        first = max(named, key=lambda op: op.mesh.total_size)
        kept = set(_meshes_of_manual_axes(module))
        unifications = {
            op.sym_name: _Unification(op.mesh, first.mesh)
            for op in named
            if op is not first
            and op.sym_name not in kept
            and (op.mesh.total_size == first.mesh.total_size and op.mesh.device_ids == first.mesh.device_ids)
        }
        reference = SymbolRef(first.sym_name)

        def unified(sharding: TensorSharding) -> TensorSharding:
            unification = unifications.get(sharding.mesh_name or "")
            return sharding if unification is None else unification.sharding(sharding, reference)

        transform_shardings(module, unified, rewriter)
        return rewriter.changed


def _meshes_of_manual_axes(module: ModuleOp) -> Iterator[str | None]:
    """The names of the meshes whose axes operations name besides those of shardings."""
    for op in module.walk():
        if isinstance(op, CollectiveOp):
            yield op.out_sharding.mesh_name
        elif isinstance(op, ManualComputationOp):
            for sharding in (*op.in_shardings, *op.out_shardings):
                yield sharding.mesh_name


class _Unification:
    """The axes of a mesh as axes of another one, which has the same devices."""

    def __init__(self, old: Mesh, new: Mesh) -> None:
        self._old = old
        self._new = new

    def sharding(self, sharding: TensorSharding, reference: SymbolRef) -> TensorSharding:
        """The sharding on the other mesh; the sharding itself if its axes are not axes of that."""
        dims = [self._axes(dim.axes) for dim in sharding.dims]
        others = [self._axes(axes) for axes in (sharding.replicated_axes, sharding.unreduced_axes)]
        if None in (*dims, *others):
            return sharding
        replicated, unreduced = (sorted_and_merged(axes or (), self._new) for axes in others)
        new_dims = [
            DimensionSharding(with_axes((), axes or (), self._new), dim.is_closed, dim.priority)
            for axes, dim in zip(dims, sharding.dims, strict=True)
        ]
        return TensorSharding(reference, tuple(new_dims), replicated, unreduced, sharding.reduction)

    def _axes(self, axes: Axes) -> Axes | None:
        renamed: list[AxisRef] = []
        for axis in axes:
            pieces = self._pieces(axis)
            if pieces is None:
                return None
            renamed += pieces
        return tuple(renamed)

    def _pieces(self, axis: AxisRef) -> list[AxisRef] | None:
        """The axes and sub-axes, major to minor, that change the device as an axis of the old mesh does."""
        stride, size = digit_of(axis, self._old)
        low, high = stride, stride * size
        pieces: list[AxisRef] = []
        for mesh_axis in self._new.axes:
            new_stride, new_size = digit_of(AxisRef(mesh_axis.name), self._new)
            start, end = max(low, new_stride), min(high, new_stride * new_size)
            if start >= end:
                continue
            if (new_stride * new_size) % end or end % start or start % new_stride:
                return None
            is_whole = (start, end) == (new_stride, new_stride * new_size)
            part = SubAxis(new_stride * new_size // end, end // start)
            pieces.append(AxisRef(mesh_axis.name, None if is_whole else part))
        return pieces if sharded_size(pieces, self._new) == size else None
