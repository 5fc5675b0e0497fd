"""chlo.ragged_dot and its attributes."""

from __future__ import annotations

from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.stablehlo.assembly_directives import DimensionNumbers
from sdyopt.mlir.dialects.stablehlo.contraction import RaggedDimensions, check_ragged_dot
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.precision import precision_config_of
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, INT_TENSOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE


@enumeration(chlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
class Precision(EnumAttr):
    """The precision of one operand; its meaning depends on the backend."""


@dialect_attribute(chlo, "ragged_dot", "CHLO_RaggedDotDimensionNumbers")
class RaggedDotDimensions(Attribute):
    """`#chlo.ragged_dot<…>`: dot dimension numbers, and the ragged and group dimensions."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()
    dialect = "chlo"
    assembly = attribute_format("<", DimensionNumbers("ragged dot dimension numbers"))

    @property
    def dimensions(self) -> RaggedDimensions:
        """The dimension numbers, in the representation shared with mhlo."""
        dot_dimensions = (
            self.lhs_batching_dimensions,
            self.rhs_batching_dimensions,
            self.lhs_contracting_dimensions,
            self.rhs_contracting_dimensions,
        )
        return RaggedDimensions(*dot_dimensions, self.lhs_ragged_dimensions, self.rhs_group_dimensions)


@chlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A dot product in which one dimension of lhs is ragged: divided into groups of `group_sizes`.

    A ragged non-contracting dimension selects a slice of rhs per group: [m, k], [g, k, n], [g] -> [m, n].
    A ragged contracting dimension gives a result per group: [m, k], [k, n], [g] -> [g, m, n]. A ragged
    batching dimension is like any batching dimension: [b, m, k], [b, k, n], [g] -> [b, m, n].
    """

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    group_sizes = op_fields.operand(INT_TENSOR)
    ragged_dot_dimension_numbers = op_fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = op_fields.optional_attr(precision_config_of(Precision))
    result = op_fields.result(ANY_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dims = signature[RaggedDotOp.ragged_dot_dimension_numbers]
        check_ragged_dot(signature, dims.dimensions, signature[RaggedDotOp.precision_config])
