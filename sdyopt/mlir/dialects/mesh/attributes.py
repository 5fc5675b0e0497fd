"""The mesh dialect objects of LLVM 19 and 21, their attributes and types, and their assembly directives."""

from __future__ import annotations

from enum import StrEnum
from itertools import zip_longest
from typing import Any, TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.format_elements import declare_syntax
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.traits import AttrConstraint, exactly, of_class
from sdyopt.mlir.ir.types import I16, Type

mesh = Dialect("mesh")
mesh.hints["types"] = "types of meshes are !mesh.sharding with --mesh-version=21, and !shard.sharding with 22"
mesh.unknown_type = ErrorKind("dialect '{dialect}' provides no type parsing hook", help=mesh.hints["types"])
# That of LLVM 21, in which shardings are values. LLVM 22 renames it to `shard`.
mesh21 = Dialect("mesh")

# What LLVM 22 renames, besides the dialect: operations, attributes and clauses.
RENAMED = {"mesh": "grid", "mesh_axes": "grid_axes", "mesh_shape": "grid_shape"}


def mesh_word(dialect: str) -> str:
    """What the dialect of this name, `mesh` or `shard`, calls a mesh in its messages."""
    return RENAMED["mesh"] if dialect == "shard" else "mesh"


Axes = tuple[int, ...]

AXES: AttrConstraint[Axes] = AttrConstraint(
    "i16 dense array attribute",
    lambda a: isinstance(a, DenseArray) and a.element is I16,
    lambda a: a.values,
)
NO_AXES = DenseArray(I16, ())


def axes_attribute(axes: Axes) -> DenseArray:
    """The axes as an attribute."""
    return DenseArray(I16, axes)


def parse_axis(parser: AsmParser) -> int:
    """Parses a mesh axis; raises if it does not fit in 16 bits."""
    return parser.integer(16)


def parse_left_bracket(parser: AsmParser) -> None:
    """Parses `[`; as in MLIR, the error has no "custom op" prefix."""
    if not parser.accept("["):
        raise AsmParser.error(parser, "expected '['", parser.skip_trivia())


def parse_axes(parser: AsmParser) -> Axes:
    """Parses `[axis, …]`, which may be empty."""
    parse_left_bracket(parser)
    if parser.accept("]"):
        return ()
    axes = parser.comma_list(lambda: parse_axis(parser))
    parser.expect("]")
    return tuple(axes)


def parse_axes_attribute(parser: AsmParser) -> Attribute:
    """Parses `[axis, …]` to an attribute."""
    return axes_attribute(parse_axes(parser))


def axes_text(axes: Axes) -> str:
    """`[0, 2]`."""
    return f"[{', '.join(map(str, axes))}]"


def print_axes(attribute: DenseArray, _attribute_printer: AttributePrinter) -> str:
    """The text of an attribute: `[0, 2]`."""
    return axes_text(attribute.values)


def axes_error(axes: Axes, word: str = "mesh") -> str | None:
    """The error in the axes of a sharding, all lists concatenated; None if they are valid.

    `word` is that for a mesh.
    """
    used: set[int] = set()
    for axis in axes:
        if axis < 0:
            return f"{word} axis is expected to be non-negative"
        if axis in used:
            return f"{word} axis duplicated"
        used.add(axis)
    return None


