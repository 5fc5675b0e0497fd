"""Meshes, shardings and machines as plain data, which may be constructed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING

from sdyopt.analysis.figures.mesh_layout import all_coordinates, shard_index
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy import mesh as ir_mesh
from sdyopt.mlir.dialects.sdy import sharding as ir_sharding
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.errors import as_parse_error, as_value_error, path_text, require_text
from sdyopt.tools.api.html import sharding_html

if TYPE_CHECKING:
    from sdyopt.analysis.figures.topology import Topology
    from sdyopt.analysis.interface.flag import TextFile


# The HTML of a sharding on a larger mesh does not show devices.
MAX_DEVICES_IN_HTML = 4096


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a mesh, or the sub-axis of it with this pre-size. `str` is `"x"` or `"x":(2)4`."""

    name: str
    size: int
    pre_size: int | None = None

    def __str__(self) -> str:
        sub_axis = "" if self.pre_size is None else f":({self.pre_size}){self.size}"
        return f'"{self.name}"{sub_axis}'


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Mesh:
    """The axes and devices of a mesh. `str` is MLIR's text of both, such as `<["x"=2, "y"=4]>`.

    `Mesh("mesh", {"x": 2, "y": 4})` is the one of this example, and so is that of the shape of a mesh of JAX:
    `Mesh("mesh", mesh.shape)`. `name` is empty for a mesh that is inlined in a sharding. By default, the
    devices are in increasing order.
    """

    name: str
    axes: tuple[Axis, ...]
    ir: ir_mesh.Mesh = field(init=False)

    def __init__(
        self,
        name: str,
        axes: Mapping[str, int] | Iterable[Axis],
        device_ids: Iterable[int] | None = None,
    ) -> None:
        pairs = axes.items() if isinstance(axes, Mapping) else [(axis.name, axis.size) for axis in axes]
        for word, text in (("a mesh", name), *(("an axis", axis) for axis, _ in pairs)):
            if not isinstance(text, str):
                raise TypeError(f"the name of {word} is text, not {text!r}")
        ir = ir_mesh.mesh([ir_mesh.MeshAxis(*pair) for pair in pairs], tuple(device_ids or ()))
        problem = next(filter(None, map(ir_mesh.axis_problem, ir.axes)), ir_mesh.mesh_problem(ir))
        if problem:
            raise ValueError(problem)
        _set(self, "name", name)
        _set(self, "axes", tuple([Axis(axis.name, axis.size) for axis in ir.axes]))
        _set(self, "ir", ir)

    @property
    def shape(self) -> dict[str, int]:
        """The size of each axis by name, in order."""
        return {axis.name: axis.size for axis in self.axes}

    @property
    def size(self) -> int:
        """The number of devices."""
        return len(self.ir.device_ids) or self.ir.total_size

    @property
    def device_ids(self) -> tuple[int, ...]:
        """The devices in row-major order."""
        return self.ir.device_ids or tuple(range(self.size))

    def axis(self, name: str) -> Axis:
        """The axis of this name. Raises ValueError if there is none."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise ValueError(f"{self!r} has no axis {name!r}; {nearest_or_all(name, self.shape)}")

    @property
    def text(self) -> str:
        """MLIR's text."""
        return ir_mesh.Mesh.assembly.text(self.ir)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Mesh({f'@{self.name} ' if self.name else ''}{self})"


@dataclass(frozen=True, slots=True, repr=False)
class DimensionSharding:
    """The axes that shard a dimension, major to minor. Propagation may shard an open dimension further."""

    axes: tuple[Axis, ...]
    is_closed: bool = True
    priority: int | None = None

    @property
    def num_shards(self) -> int:
        """The product of the sizes of the axes."""
        return prod(axis.size for axis in self.axes)

    def __str__(self) -> str:
        open_ = () if self.is_closed else ("?",)
        priority = "" if self.priority is None else f"p{self.priority}"
        return f"{{{', '.join([*map(str, self.axes), *open_])}}}{priority}"

    def __repr__(self) -> str:
        return f"DimensionSharding({self})"


