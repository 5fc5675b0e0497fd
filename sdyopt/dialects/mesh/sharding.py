"""How a tensor is laid out on a mesh: `#mesh.shard<@grid, [[0], [1]], partial = sum[2]>`."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.mesh.axes import Axes, axes_problem, axes_text, open_list, read_axes, read_axis
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.reduction import ReductionKind
from sdyopt.ir.attribute import Attribute, SymbolRef
from sdyopt.ir.constraints import AttrKind, of_class
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.names import symbol_text


class MeshSharding(Attribute):
    """Which mesh axes split which dimension of a tensor, first listed axis outermost.

    Dimensions without a list are whole on every device. What the devices along the `partial_axes`
    hold has still to be combined as `partial_kind` says. `halo_sizes`, which only later forms have,
    say how many elements of its neighbours a device holds below and above its own, a pair for each
    dimension that is split.
    """

    mesh: SymbolRef
    split_axes: tuple[Axes, ...] = ()
    partial_axes: Axes = ()
    partial_kind: ReductionKind = ReductionKind.SUM
    halo_sizes: tuple[int, ...] = ()

    dialect = "mesh"

    @property
    def is_replicated(self) -> bool:
        """Whether every device holds all of the tensor."""
        return not self.partial_axes and not any(self.split_axes)

    def axes_of(self, dimension: int) -> Axes:
        """The axes that split a dimension."""
        return self.split_axes[dimension] if dimension < len(self.split_axes) else ()

    def agrees_with(self, other: MeshSharding) -> bool:
        """Whether both say the same: missing lists at the end are as good as empty ones."""
        if self.mesh is not other.mesh or self.partial_axes != other.partial_axes:
            return False
        if self.halo_sizes != other.halo_sizes:
            return False
        if self.partial_axes and self.partial_kind is not other.partial_kind:
            return False
        return all(a == b for a, b in zip_longest(self.split_axes, other.split_axes, fillvalue=()))

    @property
    def without_halos(self) -> MeshSharding:
        """The same, but that nobody holds what is another's."""
        return MeshSharding(self.mesh, self.split_axes, self.partial_axes, self.partial_kind)

    def halo_of(self, dimension: int) -> tuple[int, int]:
        """How many elements of its neighbours a device holds along a dimension: below and above."""
        if not self.halo_sizes or not self.axes_of(dimension):
            return (0, 0)
        place = 2 * sum(1 for axes in self.split_axes[:dimension] if axes)
        return self.halo_sizes[place], self.halo_sizes[place + 1]

    @property
    def all_axes(self) -> Axes:
        """The axes of all lists in order, and then the partial ones."""
        return tuple(axis for axes in self.split_axes for axis in axes) + self.partial_axes


SHARDING_ATTR = of_class(MeshSharding, "")


def read_mesh_reference(cursor: Cursor) -> SymbolRef:
    """Takes `@name`."""
    offset = cursor.skip()
    found = cursor.attribute()
    if not isinstance(found, SymbolRef) or found.nested:
        raise cursor.error("invalid kind of attribute specified", offset)
    return found


@mesh.attribute("shard")
def read_sharding(cursor: Cursor) -> MeshSharding:
    """Takes `<@mesh, [[axes], …], partial = kind[axes]>`."""
    start = cursor.skip()
    cursor.expect("<")
    try:
        reference = read_mesh_reference(cursor)
    except DiagnosticError as error:
        raise error.then(_failed(cursor, "mesh", "::mlir::FlatSymbolRefAttr")) from None
    cursor.expect(",")
    try:
        lists = read_axes_lists(cursor)
    except DiagnosticError as error:
        raise error.then(_failed(cursor, "split_axes", "::llvm::ArrayRef<MeshAxesAttr>")) from None
    sharding = MeshSharding(reference, lists)
    if cursor.accept(","):
        cursor.expect("partial")
        cursor.expect("=")
        sharding = MeshSharding(reference, lists, *_read_partial(cursor))
    cursor.expect(">")
    problem = axes_problem(sharding.all_axes)
    if problem is not None:
        raise cursor.error(problem, start)
    return sharding


def read_axes_lists(cursor: Cursor, may_be_empty: bool = True) -> tuple[Axes, ...]:
    """Takes `[[axes], …]`."""
    open_list(cursor)
    if may_be_empty and cursor.accept("]"):
        return ()
    lists = cursor.comma_list(lambda: read_axes(cursor))
    cursor.expect("]")
    return tuple(lists)


def _read_partial(cursor: Cursor) -> tuple[Axes, ReductionKind]:
    offset = cursor.skip()
    word = cursor.accept_word()
    if word not in list(ReductionKind):
        message = (
            "expected valid keyword"
            if word is None
            else f"invalid Reduction of an iterator/mesh dimension. specification: {word}"
        )
        error = cursor.error(message, offset)
        raise error.then(_failed(cursor, "partial_type", "::mlir::mesh::ReductionKind"))
    cursor.expect("[")
    try:
        axes = cursor.comma_list(lambda: read_axis(cursor))
    except DiagnosticError as error:
        raise error.then(_failed(cursor, "partial_axes", "::llvm::ArrayRef<MeshAxis>")) from None
    cursor.expect("]")
    return tuple(axes), ReductionKind(word)


def _failed(cursor: Cursor, parameter: str, cpp_type: str) -> DiagnosticError:
    return cursor.error(
        f"failed to parse MeshSharding parameter '{parameter}' which is to be a `{cpp_type}`", cursor.skip()
    )


@mesh.spelling(MeshSharding)
def _spell(sharding: MeshSharding, _speller: Any) -> str:
    return "shard" + sharding_text(sharding)


def sharding_text(sharding: MeshSharding) -> str:
    """`<@mesh, [[axes], …]>`."""
    partial = ""
    if sharding.partial_axes:
        partial = f", partial = {sharding.partial_kind}{axes_text(sharding.partial_axes)}"
    return f"<{symbol_text(sharding.mesh.root)}, {lists_text(sharding.split_axes)}{partial}>"


def lists_text(lists: tuple[Axes, ...]) -> str:
    """`[[0], []]`."""
    return f"[{', '.join(map(axes_text, lists))}]"


MESH_REF: AttrKind[SymbolRef] = AttrKind(
    "flat symbol reference attribute", lambda a: isinstance(a, SymbolRef) and not a.nested, lambda a: a
)
