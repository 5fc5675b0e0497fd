"""Asynchronous operations, and transfers from and to the host."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.stablehlo.dialect import I64_ELEMENTS, quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.reducer import SINGLE_BLOCK, region_signature
from sdyopt.mlir.dialects.stablehlo.replica_groups import (
    CHANNEL_HANDLE,
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    ChannelHandle,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import (
    FUTURE,
    STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN,
    TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    TOKEN,
    TOKEN_TYPE,
    FutureType,
    TokenType,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import ArrayAttr, StringAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, IntegerAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ARRAY_ATTR, BOOL_ATTR, ISOLATED, ONE_BLOCK, RENAMES_OPERANDS, STRING_ATTR
from sdyopt.mlir.ir.types import RankedTensor, Type, UnrankedTensor

# The operations that the body of async_start may contain.
_BODY_OPERATIONS = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "reduce_scatter", "slice", "dynamic_slice", "dynamic_update_slice"),
    )
)


@stablehlo.op("async_start", SINGLE_BLOCK, ISOLATED, RENAMES_OPERANDS, INFERS_COMPATIBLE_TYPES)
class AsyncStartOp(Op):
    """Starts the operation in the body, and returns a future of the result."""

    inputs = op_fields.operands(TENSOR)
    out = op_fields.result(FUTURE)
    body = op_fields.region(ONE_BLOCK)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        _check_single_op(signature, regions[0])
        body = region_signature(regions[0])
        inputs = signature.operand_types
        if len(inputs) != len(body.argument_types):
            raise signature.error_without_op_note(
                f"'{signature.name}' op number of operands ({len(inputs)}) must match number of region "
                f"arguments ({len(body.argument_types)})"
            )
        for index, (input, argument) in enumerate(zip(inputs, body.argument_types, strict=True)):
            if input is not argument:
                raise signature.error_without_op_note(
                    f"'{signature.name}' op operand type {quoted(input)} at index {index} must match region "
                    f"argument type {quoted(argument)}"
                )
        if len(body.returned_types) != 1:
            raise signature.error_without_op_note(
                f"'{signature.name}' op region must return exactly one value, but got "
                f"{len(body.returned_types)}"
            )
        return [FutureType(body.returned_types)]


def _check_single_op(signature: OpSignature, region: Region) -> None:
    first, last = region.blocks[0].first, region.blocks[0].last
    if first is None or first is last or first.next is not last:
        raise signature.error_without_op_note(
            f"'{signature.name}' op region must contain exactly one operation and a return"
        )
    if first.signature.name not in _BODY_OPERATIONS:
        raise signature.error_without_op_note(
            f"'{signature.name}' op region must contain a collective or slice operation"
        )


@stablehlo.op("async_done", INFERS_COMPATIBLE_TYPES)
class AsyncDoneOp(Op):
    """Waits for a future of async_start and returns its value."""

    future = op_fields.operand(FUTURE)
    out = op_fields.result(TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        future = signature[AsyncDoneOp.future]
        assert isinstance(future, FutureType)
        if len(future.types) != 1:
            raise signature.error_without_op_note(
                f"'{signature.name}' op future must have exactly one type parameter, but got"
                f" {len(future.types)}"
            )
        return future.types


_NO_CONFIG = StringAttr("")


@stablehlo.op("infeed")
class InfeedOp(Op):
    """Reads from the infeed."""

    token = op_fields.operand(TOKEN)
    infeed_config = op_fields.attr(STRING_ATTR, default=_NO_CONFIG)
    layout = op_fields.optional_attr(ARRAY_ATTR)
    out = op_fields.results(STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_result_types(signature, "all elements of result types, except the last element, are")
        layout = signature[InfeedOp.layout]
        if layout is not None:
            _check_layout(signature, layout)


def _check_result_types(signature: OpSignature, subject: str) -> None:
    """Checks that the results are tensors and a final token.

    `subject` starts the message about a result that is no tensor.
    """
    types = signature.result_types
    if not types:  # infeed_c1, recv_c2
        raise signature.error_without_op_note("result is expected to be at least of size 1, but got 0")
    for type in types[:-1]:
        if not isinstance(type, RankedTensor | UnrankedTensor):  # infeed_c2, recv_c3
            raise signature.error_without_op_note(
                f"{subject} expected to be of tensor type, but got {quoted(type)}"
            )
    if not isinstance(types[-1], TokenType):  # infeed_c3, recv_c4
        raise signature.error_without_op_note(
            f"last element of result types is expected to be of token type, but got {quoted(types[-1])}"
        )


def _check_layout(signature: OpSignature, layout: ArrayAttr) -> None:
    count = len(signature.result_types) - 1
    if len(layout) != count:
        raise signature.error_without_op_note(
            f"layout-attribute size must be {count} (which is the number of op-results - 1 (for token "
            f"result)), but got {len(layout)}"
        )
    for child in layout:
        if not isinstance(child, ArrayAttr):
            raise signature.error_without_op_note(
                f"layout-attribute expected to have elements of type array, but got {plain_attribute(child)}"
            )
        for leaf in child:
            if not isinstance(leaf, IntegerAttr):
                raise signature.error_without_op_note(
                    "layout-attribute's leaf elements are expected to be of type integer, but got "
                    f"{plain_attribute(leaf)}"
                )


@stablehlo.op("outfeed", INFERS_COMPATIBLE_TYPES)
class OutfeedOp(Op):
    """Writes to the outfeed."""

    inputs = op_fields.operands(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    token = op_fields.operand(TOKEN)
    outfeed_config = op_fields.attr(STRING_ATTR, default=_NO_CONFIG)
    out = op_fields.result(TOKEN)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return [TOKEN_TYPE]


@stablehlo.op("send", INFERS_COMPATIBLE_TYPES)
class SendOp(Op):
    """Sends tensors over a channel."""

    inputs = op_fields.operands(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    token = op_fields.operand(TOKEN)
    channel_handle = op_fields.attr(CHANNEL_HANDLE)
    is_host_transfer = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    source_target_pairs = op_fields.optional_attr(I64_ELEMENTS)
    out = op_fields.result(TOKEN)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        is_host, channel = signature[SendOp.is_host_transfer], signature[SendOp.channel_handle]
        _check_channel_type(signature, is_host, channel, DEVICE_TO_HOST, "DEVICE_TO_HOST")  # send_c1_i4
        return [TOKEN_TYPE]


@stablehlo.op("recv")
class RecvOp(Op):
    """Receives tensors over a channel."""

    token = op_fields.operand(TOKEN)
    channel_handle = op_fields.attr(CHANNEL_HANDLE)
    is_host_transfer = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    source_target_pairs = op_fields.optional_attr(I64_ELEMENTS)
    out = op_fields.results(STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        is_host, channel = signature[RecvOp.is_host_transfer], signature[RecvOp.channel_handle]
        _check_channel_type(signature, is_host, channel, HOST_TO_DEVICE, "HOST_TO_DEVICE")  # recv_c1_i3
        _check_result_types(signature, "everything but the last element of result types is")


def _check_channel_type(
    signature: OpSignature, is_host: bool, channel: ChannelHandle, host_type: int, host_name: str
) -> None:
    if not is_host and channel.type != DEVICE_TO_DEVICE:
        raise signature.error_without_op_note(
            "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false"
        )
    if is_host and channel.type != host_type:
        raise signature.error_without_op_note(
            f"channel_type should be {host_name} when is_host_transfer is true"
        )
