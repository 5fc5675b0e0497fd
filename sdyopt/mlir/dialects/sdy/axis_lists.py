"""Lists of axes: the parameters of collectives, and the manual axes of a computation."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    attribute_format,
    dialect_attribute,
    integer,
    list_of,
    nested_list,
    quote,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.ir.attribute import Attribute, StringAttr


def _parse_manual_axis(parser: AsmParser) -> str:
    start = parser.skip_trivia()
    attribute = parser.attribute()
    if not isinstance(attribute, StringAttr):
        raise parser.error("invalid kind of attribute specified", start)
    return attribute.value


@dialect_attribute(sdy, "manual_axes", "Sdy_ManualAxes", "{}")
class ManualAxes(Attribute):
    """`{"x", "y"}`: the full axes along which a computation is manual."""

    names: tuple[str, ...] = ()
    dialect = "sdy"
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
