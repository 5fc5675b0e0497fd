"""The axes of each dimension as an attribute: `#mesh<axisarray[[0], [1]]>`."""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.assembly_format import Attr
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.axes import Axes
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.sharding import axes_lists_text, parse_axes_lists
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import AttrConstraint

_PARAMETER = (
    "failed to parse Mesh_MeshAxesArrayAttr parameter 'axes' which is to be a "
    "`::llvm::ArrayRef<MeshAxesAttr>`"
)


class AxesLists(Attribute):
    """The axes along which each dimension of a tensor is sharded."""

    lists: tuple[Axes, ...]

    dialect = "mesh"


AXES_LISTS: AttrConstraint[tuple[Axes, ...]] = AttrConstraint(
    "", lambda a: isinstance(a, AxesLists), lambda a: a.lists
)


@mesh.attribute("axisarray")
def parse_axes_lists_attribute(parser: AsmParser) -> AxesLists:
    """Parses `[[axes], …]`; raises if the outer list is empty."""
    try:
        return AxesLists(parse_axes_lists(parser, may_be_empty=False))
    except DiagnosticError as error:
        raise error.then(parser.error(_PARAMETER, parser.skip_trivia())) from None


@mesh.printer(AxesLists)
def _print(attribute: AxesLists, _attribute_printer: AttributePrinter) -> str:
    return "axisarray" + axes_lists_text(attribute.lists)


def axes_lists_clause(field: str) -> tuple[str, str, Attr]:
    """`field = [[axes], …]`."""
    return (
        field,
        "=",
        Attr(
            field,
            parse_axes_lists_attribute,
            lambda attribute, attribute_printer: axes_lists_text(attribute.lists),
        ),
    )
