"""The sharding of a tensor on a mesh: `#mesh.shard<@grid, [[0], [1]], partial = sum[2]>`."""

from __future__ import annotations

from itertools import zip_longest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.directives import symbol_text
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.axes import (
    Axes,
    axes_error,
    axes_text,
    parse_axes,
    parse_axis,
    parse_left_bracket,
)
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.reduction import ReductionKind
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.constraints import of_class


class MeshSharding(Attribute):
    """The mesh axes that split each dimension of a tensor, major-most first.

    Dimensions without a list are replicated. Values are partial along `partial_axes`: a reduction by
    `partial_kind` is pending. `halo_sizes` (LLVM 21) has a pair for each split dimension: the numbers of
    elements that a shard copies from its lower and its upper neighbor.
    """

    mesh: SymbolRef
    split_axes: tuple[Axes, ...] = ()
    partial_axes: Axes = ()
    partial_kind: ReductionKind = ReductionKind.SUM
    halo_sizes: tuple[int, ...] = ()

    dialect = "mesh"

    @property
    def is_replicated(self) -> bool:
        """Whether every device has the whole tensor."""
        return not self.partial_axes and not any(self.split_axes)

    def axes_of(self, dimension: int) -> Axes:
        """The axes that split a dimension."""
        return self.split_axes[dimension] if dimension < len(self.split_axes) else ()

    def is_equivalent_to(self, other: MeshSharding) -> bool:
        """Whether both have the same meaning: a missing list at the end equals an empty list."""
        if self.mesh is not other.mesh or self.partial_axes != other.partial_axes:
            return False
        if self.halo_sizes != other.halo_sizes:
            return False
        if self.partial_axes and self.partial_kind is not other.partial_kind:
            return False
        return all(a == b for a, b in zip_longest(self.split_axes, other.split_axes, fillvalue=()))

    @property
    def without_halos(self) -> MeshSharding:
        """The same sharding without halos."""
        return MeshSharding(self.mesh, self.split_axes, self.partial_axes, self.partial_kind)

    def halo_of(self, dimension: int) -> tuple[int, int]:
        """The sizes of the lower and the upper halo along a dimension."""
        if not self.halo_sizes or not self.axes_of(dimension):
            return (0, 0)
        index = 2 * sum(1 for axes in self.split_axes[:dimension] if axes)
        return self.halo_sizes[index], self.halo_sizes[index + 1]

    @property
    def all_axes(self) -> Axes:
        """The split axes of all dimensions in order, then the partial axes."""
        return tuple(axis for axes in self.split_axes for axis in axes) + self.partial_axes


SHARDING_ATTR = of_class(MeshSharding, "")


def parse_mesh_reference(parser: AsmParser) -> SymbolRef:
    """Parses `@name`; raises unless it is a flat symbol reference."""
    offset = parser.skip_trivia()
    reference = parser.attribute()
    if not isinstance(reference, SymbolRef) or reference.nested:
        raise parser.error("invalid kind of attribute specified", offset)
    return reference


@mesh.attribute("shard")
def parse_sharding(parser: AsmParser) -> MeshSharding:
    """Parses `<@mesh, [[axes], …], partial = kind[axes]>`.

    Raises MLIR's error if a parameter is invalid, or if axes are negative or duplicate.
    """
    start = parser.skip_trivia()
    parser.expect("<")
    try:
        reference = parse_mesh_reference(parser)
    except DiagnosticError as error:
        raise error.then(_parameter_error(parser, "mesh", "::mlir::FlatSymbolRefAttr")) from None
    parser.expect(",")
    try:
        lists = parse_axes_lists(parser)
    except DiagnosticError as error:
        raise error.then(_parameter_error(parser, "split_axes", "::llvm::ArrayRef<MeshAxesAttr>")) from None
    sharding = MeshSharding(reference, lists)
    if parser.accept(","):
        parser.expect("partial")
        parser.expect("=")
        sharding = MeshSharding(reference, lists, *_parse_partial(parser))
    parser.expect(">")
    message = axes_error(sharding.all_axes)
    if message is not None:
        raise parser.error(message, start)
    return sharding


def parse_axes_lists(parser: AsmParser, may_be_empty: bool = True) -> tuple[Axes, ...]:
    """Parses `[[axes], …]`; raises on `[]` unless `may_be_empty`."""
    parse_left_bracket(parser)
    if may_be_empty and parser.accept("]"):
        return ()
    lists = parser.comma_list(lambda: parse_axes(parser))
    parser.expect("]")
    return tuple(lists)


def _parse_partial(parser: AsmParser) -> tuple[Axes, ReductionKind]:
    offset = parser.skip_trivia()
    word = parser.accept_keyword()
    if word not in list(ReductionKind):
        message = (
            "expected valid keyword"
            if word is None
            else f"invalid Reduction of an iterator/mesh dimension. specification: {word}"
        )
        error = parser.error(message, offset)
        raise error.then(_parameter_error(parser, "partial_type", "::mlir::mesh::ReductionKind"))
    parser.expect("[")
    try:
        axes = parser.comma_list(lambda: parse_axis(parser))
    except DiagnosticError as error:
        raise error.then(_parameter_error(parser, "partial_axes", "::llvm::ArrayRef<MeshAxis>")) from None
    parser.expect("]")
    return tuple(axes), ReductionKind(word)


def _parameter_error(parser: AsmParser, parameter: str, cpp_type: str) -> DiagnosticError:
    return parser.error(
        f"failed to parse MeshSharding parameter '{parameter}' which is to be a `{cpp_type}`",
        parser.skip_trivia(),
    )


@mesh.printer(MeshSharding)
def _print(sharding: MeshSharding, _attribute_printer: AttributePrinter) -> str:
    return "shard" + sharding_text(sharding)


def sharding_text(sharding: MeshSharding) -> str:
    """`<@mesh, [[axes], …]>`."""
    partial = ""
    if sharding.partial_axes:
        partial = f", partial = {sharding.partial_kind}{axes_text(sharding.partial_axes)}"
    return f"<{symbol_text(sharding.mesh.root)}, {axes_lists_text(sharding.split_axes)}{partial}>"


def axes_lists_text(lists: tuple[Axes, ...]) -> str:
    """`[[0], []]`."""
    return f"[{', '.join(map(axes_text, lists))}]"
