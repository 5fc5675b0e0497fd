"""Linear algebra, Fourier transforms, batch normalization, and random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.stablehlo.dialect import (
    NON_NEGATIVE_I64,
    EnumAttr,
    are_shapes_compatible,
    enumeration,
    integers_of,
    listing,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_ELEMENT_TYPES,
    INFERS_COMPATIBLE_TYPES,
    are_compatible,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    FLOAT_COMPLEX_OR_QUANTIZED_TENSOR,
    FLOAT_OR_COMPLEX_TENSOR,
    FLOAT_OR_QUANTIZED_TENSOR,
    FLOAT_OR_QUANTIZED_VECTOR,
    INT_OR_FLOAT_TENSOR,
    PRED_INT_OR_FLOAT_TENSOR,
    SCALAR_PRED_INT_OR_FLOAT_TENSOR,
    STATIC_DIMENSION_TENSOR,
    STATIC_INT_OR_FLOAT_TENSOR,
    bounds_of,
    encoding_with,
    print_dimension_size,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes, same_element_types
from sdyopt.mlir.ir.traits import BOOL_ATTR, F32_ATTR, I64_ARRAY, NO_MEMORY_EFFECT, of_class
from sdyopt.mlir.ir.types import DYNAMIC, F32, F64, ComplexType, FloatType, RankedTensor, Type, tensor
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types

_TRAITS = (NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)


@stablehlo.op("batch_norm_training", *_TRAITS)
class BatchNormTrainingOp(Op):
    """Normalizes the operand per feature; also returns the batch mean and variance."""

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


@stablehlo.op("cholesky", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)
class CholeskyOp(Op):
    """The Cholesky decomposition of a batch of matrices: a = l * l^H if `lower`, else a = u^H * u."""

    a = op_fields.operand(FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    lower = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    out = op_fields.result(FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)

    assembly = assembly(
        "$a (`,` `lower` `=` custom<Bool>($lower)^)? attr-dict `:` custom<SameOperandsAndResultType>"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        a = signature[CholeskyOp.a]
        if a.rank < 2:  # cholesky_c2
            raise signature.error_without_op_note(
                f"argument 'a' must have rank >= 2, got shape {listing(a.shape)}."
            )
        if not are_compatible_sizes(*a.shape[-2:]):  # cholesky_c3
            raise signature.error_without_op_note(
                f"minor dimensions of 'a' must have equal size, got shape {listing(a.shape)}."
            )
        return [a]


@enumeration(stablehlo, "transpose", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
class Transpose(EnumAttr):
    """Whether triangular_solve uses the matrices `a`, their transposes or their adjoints."""


@stablehlo.op("triangular_solve", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)
class TriangularSolveOp(Op):
    """Solves op(a) * x = b if `left_side`, else x * op(a) = b, in batches; `transpose_a` selects op."""

    a = op_fields.operand(FLOAT_OR_COMPLEX_TENSOR)
    b = op_fields.operand(FLOAT_OR_COMPLEX_TENSOR)
    left_side = op_fields.attr(BOOL_ATTR)
    lower = op_fields.attr(BOOL_ATTR)
    unit_diagonal = op_fields.attr(BOOL_ATTR)
    transpose_a = op_fields.attr(of_class(Transpose, "Transpose options"))
    out = op_fields.result(FLOAT_OR_COMPLEX_TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        a, b = signature[TriangularSolveOp.a], signature[TriangularSolveOp.b]
        if a.rank < 2:
            raise signature.error_without_op_note(f"operand 'a' must have rank >= 2, but got {quoted(a)}")
        if not are_compatible_sizes(*a.shape[-2:]):
            raise signature.error_without_op_note(
                f"two minor dimensions of operand 'a' must be compatible, but got {quoted(a)}"
            )
        both = f"but got {quoted(a)} and {quoted(b)}"
        if a.rank != b.rank:
            raise signature.error_without_op_note(f"operands must have equal rank, {both}")
        shared = -2 if signature[TriangularSolveOp.left_side] else -1
        if not are_compatible_sizes(a.shape[-1], b.shape[shared]):
            raise signature.error_without_op_note(
                f"shared dimension of operands 'a' and 'b' must be compatible, {both}"
            )
        if not are_shapes_compatible(a.shape[:-2], b.shape[:-2]):
            raise signature.error_without_op_note(
                f"batch dimensions of the operands must be compatible, {both}"
            )
        if signature[TriangularSolveOp.transpose_a].value == "TRANSPOSE_INVALID":
            raise signature.error_without_op_note("Invalid transpose option value for triangular solve")
        return [b]


@enumeration(stablehlo, "fft_type", "FFT", "IFFT", "RFFT", "IRFFT")
class FftType(EnumAttr):
    """Forward or inverse transform; `RFFT` is from real to complex numbers, `IRFFT` from complex to real."""


@stablehlo.op("fft", NO_MEMORY_EFFECT, INFERS_COMPATIBLE_TYPES)
class FftOp(Op):
    """The discrete Fourier transform over the minor-most dimensions, one per element of `fft_length`."""

    operand = op_fields.operand(FLOAT_OR_COMPLEX_TENSOR)
    fft_type = op_fields.attr(of_class(FftType, "XLA fast fourier transform type."))
    fft_length = op_fields.attr(I64_ARRAY)
    out = op_fields.result(FLOAT_OR_COMPLEX_TENSOR)

    assembly = assembly(
        "$operand `,` `type` `=` $fft_type `,` `length` `=` custom<DenseI64Array>($fft_length) attr-dict "
        "`:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand, lengths = signature[FftOp.operand], signature[FftOp.fft_length]
        kind = signature[FftOp.fft_type].value
        rank = len(lengths)
        if not 1 <= rank <= 3:
            raise signature.error_without_op_note(f"rank must be between 1 and 3, but got {rank}.")
        element = _fft_element(signature, operand, kind)
        if operand.rank < rank:
            raise signature.error_without_op_note(
                f"operand rank must not be less than fft rank of {rank} for operand of type "
                f"{quoted(operand)}."
            )
        shape, bounds = list(operand.shape), list(bounds_of(operand))
        if kind == "RFFT":
            if not are_shapes_compatible(operand.shape[-len(lengths) :], lengths):
                raise signature.error_without_op_note(
                    "RFFT requires innermost dimensions to be compatible with fft_length. "
                    f"Got: {listing(operand.shape)} but wanted {listing(lengths)}."
                )
            if lengths[-1] != 0:
                shape[-1] = lengths[-1] // 2 + 1
        if kind == "IRFFT":
            _check_irfft(signature, operand, lengths)
            shape[-1] = lengths[-1]
        if kind in ("RFFT", "IRFFT") and bounds:
            bounds[-1] = DYNAMIC
        return [RankedTensor(tuple(shape), element, encoding_with(operand.encoding, bounds))]


def _fft_element(signature: OpSignature, operand: RankedTensor, kind: str) -> Type:
    """The result element type: real for IRFFT, else complex."""
    element = operand.element
    if kind == "RFFT":
        if element is not F32 and element is not F64:
            raise signature.error_without_op_note(
                f"RFFT requires f32 or f64 input type, but is given {quoted(element)}."
            )
        return ComplexType(element)
    if not isinstance(element, ComplexType):
        raise signature.error_without_op_note(
            f"FFT/IFFT/IRFFT take a complex tensor as input, but is given {quoted(operand)}."
        )
    return element.element if kind == "IRFFT" else element


def _check_irfft(signature: OpSignature, operand: RankedTensor, lengths: Sequence[int]) -> None:
    *outer, inner = operand.shape[-len(lengths) :]
    for size, length in zip(outer, lengths, strict=False):
        if not are_compatible_sizes(size, length):
            raise signature.error_without_op_note(
                "IRFFT requires non-final dimensions to be compatible with fft_length. "
                f"Got: {listing(operand.shape)} but wanted {listing(lengths)}, and {size} != {length}."
            )
    is_empty = are_compatible_sizes(inner, 0) and lengths[-1] == 0
    if not is_empty and not are_compatible_sizes(inner, lengths[-1] // 2 + 1):
        raise signature.error_without_op_note(
            "IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. "
            f"Got: {inner} but fft_length is {listing(lengths)}."
        )


@enumeration(stablehlo, "rng_distribution", "UNIFORM", "NORMAL")
class RngDistribution(EnumAttr):
    """The distribution of rng."""


@enumeration(stablehlo, "rng_algorithm", "DEFAULT", "THREE_FRY", "PHILOX")
class RngAlgorithm(EnumAttr):
    """The algorithm of rng_bit_generator."""


@stablehlo.op("rng", same_element_types("a", "b", "result"))
class RngOp(Op):
    """Random numbers: uniform in [a, b), or normal with mean a and standard deviation b."""

    a = op_fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    b = op_fields.operand(SCALAR_PRED_INT_OR_FLOAT_TENSOR)
    shape = op_fields.operand(STATIC_DIMENSION_TENSOR)
    rng_distribution = op_fields.attr(of_class(RngDistribution, "XLA PRNG distribution to be used."))
    result = op_fields.result(PRED_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_in_context(self) -> None:
        constant = constant_value(self.shape.defining_op)
        sizes = integers_of(constant) if isinstance(constant, DenseElements) else None
        infer_and_compare_types(
            self.signature, lambda: _infer_rng(self.signature, sizes), are_compatible, plain_type
        )


def _infer_rng(signature: OpSignature, sizes: list[int] | None) -> list[Type]:
    elements = signature[RngOp.a].element, signature[RngOp.b].element
    is_uniform = signature[RngOp.rng_distribution].value == "UNIFORM"
    if not is_uniform and not all(isinstance(element, FloatType) for element in elements):
        raise signature.error_without_op_note("mu and sigma must be floats")
    shape = signature[RngOp.shape].shape[0] * (DYNAMIC,) if sizes is None else tuple(sizes)
    return [tensor(shape, elements[1])]


@stablehlo.op("rng_bit_generator", NO_MEMORY_EFFECT)
class RngBitGeneratorOp(Op):
    """Generates pseudo-random bits from a state; returns the updated state and the bits."""

    rng_algorithm = op_fields.attr(of_class(RngAlgorithm, "XLA PRNG algorithm to be used."))
    initial_state = op_fields.operand(INT_OR_FLOAT_TENSOR)
    output_state = op_fields.result(INT_OR_FLOAT_TENSOR)
    output = op_fields.result(STATIC_INT_OR_FLOAT_TENSOR)

    assembly = assembly(
        "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)"
    )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "output_state"), (1, "output")]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        initial = signature[RngBitGeneratorOp.initial_state]
        output = signature[RngBitGeneratorOp.output_state]
        if not are_shapes_compatible(initial.shape, output.shape):
            raise signature.error_without_op_note(
                "output state shape must be compatible with initial state shape. "
                f"Got: {quoted(initial)} and {quoted(output)}"
            )
