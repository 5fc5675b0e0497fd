"""The reshards at the boundary of a program: arguments, results, and the state that steps carry on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sdyopt.analysis.figures.causes import consumers, producer
from sdyopt.analysis.figures.execution_counts import entry_functions, functions_in, is_passed_on
from sdyopt.analysis.figures.figures import Boundary, Carried
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.memory_figures import ValueTexts, printed_sharding
from sdyopt.analysis.figures.peak_memory import ALIASING_OUTPUT, BUFFER_DONOR, aliased_results
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllToAllOp, CollectiveOp, CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result, result_text
from sdyopt.shardy.sharding.axis_lists import is_prefix

# The collectives that reshard without computing anything.
RESHARDS = (AllGatherOp, AllToAllOp, CollectivePermuteOp)
# The operations whose result is their first operand, or a part of it, in another form.
_PARTS = (
    ConvertOp,
    ReshapeOp,
    TransposeOp,
    SliceOp,
    DynamicSliceOp,
    CollectiveOp,
    ShardingConstraintOp,
    DataFlowEdgeOp,
)
_MAX_STEPS = 32


def is_activation_reshard(op: CollectiveOp) -> bool:
    """Whether a collective reshards a value that is no argument, no part of one, and no result."""
    return isinstance(op, RESHARDS) and not _is_returned(op) and not is_of_argument(producer(op))


def is_result_reshard(op: CollectiveOp) -> bool:
    """Whether a collective reshards a result that is no argument, and no part of one."""
    return isinstance(op, RESHARDS) and _is_returned(op) and not is_of_argument(producer(op))


def _is_returned(op: CollectiveOp) -> bool:
    return any(isinstance(user, ReturnOp) and isinstance(user.parent_op, FuncOp) for user in consumers(op))


def is_of_argument(value: Value) -> bool:
    """Whether a value is an argument of the program, or a part of one."""
    for _ in range(_MAX_STEPS):
        owner = value.block.parent_op if isinstance(value, BlockArgument) else value.defining_op
        if isinstance(owner, FuncOp):
            return True
        if isinstance(value, BlockArgument) and isinstance(owner, WhileOp):
            # What enters the loop, unless an iteration changes it.
            if not is_passed_on(owner, value.index):
                return False
            value = owner.operands[value.index]
        elif isinstance(owner, OptimizationBarrierOp) and isinstance(value, OpResult):
            value = owner.operand_at(value.index)
        elif isinstance(owner, _PARTS) and not isinstance(value, BlockArgument):
            value = owner.operand_at(0)
        else:
            return False
    return False


def carried_results(function: FuncOp) -> dict[int, int]:
    """The donated arguments of an entry function, and the numbers of the results that the next step gets.

    JAX writes `tf.aliasing_output` if their shardings are known to be equal. Otherwise it writes
    `jax.buffer_donor`, and the result is the first one of this type that is left, as in JAX; rather the one
    with the name of the argument: `result[0]['w']` for `params['w']`.
    """
    numbering = aliased_results(function)
    donors = {
        index: _key_path(name_of(function.entry.arguments[index]))
        for index, dictionary in enumerate(function.argument_attributes)
        if BUFFER_DONOR in dictionary and index not in numbering
    }
    if not donors:
        return numbering
    types, taken = function.function_type.inputs, set(numbering.values())
    lengths = {len(name) for name in donors.values()} - {0}
    # The results that are left, the last first: of a type, and of a type and an end of their names.
    free: dict[tuple[Type, str], list[int]] = {}
    for number, type in reversed(list(enumerate(function.function_type.results))):
        if number not in taken:
            name = name_of_result(function, number)
            for end in ("", *(name[-length:] for length in lengths)):
                free.setdefault((type, end), []).append(number)

    def take(index: int, end: str) -> bool:
        numbers = free.get((types[index], end), [])
        while numbers:
            if (number := numbers.pop()) not in taken:
                taken.add(number)
                numbering[index] = number
                return True
        return False

    for index in [index for index, name in donors.items() if not name or not take(index, name)]:
        take(index, "")
    return numbering


def _key_path(name: str) -> str:
    """`['layers'][0]['w']` of `params['layers'][0]['w']`."""
    return "".join(re.findall(r"^\w++(.*)$", name))


def carried_state(module: Op, shapes: LocalShapes, names: Mapping[Value, str]) -> Iterator[Carried]:
    """The donated arguments of a program whose sharding is not that of the result in their place."""
    for function in entry_functions(functions_in(module)):
        if function.is_declaration:
            continue
        for index, number in sorted(carried_results(function).items()):
            argument = function.entry.arguments[index]
            before, after = shapes.sharding(argument), function.result_attributes[number].get(SHARDING)
            if isinstance(after, TensorSharding) and not is_same_sharding(before, after):
                location = source_location(argument.location)
                yield Carried(
                    location.name_stack or names[argument],
                    number,
                    printed_sharding(before),
                    printed_sharding(after),
                    shapes.bytes_of(argument.type, after),
                    _sent(shapes, argument.type, before, after),
                    location,
                )


def boundary_of(module: Op, names: Mapping[Value, str], texts: ValueTexts) -> Boundary:
    """The arguments and results of the entry functions of a program."""
    arguments, results = [], []
    for function in entry_functions(functions_in(module)):
        if function.is_declaration:
            continue
        for argument, attributes in zip(function.entry.arguments, function.argument_attributes, strict=True):
            sharding, name = texts.shapes.sharding(argument), name_of(argument) or names[argument]
            is_donated = ALIASING_OUTPUT in attributes or BUFFER_DONOR in attributes
            arguments.append(texts.boundary_value(name, argument.type, sharding, is_donated))
        for index, type in enumerate(function.function_type.results):
            attribute = function.result_attributes[index].get(SHARDING)
            sharding = attribute if isinstance(attribute, TensorSharding) else None
            results.append(texts.boundary_value(result_text(function, index), type, sharding))
    return Boundary(arguments, results)


def sent_between_steps(
    shapes: LocalShapes, type: Type, result: TensorSharding | None, argument: TensorSharding | None
) -> int:
    """The most that a device sends to give a result the sharding of the donated argument that it becomes."""
    if result is None or is_same_sharding(argument, result):
        return 0
    return _sent(shapes, type, argument, result) or 0


def _sent(
    shapes: LocalShapes, type: Type, before: TensorSharding | None, after: TensorSharding
) -> int | None:
    """The most that a device sends to give a result the sharding of the argument. Slices send nothing."""
    taken, made = shapes.bytes_of(type, before), shapes.bytes_of(type, after)
    if taken is None or made is None:
        return None
    old = [()] * after.rank if before is None else [dim.axes for dim in before.dims]
    pairs = [(dim, new.axes) for dim, new in zip(old, after.dims, strict=True)]
    if all(is_prefix(new, dim) for dim, new in pairs):
        return 0
    return taken - made if all(is_prefix(dim, new) for dim, new in pairs) else taken


def is_same_sharding(before: TensorSharding | None, after: TensorSharding) -> bool:
    """Whether a value without axes, if None, and a sharding have the same axes in each dimension."""
    if before is None:
        return after.is_fully_replicated
    return [dim.axes for dim in before.dims] == [dim.axes for dim in after.dims]
