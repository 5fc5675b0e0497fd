"""References to axes of a mesh: a whole axis, or a sub-axis of it, and how they lie to each other.

Think of an axis of size 8 as the digits 2x2x2 of a number, major to minor. A sub-axis is a run of
these digits: `"x":(2)4` has size 4 and 2 before it, so it reaches from 2 to 8. All questions about
two references to one axis are questions about two such intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.sdy.attribute_parsing import (
    attributes,
    called,
    integer,
    nested,
    parameter,
    quote,
    quoted,
    unbracketed,
)
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.ir.attribute import Attribute

# Where a whole axis ends, when no mesh is at hand to say: behind all others.
_OPEN_END = 1 << 64


@called("SubAxisInfoAttr")
class SubAxis(Attribute):
    """`(2)4`: the part of an axis that has size 4, and size 2 in front of it."""

    pre_size: int
    size: int
    dialect = "sdy"

    @property
    def next_pre_size(self) -> int:
        """The pre-size of what follows."""
        return self.pre_size * self.size


@called("AxisRefAttr")
class AxisRef(Attribute):
    """`"x"` or `"x":(2)4`."""

    name: str
    sub_axis: SubAxis | None = None
    dialect = "sdy"

    # --- As an interval -------------------------------------------------------------------

    @property
    def pre_size(self) -> int:
        """Where the reference starts: 1 for a whole axis."""
        return 1 if self.sub_axis is None else self.sub_axis.pre_size

    @property
    def reach(self) -> int:
        """Where the reference ends; a whole axis reaches behind every sub-axis."""
        return _OPEN_END if self.sub_axis is None else self.sub_axis.next_pre_size

    @property
    def sort_key(self) -> tuple[str, int, int]:
        """Orders references by axis name, then by start and end, independently of a mesh."""
        return self.name, self.pre_size, self.reach

    def next_pre_size(self, mesh: Mesh) -> int:
        """Where the reference ends: the size of the axis for a whole one."""
        return mesh.axis_size(self.name) if self.sub_axis is None else self.sub_axis.next_pre_size

    def size(self, mesh: Mesh) -> int:
        """How many ways this splits what it shards."""
        return mesh.axis_size(self.name) if self.sub_axis is None else self.sub_axis.size

    # --- Beside another reference ---------------------------------------------------------

    def contains(self, other: AxisRef) -> bool:
        """Whether `other` is this or a part of it: `"a":(1)8` contains `"a":(2)2`."""
        return self.name == other.name and self.pre_size <= other.pre_size and self.reach >= other.reach

    def overlaps(self, other: AxisRef) -> bool:
        """Whether there is a part in both: `"a":(1)4` and `"a":(2)4` share `"a":(2)2`."""
        return self.name == other.name and self.pre_size < other.reach and other.pre_size < self.reach

    def is_suffix_of(self, other: AxisRef, mesh: Mesh) -> bool:
        """Whether this is the minor part of `other`, or all of it."""
        return other.contains(self) and self.next_pre_size(mesh) == other.next_pre_size(mesh)

    def can_coexist(self, other: AxisRef) -> bool:
        """Whether one axis can be split into parts of which both references are made."""
        if self.name != other.name or self.sub_axis is None or other.sub_axis is None:
            return True
        starts = sorted([self.pre_size, other.pre_size])
        ends = sorted([self.reach, other.reach])
        if ends[0] <= starts[1]:
            return starts[1] % ends[0] == 0
        return ends[0] % starts[1] == 0 and starts[1] % starts[0] == 0 and ends[1] % ends[0] == 0

    def prefix_without(self, other: AxisRef) -> AxisRef | None:
        """The longest major part of this that does not overlap `other`; None if there is none."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        if self.pre_size >= other.pre_size:
            return None
        return AxisRef(self.name, SubAxis(self.pre_size, other.pre_size // self.pre_size))

    def suffix_without(self, other: AxisRef, mesh: Mesh) -> AxisRef | None:
        """The longest minor part of this that does not overlap `other`; None if there is none."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        start, end = other.next_pre_size(mesh), self.next_pre_size(mesh)
        return AxisRef(self.name, SubAxis(start, end // start)) if start < end else None

    def can_merge(self, other: AxisRef) -> bool:
        """Whether `other` starts where this ends: `"a":(2)4` and `"a":(8)2`."""
        return (
            self.name == other.name
            and self.sub_axis is not None
            and other.sub_axis is not None
            and self.sub_axis.next_pre_size == other.sub_axis.pre_size
        )

    def merge(self, other: AxisRef, mesh: Mesh) -> AxisRef:
        """This and `other`, which can be merged, as one: the whole axis if they make it up."""
        assert self.can_merge(other)
        size = self.size(mesh) * other.size(mesh)
        if size == mesh.axis_size(self.name):
            return AxisRef(self.name)
        return AxisRef(self.name, SubAxis(self.pre_size, size))


# --- Lists of references --------------------------------------------------------------------


def mesh_order(axis: AxisRef, mesh: Mesh) -> tuple[int, int, int]:
    """The key by which references are sorted: by axis in the mesh, then by where they start.

    Axes that are not in the mesh, which is an error elsewhere, come last and in no order.
    """
    position = mesh.axis_position(axis.name)
    return (position, axis.pre_size, axis.reach) if position < len(mesh.axes) else (position, 0, 0)


def is_sorted(axes: Sequence[AxisRef], mesh: Mesh) -> bool:
    """Whether references are in the order of the mesh."""
    for first, second in pairwise(axes):
        if first.name == second.name:
            if first.sort_key > second.sort_key:
                return False
        elif mesh.axis_position(first.name) > mesh.axis_position(second.name):
            return False
    return True


def with_axis(axes: Sequence[AxisRef], axis: AxisRef, mesh: Mesh) -> tuple[AxisRef, ...]:
    """A list with one more reference at its end, merged with the last one if they belong together."""
    if axes and axes[-1].can_merge(axis):
        return (*axes[:-1], axes[-1].merge(axis, mesh))
    return (*axes, axis)


def with_axes(axes: Sequence[AxisRef], more: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """A list with more references at its end, each merged with the one before it where possible."""
    found = tuple(axes)
    for axis in more:
        found = with_axis(found, axis, mesh)
    return found


def sorted_and_merged(axes: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """References in the order of the mesh, neighbours merged."""
    return with_axes((), sorted(axes, key=lambda axis: mesh_order(axis, mesh)), mesh)


def difference(axes: Iterable[AxisRef], others: Sequence[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """What is left of references when the parts that are in `others` are taken out."""
    return tuple([rest for axis in axes for rest in _without(axis, others, mesh)])


def _without(axis: AxisRef, others: Sequence[AxisRef], mesh: Mesh) -> Iterator[AxisRef]:
    rest: AxisRef | None = axis
    overlapping = [other for other in others if other.overlaps(axis)]
    for other in sorted(overlapping, key=lambda other: other.sort_key):
        if rest is None:
            return
        prefix = rest.prefix_without(other)
        if prefix is not None and prefix is not rest:
            yield prefix
        rest = rest.suffix_without(other, mesh)
    if rest is not None:
        yield rest


# --- Text -------------------------------------------------------------------------------------


@unbracketed("sub_axis_info")
def parse_sub_axis(parser: AsmParser) -> SubAxis:
    parser.expect("(")
    pre_size = integer(parser, "SubAxisInfo", "pre_size")
    parser.expect(")")
    return SubAxis(pre_size, integer(parser, "SubAxisInfo", "size"))


@unbracketed("axis_ref")
def parse_axis_ref(parser: AsmParser) -> AxisRef:
    name = quoted(parser, "AxisRef", "name")
    if not parser.accept(":"):
        return AxisRef(name)
    read = lambda: nested(parser, SubAxis, parse_sub_axis)  # noqa: E731
    return AxisRef(name, parameter(parser, "AxisRef", "sub_axis_info", "SubAxisInfoAttr", read))


def parse_axis_refs(parser: AsmParser, owner: str, name: str) -> tuple[AxisRef, ...]:
    """Reads a parameter that is a list of references, at least one."""
    return attributes(parser, owner, name, AxisRef, parse_axis_ref)


def axis_ref_text(axis: AxisRef) -> str:
    """`"x":(2)4`."""
    sub_axis = axis.sub_axis
    part = "" if sub_axis is None else f":({sub_axis.pre_size}){sub_axis.size}"
    return quote(axis.name) + part


def axis_refs_text(axes: Iterable[AxisRef]) -> str:
    """`"x", "y":(1)2`."""
    return ", ".join(map(axis_ref_text, axes))


@sdy.printer(SubAxis)
def _print_sub_axis(sub_axis: SubAxis, attribute_printer: AttributePrinter) -> str:
    return f"sub_axis_info({sub_axis.pre_size}){sub_axis.size}"


@sdy.printer(AxisRef)
def _print_axis_ref(axis: AxisRef, attribute_printer: AttributePrinter) -> str:
    return "axis_ref" + axis_ref_text(axis)
