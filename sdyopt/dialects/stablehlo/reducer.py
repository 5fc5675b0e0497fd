"""Reducers: the bodies that put two elements together, in reduce, all_reduce, scatter and others."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.quant import QuantizedType
from sdyopt.dialects.stablehlo.region_signatures import Body, quoted
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.shape_traits import are_compatible_shapes, are_compatible_sizes
from sdyopt.ir.types import ComplexType, FloatType, IntegerType, RankedTensor, ShapedType, Type, element_of


def check_reducer(
    signature: OpSignature,
    body: Body,
    inputs: Sequence[Type],
    init_values: Sequence[Type],
    allowed_shape: Sequence[int],
) -> None:
    """A reducer takes (elements, accumulators) and gives accumulators, one of each per input.

    Its parameters are no larger than `allowed_shape`.
    """
    _check_counts(signature, body, len(inputs))
    for type in body.returned:
        if not isinstance(type, ShapedType):
            raise signature.located_error(
                "Reduction-region here must produce tensor-typed result(s), but produces "
                f"{quoted(type)} instead"
            )
    for index, (input, init_value) in enumerate(zip(inputs, init_values, strict=True)):
        _check_types(signature, body, index, input, init_value)
        _check_shape(signature, body, index, allowed_shape)


def _check_counts(signature: OpSignature, body: Body, count: int) -> None:
    if len(body.arguments) != 2 * count:
        raise signature.located_error(
            f"Reduction-region must take {2 * count} parameters, but takes {len(body.arguments)} parameter(s)"
        )
    if not body.has_terminator:
        raise signature.located_error("The reduction-region expected to have a terminator")
    if not body.returned:
        raise signature.located_error("The reduction-region expected to return some value(s)")
    if len(body.returned) != count:
        raise signature.located_error(
            f"Reduction-region here must produce {count} tensors, but produces {len(body.returned)} instead"
        )


def _check_types(signature: OpSignature, body: Body, index: int, input: Type, init_value: Type) -> None:
    result = body.returned[index]
    other = len(body.returned) + index
    for number, ignores_precision in ((index, False), (other, True)):
        parameter = body.arguments[number]
        if not is_alike(result, parameter, ignores_precision):
            raise signature.located_error(
                f"The type of reduction-region's parameter at index {number} is different than the "
                f"corresponding result type: {quoted(parameter)} vs {quoted(result)}"
            )
    if not are_compatible_shapes([init_value, result]):
        raise signature.located_error(
            f"The shape of reduction-region's result type at index {index} differs from the op's "
            f"corresponding init-value type: {quoted(result)} vs {quoted(init_value)}"
        )
    if not _is_promotable(init_value, result):
        raise signature.located_error(
            f"The element-type of reduction-region's result type at index {index} is expected to be "
            f"promotable from the op's corresponding init-value element-type: {quoted(result)} vs "
            f"{quoted(init_value)}"
        )
    parameter = body.arguments[other]
    if not _is_promotable(input, parameter):
        raise signature.located_error(
            f"The element-type of reduction-region's argument at index {other} is expected to be promotable "
            f"from {quoted(element_of(input))}, but got {quoted(element_of(parameter))}"
        )


def _check_shape(signature: OpSignature, body: Body, index: int, allowed_shape: Sequence[int]) -> None:
    other = len(body.returned) + index
    parameter = body.arguments[other]
    shape = parameter.shape if isinstance(parameter, RankedTensor) else ()
    if len(shape) > len(allowed_shape):
        raise signature.located_error(
            f"The rank of reduction-region's argument at index {other} is expected to be <= "
            f"{len(allowed_shape)}, got {len(shape)}"
        )
    matched = 0
    for size in allowed_shape:
        if matched < len(shape) and are_compatible_sizes(size, shape[matched]):
            matched += 1
    if matched != len(shape):
        raise signature.located_error(
            f"The shape of reduction-region's argument at index {other} is not compatible with that of "
            f"reduce-op's input-parameter at index {index}"
        )


def is_alike(left: Type, right: Type, ignores_precision: bool) -> bool:
    """Whether two tensors have compatible shapes and the same elements."""
    if not isinstance(right, ShapedType) or not are_compatible_shapes([left, right]):
        return False
    a, b = element_of(left), element_of(right)
    return a is b or (ignores_precision and isinstance(a, FloatType) and isinstance(b, FloatType))


def _is_promotable(source: Type, target: Type) -> bool:
    """Whether elements of one tensor fit into those of another; any float fits into any other."""
    a, b = element_of(source), element_of(target)
    if isinstance(a, FloatType) and isinstance(b, FloatType):
        return True
    if isinstance(a, QuantizedType) and isinstance(b, QuantizedType):
        return a.expressed is b.expressed and _width(a) <= _width(b)
    for cls in (IntegerType, ComplexType):
        if isinstance(a, cls) and isinstance(b, cls):
            return _width(a) <= _width(b)
    return False


def _width(type: Type) -> int:
    if isinstance(type, ComplexType):
        return 2 * _width(type.element)
    if isinstance(type, QuantizedType):
        return _width(type.storage)
    assert isinstance(type, IntegerType | FloatType)
    return type.width
