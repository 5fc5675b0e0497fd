"""The dialect mhlo, from which stablehlo once sprang.

Programs from JAX contain attributes such as `mhlo.num_partitions`, which hold builtin attributes only. Of
its operations one is still met: mhlo.ragged_dot, which became chlo.ragged_dot and is written another way.
"""

from __future__ import annotations

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.stablehlo.custom_struct import (
    PRODUCT_ENTRIES,
    dimension_list,
    parse_custom_struct,
    print_custom_struct,
)
from sdyopt.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.dialects.stablehlo.precision import precision_config_of
from sdyopt.dialects.stablehlo.ragged_dimensions import RaggedDimensions, check_ragged_dot
from sdyopt.dialects.stablehlo.types import ANY_TENSOR
from sdyopt.ir import op_fields
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import of_class
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import PURE

mhlo = DIALECT = Dialect("mhlo")
mhlo.unknown_attribute = "unknown mhlo attribute"


@enumeration(mhlo, "precision", "DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE")
class Precision(EnumAttr):
    """How exact one operand is taken; what that means is up to the backend."""


class DotDimensions(Attribute):
    """`#mhlo.dot<…>`: the dimensions of a product."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    dialect = "mhlo"


class RaggedDotDimensions(Attribute):
    """`#mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<…>, …>`: with those that groups lie along."""

    dot: DotDimensions | None = None
    lhs_ragged: tuple[int, ...] = ()
    rhs_group: tuple[int, ...] = ()
    dialect = "mhlo"

    @property
    def dimensions(self) -> RaggedDimensions:
        dot = self.dot or DotDimensions()
        contracted = dot.lhs_batching, dot.rhs_batching, dot.lhs_contracting, dot.rhs_contracting
        return RaggedDimensions(*contracted, self.lhs_ragged, self.rhs_group)


@mhlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A product in which one dimension of lhs is cut into groups; see chlo.ragged_dot."""

    __slots__ = ()

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    group_sizes = op_fields.operand(ANY_TENSOR)
    ragged_dot_dimension_numbers = op_fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = op_fields.optional_attr(precision_config_of(Precision))
    result = op_fields.result(ANY_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_ragged_dot(signature, signature.ragged_dot_dimension_numbers.dimensions)


# --- Text -----------------------------------------------------------------------------------------


@mhlo.attribute("dot")
def _parse_dot(parser: AsmParser) -> Attribute:
    parser.expect("<")
    found = parse_custom_struct(parser, "dot dimension numbers", PRODUCT_ENTRIES)
    return DotDimensions(*(found.get(name, ()) for name in PRODUCT_ENTRIES))


@mhlo.printer(DotDimensions)
def _print_dot(dims: DotDimensions, attribute_printer: AttributePrinter) -> str:
    values = dims.lhs_batching, dims.rhs_batching, dims.lhs_contracting, dims.rhs_contracting
    return print_custom_struct("dot", dict(zip(PRODUCT_ENTRIES, values, strict=True)))


def _dot(parser: AsmParser) -> DotDimensions:
    found = parser.attribute()
    if not isinstance(found, DotDimensions):
        raise parser.error("expected #mhlo.dot attribute")
    return found


_LIST_NAMES = ("lhs_ragged_dimensions", "rhs_group_dimensions")
_RAGGED_ENTRIES = {"dot_dimension_numbers": _dot, **dict.fromkeys(_LIST_NAMES, dimension_list)}


@mhlo.attribute("ragged_dot")
def _parse_ragged_dot(parser: AsmParser) -> Attribute:
    parser.expect("<")
    found = parse_custom_struct(parser, "ragged dot dimension numbers", _RAGGED_ENTRIES)
    lhs_ragged, rhs_group = (found.get(name, ()) for name in _LIST_NAMES)
    return RaggedDotDimensions(found.get("dot_dimension_numbers"), lhs_ragged, rhs_group)


@mhlo.printer(RaggedDotDimensions)
def _print_ragged_dot(dims: RaggedDotDimensions, attribute_printer: AttributePrinter) -> str:
    written = [] if dims.dot is None else [f"dot_dimension_numbers = {attribute_printer.attribute(dims.dot)}"]
    lists = zip(_LIST_NAMES, (dims.lhs_ragged, dims.rhs_group), strict=True)
    written += [f"{name} = {list(numbers)}" for name, numbers in lists if numbers]
    return f"ragged_dot<{', '.join(written)}>"
