"""Shardings of the mesh dialect, which has axis numbers instead of axis names.

#mesh.shard<@mesh, [[0], [1, 2]], partial = sum[3]>                       LLVM 19
mesh.sharding @mesh split_axes = [[0], [1, 2]] partial = sum [3] : !mesh.sharding    LLVM 21
"""

from __future__ import annotations

import re
from functools import partial

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding, axes_lists_text, sharding_text
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind as PartialKind
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.notation.sharding_on_mesh import NotExpressible, ShardingOnMesh
from sdyopt.shardy.notation.text_parser import TextParser

_HELP = "such as <@mesh, [[0], [1]]> or mesh.sharding @mesh split_axes = [[0], [1]]"
_AXIS_RANGES = {0: "no axes", 1: "one axis, 0"}
_UNSUPPORTED = re.compile("halo_sizes|sharded_dims_offsets")

# --- Text -----------------------------------------------------------------------------------------


def mesh_dialect_text(on_mesh: ShardingOnMesh, mesh_version: int = 19) -> str:
    """The text of a sharding in the mesh dialect of an LLVM release. Raises NotExpressible."""
    sharding, mesh = on_mesh.sharding, on_mesh.mesh
    if not mesh.axes:
        raise NotExpressible("its mesh has no axes")
    if mesh.device_ids:
        raise NotExpressible("the mesh dialect has no device_ids")
    if on_mesh.manual_axes:
        raise NotExpressible("the mesh dialect has no manual axes")
    split = tuple([_numbers(dim.axes, mesh) for dim in sharding.dims])
    partial_axes = _numbers(sharding.unreduced_axes, mesh)
    symbol = sharding.mesh_or_ref if isinstance(sharding.mesh_or_ref, SymbolRef) else SymbolRef("mesh")
    if mesh_version < 21:
        kind = PartialKind(str(sharding.reduction))
        return "#mesh.shard" + sharding_text(MeshSharding(symbol, split, partial_axes, kind))
    lists = axes_lists_text(split or ((),))
    partial_text = ""
    if partial_axes:
        partial_text = f" partial = {sharding.reduction} [{', '.join(map(str, partial_axes))}]"
    return f"mesh.sharding {symbol_text(symbol.root)} split_axes = {lists}{partial_text} : !mesh.sharding"


def _numbers(axes: tuple[AxisRef, ...], mesh: Mesh) -> Axes:
    for axis in axes:
        if axis.sub_axis is not None:
            raise NotExpressible(
                f"{axis_ref_text(axis)} is a sub-axis, and the mesh dialect has full axes only"
            )
    return tuple([mesh.axis_position(axis.name) for axis in axes])


# --- Parsing --------------------------------------------------------------------------------------


def parse_mesh_dialect(
    source: Source, mesh: Mesh, mesh_or_ref: MeshOrRef, rank: int | None
) -> TensorSharding:
    """Parses a sharding of the mesh dialect, in the syntax of either release.

    Dimensions up to `rank` that the text leaves out are not sharded. Raises DiagnosticError.
    """
    parser = _MeshDialectParser(source, mesh)
    split, partial_axes, reduction = parser.parse()
    text = TextParser(source, len(source.text.rstrip()))
    if rank is not None and len(split) > rank and any(split[rank:]):
        message = f"the sharding has {len(split)} dimensions, but the tensor has {rank}"
        raise text.error_since(0, message, "remove the lists of dimensions that the tensor does not have")
    length = len(split) if rank is None else rank
    dims = [DimensionSharding(split[at] if at < len(split) else ()) for at in range(length)]
    return TensorSharding(mesh_or_ref, tuple(dims), (), partial_axes, reduction)


class _MeshDialectParser(TextParser):
    def __init__(self, source: Source, mesh: Mesh) -> None:
        super().__init__(source)
        self._mesh = mesh
        self._used: set[str] = set()

    def parse(self) -> tuple[list[tuple[AxisRef, ...]], tuple[AxisRef, ...], ReductionKind]:
        """The axes of each dimension, the partial axes, and the reduction along them."""
        is_attribute = self.accept("#mesh.shard") or self.looking_at("<")
        if is_attribute:
            self.expect("<", _HELP)
        else:
            self.accept("mesh.sharding")
        self.expect("@", _HELP)
        self.accept_name()
        if is_attribute:
            self.expect(",", _HELP)
        else:
            self.expect("split_axes", _HELP)
            self.expect("=")
        self.expect("[", _HELP)
        split = self.items(self._axes, "]")
        partial_axes: tuple[AxisRef, ...] = ()
        reduction = ReductionKind.SUM
        if self.accept(",") if is_attribute else self.looking_at("partial"):
            reduction, partial_axes = self._partial_axes()
        self._refuse_unsupported()
        if is_attribute:
            self.expect(">")
        elif self.accept(":"):
            self.expect("!mesh.sharding")
        self.finish("remove it")
        return split, partial_axes, reduction if partial_axes else ReductionKind.SUM

    def _axes(self) -> tuple[AxisRef, ...]:
        self.expect("[", "write a list of axis numbers for each dimension, such as [[0], []]")
        return tuple(self.items(self._axis, "]"))

    def _partial_axes(self) -> tuple[ReductionKind, tuple[AxisRef, ...]]:
        self.expect("partial")
        self.expect("=")
        kind = next((kind for kind in ReductionKind if self.accept(str(kind))), None)
        if kind is None:
            raise self.error(
                "expected 'sum', 'max' or 'min'", "sdy has no other reductions along unreduced axes"
            )
        return kind, tuple(sorted(self._axes(), key=partial(mesh_order, mesh=self._mesh)))

    def _axis(self) -> AxisRef:
        start = self.skip_space()
        number = self.number("the number of an axis")
        count = len(self._mesh.axes)
        if number >= count:
            help = f"the mesh has {_AXIS_RANGES.get(count) or f'the axes 0 to {count - 1}'}"
            raise self.error_since(start, f"axis {number} is not in the mesh", help)
        name = self._mesh.axes[number].name
        if name in self._used:
            raise self.error_since(start, f"axis {number} is used twice", "use each axis once")
        self._used.add(name)
        return AxisRef(name)

    def _refuse_unsupported(self) -> None:
        match = _UNSUPPORTED.match(self.source.text, self.skip_space())
        if match is not None:
            self.position = match.end()
            raise self.error_since(
                match.start(), f"{match[0]} is not supported here", "remove it; all other notations lack it"
            )
