"""xla-sdy-round-trip-dedup-meshes: use one mesh for all meshes of the same devices.

    sdy.mesh @a = <["x"=2, "y"=4]>
    sdy.mesh @b = <["z"=8]>
    func.func @main(%0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>}) …
becomes
    sdy.mesh @a = <["x"=2, "y"=4]>
    func.func @main(%0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x", "y"}]>}) …

Meshes have the same devices if they have as many, in the same order. Of these the one with most axes of a
size other than 1 is kept, the first of several; one whose axes have names of the program goes before one with
names that XLA made, as `_axis_0`. The axes of another mesh are axes, or sub-axes, of the one that is kept; a
mesh with axes that are not is kept, too. Inlined meshes are left alone: `sdy-lift-inlined-meshes` gives them
names.
"""

from __future__ import annotations

from math import gcd

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes, SubAxis, with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import transform_shardings

# The axes and sub-axes of the mesh that is kept, for each axis of another mesh that is larger than 1.
_AxisMap = dict[str, list[AxisRef]]


@register("xla-sdy-round-trip-dedup-meshes")
class RoundTripDedupMeshes(Pass):
    def run(self, module: ModuleOp) -> bool:
        meshes = [op for op in module.block.ops if isinstance(op, MeshOp)]
        main = _main_meshes(meshes)
        replaced: dict[str, tuple[MeshOp, _AxisMap]] = {}
        for op in meshes:
            kept = main[_devices(op.mesh)]
            axes = None if kept is op else _axis_map(op.mesh, kept.mesh)
            if axes is not None:
                replaced[op.sym_name] = (kept, axes)
        if not replaced:
            return False
        rewriter = Rewriter()
        for computation in module.nested(ManualComputationOp):
            _replace_manual_axes(computation, replaced, rewriter)

        def replace(sharding: TensorSharding) -> TensorSharding:
            replacement = replaced.get(sharding.mesh_name or "")
            return sharding if replacement is None else _replaced(sharding, *replacement)

        transform_shardings(module, replace, rewriter)
        for op in meshes:
            if op.sym_name in replaced:
                rewriter.erase(op)
        return rewriter.changed


def _devices(mesh: Mesh) -> tuple[int, tuple[int, ...]]:
    """The number of devices and their order. An empty mesh differs from one with axes of size 1."""
    return (mesh.total_size if mesh.axes else -1), mesh.device_ids


def _main_meshes(meshes: list[MeshOp]) -> dict[tuple[int, tuple[int, ...]], MeshOp]:
    main: dict[tuple[int, tuple[int, ...]], MeshOp] = {}
    for op in meshes:
        first = main.setdefault(_devices(op.mesh), op)
        if _preference(op.mesh) > _preference(first.mesh):
            main[_devices(op.mesh)] = op
    return main


def _preference(mesh: Mesh) -> tuple[bool, int]:
    has_own_names = not mesh.axes or not mesh.axes[0].name.startswith("_")
    return has_own_names, sum(axis.size > 1 for axis in mesh.axes)


def _axis_map(mesh: Mesh, kept: Mesh) -> _AxisMap | None:
    """Maps the axes of a mesh to those of another one of the same devices; None if they do not divide."""
    axes: _AxisMap = {}
    targets, sources = _large(mesh), _large(kept)
    pre_size, rest = 1, sources[0].size if sources else 1
    for axis in targets:
        size = axis.size
        while size > 1:
            part = gcd(size, rest)
            if part != min(size, rest):
                return None
            source = sources[0]
            sub_axis = None if part == source.size else SubAxis(pre_size, part)
            axes.setdefault(axis.name, []).append(AxisRef(source.name, sub_axis))
            size, rest, pre_size = size // part, rest // part, pre_size * part
            if rest == 1:
                sources = sources[1:]
                pre_size, rest = 1, sources[0].size if sources else 1
    return axes


def _large(mesh: Mesh) -> list[MeshAxis]:
    return [axis for axis in mesh.axes if axis.size > 1]


def _replaced(sharding: TensorSharding, kept: MeshOp, axes: _AxisMap) -> TensorSharding:
    def new(refs: tuple[AxisRef, ...]) -> tuple[AxisRef, ...]:
        converted: tuple[AxisRef, ...] = ()
        for ref in refs:
            converted = with_axes(converted, _parts(ref, axes.get(ref.name, []), kept), kept.mesh)
        return converted

    dims = [DimensionSharding(new(dim.axes), dim.is_closed, dim.priority) for dim in sharding.dims]
    return (
        sharding.with_mesh(SymbolRef(kept.sym_name))
        .with_dims(dims)
        .with_replicated_axes(new(sharding.replicated_axes))
        .with_unreduced_axes(new(sharding.unreduced_axes))
    )


def _parts(ref: AxisRef, whole: list[AxisRef], kept: MeshOp) -> list[AxisRef]:
    """The axes of the kept mesh that an axis or sub-axis is, given those of its whole axis."""
    if ref.sub_axis is None:
        return whole
    skip, size = ref.sub_axis.pre_size, ref.sub_axis.size
    converted: list[AxisRef] = []
    for axis in whole:
        if size == 1:
            break
        axis_size = axis.size(kept.mesh)
        if skip >= axis_size:
            skip = _divided(skip, axis_size, ref, kept)
            continue
        part = min(size, _divided(axis_size, skip, ref, kept))
        is_whole = part == axis_size
        converted.append(axis if is_whole else AxisRef(axis.name, SubAxis(skip * axis.pre_size, part)))
        size, skip = _divided(size, part, ref, kept), 1
    return converted


def _divided(number: int, by: int, ref: AxisRef, kept: Op) -> int:
    if number % by:
        raise kept.op_error(f'has no axes for a sub-axis of "{ref.name}" of another mesh of its devices')
    return number // by


def _replace_manual_axes(
    op: ManualComputationOp, replaced: dict[str, tuple[MeshOp, _AxisMap]], rewriter: Rewriter
) -> None:
    names = [sharding.mesh_name for sharding in (*op.in_shardings, *op.out_shardings)]
    replacement = next((replaced[name] for name in names if name in replaced), None)
    if replacement is None or not op.manual_axes:
        return
    kept, axes = replacement
    refs: tuple[AxisRef, ...] = ()
    for name in op.manual_axes:
        refs = with_axes(refs, axes.get(name, []), kept.mesh)
    if any(ref.sub_axis is not None for ref in refs):
        raise op.op_error(f"manual axes would be sub-axes of mesh @{kept.sym_name}, which is not possible")
    rewriter.set_attribute(op, "manual_axes", ManualAxes(tuple([ref.name for ref in refs])))
