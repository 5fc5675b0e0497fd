"""stablehlo.reshape, transpose, reverse, broadcasts, their dynamic forms, get and set_dimension_size."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import Dimensions, is_unique, listing, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
    are_compatible,
    check_broadcast_scales,
    check_element_types,
    check_reshape_scales,
    check_same_per_axis_scales,
    check_same_per_tensor_scale,
    check_shape_operand,
    constant_integers,
    quantized_axis,
)
from sdyopt.mlir.dialects.stablehlo.types import Bounds, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.mlir.ir.traits import I64_ARRAY, I64_ATTR, NO_MEMORY_EFFECT, PURE, non_negative
from sdyopt.mlir.ir.types import DYNAMIC, I32, RankedTensor, Type, tensor
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types

_WRONG_COUNT = ErrorKind(
    "number of output elements ({got}) doesn't match expected number of elements ({wanted})",
    at="result_type 0",
    help="write a type with {wanted} elements",
)


@stablehlo.op("reshape", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES)
class ReshapeOp(Op):
    """Changes the shape; the elements keep their row-major order."""

    operand = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    out = result(types.STATIC_OR_BOUNDED_TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[ReshapeOp.operand], signature[ReshapeOp.out]
        if not source.has_static_shape or not target.has_static_shape:
            return
        check_element_counts(signature, source, target)
        check_reshape_scales(signature, source, target)


@stablehlo.op("dynamic_reshape", NO_MEMORY_EFFECT)
class DynamicReshapeOp(Op):
    """reshape with the result shape given by an operand."""

    operand = op_fields.operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    output_shape = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly("operands attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[DynamicReshapeOp.operand], signature[DynamicReshapeOp.out]
        check_element_types(signature, source, target)  # dynamic_reshape_c1
        if source.has_static_shape and target.has_static_shape:  # dynamic_reshape_c2
            check_element_counts(signature, source, target)

    def verify_in_context(self) -> None:
        source, target = self.signature[DynamicReshapeOp.operand], self.signature[DynamicReshapeOp.out]
        check_shape_operand(self, self.output_shape, target)  # dynamic_reshape_c4
        if self.signature[DynamicReshapeOp.output_shape].shape[0] != target.rank:
            raise self.signature.error_without_op_note(
                "result should have a rank equal to the number of elements in output_shape"
            )
        shape = constant_integers(self.output_shape) if source.has_static_shape else None
        if shape is not None and prod(shape) != source.num_elements:
            raise self.signature.error_without_op_note(
                "output_shape is incompatible with input type of operation: input has "
                f"{source.num_elements} elements, but output_shape has {prod(shape)}"
            )
        check_reshape_scales(self.signature, source, target)  # dynamic_reshape_c1, dynamic_reshape_c3


def check_element_counts(signature: OpSignature, source: RankedTensor, target: RankedTensor) -> None:
    """Checks that two static shapes have the same number of elements."""
    if target.num_elements != source.num_elements:
        counts = {"got": target.num_elements, "wanted": source.num_elements}
        raise signature.error_without_op_note(_WRONG_COUNT(**counts))


@stablehlo.op("transpose", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)
class TransposeOp(Op):
    """Permutes the dimensions."""

    operand = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    permutation = attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        "$operand `,` `dims` `=` custom<DenseI64Array>($permutation) attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, target = signature[TransposeOp.operand], signature[TransposeOp.out]
        check_same_per_tensor_scale(signature, source, target)  # transpose_c1
        check_same_per_axis_scales(signature, source, target)
        source_axis, target_axis = quantized_axis(source), quantized_axis(target)
        permutation = signature[TransposeOp.permutation]
        if source_axis is None or target_axis is None or target_axis >= len(permutation):
            return
        if source_axis != permutation[target_axis]:  # transpose_c4
            raise signature.error_without_op_note(
                f"operand quantization_dimension {source_axis} is not same as permutation[{target_axis}] = "
                f"{permutation[target_axis]}"
            )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, permutation = signature[TransposeOp.operand], signature[TransposeOp.permutation]
        if len(permutation) != source.rank:
            raise signature.error_without_op_note(
                f"TransposeOp operand rank {source.rank} does not match permutation size {len(permutation)}"
            )
        if sorted(permutation) != list(range(source.rank)):
            raise signature.error_without_op_note(
                f"attribute permutation must be a permutation of [{listing(range(source.rank))}] but got "
                f"{listing(permutation)}"
            )
        bounds = bounds_of(source)
        return [
            RankedTensor(
                tuple(source.shape[d] for d in permutation),
                source.element,
                encoding_with(source.encoding, [bounds[d] for d in permutation] if bounds else []),
            )
        ]


@stablehlo.op("reverse", NO_MEMORY_EFFECT, SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class ReverseOp(Op):
    """Reverses the order of elements along some dimensions."""

    operand = operand(types.TENSOR)
    dimensions = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        "$operand `,` `dims` `=` custom<DenseI64Array>($dimensions) attr-dict `:` "
        "custom<SameOperandsAndResultType>"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dimensions, rank = signature[ReverseOp.dimensions], signature[ReverseOp.operand].rank
        if len(set(dimensions)) != len(dimensions):  # reverse_c2
            raise signature.error_without_op_note(f"dimensions should be unique. Got: {listing(dimensions)}")
        for dimension in dimensions:  # reverse_c3
            if dimension < 0:
                raise signature.error_without_op_note(
                    f"all dimensions should be non-negative. Got dimension: {dimension}."
                )
            if dimension >= rank:
                raise signature.error_without_op_note(
                    f"all dimensions should be between [0, {rank}). Got dimension: {dimension}."
                )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [signature[ReverseOp.operand]]


# --- Sizes ----------------------------------------------------------------------------------


@stablehlo.op("get_dimension_size", PURE, INFERS_COMPATIBLE_TYPES)
class GetDimensionSizeOp(Op):
    """The size of a dimension."""

    operand = operand(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    dimension = attr(non_negative(I64_ATTR))
    out = result(types.I32_TENSOR)

    assembly = assembly(
        "$operand `,` `dim` `=` custom<Integer>($dimension) attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        source, dimension = signature[GetDimensionSizeOp.operand], signature[GetDimensionSizeOp.dimension]
        _check_dimension(signature, source, dimension)
        return [tensor((), I32)]


@stablehlo.op("set_dimension_size", NO_MEMORY_EFFECT)
class SetDimensionSizeOp(Op):
    """Sets the size of a dimension to the value of `size`."""

    operand = op_fields.operand(types.TENSOR)
    size = op_fields.operand(types.I32_TENSOR)
    dimension = attr(non_negative(I64_ATTR))
    out = result(types.TENSOR)

    assembly = assembly(
        "$operand `,` $size `,` `dim` `=` custom<Integer>($dimension) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_in_context(self) -> None:
        # The inferred type depends on the value of a constant size, which the signature does not contain.
        size = constant_integers(self.size)
        infer_and_compare_types(
            self.signature, lambda: [type_with_size(self.signature, size)], are_compatible, plain_type
        )


def type_with_size(signature: OpSignature, size: list[int] | None) -> Type:
    """The inferred result type.

    The dimension becomes dynamic, and its old size or bound becomes its bound. But if the size operand is a
    constant equal to this bound, the dimension becomes static.
    """
    if signature[SetDimensionSizeOp.size].rank:
        raise signature.error_without_op_note("size operand should be of rank-0")
    source, dimension = signature[SetDimensionSizeOp.operand], signature[SetDimensionSizeOp.dimension]
    _check_dimension(signature, source, dimension)
    shape, bounds = list(source.shape), list(bounds_of(source) or (DYNAMIC,) * source.rank)
    if shape[dimension] != DYNAMIC:
        bounds[dimension] = shape[dimension]
    shape[dimension] = DYNAMIC
    if size is not None and size[0] == bounds[dimension]:
        shape[dimension], bounds[dimension] = size[0], DYNAMIC
    is_bounded = any(bound != DYNAMIC for bound in bounds)
    return RankedTensor(tuple(shape), source.element, Bounds(tuple(bounds)) if is_bounded else None)


def _check_dimension(signature: OpSignature, source: RankedTensor, dimension: int) -> None:
    if dimension >= source.rank:
        raise signature.error_without_op_note(
            f"requires dimension attribute in range [0, {source.rank}); found ({dimension})"
        )


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
