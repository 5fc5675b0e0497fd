"""chlo.ragged_dot: products of groups of rows, which are of different sizes."""

from __future__ import annotations

from sdyopt.dialects.chlo.dialect import chlo
from sdyopt.dialects.stablehlo.contraction import check_result_shape
from sdyopt.dialects.stablehlo.dimensions import check_distinct, check_within, listing
from sdyopt.dialects.stablehlo.dot_dimensions import check_dot_dimensions, free_sizes
from sdyopt.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.dialects.stablehlo.precision import check_precision, precision_config_of
from sdyopt.dialects.stablehlo.records import dimension_list, read_record, spell_record
from sdyopt.dialects.stablehlo.types import ANY_TENSOR, INT_TENSOR
from sdyopt.ir import fields
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import of_class
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import are_compatible_sizes
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import RankedTensor
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller


@enumeration(chlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
class Precision(EnumAttr):
    """How exact one operand is taken; what that means is up to the backend."""

    __slots__ = ()


class RaggedDotDimensions(Attribute):
    """`#chlo.ragged_dot<…>`: the dimensions of a product, and those that groups lie along."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    lhs_ragged: tuple[int, ...] = ()
    rhs_group: tuple[int, ...] = ()
    dialect = "chlo"


_ENTRIES = {
    "lhs_batching_dimensions": dimension_list,
    "rhs_batching_dimensions": dimension_list,
    "lhs_contracting_dimensions": dimension_list,
    "rhs_contracting_dimensions": dimension_list,
    "lhs_ragged_dimensions": dimension_list,
    "rhs_group_dimensions": dimension_list,
}


@chlo.attribute("ragged_dot")
def _parse(cursor: Cursor) -> Attribute:
    cursor.expect("<")
    found = read_record(cursor, "ragged dot dimension numbers", _ENTRIES)
    return RaggedDotDimensions(*(found.get(name, ()) for name in _ENTRIES))


@chlo.spelling(RaggedDotDimensions)
def _spell(dims: RaggedDotDimensions, speller: Speller) -> str:
    contracted = dims.lhs_batching, dims.rhs_batching, dims.lhs_contracting, dims.rhs_contracting
    values = (*contracted, dims.lhs_ragged, dims.rhs_group)
    return spell_record("ragged_dot", dict(zip(_ENTRIES, values, strict=True)))


@chlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A product in which one dimension of lhs is cut into groups.

    A free dimension that is cut meets one part of rhs per group: [m, k], [g, k, n], [g] -> [m, n].
    One that is summed over gives one result per group: [m, k], [k, n], [g] -> [g, m, n]. One that is
    matched up has no further effect: [b, m, k], [b, k, n], [g] -> [b, m, n].
    """

    __slots__ = ()

    lhs = fields.operand(ANY_TENSOR)
    rhs = fields.operand(ANY_TENSOR)
    group_sizes = fields.operand(INT_TENSOR)
    ragged_dot_dimension_numbers = fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = fields.optional_attr(precision_config_of(Precision))
    result = fields.result(ANY_TENSOR)

    @staticmethod
    def verify_form(form: Form) -> None:
        check_ragged_dot(form, form.ragged_dot_dimension_numbers)


def check_ragged_dot(form: Form, dims: RaggedDotDimensions) -> None:
    """Checks a product with these dimensions."""
    lhs, rhs, group_sizes = form.operand_types
    check_precision(form)
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        raise form.op_error("expects operands with a rank")
    assert isinstance(group_sizes, RankedTensor)
    check_dot_dimensions(form, lhs, rhs, dims)
    if len(dims.lhs_ragged) != 1:
        raise form.located_error("There must be exactly one ragged dimension in the lhs.")
    (ragged,) = dims.lhs_ragged
    check_within(form, ragged, lhs.rank, "lhs_ragged_dim", "lhs_rank")
    _check_group_sizes(form, dims, lhs, group_sizes, ragged)
    _check_group_dimension(form, dims, rhs, group_sizes.shape[-1], ragged)
    groups = [group_sizes.shape[-1]] if ragged in dims.lhs_contracting else []
    batches = [lhs.shape[dimension] for dimension in dims.lhs_batching]
    rows = free_sizes(lhs, dims.lhs_batching, dims.lhs_contracting)
    columns = free_sizes(rhs, dims.rhs_batching, dims.rhs_contracting, dims.rhs_group)
    check_result_shape(form, [*groups, *batches, *rows, *columns])


def _check_group_sizes(
    form: Form, dims: RaggedDotDimensions, lhs: RankedTensor, group_sizes: RankedTensor, ragged: int
) -> None:
    """There is one list of sizes, or one for whatever lies outside of the ragged dimension."""
    if group_sizes.rank == 1:
        return
    prefix = [lhs.shape[dimension] for dimension in _outside(dims, ragged)]
    if group_sizes.rank != len(prefix) + 1:
        raise form.located_error(
            f"expected group_sizes to have rank {len(prefix) + 1}, got {group_sizes.rank}"
        )
    if prefix != list(group_sizes.shape[:-1]):
        raise form.located_error(
            f"group_sizes is expected to have shape [{listing([*prefix, group_sizes.shape[-1]])}], "
            f"got [{listing(group_sizes.shape)}]"
        )


def _outside(dims: RaggedDotDimensions, ragged: int) -> list[int]:
    """The dimensions of lhs that have group sizes of their own."""
    batching, contracting = list(dims.lhs_batching), list(dims.lhs_contracting)
    if ragged in batching:
        return batching[: batching.index(ragged)]
    if ragged in contracting:
        return batching + contracting[: contracting.index(ragged)]
    return batching + [d for d in range(ragged) if d not in (*batching, *contracting)]


def _check_group_dimension(
    form: Form, dims: RaggedDotDimensions, rhs: RankedTensor, count: int, ragged: int
) -> None:
    """A free ragged dimension meets one part of rhs per group; others meet all of it."""
    group = dims.rhs_group
    for dimension in group:
        check_within(form, dimension, rhs.rank, "rhs_group_dim", "rhs_rank")
    name = "rhs_group_dimensions"
    check_distinct(form, group, dims.rhs_batching, name, "rhs_batching_dimensions")
    check_distinct(form, group, dims.rhs_contracting, name, "rhs_contracting_dimensions")
    if ragged in dims.lhs_batching or ragged in dims.lhs_contracting:
        if group:
            raise form.located_error(
                "There must be zero group dimensions in the rhs when the ragged dimension is batch or "
                "contracting."
            )
        return
    if len(group) != 1:
        raise form.located_error(
            "There must be exactly one group dimension in the rhs when the lhs ragged dimension is "
            "non-contracting."
        )
    size = rhs.shape[group[0]]
    if not are_compatible_sizes(count, size):
        raise form.located_error(f"rhs group dimension is expected to have size={count}, got {size}")
