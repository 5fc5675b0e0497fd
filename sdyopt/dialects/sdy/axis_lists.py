"""Lists of axes: what a collective works along, and what a manual computation is manual on."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.sdy.attribute_parsing import (
    attributes,
    called,
    integer,
    parameter,
    quote,
    unbracketed,
)
from sdyopt.dialects.sdy.axes import AxisRef, axis_refs_text, parse_axis_refs
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute, StringAttr


class ManualAxes(Attribute):
    """`{"x", "y"}`: the whole axes that a computation handles by itself."""

    names: tuple[str, ...] = ()
    dialect = "sdy"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)


@called("AxisRefListAttr")
class AxisRefList(Attribute):
    """`{"x", "y":(1)2}`."""

    axes: tuple[AxisRef, ...] = ()
    dialect = "sdy"

    def __iter__(self) -> Iterator[AxisRef]:
        return iter(self.axes)

    def __len__(self) -> int:
        return len(self.axes)


class AxesPerDim(Attribute):
    """`[{"x"}, {}, {"y"}]`: for each dimension of a tensor, the axes to work along."""

    dims: tuple[AxisRefList, ...] = ()
    dialect = "sdy"

    @property
    def is_empty(self) -> bool:
        """Whether there are no axes in any dimension."""
        return not any(self.dims)

    @property
    def axes(self) -> Iterator[AxisRef]:
        """The axes of all dimensions."""
        return (axis for dim in self.dims for axis in dim)

    def __iter__(self) -> Iterator[AxisRefList]:
        return iter(self.dims)

    def __len__(self) -> int:
        return len(self.dims)


@called("AllToAllParamAttr")
class AllToAllParam(Attribute):
    """`{"x"}: 0->1`: axes that move from sharding one dimension to sharding another."""

    axes: tuple[AxisRef, ...]
    source: int
    target: int
    dialect = "sdy"


class AllToAllParams(Attribute):
    """`[{"x"}: 0->1, {"y"}: 2->3]`."""

    moves: tuple[AllToAllParam, ...] = ()
    dialect = "sdy"

    @property
    def touched_dims(self) -> list[int]:
        """Source and target of every move, in order."""
        return [dim for move in self.moves for dim in (move.source, move.target)]

    def __iter__(self) -> Iterator[AllToAllParam]:
        return iter(self.moves)

    def __len__(self) -> int:
        return len(self.moves)


# --- Reading ------------------------------------------------------------------------------------


@unbracketed("manual_axes", "{}")
def parse_manual_axes(parser: AsmParser) -> ManualAxes:
    parser.expect("{")
    if parser.accept("}"):
        return ManualAxes()
    kind = "::llvm::ArrayRef<StringAttr>"
    read = lambda: parser.comma_list(lambda: _manual_axis(parser))  # noqa: E731
    names = parameter(parser, "ManualAxes", "value", kind, read)
    parser.expect("}")
    return ManualAxes(tuple(names))


def _manual_axis(parser: AsmParser) -> str:
    start = parser.skip_trivia()
    name = parser.accept_string()
    if name is not None and not parser.looking_at(":"):
        return name
    parser.position = start
    found = parser.attribute()
    if not isinstance(found, StringAttr):
        raise parser.error("invalid kind of attribute specified", start)
    return found.value


@unbracketed("axis_ref_list", "{}")
def parse_axis_ref_list(parser: AsmParser) -> AxisRefList:
    parser.expect("{")
    if parser.accept("}"):
        return AxisRefList()
    axes = parse_axis_refs(parser, "AxisRefList", "value")
    parser.expect("}")
    return AxisRefList(axes)


@unbracketed("list_of_axis_ref_lists", "[]")
def parse_axes_per_dim(parser: AsmParser) -> AxesPerDim:
    parser.expect("[")
    if parser.accept("]"):
        return AxesPerDim()
    dims = attributes(parser, "ListOfAxisRefLists", "value", AxisRefList, parse_axis_ref_list)
    parser.expect("]")
    return AxesPerDim(dims)


@unbracketed("all_to_all_param")
def parse_all_to_all_param(parser: AsmParser) -> AllToAllParam:
    owner = "AllToAllParamAttr"
    parser.expect("{")
    axes = parse_axis_refs(parser, owner, "axes")
    parser.expect("}")
    parser.expect(":")
    source = integer(parser, owner, "src_dim")
    parser.expect("->")
    return AllToAllParam(axes, source, integer(parser, owner, "tgt_dim"))


@unbracketed("all_to_all_param_list", "[]")
def parse_all_to_all_params(parser: AsmParser) -> AllToAllParams:
    parser.expect("[")
    if parser.accept("]"):
        return AllToAllParams()
    moves = attributes(parser, "AllToAllParamList", "value", AllToAllParam, parse_all_to_all_param)
    parser.expect("]")
    return AllToAllParams(moves)


# --- Writing ------------------------------------------------------------------------------------


def manual_axes_text(axes: ManualAxes) -> str:
    """`{"x", "y"}`."""
    return f"{{{', '.join(map(quote, axes.names))}}}"


def axis_ref_list_text(axes: AxisRefList) -> str:
    """`{"x", "y":(1)2}`."""
    return f"{{{axis_refs_text(axes.axes)}}}"


def axes_per_dim_text(axes: AxesPerDim) -> str:
    """`[{"x"}, {}, {"y"}]`."""
    return f"[{', '.join(map(axis_ref_list_text, axes.dims))}]"


def all_to_all_param_text(move: AllToAllParam) -> str:
    """`{"x"}: 0->1`."""
    return f"{{{axis_refs_text(move.axes)}}}: {move.source}->{move.target}"


def all_to_all_params_text(params: AllToAllParams) -> str:
    """`[{"x"}: 0->1, {"y"}: 2->3]`."""
    return f"[{', '.join(map(all_to_all_param_text, params.moves))}]"


@sdy.printer(ManualAxes)
def _print_manual_axes(axes: ManualAxes, attribute_printer: AttributePrinter) -> str:
    return "manual_axes" + manual_axes_text(axes)


@sdy.printer(AxisRefList)
def _print_axis_ref_list(axes: AxisRefList, attribute_printer: AttributePrinter) -> str:
    return "axis_ref_list" + axis_ref_list_text(axes)


@sdy.printer(AxesPerDim)
def _print_axes_per_dim(axes: AxesPerDim, attribute_printer: AttributePrinter) -> str:
    return "list_of_axis_ref_lists" + axes_per_dim_text(axes)


@sdy.printer(AllToAllParam)
def _print_all_to_all_param(move: AllToAllParam, attribute_printer: AttributePrinter) -> str:
    return "all_to_all_param" + all_to_all_param_text(move)


@sdy.printer(AllToAllParams)
def _print_all_to_all_params(params: AllToAllParams, attribute_printer: AttributePrinter) -> str:
    return "all_to_all_param_list" + all_to_all_params_text(params)
