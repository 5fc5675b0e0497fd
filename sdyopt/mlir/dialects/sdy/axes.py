"""References to axes and sub-axes, and lists of them.

An axis of size 8 factors into 2x2x2, major to minor. A sub-axis is a contiguous run of these factors:
`"x":(2)4` has pre-size 2 and size 4, so it is the interval from 2 to 8. Containment and overlap of two
references to one axis are computed on these intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from sys import maxsize

from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    OptionalParameters,
    attribute_format,
    dialect_attribute,
    integer,
    list_of,
    nested,
    nested_list,
    quote,
    string,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.sdy.mesh import Mesh, sdy
from sdyopt.mlir.ir.attribute import Attribute, StringAttr


@dialect_attribute(sdy, "sub_axis_info", "Sdy_SubAxisInfo")
class SubAxis(Attribute):
    """`(2)4`: the sub-axis of size 4 and pre-size 2, the product of the sizes major to it."""

    pre_size: int
    size: int
    dialect = "sdy"
    assembly = attribute_format("(", integer("pre_size"), ")", integer("size"))

    @property
    def next_pre_size(self) -> int:
        """The pre-size of the next, more minor sub-axis."""
        return self.pre_size * self.size


@dialect_attribute(sdy, "axis_ref", "Sdy_AxisRef")
class AxisRef(Attribute):
    """`"x"` or `"x":(2)4`."""

    name: str
    sub_axis: SubAxis | None = None
    dialect = "sdy"
    assembly = attribute_format(
        string("name"), OptionalParameters(":", nested("sub_axis", SubAxis, "sub_axis_info"), default=None)
    )

    # --- As an interval -------------------------------------------------------------------

    @property
    def pre_size(self) -> int:
        """The start of the interval: 1 for a full axis."""
        return 1 if self.sub_axis is None else self.sub_axis.pre_size

    @property
    def interval_end(self) -> int:
        """The end of the interval, without a mesh: for a full axis, at least the end of any sub-axis."""
        return maxsize if self.sub_axis is None else self.sub_axis.next_pre_size

    @property
    def sort_key(self) -> tuple[str, int, int]:
        """Orders references by axis name, then by start and end, independently of a mesh."""
        return self.name, self.pre_size, self.interval_end

    def next_pre_size(self, mesh: Mesh) -> int:
        """The end of the interval, in a mesh: for a full axis, the size of the axis."""
        return mesh.axis_size(self.name) if self.sub_axis is None else self.sub_axis.next_pre_size

    def size(self, mesh: Mesh) -> int:
        """The number of shards along the referenced axis or sub-axis."""
        return mesh.axis_size(self.name) if self.sub_axis is None else self.sub_axis.size

    # --- Two references ---------------------------------------------------------

    def contains(self, other: AxisRef) -> bool:
        """Whether `other` is this reference or a sub-axis of it: `"a":(1)8` contains `"a":(2)2`."""
        return (
            self.name == other.name
            and self.pre_size <= other.pre_size
            and self.interval_end >= other.interval_end
        )

    def overlaps(self, other: AxisRef) -> bool:
        """Whether both references have a common sub-axis: `"a":(1)4` and `"a":(2)4` overlap in `"a":(2)2`."""
        return (
            self.name == other.name
            and self.pre_size < other.interval_end
            and other.pre_size < self.interval_end
        )

    def is_suffix_of(self, other: AxisRef, mesh: Mesh) -> bool:
        """Whether this is the minor-most sub-axis of `other`, or all of it."""
        return other.contains(self) and self.next_pre_size(mesh) == other.next_pre_size(mesh)

    def can_coexist(self, other: AxisRef) -> bool:
        """Whether both references can be made up of the same sub-axes; always true for different axes."""
        if self.name != other.name or self.sub_axis is None or other.sub_axis is None:
            return True
        starts = sorted([self.pre_size, other.pre_size])
        ends = sorted([self.interval_end, other.interval_end])
        if ends[0] <= starts[1]:
            return starts[1] % ends[0] == 0
        return ends[0] % starts[1] == 0 and starts[1] % starts[0] == 0 and ends[1] % ends[0] == 0

    def prefix_without_overlap(self, other: AxisRef) -> AxisRef | None:
        """The longest prefix that does not overlap `other`; None if it is empty or the two cannot coexist."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        if self.pre_size >= other.pre_size:
            return None
        return AxisRef(self.name, SubAxis(self.pre_size, other.pre_size // self.pre_size))

    def suffix_without_overlap(self, other: AxisRef, mesh: Mesh) -> AxisRef | None:
        """The longest suffix that does not overlap `other`; None if it is empty or the two cannot coexist."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        start, end = other.next_pre_size(mesh), self.next_pre_size(mesh)
        return AxisRef(self.name, SubAxis(start, end // start)) if start < end else None

    def can_merge(self, other: AxisRef) -> bool:
        """Whether `other` is a sub-axis that starts where this sub-axis ends: `"a":(2)4` and `"a":(8)2`."""
        return (
            self.name == other.name
            and self.sub_axis is not None
            and other.sub_axis is not None
            and self.sub_axis.next_pre_size == other.sub_axis.pre_size
        )

    def merge(self, other: AxisRef, mesh: Mesh) -> AxisRef:
        """The reference that covers this and `other`, which `can_merge` must accept."""
        assert self.can_merge(other)
        size = self.size(mesh) * other.size(mesh)
        if size == mesh.axis_size(self.name):
            return AxisRef(self.name)
        return AxisRef(self.name, SubAxis(self.pre_size, size))


# --- Lists of references --------------------------------------------------------------------


def mesh_order(axis: AxisRef, mesh: Mesh) -> tuple[int, int, int]:
    """The key that sorts references by the position of their axis in the mesh, then by start and end.

    Axes that are not in the mesh come last; the verifier rejects them.
    """
    return (mesh.axis_position(axis.name), axis.pre_size, axis.interval_end)


def is_sorted(axes: Sequence[AxisRef], mesh: Mesh) -> bool:
    """Whether references are in mesh order, which different axes that are not in the mesh never are."""
    for first, second in pairwise(axes):
        if first.name == second.name:
            if first.sort_key > second.sort_key:
                return False
        elif mesh.axis_position(first.name) >= mesh.axis_position(second.name):
            return False
    return True


def with_axis(axes: Sequence[AxisRef], axis: AxisRef, mesh: Mesh) -> tuple[AxisRef, ...]:
    """The list with a reference appended, merged with the last reference if possible."""
    if axes and axes[-1].can_merge(axis):
        return (*axes[:-1], axes[-1].merge(axis, mesh))
    return (*axes, axis)


def with_axes(axes: Sequence[AxisRef], more: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """The list with references appended, each merged with the previous reference if possible."""
    result = tuple(axes)
    for axis in more:
        result = with_axis(result, axis, mesh)
    return result


def sorted_and_merged(axes: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """References in mesh order; consecutive references are merged where possible."""
    return with_axes((), sorted(axes, key=lambda axis: mesh_order(axis, mesh)), mesh)


def difference(axes: Iterable[AxisRef], others: Sequence[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """References without the sub-axes that overlap `others`.

    If a reference overlaps one of `others` but cannot coexist with it, its more minor rest is dropped, too.
    """
    return tuple([rest for axis in axes for rest in _without(axis, others, mesh)])


def _without(axis: AxisRef, others: Sequence[AxisRef], mesh: Mesh) -> Iterator[AxisRef]:
    rest: AxisRef | None = axis
    overlapping = [other for other in others if other.overlaps(axis)]
    for other in sorted(overlapping, key=lambda other: other.sort_key):
        if rest is None:
            return
        prefix = rest.prefix_without_overlap(other)
        if prefix is not None and prefix is not rest:
            yield prefix
        rest = rest.suffix_without_overlap(other, mesh)
    if rest is not None:
        yield rest


# --- Text -------------------------------------------------------------------------------------


def axis_ref_text(axis: AxisRef) -> str:
    """`"x":(2)4`."""
    return AxisRef.assembly.text(axis)


def axis_refs_text(axes: Iterable[AxisRef]) -> str:
    """`"x", "y":(1)2`."""
    return ", ".join(map(axis_ref_text, axes))


@dialect_attribute(sdy, "manual_axes", "Sdy_ManualAxes", "{}")
class ManualAxes(Attribute):
    """`{"x", "y"}`: the full axes along which a computation is manual."""

    names: tuple[str, ...] = ()
    dialect = "sdy"

    @staticmethod
    def _parse_manual_axis(parser: AsmParser) -> str:
        start = parser.skip_trivia()
        attribute = parser.attribute()
        if not isinstance(attribute, StringAttr):
            raise parser.error("invalid kind of attribute specified", start)
        return attribute.value

    assembly = attribute_format(
        BracketedList("{", list_of("names", "value", "StringAttr", _parse_manual_axis, quote), "}")
    )

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)


@dialect_attribute(sdy, "axis_ref_list", "Sdy_AxisRefList", "{}")
class AxisRefList(Attribute):
    """`{"x", "y":(1)2}`."""

    axes: tuple[AxisRef, ...] = ()
    dialect = "sdy"
    assembly = attribute_format(BracketedList("{", nested_list("axes", AxisRef, "value"), "}"))

    def __iter__(self) -> Iterator[AxisRef]:
        return iter(self.axes)

    def __len__(self) -> int:
        return len(self.axes)


@dialect_attribute(sdy, "list_of_axis_ref_lists", "Sdy_ListOfAxisRefLists", "[]")
class AxesPerDim(Attribute):
    """`[{"x"}, {}, {"y"}]`: the axes of a collective for each dimension of the tensor."""

    dims: tuple[AxisRefList, ...] = ()
    dialect = "sdy"
    assembly = attribute_format(BracketedList("[", nested_list("dims", AxisRefList, "value"), "]"))

    @property
    def is_empty(self) -> bool:
        """Whether no dimension has axes."""
        return not any(self.dims)

    @property
    def axes(self) -> Iterator[AxisRef]:
        """The axes of all dimensions."""
        return (axis for dim in self.dims for axis in dim)

    def __iter__(self) -> Iterator[AxisRefList]:
        return iter(self.dims)

    def __len__(self) -> int:
        return len(self.dims)


@dialect_attribute(sdy, "all_to_all_param", "Sdy_AllToAllParamAttr")
class AllToAllParam(Attribute):
    """`{"x"}: 0->1`: axes that an all-to-all moves from a source to a target dimension."""

    axes: tuple[AxisRef, ...]
    source: int
    target: int
    dialect = "sdy"
    assembly = attribute_format(
        "{",
        nested_list("axes", AxisRef),
        "}",
        ": ",
        integer("source", "src_dim"),
        "->",
        integer("target", "tgt_dim"),
    )


@dialect_attribute(sdy, "all_to_all_param_list", "Sdy_AllToAllParamList", "[]")
class AllToAllParams(Attribute):
    """`[{"x"}: 0->1, {"y"}: 2->3]`."""

    moves: tuple[AllToAllParam, ...] = ()
    dialect = "sdy"
    assembly = attribute_format(BracketedList("[", nested_list("moves", AllToAllParam, "value"), "]"))

    @property
    def source_and_target_dims(self) -> list[int]:
        """The source and target dimension of each move, in order."""
        return [dim for move in self.moves for dim in (move.source, move.target)]

    def __iter__(self) -> Iterator[AllToAllParam]:
        return iter(self.moves)

    def __len__(self) -> int:
        return len(self.moves)


def axis_ref_list_text(axes: AxisRefList) -> str:
    """`{"x", "y":(1)2}`."""
    return AxisRefList.assembly.text(axes)
