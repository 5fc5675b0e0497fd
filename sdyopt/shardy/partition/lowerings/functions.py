"""Functions and calls: arguments and results get the local types of their shardings."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import Attribute, TypeAttr
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(FuncOp)
def lower_function(function: FuncOp, local: LocalContext) -> Lowered:
    """Gives a function its local type. The types of its arguments are local already."""
    type: FunctionType = function.function_type
    inputs, results = (
        [
            local.types.local_type(type, _sharding(attributes.get(SHARDING)), function)
            for type, attributes in zip(types, dictionaries, strict=True)
        ]
        for types, dictionaries in (
            (type.inputs, function.argument_attributes),
            (type.results, function.result_attributes),
        )
    )
    local.rewriter.set_attribute(
        function, "function_type", TypeAttr(FunctionType(tuple(inputs), tuple(results)))
    )
    return None


@lowering(CallOp)
def lower_call(call: CallOp, local: LocalContext) -> Lowered:
    """Checks that the local operand and result types of a call are those of its callee."""
    callee = lookup_symbol(call, call.callee)
    assert isinstance(callee, FuncOp), "verified"
    sides = (
        ("operand", [value.type for value in call.operands], callee.argument_attributes, call.operand_types),
        (
            "result",
            [local.local_type(result, call) for result in call.results],
            callee.result_attributes,
            call.result_types,
        ),
    )
    for kind, got, dictionaries, global_types in sides:
        expected = [
            local.types.local_type(type, _sharding(attributes.get(SHARDING)), call)
            for type, attributes in zip(global_types, dictionaries, strict=True)
        ]
        _check_types(call, kind, got, expected)
    return None


def _check_types(call: CallOp, kind: str, got: Sequence[Type], expected: Sequence[Type]) -> None:
    for number, (type, expected_type) in enumerate(zip(got, expected, strict=True)):
        if type is not expected_type:
            raise call.op_error(
                f"{kind} {number} has local type '{plain_type(type)}', but '{plain_type(expected_type)}' in "
                f"the callee: the shardings differ"
            ).help("run -sdy-insert-func-call-reshards and -sdy-reshard-to-collectives before")


@lowering(ReturnOp)
def lower_return(op: ReturnOp, local: LocalContext) -> Lowered:
    """A return is local."""
    return None


def _sharding(attribute: Attribute | None) -> TensorSharding | None:
    return attribute if isinstance(attribute, TensorSharding) else None
