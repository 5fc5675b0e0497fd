"""stablehlo.async_start and async_done: asynchronous collectives and slices."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.stablehlo.dialect import quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.reducer import SINGLE_BLOCK, region_signature
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import FUTURE, TENSOR, FutureType
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import ONE_BLOCK
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ISOLATED, RENAMES_OPERANDS
from sdyopt.mlir.ir.types import Type

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
