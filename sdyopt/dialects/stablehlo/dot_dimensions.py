"""Which dimensions of two operands belong together in a product, and how that is written."""

from __future__ import annotations

from typing import Protocol

from sdyopt.dialects.stablehlo.asm import spell_list
from sdyopt.dialects.stablehlo.compatible import dimensions_of, most_specific_dimension
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.dimensions import Dimensions, check_distinct
from sdyopt.dialects.stablehlo.records import PRODUCT_ENTRIES, integer_list, read_record, spell_record
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.constraints import of_class
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.shape_traits import are_compatible_sizes
from sdyopt.ir.types import RankedTensor
from sdyopt.syntax.assembly import Custom
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template


class DotDimensions(Attribute):
    """`#stablehlo.dot<…>`: dimensions that are matched up (batching) and summed over (contracting)."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    dialect = "stablehlo"

    @property
    def batching(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) dimensions that are matched up."""
        return list(zip(self.lhs_batching, self.rhs_batching, strict=True))

    @property
    def contracting(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) dimensions that are summed over."""
        return list(zip(self.lhs_contracting, self.rhs_contracting, strict=True))


DOT_DIMENSIONS = of_class(DotDimensions, "Attribute that models the dimension information for dot.")


@stablehlo.attribute("dot")
def _parse(cursor: Cursor) -> Attribute:
    cursor.expect("<")
    found = read_record(cursor, "dot dimension numbers", PRODUCT_ENTRIES)
    return DotDimensions(*(found.get(name, ()) for name in PRODUCT_ENTRIES))


@stablehlo.spelling(DotDimensions)
def _spell(dims: DotDimensions, speller: Speller) -> str:
    values = (dims.lhs_batching, dims.rhs_batching, dims.lhs_contracting, dims.rhs_contracting)
    return spell_record("dot", dict(zip(PRODUCT_ENTRIES, values, strict=True)))


# --- In dot_general ---------------------------------------------------------------------------


def dot_dimensions_piece() -> Custom:
    """`batching_dims = [0] x [0], contracting_dims = [2] x [1]`; the former only if there are any."""
    return Custom(_parse_piece, _write_piece, elides=["dot_dimension_numbers"])


def _parse_piece(statement: Statement) -> None:
    batching: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
    if statement.accept("batching_dims"):
        statement.expect("=")
        batching = _pair(statement)
        statement.expect(",")
    statement.expect("contracting_dims")
    statement.expect("=")
    statement.attributes["dot_dimension_numbers"] = DotDimensions(*batching, *_pair(statement))


def _pair(statement: Statement) -> tuple[tuple[int, ...], tuple[int, ...]]:
    lhs = integer_list(statement)
    statement.expect("x")
    return lhs, integer_list(statement)


def _write_piece(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    dims = signature.dot_dimension_numbers
    if dims.lhs_batching or dims.rhs_batching:
        out.text(f" batching_dims = {spell_list(dims.lhs_batching)} x {spell_list(dims.rhs_batching)},")
    out.text(f" contracting_dims = {spell_list(dims.lhs_contracting)} x {spell_list(dims.rhs_contracting)}")


# --- Checks and inference -----------------------------------------------------------------------


class _Pairs(Protocol):
    """Dimension numbers of a product, of stablehlo or of another dialect."""

    @property
    def lhs_batching(self) -> tuple[int, ...]: ...
    @property
    def rhs_batching(self) -> tuple[int, ...]: ...
    @property
    def lhs_contracting(self) -> tuple[int, ...]: ...
    @property
    def rhs_contracting(self) -> tuple[int, ...]: ...


def check_dot_dimensions(signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: _Pairs) -> None:
    """The dimension numbers exist, do not overlap, and pair dimensions of one size."""
    if len(dims.lhs_batching) != len(dims.rhs_batching):  # dot_general_c1
        raise signature.located_error("lhs and rhs should have the same number of batching dimensions")
    if len(dims.lhs_contracting) != len(dims.rhs_contracting):  # dot_general_c2
        raise signature.located_error("lhs and rhs should have the same number of contracting dimensions")
    sides = (
        ("lhs", lhs, dims.lhs_batching, dims.lhs_contracting),
        ("rhs", rhs, dims.rhs_batching, dims.rhs_contracting),
    )
    for side, _, batching, contracting in sides:  # dot_general_c3, dot_general_c4
        names = f"{side}_batching_dimensions", f"{side}_contracting_dimensions"
        check_distinct(signature, batching, contracting, *names)
    for side, type, batching, contracting in sides:  # dot_general_c5 to dot_general_c8
        _check_exist(signature, type.rank, batching, f"{side}_batching_dimensions")
        _check_exist(signature, type.rank, contracting, f"{side}_contracting_dimensions")
    for kind, pairs in (  # dot_general_c9, dot_general_c10
        ("batching", zip(dims.lhs_batching, dims.rhs_batching, strict=True)),
        ("contracting", zip(dims.lhs_contracting, dims.rhs_contracting, strict=True)),
    ):
        for left, right in pairs:
            if not are_compatible_sizes(lhs.shape[left], rhs.shape[right]):
                raise signature.located_error(f"{kind} dimension sizes must match for lhs/rhs")


def _check_exist(signature: OpSignature, rank: int, dimensions: Dimensions, name: str) -> None:
    for dimension in dimensions:
        if not 0 <= dimension < rank:
            raise signature.located_error(f"{name} value: {dimension} is out of range: [0, {rank})")


def dot_result_shape(
    signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: DotDimensions
) -> list[int]:
    """Sizes of the batching dimensions, then of what is left of lhs, then of rhs."""
    lefts, rights = dimensions_of(lhs), dimensions_of(rhs)
    shape = [
        most_specific_dimension(signature, index, lefts[left], rights[right])[0]
        for index, (left, right) in enumerate(dims.batching)
    ]
    shape += free_sizes(lhs, dims.lhs_batching, dims.lhs_contracting)
    return shape + free_sizes(rhs, dims.rhs_batching, dims.rhs_contracting)


def free_sizes(type: RankedTensor, *taken: Dimensions) -> list[int]:
    """Sizes of the dimensions that are in none of the lists."""
    gone = {dimension for dimensions in taken for dimension in dimensions}
    return [size for dimension, size in enumerate(type.shape) if dimension not in gone]
