"""stablehlo operations that keep the elements and change the shape, or read it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.dialects.stablehlo import types
from sdyopt.dialects.stablehlo.asm import (
    AllOperands,
    SameOperandsAndResultType,
    i64_list_attr,
    integer_attr,
)
from sdyopt.dialects.stablehlo.bounds import Bounds, bounds_of, encoding_with
from sdyopt.dialects.stablehlo.compatible import are_compatible
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.quantized import (
    bit_width,
    check_broadcast_scales,
    check_element_types,
    check_reshape_scales,
    check_same_scale,
    check_same_scales,
    quantized_axis,
)
from sdyopt.dialects.stablehlo.shape_operand import check_shape_operand, constant_integers
from sdyopt.dialects.stablehlo.traits import COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.ir import fields
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ARRAY, I64_ATTR, non_negative
from sdyopt.ir.fields import attr, operand, optional_attr, result
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE, are_compatible_sizes
from sdyopt.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.ir.types import DYNAMIC, I32, ComplexType, RankedTensor, Type, tensor
from sdyopt.ir.verify_form import compare_types
from sdyopt.syntax.assembly import AttrDict, FunctionalType, Operand, assembly
from sdyopt.syntax.spell import plain_type

# --- Broadcasting ---------------------------------------------------------------------------


@stablehlo.op("broadcast_in_dim", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES)
class BroadcastInDimOp(Op):
    """Repeats elements along the dimensions that the operand does not have, or has with size 1."""

    __slots__ = ()

    operand = operand(types.TENSOR_OR_PER_AXIS)
    broadcast_dimensions = attr(I64_ARRAY)
    out = result(types.STATIC_OR_BOUNDED_TENSOR)

    assembly = assembly(
        Operand("operand"),
        ",",
        "dims",
        "=",
        i64_list_attr("broadcast_dimensions"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target, dimensions = form.operand, form.out, form.broadcast_dimensions
        check_same_scale(form, source, target)  # broadcast_in_dim_c1
        _check_dimension_count(form)  # broadcast_in_dim_c2
        _check_unique(form)  # broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(form, dimension)  # broadcast_in_dim_c3
            if size not in (DYNAMIC, 1, target.shape[dimension]):  # broadcast_in_dim_c5
                raise form.located_error(
                    f"size of operand dimension {index} ({size}) is not equal to 1 or size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )
        check_broadcast_scales(form)  # broadcast_in_dim_c6


@stablehlo.op("dynamic_broadcast_in_dim", NO_MEMORY_EFFECT)
class DynamicBroadcastInDimOp(Op):
    """The same for a shape that the program computes."""

    __slots__ = ()

    operand = fields.operand(types.TENSOR_OR_PER_AXIS)
    output_dimensions = fields.operand(types.STATIC_DIMENSION_TENSOR)
    broadcast_dimensions = attr(I64_ARRAY)
    known_expanding_dimensions = optional_attr(I64_ARRAY)
    known_nonexpanding_dimensions = optional_attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS)

    assembly = assembly(
        Operand("operand"),
        ",",
        Operand("output_dimensions"),
        ",",
        "dims",
        "=",
        i64_list_attr("broadcast_dimensions"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target, dimensions = form.operand, form.out, form.broadcast_dimensions
        check_element_types(form, source, target)  # dynamic_broadcast_in_dim_c1
        _check_dimension_count(form)  # dynamic_broadcast_in_dim_c2
        if target.rank < source.rank:  # dynamic_broadcast_in_dim_c3
            raise form.located_error(f"result rank ({target.rank}) is less than operand rank ({source.rank})")
        _check_unique(form)  # dynamic_broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(form, dimension)  # dynamic_broadcast_in_dim_c5
            if size not in (DYNAMIC, 1) and target.shape[dimension] not in (DYNAMIC, size):
                raise form.located_error(
                    f"size of operand dimension {index} ({size}) is not compatible with size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )

    def verify_place(self) -> None:
        form = self.form
        check_shape_operand(self, self.output_dimensions, form.out)  # dynamic_broadcast_in_dim_c7
        hints = (form.known_expanding_dimensions or ()) + (form.known_nonexpanding_dimensions or ())
        if len(set(hints)) != len(hints):  # dynamic_broadcast_in_dim_c8
            raise self.form.located_error("duplicate expansion hint for at least one operand dimension")
        for dimension in hints:  # dynamic_broadcast_in_dim_c9, dynamic_broadcast_in_dim_c10
            if not 0 <= dimension < form.operand.rank:
                raise self.form.located_error(
                    f"hint for expanding dimension {dimension} does not refer to a valid operand dimension"
                )
        self._check_against_shape()
        check_broadcast_scales(form)  # dynamic_broadcast_in_dim_c6

    def _check_against_shape(self) -> None:
        source = self.form.operand
        shape = constant_integers(self.output_dimensions) if source.has_static_shape else None
        if shape is None:
            return
        for index, dimension in enumerate(self.form.broadcast_dimensions):
            if source.shape[index] not in (1, shape[dimension]):
                raise self.form.located_error(
                    f"size of operand dimension {index} ({source.shape[index]}) is not equal to 1 or value "
                    f"of shape at index {dimension} ({shape[dimension]})"
                )


@stablehlo.op("broadcast", PURE, SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class BroadcastOp(Op):
    """Repeats the whole operand along new dimensions before its own."""

    __slots__ = ()

    operand = operand(types.TENSOR)
    broadcast_sizes = attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS)

    assembly = assembly(
        Operand("operand"),
        ",",
        "sizes",
        "=",
        i64_list_attr("broadcast_sizes"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        for size in form.broadcast_sizes:
            if size < 0:
                raise form.located_error(f"Broadcast with negative dimension size {size}")
        return [tensor(form.broadcast_sizes + form.operand.shape, form.operand.element)]


def _check_dimension_count(form: Form) -> None:
    count, rank = len(form.broadcast_dimensions), form.operand.rank
    if count != rank:
        raise form.located_error(f"broadcast_dimensions size ({count}) does not match operand rank ({rank})")


def _check_unique(form: Form) -> None:
    if len(set(form.broadcast_dimensions)) != len(form.broadcast_dimensions):
        raise form.located_error("broadcast_dimensions should not have duplicates")


def _check_in_result(form: Form, dimension: int) -> None:
    if not 0 <= dimension < form.out.rank:
        raise form.located_error(
            f"broadcast_dimensions contains invalid value {dimension} for result with rank {form.out.rank}"
        )


# --- Reshaping ------------------------------------------------------------------------------


@stablehlo.op("reshape", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES)
class ReshapeOp(Op):
    """The same elements in the same order, in another shape."""

    __slots__ = ()

    operand = operand(types.TENSOR_OR_PER_AXIS)
    out = result(types.STATIC_OR_BOUNDED_TENSOR)

    assembly = assembly(AllOperands(), AttrDict(), ":", FunctionalType())

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target = form.operand, form.out
        if not source.has_static_shape or not target.has_static_shape:
            return
        check_element_counts(form, source, target)
        check_reshape_scales(form, source, target)


@stablehlo.op("dynamic_reshape", NO_MEMORY_EFFECT)
class DynamicReshapeOp(Op):
    """The same for a shape that the program computes."""

    __slots__ = ()

    operand = fields.operand(types.TENSOR_OR_PER_AXIS)
    output_shape = fields.operand(types.STATIC_DIMENSION_TENSOR)
    out = result(types.TENSOR_OR_PER_AXIS)

    assembly = assembly(AllOperands(), AttrDict(), ":", FunctionalType())

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target = form.operand, form.out
        check_element_types(form, source, target)  # dynamic_reshape_c1
        if source.has_static_shape and target.has_static_shape:  # dynamic_reshape_c2
            check_element_counts(form, source, target)

    def verify_place(self) -> None:
        source, target = self.form.operand, self.form.out
        check_shape_operand(self, self.output_shape, target)  # dynamic_reshape_c4
        if self.form.output_shape.shape[0] != target.rank:
            raise self.form.located_error(
                "result should have a rank equal to the number of elements in output_shape"
            )
        shape = constant_integers(self.output_shape) if source.has_static_shape else None
        if shape is not None and prod(shape) != source.num_elements:
            raise self.form.located_error(
                f"output_shape is incompatible with input type of operation: input has "
                f"{source.num_elements} elements, but output_shape has {prod(shape)}"
            )
        check_reshape_scales(self.form, source, target)  # dynamic_reshape_c1, dynamic_reshape_c3


def check_element_counts(form: Form, source: RankedTensor, target: RankedTensor) -> None:
    """Both must have equally many elements."""
    if target.num_elements != source.num_elements:
        raise form.located_error(
            f"number of output elements ({target.num_elements}) doesn't match expected number of elements "
            f"({source.num_elements})"
        )


@stablehlo.op("bitcast_convert", NO_MEMORY_EFFECT)
class BitcastConvertOp(Op):
    """The same bits read as elements of another type; where that is wider, several make one."""

    __slots__ = ()

    operand = operand(types.TENSOR_OR_PER_AXIS)
    out = result(types.TENSOR_OR_PER_AXIS)

    assembly = assembly(AllOperands(), AttrDict(), ":", FunctionalType())

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target = form.operand, form.out
        got = f"'{plain_type(source)}' and '{plain_type(target)}'"
        if isinstance(source.element, ComplexType) != isinstance(target.element, ComplexType):
            raise form.located_error(  # bitcast_convert_c2
                f"cannot convert between real and complex types, but got: {got}"
            )
        widths = [bit_width(source.element), bit_width(target.element)]
        (small_width, small), (big_width, big) = (
            ((widths[0], source.shape), (widths[1], target.shape))
            if widths[0] < widths[1]
            else ((widths[1], target.shape), (widths[0], source.shape))
        )
        if small_width != big_width:  # bitcast_convert_c1
            if len(small) != len(big) + 1:
                raise form.located_error(
                    f"rank of smaller element type ({len(small)}) should be 1 more than rank of larger "
                    f"element type ({len(big)}), but {len(small)} != {len(big)} + 1."
                )
            last = small[-1]
            if last != DYNAMIC and last * small_width != big_width:
                raise form.located_error(
                    f"requires compatible bit widths. Got: {got}, but {small_width} * {last} != {big_width}."
                )
            small = small[:-1]
        if not all(map(are_compatible_sizes, small, big)):  # bitcast_convert_c1
            raise form.located_error(
                "operand and result shapes must match except for the innermost dimension of the shape with "
                f"the smaller element type. Got: {got}."
            )


@stablehlo.op("transpose", NO_MEMORY_EFFECT, COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES)
class TransposeOp(Op):
    """The same elements with the dimensions in another order."""

    __slots__ = ()

    operand = operand(types.TENSOR_OR_PER_AXIS)
    permutation = attr(I64_ARRAY)
    out = result(types.TENSOR_OR_PER_AXIS)

    assembly = assembly(
        Operand("operand"), ",", "dims", "=", i64_list_attr("permutation"), AttrDict(), ":", FunctionalType()
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        source, target = form.operand, form.out
        check_same_scale(form, source, target)  # transpose_c1
        check_same_scales(form, source, target)
        axis, source_axis = quantized_axis(target), quantized_axis(source)
        if axis is not None and source_axis is not None and axis < len(form.permutation):
            moved = form.permutation[axis]
            if source_axis != moved:  # transpose_c4
                raise form.located_error(
                    f"operand quantization_dimension {source_axis} is not same as permutation[{axis}] = "
                    f"{moved}"
                )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        source, permutation = form.operand, form.permutation
        if len(permutation) != source.rank:
            raise form.located_error(
                f"TransposeOp operand rank {source.rank} does not match permutation size {len(permutation)}"
            )
        if sorted(permutation) != list(range(source.rank)):
            expected, got = (", ".join(map(str, d)) for d in (range(source.rank), permutation))
            raise form.located_error(
                f"attribute permutation must be a permutation of [{expected}] but got {got}"
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
    """The same elements, back to front along some dimensions."""

    __slots__ = ()

    operand = operand(types.TENSOR)
    dimensions = attr(I64_ARRAY)
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("operand"),
        ",",
        "dims",
        "=",
        i64_list_attr("dimensions"),
        AttrDict(),
        ":",
        SameOperandsAndResultType(),
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        dimensions, rank = form.dimensions, form.operand.rank
        if len(set(dimensions)) != len(dimensions):  # reverse_c2
            got = ", ".join(map(str, dimensions))
            raise form.located_error(f"dimensions should be unique. Got: {got}")
        for dimension in dimensions:  # reverse_c3
            if dimension < 0:
                raise form.located_error(
                    f"all dimensions should be non-negative. Got dimension: {dimension}."
                )
            if dimension >= rank:
                raise form.located_error(
                    f"all dimensions should be between [0, {rank}). Got dimension: {dimension}."
                )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [form.operand]


# --- Sizes ----------------------------------------------------------------------------------


@stablehlo.op("get_dimension_size", PURE, INFERS_COMPATIBLE_TYPES)
class GetDimensionSizeOp(Op):
    """How long a dimension is."""

    __slots__ = ()

    operand = operand(types.TENSOR_OR_PER_AXIS)
    dimension = attr(non_negative(I64_ATTR))
    out = result(types.I32_TENSOR)

    assembly = assembly(
        Operand("operand"), ",", "dim", "=", integer_attr("dimension"), AttrDict(), ":", FunctionalType()
    )

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        _check_has_dimension(form)
        return [tensor((), I32)]


@stablehlo.op("set_dimension_size", NO_MEMORY_EFFECT)
class SetDimensionSizeOp(Op):
    """The same tensor, a dimension of which is as long as an operand says."""

    __slots__ = ()

    operand = fields.operand(types.TENSOR)
    size = fields.operand(types.I32_TENSOR)
    dimension = attr(non_negative(I64_ATTR))
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("operand"),
        ",",
        Operand("size"),
        ",",
        "dim",
        "=",
        integer_attr("dimension"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    def verify_place(self) -> None:
        # What is inferred depends on the size being a constant, so it cannot be part of the form.
        size = constant_integers(self.size)
        compare_types(self.form, lambda: [_type_with_size(self.form, size)], are_compatible, plain_type)


def _type_with_size(form: Form, size: list[int] | None) -> Type:
    """The type of the result: the old size bounds the new one, which may be known."""
    if form.size.rank:
        raise form.located_error("size operand should be of rank-0")
    source, dimension = form.operand, form.dimension
    _check_has_dimension(form)
    shape, bounds = list(source.shape), list(bounds_of(source) or (DYNAMIC,) * source.rank)
    if shape[dimension] != DYNAMIC:
        bounds[dimension] = shape[dimension]
    shape[dimension] = DYNAMIC
    if size is not None and size[0] == bounds[dimension]:
        shape[dimension], bounds[dimension] = size[0], DYNAMIC
    is_bounded = any(bound != DYNAMIC for bound in bounds)
    return RankedTensor(tuple(shape), source.element, Bounds(tuple(bounds)) if is_bounded else None)


def _check_has_dimension(form: Form) -> None:
    if form.dimension >= form.operand.rank:
        raise form.located_error(
            f"requires dimension attribute in range [0, {form.operand.rank}); found ({form.dimension})"
        )