# What shards a dimension.
DimensionSpec = None | str | Axis | DimensionSharding | Sequence[str | Axis]
_REDUCTIONS = {str(kind): kind for kind in ReductionKind}


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Sharding:
    """A sharding of a value. `str` is MLIR's text, `#sdy.sharding<@mesh, [{"x"}, {}]>`.

    `Sharding(mesh, ["x", None])` is the one of this example. What shards a dimension is as in JAX's
    `PartitionSpec`, which may be given itself: None, an axis, or several. These dimensions are closed, those
    of `UNCONSTRAINED` open; a `DimensionSharding` says more. `reduction` combines partial results along the
    unreduced axes: "sum", "max" or "min".
    """

    mesh: Mesh
    dimensions: tuple[DimensionSharding, ...]
    replicated_axes: tuple[Axis, ...]
    unreduced_axes: tuple[Axis, ...]
    reduction: str
    ir: TensorSharding = field(init=False, compare=False)

    def __init__(
        self,
        mesh: Mesh,
        dimensions: Iterable[DimensionSpec],
        replicated_axes: Iterable[str | Axis] = (),
        unreduced_axes: Iterable[str | Axis] = (),
        reduction: str = "sum",
    ) -> None:
        if isinstance(dimensions, str):
            raise TypeError(f"dimensions are several, such as [{dimensions!r}], not text")
        if reduction not in _REDUCTIONS:
            raise ValueError(f"a reduction is one of {', '.join(_REDUCTIONS)}, not {reduction!r}")
        # A PartitionSpec may have unreduced axes, in no particular order.
        named = getattr(dimensions, "unreduced", ())
        unreduced = [*unreduced_axes] or [name for name in mesh.shape if name in named]
        free = getattr(dimensions, "UNCONSTRAINED", None)
        specs: Iterable[DimensionSpec] = getattr(dimensions, "partitions", dimensions)
        dims = tuple([_dimension(spec, mesh, free) for spec in specs])
        replicated, reduced = (tuple([_axis(a, mesh) for a in axes]) for axes in (replicated_axes, unreduced))
        _set(self, "mesh", mesh)
        _set(self, "dimensions", dims)
        _set(self, "replicated_axes", replicated)
        _set(self, "unreduced_axes", reduced)
        _set(self, "reduction", reduction)
        ir = TensorSharding(
            SymbolRef(mesh.name) if mesh.name else mesh.ir,
            tuple([ir_sharding.DimensionSharding(_refs(d.axes), d.is_closed, d.priority) for d in dims]),
            _refs(replicated),
            _refs(reduced),
            _REDUCTIONS[reduction],
        )
        _set(self, "ir", ir)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether no dimension is sharded."""
        return not any(dimension.axes for dimension in self.dimensions)

    @property
    def num_shards(self) -> int:
        """The number of shards: the product of `num_shards` of all dimensions."""
        return prod(dimension.num_shards for dimension in self.dimensions)

    @property
    def spec(self) -> tuple[str | tuple[str, ...] | None, ...]:
        """The axes of each dimension, as in JAX's `PartitionSpec`. Raises ValueError for sub-axes."""
        return tuple([_spec_of(dimension) for dimension in self.dimensions])

    def local_shape(self, shape: Sequence[int | None]) -> tuple[int | None, ...]:
        """The shape of a shard of a value of this shape. Sizes are rounded up; dynamic ones stay None."""
        if len(shape) != len(self.dimensions):
            raise ValueError(
                f"a sharding of rank {len(self.dimensions)} does not apply to shape {tuple(shape)}"
            )
        sizes = zip(shape, self.dimensions, strict=True)
        return tuple([None if size is None else -(-size // dim.num_shards) for size, dim in sizes])

    def devices(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """The ids of the devices that have each shard, by the index of the shard in each dimension."""
        mesh = self.mesh.ir
        devices: dict[tuple[int, ...], list[int]] = {}
        points = all_coordinates(mesh, [axis.name for axis in mesh.axes])
        for device, coordinates in zip(self.mesh.device_ids, points, strict=True):
            shard = tuple([shard_index(dim.axes, coordinates, mesh) for dim in self.ir.dims])
            devices.setdefault(shard, []).append(device)
        return {shard: tuple(devices[shard]) for shard in sorted(devices)}

    def __str__(self) -> str:
        return AttributePrinter().attribute(self.ir)

    def __repr__(self) -> str:
        return f"Sharding({self})"

    def _repr_html_(self) -> str:
        devices = self.devices() if self.mesh.size <= MAX_DEVICES_IN_HTML else {}
        return sharding_html(
            str(self), [str(dimension) for dimension in self.dimensions], devices, list(self.mesh.shape)
        )


def _spec_of(dimension: DimensionSharding) -> str | tuple[str, ...] | None:
    for axis in dimension.axes:
        if axis.pre_size is not None:
            raise ValueError(f"a PartitionSpec has no sub-axes such as {axis}")
    names = tuple([axis.name for axis in dimension.axes])
    return names if len(names) > 1 else names[0] if names else None


def _dimension(spec: DimensionSpec, mesh: Mesh, free: object) -> DimensionSharding:
    """The axes that shard a dimension; `free` stands for an open dimension that is not sharded."""
    if isinstance(spec, DimensionSharding):
        return DimensionSharding(tuple([_axis(a, mesh) for a in spec.axes]), spec.is_closed, spec.priority)
    if spec is None:
        return DimensionSharding(())
    if spec is free:
        return DimensionSharding((), is_closed=False)
    axes = spec if isinstance(spec, Sequence) and not isinstance(spec, str) else (spec,)
    return DimensionSharding(tuple([_axis(axis, mesh) for axis in axes]))


def _axis(axis: object, mesh: Mesh) -> Axis:
    """An axis of a mesh, given by itself or by its name. Raises ValueError for an unknown one."""
    if isinstance(axis, Axis):
        whole = mesh.axis(axis.name)
        if axis.pre_size is None and axis.size != whole.size:
            raise ValueError(f"the axis {axis} of {mesh!r} has the size {whole.size}, not {axis.size}")
        return axis
    if not isinstance(axis, str):
        raise TypeError(f"a dimension is sharded along axes of the mesh, not {axis!r}")
    return mesh.axis(axis)


def _refs(axes: Iterable[Axis]) -> tuple[AxisRef, ...]:
    return tuple([AxisRef(a.name, None if a.pre_size is None else SubAxis(a.pre_size, a.size)) for a in axes])


_set = object.__setattr__


def _axis_data(axis: AxisRef, mesh: ir_mesh.Mesh) -> Axis:
    return Axis(axis.name, axis.size(mesh), None if axis.sub_axis is None else axis.sub_axis.pre_size)


@lru_cache(maxsize=4096)
def mesh_data(mesh: ir_mesh.Mesh, name: str) -> Mesh:
    """The data of a mesh in the IR."""
    return Mesh(name, [Axis(axis.name, axis.size) for axis in mesh.axes], mesh.device_ids)


def sharding_data(sharding: TensorSharding, op: Op) -> Sharding:
    """The data of a valid sharding. Its mesh is looked up from `op`."""
    mesh = mesh_of(sharding, op)
    assert mesh is not None
    return _sharding_data(sharding, mesh)


@lru_cache(maxsize=4096)
def _sharding_data(sharding: TensorSharding, mesh: ir_mesh.Mesh) -> Sharding:
    def axes_data(axes: Sequence[AxisRef]) -> tuple[Axis, ...]:
        return tuple([_axis_data(axis, mesh) for axis in axes])

    return Sharding(
        mesh_data(mesh, sharding.mesh_name or ""),
        [DimensionSharding(axes_data(d.axes), d.is_closed, d.priority) for d in sharding.dims],
        axes_data(sharding.replicated_axes),
        axes_data(sharding.unreduced_axes),
        str(sharding.reduction),
    )


def topology_of(name: str | PathLike[str]) -> Topology:
    """The topology of a machine or a file. Raises ParseError, ValueError and FileNotFoundError."""
    from sdyopt.analysis.figures.topology import read_topology

    with as_parse_error(TOPOLOGY_ERROR):
        return read_topology(*topology_file_of(name))


def topology_file_of(name: str | PathLike[str]) -> TextFile:
    """The text of a topology. Raises ValueError for a wrong name or shape, FileNotFoundError for a file."""
    from sdyopt.analysis.figures.machines import is_target, machine_text, read_target
    from sdyopt.analysis.report.entry import topology_text

    path = path_text("topology", name)
    if is_target(path):
        with as_value_error():
            machine_text(path)
    try:
        with as_parse_error(TOPOLOGY_ERROR):
            return topology_text(path)
    except (FileNotFoundError, UsageError):
        if PurePath(path).suffix or PurePath(path).name != path:
            raise FileNotFoundError(f"no file {path!r}") from None
        with as_value_error():
            read_target(path)
        raise


def memory_of_device(size: str | None) -> int | None:
    """The bytes of a `device_memory`. Raises TypeError and ValueError."""
    from sdyopt.analysis.figures.machines import memory_size

    if size is None:
        return None
    require_text("device_memory", size, "such as '16GiB'")
    with as_value_error():
        return memory_size("device-memory", size)