class ReductionKind(StrEnum):
    """The operation that combines the values of a reduction."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PRODUCT = "product"
    AVERAGE = "average"
    BITWISE_AND = "bitwise_and"
    BITWISE_OR = "bitwise_or"
    BITWISE_XOR = "bitwise_xor"
    GENERIC = "generic"


_KINDS = {kind.value: kind for kind in ReductionKind}


class Reduction(Attribute):
    """A reduction kind as an attribute."""

    kind: ReductionKind

    dialect = "mesh"


R = TypeVar("R", bound=Reduction)

REDUCTION: AttrConstraint[ReductionKind] = AttrConstraint(
    "Reduction of an iterator/mesh dimension.", lambda a: isinstance(a, Reduction), lambda a: a.kind
)
SUM = Reduction(ReductionKind.SUM)


def parse_reduction_kind(parser: AsmParser, cls: type[R]) -> R:
    """Parses a reduction kind, in LLVM 22 also as a string; raises if it is missing or unknown."""
    dialect, cpp_type = cls.dialect, f"::mlir::{cls.dialect}::ReductionKind"
    parameter = f"{dialect.capitalize()}_ReductionKindAttr parameter 'value' which is to be a `{cpp_type}`"
    failed = f"failed to parse {parameter}"
    offset = parser.skip_trivia()
    word = parser.accept_keyword()
    expected = "expected valid keyword"
    if dialect == "shard":
        word = word or parser.accept_string()
        expected += " or string"
    if word is None:
        raise parser.error(expected, offset).then(parser.error(failed, offset))
    if word not in _KINDS:
        wrong = WRONG_KEYWORD(what=cpp_type, names=", ".join(_KINDS))
        raise parser.error(wrong, offset).then(parser.error(failed, parser.skip_trivia()))
    return cls(_KINDS[word])


@mesh.attribute("partial")
def parse_bracketed_reduction(parser: AsmParser) -> Reduction:
    """Parses `<kind>`; raises as `parse_reduction_kind` does."""
    parser.expect("<")
    reduction = parse_reduction_kind(parser, Reduction)
    parser.expect(">")
    return reduction


@mesh.printer(Reduction)
def print_kind(attribute: Reduction, _attribute_printer: AttributePrinter) -> str:
    return f"partial<{attribute.kind}>"


def print_bracketed_reduction(attribute: Reduction, _attribute_printer: AttributePrinter) -> str:
    """`<kind>`, as in clauses."""
    return f"<{attribute.kind}>"


class MeshSharding(Attribute):
    """The mesh axes that split each dimension of a tensor, major-most first.

    Dimensions without a list are replicated. Values are partial along `partial_axes`: a reduction by
    `partial_kind` is pending. `halo_sizes` (LLVM 21) has a pair for each split dimension: the numbers of
    elements that a shard copies from its lower and its upper neighbor. `offsets` (LLVM 21) has, for each
    dimension whose shards differ in size, where each shard starts, and where the last one ends.
    """

    mesh: SymbolRef
    split_axes: tuple[Axes, ...] = ()
    partial_axes: Axes = ()
    partial_kind: ReductionKind = ReductionKind.SUM
    halo_sizes: tuple[int, ...] = ()
    offsets: tuple[tuple[int, ...], ...] = ()

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
        if self.halo_sizes != other.halo_sizes or self.offsets != other.offsets:
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
def print_sharding(sharding: MeshSharding, _attribute_printer: AttributePrinter) -> str:
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


class AxesLists(Attribute):
    """The axes along which each dimension of a tensor is sharded."""

    lists: tuple[Axes, ...]

    dialect = "mesh"


AXES_LISTS: AttrConstraint[tuple[Axes, ...]] = AttrConstraint(
    "", lambda a: isinstance(a, AxesLists), lambda a: a.lists
)


def parse_axes_lists_attribute(parser: AsmParser, cls: type[AxesLists]) -> AxesLists:
    """Parses `[[axes], …]`; raises if the outer list is empty."""
    try:
        return cls(parse_axes_lists(parser, may_be_empty=False))
    except DiagnosticError as error:
        name = f"{mesh_word(cls.dialect).capitalize()}Axes"
        message = (
            f"failed to parse {cls.dialect.capitalize()}_{name}ArrayAttr parameter 'axes' which is to be a "
            f"`::llvm::ArrayRef<{name}Attr>`"
        )
        raise error.then(parser.error(message, parser.skip_trivia())) from None


def print_axes_lists(attribute: AxesLists, _attribute_printer: AttributePrinter) -> str:
    """The text of an attribute: `axisarray[[0], []]`."""
    return "axisarray" + axes_lists_text(attribute.lists)


def declare_axes_lists(dialect: Dialect, constraint: AttrConstraint[Any], cls: type[AxesLists]) -> None:
    """Registers the attribute class of a version of the dialect."""

    def parse(parser: AsmParser) -> AxesLists:
        return parse_axes_lists_attribute(parser, cls)

    dialect.attribute("axisarray")(parse)
    dialect.printer(cls)(print_axes_lists)
    declare_syntax(constraint, parse, lambda attribute, printer: axes_lists_text(attribute.lists))


declare_axes_lists(mesh21, AXES_LISTS, AxesLists)


class ShardingType(Type):
    """`!mesh.sharding`."""

    dialect = "mesh"


SHARDING_TYPE = ShardingType()
SHARDING_VALUE = exactly(SHARDING_TYPE, "sharding definition")


@mesh21.type("sharding")
def parse_sharding_type(_parser: AsmParser) -> ShardingType:
    return SHARDING_TYPE


@mesh21.printer(ShardingType)
def print_sharding_type(_type: ShardingType, _attribute_printer: AttributePrinter) -> str:
    return "sharding"


declare_syntax(AXES, parse_axes_attribute, print_axes)
declare_syntax(REDUCTION, parse_bracketed_reduction, print_bracketed_reduction)
