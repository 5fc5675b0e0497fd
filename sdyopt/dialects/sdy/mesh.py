"""Meshes: devices in rows and columns, named by axes.

<["x"=2, "y"=4]>                          eight devices, numbered in order
<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]> four devices in another order
<[], device_ids=[5]>                      one device for everything: a maximal mesh
<[]>                                      an empty mesh, to be replaced by any other
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.sdy.attribute_parsing import (
    attributes,
    called,
    integer,
    parameter,
    quote,
    quoted,
    unbracketed,
)
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.interning import derive, derived
from sdyopt.ir.attribute import Attribute


@called("MeshAxisAttr")
class MeshAxis(Attribute):
    """`"x"=2`: a name for one direction in a mesh, and how many devices lie along it."""

    name: str
    size: int
    dialect = "sdy"


@called("MeshAttr")
class Mesh(Attribute):
    """Axes, and the devices in row-major order. Built with `mesh(…)`: numbers in order are left out."""

    axes: tuple[MeshAxis, ...] = ()
    device_ids: tuple[int, ...] = ()
    # Which axis has a name.
    _positions: dict[str, int] = derived()
    dialect = "sdy"

    def __post_init__(self) -> None:
        # The first axis counts, until a second one of the name is found to be an error.
        numbered = reversed(list(enumerate(self.axes)))
        derive(self, _positions={axis.name: index for index, axis in numbered})

    @property
    def is_empty(self) -> bool:
        """Whether this stands for whatever mesh is around."""
        return not self.axes and not self.device_ids

    @property
    def is_maximal(self) -> bool:
        """Whether everything is on one device."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def axis_names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def total_size(self) -> int:
        """How many devices the axes span."""
        return prod(axis.size for axis in self.axes)

    def has_axis(self, name: str) -> bool:
        return name in self._positions

    def axis_size(self, name: str) -> int:
        """The size of an axis of this mesh."""
        return self.axes[self._positions[name]].size

    def axis_position(self, name: str) -> int:
        """Which axis has this name; behind the last if none has."""
        return self._positions.get(name, len(self.axes))


def mesh(axes: Sequence[MeshAxis], device_ids: Sequence[int] = ()) -> Mesh:
    """The mesh of these axes and devices."""
    is_in_order = bool(axes) and list(device_ids) == list(range(len(device_ids)))
    if is_in_order and len(device_ids) == prod(axis.size for axis in axes):
        return Mesh(tuple(axes))
    return Mesh(tuple(axes), tuple(device_ids))


def maximal_mesh(device_id: int) -> Mesh:
    """The mesh that is one device."""
    return Mesh((), (device_id,))


# --- What is wrong with a mesh ----------------------------------------------------------


def axis_problem(axis: MeshAxis) -> str | None:
    """What is wrong with an axis, None if nothing is."""
    return None if axis.size > 0 else f"axis size must be at least 1, got: {axis.size}"


def mesh_problem(mesh: Mesh) -> str | None:
    """What is wrong with a mesh, None if nothing is."""
    for device_id in mesh.device_ids:
        if device_id < 0:
            return f"device id must be non-negative, got: {device_id}"
    if not mesh.axes:
        if len(mesh.device_ids) > 1:
            return "axes is empty and device_ids has more than one element"
        return None
    seen: set[str] = set()
    for axis in mesh.axes:
        if axis.name in seen:
            return f'duplicate axis name: "{axis.name}"'
        seen.add(axis.name)
    return _device_problem(mesh) if mesh.device_ids else None


def _device_problem(mesh: Mesh) -> str | None:
    count = len(mesh.device_ids)
    if mesh.total_size != count:
        return (
            "total product of axis sizes must match total number of device ids, got: "
            f"{mesh.total_size} != {count}"
        )
    ids = sorted(mesh.device_ids)
    if ids != list(range(count)):
        return f"sorted device ids must be iota(product(axes)), got: {', '.join(map(str, ids))}"
    return None


# --- Text ---------------------------------------------------------------------------------


@unbracketed("mesh_axis")
def parse_axis(parser: AsmParser) -> MeshAxis:
    start = parser.skip_trivia()
    name = quoted(parser, "MeshAxis", "name")
    parser.expect("=")
    axis = MeshAxis(name, integer(parser, "MeshAxis", "size"))
    problem = axis_problem(axis)
    if problem is not None:
        raise parser.error(problem, start)
    return axis


@sdy.attribute("mesh")
def parse_mesh(parser: AsmParser) -> Mesh:
    start = parser.skip_trivia()
    parser.expect("<")
    parser.expect("[")
    axes: tuple[MeshAxis, ...] = ()
    if not parser.accept("]"):
        axes = attributes(parser, "Mesh", "axes", MeshAxis, parse_axis)
        parser.expect("]")
    device_ids = _parse_device_ids(parser) if parser.accept(",") else []
    parser.expect(">")
    found = mesh(axes, device_ids)
    problem = mesh_problem(found)
    if problem is not None:
        raise parser.error(problem, start)
    return found


def _parse_device_ids(parser: AsmParser) -> list[int]:
    parser.expect("device_ids")
    parser.expect("=")
    parser.expect("[")
    read = lambda: parser.comma_list(parser.integer)  # noqa: E731
    device_ids = parameter(parser, "Mesh", "device_ids", "::llvm::ArrayRef<int64_t>", read)
    parser.expect("]")
    return device_ids


def axis_text(axis: MeshAxis) -> str:
    """`"x"=2`."""
    return f"{quote(axis.name)}={axis.size}"


def mesh_text(mesh: Mesh) -> str:
    """`<["x"=2], device_ids=[1, 0]>`."""
    devices = f", device_ids=[{', '.join(map(str, mesh.device_ids))}]" if mesh.device_ids else ""
    return f"<[{', '.join(map(axis_text, mesh.axes))}]{devices}>"


@sdy.printer(MeshAxis)
def _print_axis(axis: MeshAxis, attribute_printer: AttributePrinter) -> str:
    return "mesh_axis" + axis_text(axis)


@sdy.printer(Mesh)
def _print_mesh(mesh: Mesh, attribute_printer: AttributePrinter) -> str:
    return "mesh" + mesh_text(mesh)
