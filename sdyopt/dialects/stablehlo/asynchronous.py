"""stablehlo operations that run others in the background: async_start, async_done."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.stablehlo.bodies import SINGLE_BLOCK, body_of, quoted
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.traits import INFERS_COMPATIBLE_TYPES
from sdyopt.dialects.stablehlo.types import FUTURE, TENSOR, FutureType
from sdyopt.ir import fields
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import ONE_BLOCK
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import ISOLATED, RENAMES_OPERANDS
from sdyopt.ir.types import Type

# What may run in the background.
_ASYNCHRONOUS = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("reduce_scatter", "slice", "dynamic_slice", "dynamic_update_slice"),
    )
)


@stablehlo.op("async_start", SINGLE_BLOCK, ISOLATED, RENAMES_OPERANDS, INFERS_COMPATIBLE_TYPES)
class AsyncStartOp(Op):
    """Starts the operation in its body, and gives what will be its result."""

    __slots__ = ()

    inputs = fields.operands(TENSOR)
    out = fields.result(FUTURE)
    body = fields.region(ONE_BLOCK)

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> Sequence[Type]:
        _check_single_op(form, regions[0])
        body = body_of(regions[0])
        inputs = form.operand_types
        if len(inputs) != len(body.arguments):
            raise form.located_error(
                f"'{form.name}' op number of operands ({len(inputs)}) must match number of region "
                f"arguments ({len(body.arguments)})"
            )
        for index, (input, argument) in enumerate(zip(inputs, body.arguments, strict=True)):
            if input is not argument:
                raise form.located_error(
                    f"'{form.name}' op operand type {quoted(input)} at index {index} must match region "
                    f"argument type {quoted(argument)}"
                )
        if len(body.returned) != 1:
            raise form.located_error(
                f"'{form.name}' op region must return exactly one value, but got {len(body.returned)}"
            )
        return [FutureType(body.returned)]


def _check_single_op(form: Form, region: Region) -> None:
    first, last = region.blocks[0].first, region.blocks[0].last
    if first is None or first is last or first.next is not last:
        raise form.located_error(f"'{form.name}' op region must contain exactly one operation and a return")
    if first.form.name not in _ASYNCHRONOUS:
        raise form.located_error(f"'{form.name}' op region must contain a collective or slice operation")


@stablehlo.op("async_done", INFERS_COMPATIBLE_TYPES)
class AsyncDoneOp(Op):
    """Waits for what an async_start has started, and gives its result."""

    __slots__ = ()

    future = fields.operand(FUTURE)
    out = fields.result(TENSOR)

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> Sequence[Type]:
        future = form.future
        assert isinstance(future, FutureType)
        if len(future.types) != 1:
            raise form.located_error(
                f"'{form.name}' op future must have exactly one type parameter, but got {len(future.types)}"
            )
        return future.types
