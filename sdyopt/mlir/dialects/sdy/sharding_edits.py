"""Edits of shardings, and of functions together with the shardings of their arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
    with_manual_axes,
)
from sdyopt.mlir.dialects.sdy.value_shardings import (
    IN_SHARDINGS,
    DataFlowEdgeOp,
    argument_owners,
    owning_op,
    rank_of,
    shardable_value,
)
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, TypeAttr
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, Value


def set_sharding(value: Value, sharding: TensorSharding, rewriter: Rewriter) -> None:
    """Sets the sharding of a value. Does nothing if the value cannot have one.

    If one attribute stores the shardings of several values and has none yet, the others get fully open ones.
    """
    shardable = shardable_value(value)
    if shardable is None:
        return
    op, index = owning_op(shardable), shardable.index
    if FUNCTION in op.traits:
        rewriter.set_argument_attribute(op, index, SHARDING, sharding)
    elif isinstance(op, ManualComputationOp | NamedComputationOp):
        is_input = isinstance(shardable, BlockArgument)
        if is_input and isinstance(op, ManualComputationOp):
            sharding = with_manual_axes(sharding, op.in_shardings.shardings[index], op.manual_axes)
        name, values = ("in_shardings", op.operands) if is_input else ("out_shardings", op.results)
        _set_one(op, name, values, index, sharding, rewriter)
    elif isinstance(op, ShardingOwner):
        # The attribute that stores the sharding of the only result of an sdy operation.
        sharding_attribute_name = "sharding" if "sharding" in op.fields else "out_sharding"
        rewriter.set_attribute(op, sharding_attribute_name, sharding)
    elif isinstance(shardable, BlockArgument):
        owners = argument_owners(op)
        _set_one(op, IN_SHARDINGS, owners, owners.index(shardable), sharding, rewriter)
    else:
        _set_one(op, SHARDING, op.results, index, sharding, rewriter)


def remove_sharding(value: Value, rewriter: Rewriter) -> bool:
    """Removes the sharding of a value. Returns False if the value must have one.

    If one attribute stores the shardings of several values, that of this value becomes fully open, unless the
    others are so, too.
    """
    shardable = shardable_value(value)
    if shardable is None:
        return True
    op, index = owning_op(shardable), shardable.index
    if FUNCTION in op.traits:
        rewriter.set_argument_attribute(op, index, SHARDING, None)
    elif isinstance(op, DataFlowEdgeOp):
        rewriter.remove_attribute(op, "sharding")
    elif isinstance(op, ShardingOwner):
        return False
    elif isinstance(shardable, BlockArgument):
        _open_one(op, IN_SHARDINGS, argument_owners(op).index(shardable), rewriter)
    else:
        _open_one(op, SHARDING, index, rewriter)
    return True


def _open_one(op: Op, name: str, index: int, rewriter: Rewriter) -> None:
    """Makes one of the shardings that an attribute stores fully open."""
    shardings = op.attribute(name)
    if not isinstance(shardings, ShardingPerValue):
        return
    kept = list(shardings)
    kept[index] = _open(kept[index])
    if all(sharding is _open(sharding) for sharding in kept):
        rewriter.remove_attribute(op, name)
    else:
        rewriter.set_attribute(op, name, ShardingPerValue(tuple(kept)))


def _open(sharding: TensorSharding) -> TensorSharding:
    """The fully open sharding of the same rank and mesh."""
    return fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=False)


def _set_one(
    op: Op, name: str, values: Sequence[Value], index: int, sharding: TensorSharding, rewriter: Rewriter
) -> None:
    """Sets one of the shardings of `values`, which one attribute stores."""
    shardings = _all_shardings(op.attribute(name), values, sharding)
    shardings[index] = sharding
    rewriter.set_attribute(op, name, ShardingPerValue(tuple(shardings)))


def _all_shardings(
    attribute: Attribute | None, values: Sequence[Value], like: TensorSharding
) -> list[TensorSharding]:
    if isinstance(attribute, ShardingPerValue) and len(attribute):
        return list(attribute)
    return [fully_replicated(rank_of(value.type), like.mesh_or_ref, is_closed=False) for value in values]


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


def erase_arguments(function: FuncOp, indices: Collection[int], rewriter: Rewriter) -> None:
    """Erases unused arguments of a function with a body, and the operands of its calls."""
    if not indices:
        return
    for call in calls_of(function):
        rewriter.erase_operands(call, indices)
    old = function.function_type
    kept = [position for position in range(len(old.inputs)) if position not in indices]
    attributes = [function.argument_attributes[position] for position in kept]
    for index in sorted(indices, reverse=True):
        rewriter.erase_argument(function.entry.arguments[index])
    set_function_type(function, [old.inputs[position] for position in kept], old.results, rewriter)
    function.argument_attributes = attributes


def add_result(function: FuncOp, value: Value, rewriter: Rewriter) -> None:
    """Appends a value to the results of a function with one return, and to those of its calls."""
    for call in calls_of(function):
        replace_call(call, range(len(call.results)), [value.type], rewriter)
    [end] = returns_of(function)
    rewriter.set_operands(end, [*end.operands, value])
    old, dictionaries = function.function_type, [*function.result_attributes, EMPTY_DICT]
    set_function_type(function, old.inputs, (*old.results, value.type), rewriter)
    function.result_attributes = dictionaries


def erase_results(function: FuncOp, indices: Collection[int], rewriter: Rewriter) -> None:
    """Erases results of a function, which its calls must not use."""
    if not indices:
        return
    for call in calls_of(function):
        others = [position for position in range(len(call.results)) if position not in indices]
        replace_call(call, others, (), rewriter)
    for end in returns_of(function):
        rewriter.erase_operands(end, indices)
    old = function.function_type
    kept = [position for position in range(len(old.results)) if position not in indices]
    attributes = [function.result_attributes[position] for position in kept]
    set_function_type(function, old.inputs, [old.results[position] for position in kept], rewriter)
    function.result_attributes = attributes


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
