"""stablehlo operations that repeat elements to fill a larger shape."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, FunctionalType, Operand, assembly
from sdyopt.dialects.stablehlo import types
from sdyopt.dialects.stablehlo.assembly_directives import i64_list_attr
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.quantized import check_broadcast_scales, check_element_types, check_same_scale
from sdyopt.dialects.stablehlo.shape_operand import check_shape_operand, constant_integers
from sdyopt.dialects.stablehlo.traits import COMPATIBLE_ELEMENT_TYPES, INFERS_COMPATIBLE_TYPES
from sdyopt.ir import op_fields
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ARRAY
from sdyopt.ir.op_fields import attr, operand, optional_attr, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import SAME_ELEMENT_TYPE
from sdyopt.ir.traits import NO_MEMORY_EFFECT, PURE
from sdyopt.ir.types import DYNAMIC, Type, tensor


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
    def verify_signature(signature: OpSignature) -> None:
        source, target, dimensions = signature.operand, signature.out, signature.broadcast_dimensions
        check_same_scale(signature, source, target)  # broadcast_in_dim_c1
        _check_dimension_count(signature)  # broadcast_in_dim_c2
        _check_unique(signature)  # broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(signature, dimension)  # broadcast_in_dim_c3
            if size not in (DYNAMIC, 1, target.shape[dimension]):  # broadcast_in_dim_c5
                raise signature.located_error(
                    f"size of operand dimension {index} ({size}) is not equal to 1 or size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )
        check_broadcast_scales(signature)  # broadcast_in_dim_c6


@stablehlo.op("dynamic_broadcast_in_dim", NO_MEMORY_EFFECT)
class DynamicBroadcastInDimOp(Op):
    """The same for a shape that the program computes."""

    __slots__ = ()

    operand = op_fields.operand(types.TENSOR_OR_PER_AXIS)
    output_dimensions = op_fields.operand(types.STATIC_DIMENSION_TENSOR)
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
    def verify_signature(signature: OpSignature) -> None:
        source, target, dimensions = signature.operand, signature.out, signature.broadcast_dimensions
        check_element_types(signature, source, target)  # dynamic_broadcast_in_dim_c1
        _check_dimension_count(signature)  # dynamic_broadcast_in_dim_c2
        if target.rank < source.rank:  # dynamic_broadcast_in_dim_c3
            raise signature.located_error(
                f"result rank ({target.rank}) is less than operand rank ({source.rank})"
            )
        _check_unique(signature)  # dynamic_broadcast_in_dim_c4
        for index, (size, dimension) in enumerate(zip(source.shape, dimensions, strict=True)):
            _check_in_result(signature, dimension)  # dynamic_broadcast_in_dim_c5
            if size not in (DYNAMIC, 1) and target.shape[dimension] not in (DYNAMIC, size):
                raise signature.located_error(
                    f"size of operand dimension {index} ({size}) is not compatible with size of result "
                    f"dimension {dimension} ({target.shape[dimension]})"
                )

    def verify_in_context(self) -> None:
        signature = self.signature
        check_shape_operand(self, self.output_dimensions, signature.out)  # dynamic_broadcast_in_dim_c7
        hints = (signature.known_expanding_dimensions or ()) + (signature.known_nonexpanding_dimensions or ())
        if len(set(hints)) != len(hints):  # dynamic_broadcast_in_dim_c8
            raise self.signature.located_error("duplicate expansion hint for at least one operand dimension")
        for dimension in hints:  # dynamic_broadcast_in_dim_c9, dynamic_broadcast_in_dim_c10
            if not 0 <= dimension < signature.operand.rank:
                raise self.signature.located_error(
                    f"hint for expanding dimension {dimension} does not refer to a valid operand dimension"
                )
        self._check_against_shape()
        check_broadcast_scales(signature)  # dynamic_broadcast_in_dim_c6

    def _check_against_shape(self) -> None:
        source = self.signature.operand
        shape = constant_integers(self.output_dimensions) if source.has_static_shape else None
        if shape is None:
            return
        for index, dimension in enumerate(self.signature.broadcast_dimensions):
            if source.shape[index] not in (1, shape[dimension]):
                raise self.signature.located_error(
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
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        for size in signature.broadcast_sizes:
            if size < 0:
                raise signature.located_error(f"Broadcast with negative dimension size {size}")
        return [tensor(signature.broadcast_sizes + signature.operand.shape, signature.operand.element)]


def _check_dimension_count(signature: OpSignature) -> None:
    count, rank = len(signature.broadcast_dimensions), signature.operand.rank
    if count != rank:
        raise signature.located_error(
            f"broadcast_dimensions size ({count}) does not match operand rank ({rank})"
        )


def _check_unique(signature: OpSignature) -> None:
    if len(set(signature.broadcast_dimensions)) != len(signature.broadcast_dimensions):
        raise signature.located_error("broadcast_dimensions should not have duplicates")


def _check_in_result(signature: OpSignature, dimension: int) -> None:
    if not 0 <= dimension < signature.out.rank:
        raise signature.located_error(
            f"broadcast_dimensions contains invalid value {dimension} for result with rank"
            f" {signature.out.rank}"
        )
