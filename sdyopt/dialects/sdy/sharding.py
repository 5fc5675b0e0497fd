"""Shardings: how a tensor is laid out over the devices of a mesh.

    <@mesh, [{"x"}, {"y", ?}p1], replicated={"z"}, unreduced={"w"}>

Dimension 0 is split along axis x and stays so (it is closed); dimension 1 is split along y, may be
split further (it is open), and has priority 1. Copies lie along z; along w lie parts of a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import prod

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.asm.symbol_names import symbol_text
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.sdy.attribute_parsing import also, attributes, called, nested, unbracketed
from sdyopt.dialects.sdy.axes import AxisRef, axis_refs_text, parse_axis_ref
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.dialects.sdy.mesh import Mesh, mesh_text, parse_mesh
from sdyopt.ir.attribute import Attribute, SymbolRef

MeshOrRef = Mesh | SymbolRef


@called("DimensionShardingAttr")
class DimensionSharding(Attribute):
    """`{"x", ?}p1`: the axes that split one dimension, major to minor.

    A closed dimension cannot be split further. A lower priority goes first; none is the lowest number.
    """

    axes: tuple[AxisRef, ...] = ()
    is_closed: bool = True
    priority: int | None = None
    dialect = "sdy"

    def sharded_size(self, mesh: Mesh) -> int:
        """Into how many parts the dimension is split."""
        return prod(axis.size(mesh) for axis in self.axes)

    def closed(self) -> DimensionSharding:
        """This, not to be split further."""
        return DimensionSharding(self.axes, True, self.priority)

    def opened(self) -> DimensionSharding:
        """This, free to be split further."""
        return DimensionSharding(self.axes, False, self.priority)


@called("TensorShardingAttr")
class TensorSharding(Attribute):
    """How one tensor is sharded: by dimension, and along which axes it is copied or not yet summed.

    The mesh is the name of a `sdy.mesh`, or stands here itself.
    """

    mesh_or_ref: MeshOrRef
    dims: tuple[DimensionSharding, ...] = ()
    replicated_axes: tuple[AxisRef, ...] = ()
    unreduced_axes: tuple[AxisRef, ...] = ()
    dialect = "sdy"

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def mesh_name(self) -> str | None:
        """The name of the mesh, None if the mesh stands here itself."""
        return self.mesh_or_ref.root if isinstance(self.mesh_or_ref, SymbolRef) else None

    @property
    def axis_refs(self) -> Iterator[AxisRef]:
        """All axes mentioned: of the dimensions, then replicated, then unreduced ones."""
        return chain(
            (axis for dim in self.dims for axis in dim.axes), self.replicated_axes, self.unreduced_axes
        )

    @property
    def is_fully_replicated(self) -> bool:
        """Whether no dimension is split."""
        return not any(dim.axes for dim in self.dims)

    @property
    def is_fully_closed(self) -> bool:
        """Whether no dimension may be split further."""
        return all(dim.is_closed for dim in self.dims)

    def is_equivalent(self, other: TensorSharding | None) -> bool:
        """Whether both split every dimension the same way; no sharding splits nothing."""
        if self.is_fully_replicated:
            return other is None or other.is_fully_replicated
        return (
            other is not None
            and self.mesh_or_ref is other.mesh_or_ref
            and [dim.axes for dim in self.dims] == [dim.axes for dim in other.dims]
        )

    def with_mesh(self, mesh_or_ref: MeshOrRef) -> TensorSharding:
        """The same over another mesh, or another way to speak of it."""
        return TensorSharding(mesh_or_ref, self.dims, self.replicated_axes, self.unreduced_axes)

    def with_dims(self, dims: Iterable[DimensionSharding]) -> TensorSharding:
        """The same with other dimensions."""
        return TensorSharding(self.mesh_or_ref, tuple(dims), self.replicated_axes, self.unreduced_axes)

    def closed(self) -> TensorSharding:
        """This with all dimensions closed. What is explicitly replicated need no longer be said."""
        dims = tuple(dim.closed() for dim in self.dims)
        return TensorSharding(self.mesh_or_ref, dims, (), self.unreduced_axes)


class ShardingPerValue(Attribute):
    """`<[<@mesh, […]>, …]>`: one sharding for each result of an operation."""

    shardings: tuple[TensorSharding, ...] = ()
    dialect = "sdy"

    def at(self, index: int) -> TensorSharding | None:
        """The sharding of a result; None if the list is too short, which is an error elsewhere."""
        return self.shardings[index] if index < len(self.shardings) else None

    def __iter__(self) -> Iterator[TensorSharding]:
        return iter(self.shardings)

    def __len__(self) -> int:
        return len(self.shardings)


def fully_replicated(rank: int, mesh_or_ref: MeshOrRef, is_closed: bool) -> TensorSharding:
    """The sharding that splits no dimension."""
    return TensorSharding(mesh_or_ref, (DimensionSharding((), is_closed),) * rank)


# --- Reading ------------------------------------------------------------------------------------


@unbracketed("dimension_sharding", "{}")
def parse_dimension(parser: AsmParser) -> DimensionSharding:
    parser.expect("{")
    axes: list[AxisRef] = []
    is_closed = True
    while not parser.accept("}"):
        if axes:
            parser.expect(",")
        if parser.accept("?"):
            is_closed = False
            parser.expect("}")
            break
        axes.append(parse_axis_ref(parser))
    return DimensionSharding(tuple(axes), is_closed, _parse_priority(parser))


def _parse_priority(parser: AsmParser) -> int | None:
    word = parser.accept_word()
    if word is None:
        return None
    number = word[1:]
    if word[0] != "p" or not (number.isascii() and number.isdigit()):
        raise parser.error(f"expecting priority in format 'p<number>', got: {word}")
    if number[0] == "0" and len(number) > 1:
        raise parser.error(f"priorities with leading zeros are not allowed, got: {word}")
    if len(number) > 19 or int(number) >= 1 << 63:
        raise parser.error(f"expecting integer priority, got: {word}")
    return int(number)


@sdy.attribute("sharding")
def parse_sharding(parser: AsmParser) -> TensorSharding:
    parser.expect("<")
    mesh_or_ref = _parse_mesh_or_ref(parser)
    parser.expect(",")
    parser.expect("[")
    dims: tuple[DimensionSharding, ...] = ()
    if not parser.accept("]"):
        dims = attributes(parser, "TensorSharding", "dim_shardings", DimensionSharding, parse_dimension)
        parser.expect("]")
    replicated, unreduced = _parse_other_axes(parser)
    parser.expect(">")
    return TensorSharding(mesh_or_ref, dims, replicated, unreduced)


def _parse_mesh_or_ref(parser: AsmParser) -> MeshOrRef:
    try:
        if parser.accept("mesh"):
            message = "failed to parse MeshAttr"
            return nested(parser, Mesh, parse_mesh)
        message = "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>"
        return _parse_mesh_name(parser)
    except DiagnosticError as error:
        raise also(parser, error, message) from None


def _parse_mesh_name(parser: AsmParser) -> SymbolRef:
    start = parser.skip_trivia()
    found = parser.attribute()
    if not isinstance(found, SymbolRef) or found.nested:
        raise parser.error("invalid kind of attribute specified", start)
    return found


def _parse_other_axes(parser: AsmParser) -> tuple[tuple[AxisRef, ...], tuple[AxisRef, ...]]:
    """Reads the replicated and the unreduced axes, each at most once and in any order."""
    found: dict[str, tuple[AxisRef, ...]] = {"replicated": (), "unreduced": ()}
    while parser.accept(","):
        keyword = next((word for word in found if not found[word] and parser.accept(word)), None)
        if keyword is None:
            raise parser.error(
                "failed to parse Sdy_TensorSharding, expected valid named axis list after comma"
            )
        try:
            found[keyword] = _parse_equals_axes(parser)
        except DiagnosticError as error:
            message = f"failed to parse Sdy_TensorSharding parameter '{keyword}_axes'"
            raise also(parser, error, message) from None
    return found["replicated"], found["unreduced"]


def _parse_equals_axes(parser: AsmParser) -> tuple[AxisRef, ...]:
    parser.expect("=")
    parser.expect("{")
    try:
        axes = parser.comma_list(lambda: nested(parser, AxisRef, parse_axis_ref))
    except DiagnosticError as error:
        message = "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`"
        raise also(parser, error, message) from None
    parser.expect("}")
    return tuple(axes)


@sdy.attribute("sharding_per_value")
def parse_sharding_per_value(parser: AsmParser) -> ShardingPerValue:
    parser.expect("<")
    parser.expect("[")
    shardings: tuple[TensorSharding, ...] = ()
    if not parser.accept("]"):
        shardings = attributes(parser, "TensorShardingPerValue", "shardings", TensorSharding, parse_sharding)
        parser.expect("]")
    parser.expect(">")
    return ShardingPerValue(shardings)


# --- Writing ------------------------------------------------------------------------------------


def dimension_text(dim: DimensionSharding) -> str:
    """`{"x", ?}p1`."""
    parts = [axis_refs_text(dim.axes)] if dim.axes else []
    if not dim.is_closed:
        parts.append("?")
    priority = "" if dim.priority is None else f"p{dim.priority}"
    return f"{{{', '.join(parts)}}}{priority}"


def sharding_text(sharding: TensorSharding) -> str:
    """`<@mesh, [{"x"}, {}], replicated={"y"}, unreduced={"z"}>`."""
    found = sharding.mesh_or_ref
    mesh = symbol_text(found.root) if isinstance(found, SymbolRef) else "mesh" + mesh_text(found)
    dims = ", ".join(map(dimension_text, sharding.dims))
    others = "".join(
        f", {word}={{{axis_refs_text(axes)}}}"
        for word, axes in (("replicated", sharding.replicated_axes), ("unreduced", sharding.unreduced_axes))
        if axes
    )
    return f"<{mesh}, [{dims}]{others}>"


def shardings_text(shardings: ShardingPerValue) -> str:
    """`[<@mesh, […]>, <@mesh, […]>]`."""
    return f"[{', '.join(map(sharding_text, shardings))}]"


@sdy.printer(DimensionSharding)
def _print_dimension(dim: DimensionSharding, attribute_printer: AttributePrinter) -> str:
    return "dimension_sharding" + dimension_text(dim)


@sdy.printer(TensorSharding)
def _print_sharding(sharding: TensorSharding, attribute_printer: AttributePrinter) -> str:
    return "sharding" + sharding_text(sharding)


@sdy.printer(ShardingPerValue)
def _print_shardings(shardings: ShardingPerValue, attribute_printer: AttributePrinter) -> str:
    return f"sharding_per_value<{shardings_text(shardings)}>"
