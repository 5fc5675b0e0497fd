"""Meshes and shardings as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from sdyopt.analysis.figures.mesh_coordinates import all_coordinates, shard_index
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy import mesh as ir_mesh
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.html import sharding_html

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


@dataclass(frozen=True, slots=True, repr=False)
class Mesh:
    """The axes and devices of a mesh. `str` is MLIR's text of both, such as `<["x"=2, "y"=4]>`.

    `name` is empty for a mesh that is inlined in a sharding. `device_ids` are the devices in row-major order.
    """

    name: str
    axes: tuple[Axis, ...]
    device_ids: tuple[int, ...]
    text: str

    @property
    def shape(self) -> dict[str, int]:
        """The size of each axis by name, in order."""
        return {axis.name: axis.size for axis in self.axes}

    @property
    def size(self) -> int:
        """The number of devices."""
        return len(self.device_ids)

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


@dataclass(frozen=True, slots=True, repr=False)
class Sharding:
    """How a value is sharded. `str` is MLIR's text, `#sdy.sharding<@mesh, [{"x"}, {}]>`.

    `reduction` combines partial results along the unreduced axes: "sum", "max" or "min".
    """

    mesh: Mesh
    dimensions: tuple[DimensionSharding, ...]
    replicated_axes: tuple[Axis, ...]
    unreduced_axes: tuple[Axis, ...]
    reduction: str
    ir: TensorSharding = field(compare=False)
    _mesh: ir_mesh.Mesh = field(compare=False)

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
        return tuple([None if size is None else -(-size // each.num_shards) for size, each in sizes])

    def devices(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        """The ids of the devices that have each shard, by the index of the shard in each dimension."""
        mesh = self._mesh
        found: dict[tuple[int, ...], list[int]] = {}
        points = all_coordinates(mesh, [axis.name for axis in mesh.axes])
        for device, coordinates in zip(self.mesh.device_ids, points, strict=True):
            shard = tuple([shard_index(each.axes, coordinates, mesh) for each in self.ir.dims])
            found.setdefault(shard, []).append(device)
        return {shard: tuple(found[shard]) for shard in sorted(found)}

    def __str__(self) -> str:
        return AttributePrinter().attribute(self.ir)

    def __repr__(self) -> str:
        return f"Sharding({self})"

    def _repr_html_(self) -> str:
        devices = self.devices() if self.mesh.size <= MAX_DEVICES_IN_HTML else {}
        return sharding_html(
            str(self), [str(each) for each in self.dimensions], devices, list(self.mesh.shape)
        )


def _spec_of(dimension: DimensionSharding) -> str | tuple[str, ...] | None:
    for axis in dimension.axes:
        if axis.pre_size is not None:
            raise ValueError(f"a PartitionSpec has no sub-axes such as {axis}")
    names = tuple([axis.name for axis in dimension.axes])
    return names if len(names) > 1 else names[0] if names else None


def _axis_data(axis: AxisRef, mesh: ir_mesh.Mesh) -> Axis:
    return Axis(axis.name, axis.size(mesh), None if axis.sub_axis is None else axis.sub_axis.pre_size)


def mesh_data(mesh: ir_mesh.Mesh, name: str) -> Mesh:
    """The data of a mesh in the IR."""
    axes = tuple([Axis(axis.name, axis.size) for axis in mesh.axes])
    return Mesh(
        name, axes, mesh.device_ids or tuple(range(mesh.total_size)), ir_mesh.Mesh.assembly.text(mesh)
    )


def sharding_data(sharding: TensorSharding, op: Op) -> Sharding:
    """The data of a valid sharding. Its mesh is looked up from `op`."""
    mesh = mesh_of(sharding, op)
    assert mesh is not None

    def axes_data(axes: Sequence[AxisRef]) -> tuple[Axis, ...]:
        return tuple([_axis_data(axis, mesh) for axis in axes])

    return Sharding(
        mesh_data(mesh, sharding.mesh_name or ""),
        tuple([DimensionSharding(axes_data(d.axes), d.is_closed, d.priority) for d in sharding.dims]),
        axes_data(sharding.replicated_axes),
        axes_data(sharding.unreduced_axes),
        str(sharding.reduction),
        sharding,
        mesh,
    )
