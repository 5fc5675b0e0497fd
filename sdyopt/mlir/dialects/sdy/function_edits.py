"""Edits of the arguments and results of functions, which also edit the calls of these functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.attribute import EMPTY_DICT, TypeAttr
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, Value

T = TypeVar("T")


def calls_of(function: FuncOp) -> list[CallOp]:
    """The calls of a function in its module."""
    module = function.parent_op
    assert module is not None
    return [call for call in module.nested(CallOp) if call.callee == function.sym_name]


def returns_of(function: FuncOp) -> list[Op]:
    """The operations that return from a function."""
    terminators = (block.terminator for block in function.body.blocks)
    return [terminator for terminator in terminators if isinstance(terminator, ReturnOp)]


def set_function_type(
    function: FuncOp, inputs: Iterable[Type], results: Iterable[Type], rewriter: Rewriter
) -> None:
    """Sets the types of arguments and results. Their attributes must follow."""
    type = FunctionType(tuple(inputs), tuple(results))
    rewriter.set_attribute(function, "function_type", TypeAttr(type))


def add_argument(
    function: FuncOp, type: Type, rewriter: Rewriter, location: LazyLocation = UNKNOWN
) -> BlockArgument:
    """Appends an argument to a function with a body. Its calls lack an operand then."""
    argument = rewriter.add_argument(function.entry, type, location)
    old, dictionaries = function.function_type, [*function.argument_attributes, EMPTY_DICT]
    set_function_type(function, (*old.inputs, type), old.results, rewriter)
    function.argument_attributes = dictionaries
    return argument


def erase_argument(function: FuncOp, index: int, rewriter: Rewriter) -> None:
    """Erases an unused argument of a function with a body, and the operands of its calls."""
    for call in calls_of(function):
        rewriter.erase_operands(call, [index])
    old, dictionaries = function.function_type, function.argument_attributes
    rewriter.erase_argument(function.entry.arguments[index])
    set_function_type(function, _without(old.inputs, index), old.results, rewriter)
    function.argument_attributes = _without(dictionaries, index)


def add_result(function: FuncOp, value: Value, rewriter: Rewriter) -> None:
    """Appends a value to the results of a function with one return, and to those of its calls."""
    for call in calls_of(function):
        replace_call(call, range(len(call.results)), [value.type], rewriter)
    [end] = returns_of(function)
    rewriter.set_operands(end, [*end.operands, value])
    old, dictionaries = function.function_type, [*function.result_attributes, EMPTY_DICT]
    set_function_type(function, old.inputs, (*old.results, value.type), rewriter)
    function.result_attributes = dictionaries


def erase_result(function: FuncOp, index: int, rewriter: Rewriter) -> None:
    """Erases a result of a function, which its calls must not use."""
    for call in calls_of(function):
        replace_call(call, _others(len(call.results), index), (), rewriter)
    for end in returns_of(function):
        rewriter.erase_operands(end, [index])
    old, dictionaries = function.function_type, function.result_attributes
    set_function_type(function, old.inputs, _without(old.results, index), rewriter)
    function.result_attributes = _without(dictionaries, index)


def inline_call(call: CallOp, function: FuncOp, rewriter: Rewriter) -> None:
    """Replaces a call by a copy of the body of the function, which is a single block."""
    [block] = function.body.blocks
    values: dict[Value, Value] = dict(zip(block.arguments, call.operands, strict=True))
    for op in block.ops:
        if isinstance(op, ReturnOp):
            rewriter.replace(call, [values.get(value, value) for value in op.operands])
        else:
            rewriter.insert(rewriter.clone(op, values), before=call)


def replace_call(call: CallOp, kept: Sequence[int], added: Sequence[Type], rewriter: Rewriter) -> None:
    """Replaces a call by one with some of its results, which alone may be used, and with further ones."""
    attributes = dict((*call.inherent_attributes().entries, *call.attributes.entries))
    attributes.pop("res_attrs", None)
    shardings = attributes.pop(SHARDING, None)
    if isinstance(shardings, ShardingPerValue) and (kept or added):
        mesh = shardings.shardings[0].mesh_or_ref
        new_ones = [fully_replicated(rank_of(type), mesh, is_closed=False) for type in added]
        attributes[SHARDING] = ShardingPerValue((*(shardings.shardings[i] for i in kept), *new_ones))
    types = [*(call.results[index].type for index in kept), *added]
    new = rewriter.create(CallOp, call.operands, types, attributes, before=call, location=call.lazy_location)
    for index, result in zip(kept, new.results, strict=False):
        rewriter.replace_all_uses(call.results[index], result)
    rewriter.erase(call)


def _others(count: int, index: int) -> list[int]:
    """The indices of all items but one."""
    return [position for position in range(count) if position != index]


def _without(items: Sequence[T], index: int) -> list[T]:
    return [*items[:index], *items[index + 1 :]]
