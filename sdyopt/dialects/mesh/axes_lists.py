"""Lists of lists of mesh axes as an attribute: `#mesh<axisarray[[0], [1]]>`."""

from __future__ import annotations

from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.mesh.axes import Axes
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.sharding import lists_text, read_axes_lists
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import AttrKind
from sdyopt.syntax.assembly import Attr
from sdyopt.syntax.cursor import Cursor

_PARAMETER = (
    "failed to parse Mesh_MeshAxesArrayAttr parameter 'axes' which is to be a "
    "`::llvm::ArrayRef<MeshAxesAttr>`"
)


class AxesLists(Attribute):
    """The axes that split each dimension of a tensor."""

    lists: tuple[Axes, ...]

    dialect = "mesh"


AXES_LISTS: AttrKind[tuple[Axes, ...]] = AttrKind("", lambda a: isinstance(a, AxesLists), lambda a: a.lists)


@mesh.attribute("axisarray")
def read(cursor: Cursor) -> AxesLists:
    """Takes `[[axes], …]`."""
    try:
        return AxesLists(read_axes_lists(cursor, may_be_empty=False))
    except DiagnosticError as error:
        raise error.then(cursor.error(_PARAMETER, cursor.skip())) from None


@mesh.spelling(AxesLists)
def _spell(attribute: AxesLists, _speller: Any) -> str:
    return "axisarray" + lists_text(attribute.lists)


def lists_clause(field: str) -> tuple[str, str, Attr]:
    """`field = [[axes], …]`."""
    return (field, "=", Attr(field, read, lambda attribute, speller: lists_text(attribute.lists)))
