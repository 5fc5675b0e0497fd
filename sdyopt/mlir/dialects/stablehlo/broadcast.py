"""stablehlo.broadcast_in_dim, dynamic_broadcast_in_dim and broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.error_kind import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import Dimensions, is_unique, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
    check_broadcast_scales,
    check_element_types,
    check_same_per_tensor_scale,
    check_shape_operand,
    constant_integers,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import I64_ARRAY
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type, tensor

_WRONG_DIMENSIONS = ErrorKind(
    "broadcast_dimensions {problem}",
    at="attribute dims | attribute broadcast_dimensions",
    help="list, for each dimension of the operand, the dimension of the result, in ascending order",
)


@stablehlo.op("broadcast_in_dim", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES)
class BroadcastInDimOp(Op):
    """Duplicates the operand along result dimensions that it lacks, and along its dimensions of size 1."""

    operand = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    broadcast_dimensions = attr(I64_ARRAY)
    out = result(types.STATIC_OR_BOUNDED_TENSOR)

    assembly = assembly(
        "$operand `,` `dims` `=` custom<DenseI64Array>($broadcast_dimensions) attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[BroadcastInDimOp.operand], signature[BroadcastInDimOp.out]
        dimensions = signature[BroadcastInDimOp.broadcast_dimensions]
        check_same_per_tensor_scale(signature, source, target)  # broadcast_in_dim_c1
        _check_dimension_count(signature, dimensions, source)  # broadcast_in_dim_c2
        _check_unique(signature, dimensions)  # broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(signature, dimension, target)  # broadcast_in_dim_c3
            if size not in (DYNAMIC, 1, target.shape[dimension]):  # broadcast_in_dim_c5
                raise signature.error_without_op_note(
                    f"size of operand dimension {index} ({size}) is not equal to 1 or size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )
        check_broadcast_scales(signature, source, target, dimensions)  # broadcast_in_dim_c6


@stablehlo.op("dynamic_broadcast_in_dim", NO_MEMORY_EFFECT)
class DynamicBroadcastInDimOp(Op):
    """broadcast_in_dim with the result shape given by an operand."""

    operand = op_fields.operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    output_dimensions = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
    broadcast_dimensions = attr(I64_ARRAY)
    known_expanding_dimensions = optional_attr(I64_ARRAY)
    known_nonexpanding_dimensions = optional_attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        "$operand `,` $output_dimensions `,` `dims` `=` custom<DenseI64Array>($broadcast_dimensions) "
        "attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[DynamicBroadcastInDimOp.operand], signature[DynamicBroadcastInDimOp.out]
        dimensions = signature[DynamicBroadcastInDimOp.broadcast_dimensions]
        check_element_types(signature, source, target)  # dynamic_broadcast_in_dim_c1
        _check_dimension_count(signature, dimensions, source)  # dynamic_broadcast_in_dim_c2
        if target.rank < source.rank:  # dynamic_broadcast_in_dim_c3
            raise signature.error_without_op_note(
                f"result rank ({target.rank}) is less than operand rank ({source.rank})"
            )
        _check_unique(signature, dimensions)  # dynamic_broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(signature, dimension, target)  # dynamic_broadcast_in_dim_c5
            if size not in (DYNAMIC, 1) and target.shape[dimension] not in (DYNAMIC, size):
                raise signature.error_without_op_note(
                    f"size of operand dimension {index} ({size}) is not compatible with size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )

    def verify_in_context(self) -> None:
        signature = self.signature
        source, target = signature[DynamicBroadcastInDimOp.operand], signature[DynamicBroadcastInDimOp.out]
        check_shape_operand(self, self.output_dimensions, target)  # dynamic_broadcast_in_dim_c7
        expanding = self.known_expanding_dimensions or ()
        hints = expanding + (self.known_nonexpanding_dimensions or ())
        if len(set(hints)) != len(hints):  # dynamic_broadcast_in_dim_c8
            raise signature.error_without_op_note(
                "duplicate expansion hint for at least one operand dimension"
            )
        for dimension in hints:  # dynamic_broadcast_in_dim_c9, dynamic_broadcast_in_dim_c10
            if not 0 <= dimension < source.rank:
                raise signature.error_without_op_note(
                    f"hint for expanding dimension {dimension} does not refer to a valid operand dimension"
                )
        self._check_constant_shape(source)
        # dynamic_broadcast_in_dim_c6
        check_broadcast_scales(signature, source, target, self.broadcast_dimensions)

    def _check_constant_shape(self, source: RankedTensor) -> None:
        """Checks the operand's shape, if static, against `output_dimensions`, if constant."""
        shape = constant_integers(self.output_dimensions) if source.has_static_shape else None
        if shape is None:
            return
        for index, dimension in enumerate(self.broadcast_dimensions):
            if source.shape[index] not in (1, shape[dimension]):
                raise self.signature.error_without_op_note(
                    f"size of operand dimension {index} ({source.shape[index]}) is not equal to 1 or value "
                    f"of shape at index {dimension} ({shape[dimension]})"
                )


@stablehlo.op("broadcast", PURE, SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class BroadcastOp(Op):
    """Duplicates the operand along new leading dimensions."""

    operand = operand(types.TENSOR)
    broadcast_sizes = attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        "$operand `,` `sizes` `=` custom<DenseI64Array>($broadcast_sizes) attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, sizes = signature[BroadcastOp.operand], signature[BroadcastOp.broadcast_sizes]
        for size in sizes:
            if size < 0:
                raise signature.error_without_op_note(f"Broadcast with negative dimension size {size}")
        return [tensor(sizes + source.shape, source.element)]


def _check_dimension_count(signature: OpSignature, dimensions: Dimensions, source: RankedTensor) -> None:
    count, rank = len(dimensions), source.rank
    if count != rank:
        raise signature.error_without_op_note(
            _WRONG_DIMENSIONS(problem=f"size ({count}) does not match operand rank ({rank})")
        )


def _check_unique(signature: OpSignature, dimensions: Dimensions) -> None:
    if not is_unique(dimensions):
        raise signature.error_without_op_note(_WRONG_DIMENSIONS(problem="should not have duplicates"))


def _check_in_result(signature: OpSignature, dimension: int, target: RankedTensor) -> None:
    if not 0 <= dimension < target.rank:
        problem = f"contains invalid value {dimension} for result with rank {target.rank}"
        raise signature.error_without_op_note(_WRONG_DIMENSIONS(problem=problem))
