"""The sdy dialect object, the discardable attributes of sdy, and meshes: named axes and devices along them.

<["x"=2, "y"=4]>                          eight devices with iota ids
<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]> four devices in another order
<[], device_ids=[5]>                      a single device: a maximal mesh
<[]>                                      an empty mesh, which is compatible with any other
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from weakref import WeakSet

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.interning import derived_field, set_derived
from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    OptionalParameters,
    attribute_format,
    dialect_attribute,
    integer,
    list_of,
    nested_list,
    string,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dialect import Dialect

sdy = Dialect("sdy")
sdy.is_inlinable = True


# The shardings of an operation's results, or the sharding of a function argument or result.
SHARDING = "sdy.sharding"
# The sharding rule of an operation.
SHARDING_RULE = "sdy.sharding_rule"
# The propagation steps that changed shardings of an operation.
PROPAGATION_EDGES = "sdy.propagation_edges"
RESULT_PROPAGATION_EDGES = "sdy.result_propagation_edges"
BLOCK_ARGUMENT_PROPAGATION_EDGES = "sdy.block_arg_propagation_edges"
# For each axis of a sharding, the constraint, input or output that it originates from.
ORIGINS = "sdy.sharding_origins"
RESULT_ORIGINS = "sdy.result_sharding_origins"
BLOCK_ARGUMENT_ORIGINS = "sdy.block_arg_sharding_origins"
# The name by which origins refer to an operation.
ORIGIN_NAME = "sdy.sharding_origin_name"
# The execution thread of a function, such as the host's.
EXECUTION_THREAD = "execution_thread"
# The manual axes of the calls of a function.
FUNCTION_MANUAL_AXES = "sdy.func_manual_axes"
# The name of the operation that a manual computation or a reduce-scatter of the partitioner replaces.
REPLACES = "sdy.replaces"


AXIS_SIZE = ErrorKind("axis size must be at least 1, got: {size}", help="an axis has one device or more")
_DUPLICATE_AXIS = ErrorKind(
    'duplicate axis name: "{axis}"',
    at='second "{axis}"',
    help='give one of the two axes another name than "{axis}"',
)
_DEVICE_COUNT = ErrorKind(
    "total product of axis sizes must match total number of device ids, got: {size} != {ids}",
    at="attribute device_ids",
    help="list {size} device ids, or none: the default is 0 to {last}",
)
_DEVICE_IDS = ErrorKind(
    "sorted device ids must be iota(product(axes)), got: {ids}",
    at="attribute device_ids",
    help="each device id from 0 up occurs once",
)


def axis_problem(axis: MeshAxis) -> str | None:
    """The error of an axis, None if it is valid."""
    return None if axis.size > 0 else AXIS_SIZE(size=axis.size)


@dialect_attribute(sdy, "mesh_axis", "Sdy_MeshAxis")
class MeshAxis(Attribute):
    """`"x"=2`: the name and size of a mesh axis."""

    name: str
    size: int
    dialect = "sdy"
    assembly = attribute_format(string("name"), "=", integer("size"), check=axis_problem)


def mesh(axes: Sequence[MeshAxis], device_ids: Sequence[int] = ()) -> Mesh:
    """The mesh with these axes and device ids, which are left out if they are iota."""
    is_iota = bool(axes) and list(device_ids) == list(range(len(device_ids)))
    if is_iota and len(device_ids) == prod(axis.size for axis in axes):
        return Mesh(tuple(axes))
    return Mesh(tuple(axes), tuple(device_ids))


def mesh_problem(mesh: Mesh) -> str | None:
    """The error of a mesh, None if it is valid."""
    for device_id in mesh.device_ids:
        if device_id < 0:
            return f"device id must be non-negative, got: {device_id}"
    if not mesh.axes:
        if len(mesh.device_ids) > 1:
            return "axes is empty and device_ids has more than one element"
        return None
    names: set[str] = set()
    for axis in mesh.axes:
        if axis.name in names:
            return _DUPLICATE_AXIS(axis=axis.name)
        names.add(axis.name)
    return mesh.device_problem() if mesh.device_ids else None


@dialect_attribute(sdy, "mesh", "Sdy_Mesh")
class Mesh(Attribute):
    """Axes, and the device ids in row-major order. `mesh(…)` leaves out iota device ids."""

    axes: tuple[MeshAxis, ...] = ()
    device_ids: tuple[int, ...] = ()
    # Axis name -> index.
    _positions: dict[str, int] = derived_field()
    dialect = "sdy"
    assembly = attribute_format(
        "<",
        BracketedList("[", nested_list("axes", MeshAxis), "]"),
        OptionalParameters(
            ", ",
            "device_ids",
            "=",
            "[",
            list_of("device_ids", "device_ids", "int64_t", AsmParser.integer, str),
            "]",
            default=(),
        ),
        ">",
        build=mesh,
        check=mesh_problem,
    )

    def __post_init__(self) -> None:
        # If two axes have the same name, which the verifier rejects, the first counts.
        numbered = reversed(list(enumerate(self.axes)))
        set_derived(self, _positions={axis.name: index for index, axis in numbered})
        if self.is_maximal:
            _maximal.add(self)

    @property
    def is_empty(self) -> bool:
        """Whether this has neither axes nor devices, and so is compatible with any mesh."""
        return not self.axes and not self.device_ids

    @property
    def is_maximal(self) -> bool:
        """Whether this is a single device, without axes."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def total_size(self) -> int:
        """The product of the axis sizes."""
        return prod(axis.size for axis in self.axes)

    def has_axis(self, name: str) -> bool:
        return name in self._positions

    def axis_size(self, name: str) -> int:
        """The size of an axis of this mesh."""
        return self.axes[self._positions[name]].size

    def axis_position(self, name: str) -> int:
        """The index of an axis; the number of axes if no axis has this name."""
        return self._positions.get(name, len(self.axes))

    def device_problem(self) -> str | None:
        count = len(self.device_ids)
        if self.total_size != count:
            return _DEVICE_COUNT(size=self.total_size, ids=count, last=self.total_size - 1)
        ids = sorted(self.device_ids)
        if ids != list(range(count)):
            return _DEVICE_IDS(ids=", ".join(map(str, ids)))
        return None


# All meshes of a single device.
_maximal: WeakSet[Mesh] = WeakSet()


def are_there_single_devices() -> bool:
    """Whether any mesh is a single device. In most programs, none is."""
    return len(_maximal) > 0
