"""The reduction of a collective: `#mesh.partial<max>`, in clauses `<max>`."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import AttrConstraint


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
_EXPECTED = f"expected ::mlir::mesh::ReductionKind to be one of: {', '.join(_KINDS)}"
_PARAMETER = (
    "failed to parse Mesh_ReductionKindAttr parameter 'value' which is to be a `::mlir::mesh::ReductionKind`"
)


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
    """Parses a reduction kind; raises if the keyword is missing or unknown."""
    offset = parser.skip_trivia()
    word = parser.accept_keyword()
    if word is None:
        failed = parser.error(_PARAMETER, offset)
        raise parser.error("expected valid keyword", offset).then(failed)
    if word not in _KINDS:
        failed = parser.error(_PARAMETER, parser.skip_trivia())
        raise parser.error(_EXPECTED, offset).then(failed)
    return cls(_KINDS[word])


@mesh.attribute("partial")
def parse_bracketed_reduction(parser: AsmParser) -> Reduction:
    """Parses `<kind>`; raises as `parse_reduction_kind` does."""
    parser.expect("<")
    reduction = parse_reduction_kind(parser, Reduction)
    parser.expect(">")
    return reduction


@mesh.printer(Reduction)
def _print(attribute: Reduction, _attribute_printer: AttributePrinter) -> str:
    return f"partial<{attribute.kind}>"


def print_bracketed_reduction(attribute: Reduction, _attribute_printer: AttributePrinter) -> str:
    """`<kind>`, as in clauses."""
    return f"<{attribute.kind}>"
