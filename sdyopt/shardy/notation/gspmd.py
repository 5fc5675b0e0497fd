"""Shardings as XLA writes them in HLO: by devices, those of GSPMD, and by mesh axes, those of V3.

{devices=[4,2,2]<=[16] last_tile_dim_replicate}    V2: devices by reshaping and transposing iota
{devices=[2,2]0,2,1,3}                             V1: a list of devices
{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}
{replicated} {maximal device=3} {manual} {unreduced} {unknown}

{mesh['x'=4,'y'=2], [{'x'}, {'y':(1)2, ?}], replicated={…}, unreduced=max{…}, manual={…}}
{mesh['x'=4,'y'=2], device_ids=(0,2,4,6,1,3,5,7), [{'x'}, {}]}
{mesh['x'=4,'y'=2], device_ids=([2,4]T(1,0)), [{'x'}, {}]}      devices by reshaping and transposing iota
{mesh['x'=4,'y'=2], replicated}                                 also manual, unreduced, or unreduced=max
{single_device[device_id=3]}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, mesh, mesh_problem
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.notation.device_tiling import (
    DeviceOrder,
    DeviceTiling,
    Maximal,
    Sharing,
    Subgroup,
    Tiling,
    Uniform,
    Unknown,
    canonical_order,
    listed_order,
    simplified,
)
from sdyopt.shardy.notation.mesh_text import MAX_NUMBER, TextParser
from sdyopt.shardy.notation.sharding_on_mesh import MAX_LISTED, ShardingOnMesh, sorted_replicas, tiling_of

_HELP = "such as {devices=[2,1,2]<=[4] last_tile_dim_replicate} or {replicated}"

# --- Text -----------------------------------------------------------------------------------------


def gspmd_text(tiling: Tiling, max_devices: int | None = None) -> str:
    """The text of a tiling, with at most `max_devices` devices of a list; None shows all."""
    if isinstance(tiling, DeviceTiling):
        tiling = simplified(tiling)
    match tiling:
        case Uniform(sharing):
            return f"{{{sharing}}}"
        case Maximal(device):
            return f"{{maximal device={device}}}"
        case Unknown():
            return "{unknown}"
    dims = ",".join(map(str, tiling.sizes))
    return f"{{devices=[{dims}]{_order_text(tiling, max_devices)}{_subgroups_text(tiling)}}}"


def _order_text(tiling: DeviceTiling, max_devices: int | None) -> str:
    order = tiling.order
    if not order.is_iota:
        ids = sorted_replicas(tiling, order.ids)
        return ",".join(map(str, ids[:max_devices])) + ("…" if ids[:max_devices] != ids else "")
    dims = ",".join(map(str, order.dims))
    permutation = ",".join(map(str, order.permutation))
    return f"<=[{dims}]" + (f"T({permutation})" if len(order.dims) > 1 else "")


def _subgroups_text(tiling: DeviceTiling) -> str:
    sharings = [group.sharing for group in tiling.subgroups]
    if not sharings:
        return ""
    if sharings == [Sharing.REPLICATED]:
        return " last_tile_dim_replicate"
    return f" last_tile_dims={{{', '.join(sharings)}}}"


# --- Parsing --------------------------------------------------------------------------------------


def parse_gspmd(source: Source) -> Tiling:
    """Parses the text of a sharding. Raises DiagnosticError."""
    parser = GspmdParser(source)
    parser.expect("{", _HELP)
    for word, parse in _WORDS.items():
        if parser.accept(word):
            tiling = parse(parser)
            break
    else:
        if parser.looking_at("{"):
            raise parser.error("a tuple has a sharding for each element", "give the sharding of one element")
        raise parser.error(f"expected one of {', '.join(_WORDS)}", _HELP)
    if parser.accept("metadata"):
        parser.skip_metadata()
    parser.expect("}")
    parser.finish("remove it")
    return tiling


class GspmdParser(TextParser):
    """A parser of HLO shardings."""

    def parse_maximal(self) -> Tiling:
        self.expect("device", "such as {maximal device=0}")
        self.expect("=")
        return Maximal(self.number("a device id"))

    def parse_devices(self) -> Tiling:
        self.expect("=")
        start = self.skip_space()
        sizes = self._parse_sizes()
        count = prod(sizes)
        if count > MAX_NUMBER:
            raise self.error_since(start, "the number of devices is greater than 2^62")
        order = self.parse_iota(count) if self.accept("<=") else self._parse_list(count)
        group_start = self.skip_space()
        sharings = self._parse_sharings()
        if len(sharings) > len(sizes):
            message = f"{len(sharings)} last tile dimensions, but devices=[…] has {len(sizes)} dimensions"
            raise self.error_since(
                group_start, message, "write one size for each of them, after those of the tensor"
            )
        rank = len(sizes) - len(sharings)
        subgroups = [Subgroup(sharing, size) for sharing, size in zip(sharings, sizes[rank:], strict=True)]
        return DeviceTiling(tuple(sizes[:rank]), tuple(subgroups), order)

    def _parse_sizes(self) -> list[int]:
        """Parses `[4,2]`."""
        self.expect("[", _HELP)
        start = self.position
        sizes = self.items(self._parse_size, "]")
        if not sizes:
            raise self.error_since(start - 1, "expected a size for each dimension", _HELP)
        return sizes

    def _parse_size(self) -> int:
        start = self.skip_space()
        size = self.number("a size")
        if size == 0:
            raise self.error_since(start, "a size must be at least 1")
        return size

    def parse_iota(self, count: int) -> DeviceOrder:
        """Parses `[4,2]T(1,0)`, an order of `count` devices."""
        start = self.skip_space()
        dims = self._parse_sizes()
        if prod(dims) != count:
            message = f"[{','.join(map(str, dims))}] has {prod(dims)} devices, but the tiles have {count}"
            raise self.error_since(start, message, "make the products of both lists equal")
        if not self.accept("T"):
            if len(dims) > 1:
                raise self.error("expected 'T(', the order of the dimensions", f"for iota write <=[{count}]")
            return canonical_order(dims)
        start = self.skip_space()
        self.expect("(")
        permutation = self.items(partial(self.number, "the number of a dimension"), ")")
        if sorted(permutation) != list(range(len(dims))):
            numbers = ",".join(map(str, range(len(dims))))
            raise self.error_since(start, f"expected each of the numbers {numbers} once")
        return canonical_order(dims, permutation)

    def _parse_list(self, count: int) -> DeviceOrder:
        """Parses `0,2,1,3`, the devices in order."""
        start = self.skip_space()
        ids: list[int] = []
        seen: set[int] = set()
        while True:
            at = self.skip_space()
            device = self.number("a device id, or '<=' and the shape of iota" if not ids else "a device id")
            if device in seen:
                raise self.error_since(at, f"device {device} is listed twice")
            ids.append(device)
            seen.add(device)
            if not self.accept(","):
                break
        if len(ids) != count:
            raise self.error_since(start, f"{len(ids)} devices are listed, but the tiles have {count}")
        return listed_order(ids)

    def _parse_sharings(self) -> list[Sharing]:
        """Parses `last_tile_dim_replicate` or `last_tile_dims={manual, replicated}`, if any."""
        if self.accept("last_tile_dim_replicate"):
            return [Sharing.REPLICATED]
        if not self.accept("last_tile_dims"):
            return []
        self.expect("=")
        self.expect("{")
        return self.items(self._parse_sharing, "}")

    def _parse_sharing(self) -> Sharing:
        for sharing in Sharing:
            if self.accept(sharing):
                return sharing
        raise self.error(f"expected one of {', '.join(Sharing)}")

    def skip_metadata(self) -> None:
        """Skips `={op_name="a"}`, which has no effect on devices."""
        self.expect("=")
        self.expect("{")
        depth = 1
        while depth:
            if self.at_end:
                raise self.error("expected '}'")
            if self.accept_string() is not None:
                continue
            depth += (self.source.text[self.position] == "{") - (self.source.text[self.position] == "}")
            self.position += 1


_WORDS: dict[str, Callable[[GspmdParser], Tiling]] = {
    "devices": GspmdParser.parse_devices,
    "replicated": lambda _: Uniform(Sharing.REPLICATED),
    "maximal": GspmdParser.parse_maximal,
    "manual": lambda _: Uniform(Sharing.MANUAL),
    "unreduced": lambda _: Uniform(Sharing.UNREDUCED),
    "unknown": lambda _: Unknown(),
}


# The start of a sharding in this notation.
OPENING = re.compile(r"\s*\{\s*(?:mesh|single_device|maximal_mesh)\s*\[")

_HELP_V3 = "such as {mesh['x'=4,'y'=2], [{'x'}, {}]}"
_SINGLE_DEVICES = ("single_device", "maximal_mesh")
_KINDS = {str(kind): kind for kind in ReductionKind}


class UniformOnMesh(NamedTuple):
    """All devices of a mesh share the whole tensor, of any rank; partial results are combined by `kind`."""

    mesh: Mesh
    sharing: Sharing
    kind: ReductionKind = ReductionKind.SUM

    def of_rank(self, rank: int, reference: SymbolRef) -> ShardingOnMesh:
        """The sharding of a tensor of this rank."""
        names = tuple([axis.name for axis in self.mesh.axes])
        unreduced = tuple(map(AxisRef, names)) if self.sharing is Sharing.UNREDUCED else ()
        sharding = TensorSharding(reference, (DimensionSharding(),) * rank, (), unreduced, self.kind)
        return ShardingOnMesh(sharding, self.mesh, names if self.sharing is Sharing.MANUAL else ())


# --- Text -----------------------------------------------------------------------------------------


def named_sharding_text(on_mesh: ShardingOnMesh, max_devices: int | None = None) -> str:
    """The text of a sharding, with at most `max_devices` devices of a list; None shows all.

    As in XLA, it has no priorities.
    """
    on, sharding = on_mesh.mesh, on_mesh.sharding
    if on.is_maximal:
        return f"{{single_device[device_id={on.device_ids[0]}]}}"
    parts = [f"mesh[{_mesh_axes_text(on, ',')}]"]
    if on.device_ids:
        ids = ",".join(map(str, on.device_ids[:max_devices]))
        parts.append(f"device_ids=({ids}{'…' if on.device_ids[:max_devices] != on.device_ids else ''})")
    manual = [AxisRef(axis.name) for axis in on.axes if axis.name in on_mesh.manual_axes]
    kind = sharding.reduction.prefix
    word = None if sharding.rank else _uniform_word(sharding, manual, on)
    if word is not None:
        parts.append(word)
    else:
        parts.append(f"[{', '.join(map(_dimension_text, sharding.dims))}]")
        for name, axes in (
            ("replicated=", sharding.replicated_axes),
            (f"unreduced={kind}", sharding.unreduced_axes),
            ("manual=", manual),
        ):
            if axes:
                parts.append(f"{name}{{{_axes_text(axes)}}}")
    return f"{{{', '.join(parts)}}}"


def _uniform_word(sharding: TensorSharding, manual: Sequence[AxisRef], on: Mesh) -> str | None:
    """The word for a scalar that all devices share in one way; None if they share it in several."""
    if not manual and not sharding.unreduced_axes:
        return None if sharding.replicated_axes else str(Sharing.REPLICATED)
    if len(manual) == len(on.axes):
        return str(Sharing.MANUAL)
    unreduced = sharding.unreduced_axes
    is_along_all = {axis.name for axis in unreduced} == {axis.name for axis in on.axes}
    if is_along_all and prod([axis.size(on) for axis in unreduced]) == on.total_size:
        kind = sharding.reduction.prefix
        return f"{Sharing.UNREDUCED}={kind}" if kind else str(Sharing.UNREDUCED)
    return None


def _mesh_axes_text(on: Mesh, separator: str) -> str:
    return separator.join([f"'{axis.name}'={axis.size}" for axis in on.axes])


def _dimension_text(dim: DimensionSharding) -> str:
    return f"{{{', '.join([*map(_axis_text, dim.axes), *([] if dim.is_closed else ['?'])])}}}"


def _axes_text(axes: Iterable[AxisRef]) -> str:
    return ", ".join(map(_axis_text, axes))


def _axis_text(axis: AxisRef) -> str:
    part = axis.sub_axis
    return f"'{axis.name}'" + ("" if part is None else f":({part.pre_size}){part.size}")


# --- Parsing --------------------------------------------------------------------------------------


def parse_hlo_tiling(source: Source) -> Tiling:
    """The tiling of a sharding in HLO, in any of its notations. Raises DiagnosticError."""
    if OPENING.match(source.text) is None:
        return parse_gspmd(source)
    parsed = parse_named_sharding(source, SymbolRef("mesh"))
    match parsed:
        case ShardingOnMesh():
            return tiling_of(parsed)
        case UniformOnMesh():
            return Uniform(parsed.sharing)
    return parsed


def parse_named_sharding(source: Source, reference: SymbolRef) -> ShardingOnMesh | UniformOnMesh | Maximal:
    """Parses a sharding, which refers to its mesh by `reference`. Raises DiagnosticError."""
    parser = _NamedShardingParser(source)
    parser.expect("{", _HELP_V3)
    parsed: ShardingOnMesh | UniformOnMesh | Maximal
    if any(map(parser.accept, _SINGLE_DEVICES)):
        parsed = Maximal(parser.parse_single_device())
    else:
        parsed = parser.parse_on_mesh(reference)
    parser.expect("}", _HELP_V3)
    parser.finish("remove it")
    return parsed


class _NamedShardingParser(GspmdParser):
    """A parser of named shardings."""

    def parse_single_device(self) -> int:
        self.expect("[")
        self.expect("device_id", "such as {single_device[device_id=0]}")
        self.expect("=")
        device = self.number("a device id")
        self.expect("]")
        return device

    def parse_on_mesh(self, reference: SymbolRef) -> ShardingOnMesh | UniformOnMesh:
        start = self.skip_space()
        self.expect("mesh", _HELP_V3)
        self.expect("[")
        axes = self.items(self._parse_mesh_axis, "]", _HELP_V3)
        size = prod([axis.size for axis in axes])
        if size > MAX_NUMBER:
            raise self.error_since(start, "the number of devices is greater than 2^62")
        self.expect(",", _HELP_V3)
        ids: Sequence[int] = ()
        if self.accept("device_ids"):
            ids = self._parse_device_ids(size)
            self.expect(",", _HELP_V3)
        on = mesh(axes, ids)
        problem = mesh_problem(on)
        if problem is not None:
            raise self.error_since(start, problem if len(problem) < 200 else problem[:200] + "…")
        for sharing in Sharing:
            if self.accept(sharing):
                is_of_kind = sharing is Sharing.UNREDUCED and self.accept("=")
                return UniformOnMesh(on, sharing, self._parse_kind() if is_of_kind else ReductionKind.SUM)
        self.expect("[", _HELP_V3)
        dims = self.items(partial(self._parse_dimension, on), "]", _HELP_V3)
        return self._parse_other_axes(tuple(dims), on, reference)

    def _parse_mesh_axis(self) -> MeshAxis:
        name = self.accept_string()
        if name is None:
            raise self.error("expected an axis name in quotes", _HELP_V3)
        self.expect("=")
        return self.axis_named(name)

    def _parse_device_ids(self, count: int) -> Sequence[int]:
        """Parses `=(0,2,1,3)`, or `=([2,2]T(1,0))`."""
        self.expect("=")
        self.expect("(")
        start = self.skip_space()
        if self.looking_at("["):
            order = self.parse_iota(count)
            if count > MAX_LISTED:
                raise self.error_since(start, f"a mesh with an order of devices has more than {MAX_LISTED}")
            ids: Sequence[int] = [order.device_at(position) for position in range(count)]
            self.expect(")")
            return ids
        ids = self.items(partial(self.number, "a device id"), ")")
        if len(ids) != count:
            raise self.error_since(start, f"{len(ids)} devices are listed, but the mesh has {count}")
        return ids

    def _parse_dimension(self, on: Mesh) -> DimensionSharding:
        """Parses `{'x', ?}`."""
        self.expect("{", _HELP_V3)
        axes: list[AxisRef] = []
        while not self.accept("}"):
            if axes:
                self.expect(",")
            if self.accept("?"):
                self.expect("}")
                return DimensionSharding(tuple(axes), is_closed=False)
            axes.append(self._parse_axis(on))
        return DimensionSharding(tuple(axes))

    def _parse_axis(self, on: Mesh) -> AxisRef:
        """Parses `'x'` or `'x':(1)2`. A number is the index of an axis, unless it is the name of one."""
        start = self.skip_space()
        name = self.accept_string()
        if name is None:
            raise self.error("expected an axis name in quotes", _HELP_V3)
        names = [axis.name for axis in on.axes]
        if name not in names:
            if not name.isdecimal() or int(name) >= len(names):
                has = _mesh_axes_text(on, ", ") or "no axes"
                raise self.error_since(start, f"unknown axis name: '{name}'").help(f"the mesh has {has}")
            name = names[int(name)]
        if not self.accept(":"):
            return AxisRef(name)
        self.expect("(")
        pre_size = self.number("the product of the sizes of more major sub-axes")
        self.expect(")")
        return AxisRef(name, SubAxis(pre_size, self.number("the size of the sub-axis")))

    def _parse_kind(self) -> ReductionKind:
        for word, kind in _KINDS.items():
            if self.accept(word):
                return kind
        raise self.error(f"expected one of {', '.join(_KINDS)}")

    def _parse_other_axes(
        self, dims: tuple[DimensionSharding, ...], on: Mesh, reference: SymbolRef
    ) -> ShardingOnMesh:
        """Parses `, replicated={…}, unreduced={…}, manual={…}`, in any order, and metadata."""
        axes: dict[str, list[AxisRef]] = {sharing: [] for sharing in Sharing}
        kind = ReductionKind.SUM
        sharded = {axis.name for dim in dims for axis in dim.axes}
        while self.accept(","):
            start = self.skip_space()
            if self.accept("metadata"):
                self.skip_metadata()
                continue
            word = next((sharing for sharing in Sharing if self.accept(sharing)), None)
            if word is None:
                raise self.error(f"expected one of {', '.join(Sharing)}", _HELP_V3)
            self.expect("=")
            if word is Sharing.UNREDUCED and not self.looking_at("{"):
                kind = self._parse_kind()
            self.expect("{")
            axes[word] = self.items(partial(self._parse_axis, on), "}")
            if word is not Sharing.MANUAL:
                sharded |= {axis.name for axis in axes[word]}
            elif any(axis.sub_axis is not None for axis in axes[word]):
                raise self.error_since(start, "only a part of an axis is manual")
        manual = {axis.name for axis in axes[Sharing.MANUAL]}
        for axis in on.axes:
            if axis.name in manual & sharded:
                raise self.error_since(0, f"axis '{axis.name}' is manual and has another use")
        replicated, unreduced = axes[Sharing.REPLICATED], axes[Sharing.UNREDUCED]
        sharding = TensorSharding(reference, dims, tuple(replicated), tuple(unreduced), kind)
        return ShardingOnMesh(sharding, on, tuple([axis.name for axis in on.axes if axis.name in manual]))
