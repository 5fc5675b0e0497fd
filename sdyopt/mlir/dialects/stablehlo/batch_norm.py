"""stablehlo.batch_norm_training, batch_norm_inference and batch_norm_grad."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.stablehlo.attribute_constraints import NON_NEGATIVE_I64
from sdyopt.mlir.dialects.stablehlo.bounds import bounds_of, encoding_with, print_dimension_size
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.dimensions import are_shapes_compatible
from sdyopt.mlir.dialects.stablehlo.traits import COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import FLOAT_OR_QUANTIZED_TENSOR, FLOAT_OR_QUANTIZED_VECTOR
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import F32_ATTR
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT
from sdyopt.mlir.ir.types import RankedTensor, Type

_TRAITS = (NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)


@stablehlo.op("batch_norm_training", *_TRAITS)
class BatchNormTrainingOp(Op):
    """Normalizes the operand per feature; also returns the batch mean and variance."""

    __slots__ = ()

    operand = op_fields.operand(FLOAT_OR_QUANTIZED_TENSOR)
    scale = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    offset = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    epsilon = op_fields.attr(F32_ATTR)
    feature_index = op_fields.attr(NON_NEGATIVE_I64)
    output = op_fields.result(FLOAT_OR_QUANTIZED_TENSOR)
    batch_mean = op_fields.result(FLOAT_OR_QUANTIZED_VECTOR)
    batch_var = op_fields.result(FLOAT_OR_QUANTIZED_VECTOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return _infer_types(
            signature,
            [signature[BatchNormTrainingOp.operand]],
            [signature[BatchNormTrainingOp.scale], signature[BatchNormTrainingOp.offset]],
            signature[BatchNormTrainingOp.feature_index],
        )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "output"), (1, "batch_mean"), (2, "batch_var")]


@stablehlo.op("batch_norm_inference", *_TRAITS)
class BatchNormInferenceOp(Op):
    """Normalizes the operand per feature with the given mean and variance."""

    __slots__ = ()

    operand = op_fields.operand(FLOAT_OR_QUANTIZED_TENSOR)
    scale = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    offset = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    mean = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    variance = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    epsilon = op_fields.attr(F32_ATTR)
    feature_index = op_fields.attr(NON_NEGATIVE_I64)
    out = op_fields.result(FLOAT_OR_QUANTIZED_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return _infer_types(
            signature,
            [signature[BatchNormInferenceOp.operand]],
            [
                signature[BatchNormInferenceOp.scale],
                signature[BatchNormInferenceOp.offset],
                signature[BatchNormInferenceOp.mean],
                signature[BatchNormInferenceOp.variance],
            ],
            signature[BatchNormInferenceOp.feature_index],
        )[:1]


@stablehlo.op("batch_norm_grad", *_TRAITS)
class BatchNormGradOp(Op):
    """Gradients of batch_norm_training with respect to operand, scale and offset."""

    __slots__ = ()

    operand = op_fields.operand(FLOAT_OR_QUANTIZED_TENSOR)
    scale = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    mean = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    variance = op_fields.operand(FLOAT_OR_QUANTIZED_VECTOR)
    grad_output = op_fields.operand(FLOAT_OR_QUANTIZED_TENSOR)
    epsilon = op_fields.attr(F32_ATTR)
    feature_index = op_fields.attr(NON_NEGATIVE_I64)
    grad_operand = op_fields.result(FLOAT_OR_QUANTIZED_TENSOR)
    grad_scale = op_fields.result(FLOAT_OR_QUANTIZED_VECTOR)
    grad_offset = op_fields.result(FLOAT_OR_QUANTIZED_VECTOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return _infer_types(
            signature,
            [signature[BatchNormGradOp.operand], signature[BatchNormGradOp.grad_output]],
            [
                signature[BatchNormGradOp.scale],
                signature[BatchNormGradOp.mean],
                signature[BatchNormGradOp.variance],
            ],
            signature[BatchNormGradOp.feature_index],
        )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "grad_operand"), (1, "grad_scale"), (2, "grad_offset")]


def _infer_types(
    signature: OpSignature,
    tensors: Sequence[RankedTensor],
    vectors: Sequence[RankedTensor],
    feature_index: int,
) -> list[Type]:
    """The type of the first tensor, and twice the type of a vector with one element per feature."""
    _check(signature, tensors, vectors, feature_index)
    first = tensors[0]
    bounds = bounds_of(first)[feature_index : feature_index + 1]
    encoding = encoding_with(first.encoding, bounds)
    vector = RankedTensor((first.shape[feature_index],), first.element, encoding)
    return [first, vector, vector]


def _check(
    signature: OpSignature,
    tensors: Sequence[RankedTensor],
    vectors: Sequence[RankedTensor],
    feature_index: int,
) -> None:
    for types, kind in ((tensors, "multi"), (vectors, "single")):
        if not all(are_shapes_compatible(a.shape, b.shape) for a in types for b in types):
            raise signature.error_without_op_note(
                f"expects {kind}-dimensional operands to have compatible shapes."
            )
    first = tensors[0]
    if feature_index >= first.rank:  # batch_norm_grad_c1
        raise signature.error_without_op_note(
            "expects featureIndex to be smaller than the rank of multi-dimensional operands; got "
            f"featureIndex {feature_index}, and rank {first.rank}."
        )
    size, count = vectors[0].shape[0], first.shape[feature_index]
    if not are_compatible_sizes(size, count):  # batch_norm_grad_c5
        raise signature.error_without_op_note(
            "expects the size of single-dimensional operands to be compatible with feature count, but the "
            f"size of single-dimensional operands is {print_dimension_size(size)} and the feature count is "
            f"{print_dimension_size(count)}."
        )
