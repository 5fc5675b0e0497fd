"""The patterns of stablehlo-aggressive-simplification for operations with regions, and for empty tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.mlir.dialects.arith.compare import ConstantOp as IndexConstantOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, SortOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, DynamicBroadcastInDimOp
from sdyopt.mlir.dialects.tensor.values import DimOp, FromElementsOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, IntegerAttr, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, ComplexType, FloatType, IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value

from .dynamic_simplifications import integers
from .replacement import new_value


def _terminator(region: Region) -> ReturnOp:
    terminator = region.blocks[0].last
    assert isinstance(terminator, ReturnOp)
    return terminator


def _region_of(value: Value) -> Region | None:
    return value.block.parent if value.block is not None else None


def _attributes_of_results(op: Op, kept: Sequence[int]) -> dict[str, Attribute]:
    """The attributes of an operation that keeps some of its results."""
    attributes = dict(op.signature.attributes.entries) | dict(op.attributes.entries)
    shardings = attributes.get(SHARDING)
    if isinstance(shardings, ShardingPerValue) and len(shardings) == len(op.results):
        attributes[SHARDING] = ShardingPerValue(tuple([shardings.shardings[index] for index in kept]))
    return attributes


def _replace_kept(op: Op, new: Op, kept: Iterable[int], rewriter: Rewriter) -> bool:
    """Replaces the results with these indices by those of a new operation; the others are unused."""
    for index, result in zip(kept, new.results, strict=True):
        rewriter.replace_all_uses(op.results[index], result)
    rewriter.erase(op)
    return True


# --- Reductions ---------------------------------------------------------------------------


def remove_reduce(op: ReduceOp, rewriter: Rewriter) -> bool:
    """Replaces a reduction over no dimension by its inputs."""
    inputs = op.operands[: len(op.results)]
    return not op.dimensions and _replace_all(op, inputs, rewriter)


def _replace_all(op: Op, values: Sequence[Value], rewriter: Rewriter) -> bool:
    if any(value.type is not result.type for value, result in zip(values, op.results, strict=True)):
        return False
    rewriter.replace(op, values)
    return True


def _broadcast_initial_values(op: ReduceOp, rewriter: Rewriter) -> bool:
    """Replaces a reduction of no elements by its initial values."""
    source = op.operand_at(0).type
    assert isinstance(source, RankedTensor)
    if 0 not in source.shape:
        return False
    attributes = {"broadcast_dimensions": integers([])}
    count = len(op.results)
    initial, types = op.operands[count:], op.signature.result_types
    if source.has_static_shape:
        values = [
            new_value(op, BroadcastInDimOp, [value], type, rewriter, attributes)
            for value, type in zip(initial, types, strict=True)
        ]
        return _replace_all(op, values, rewriter)
    kept = [dimension for dimension in range(source.rank) if dimension not in op.dimensions]
    sizes = []
    for dimension in kept:
        number = new_value(op, IndexConstantOp, (), INDEX, rewriter, {"value": integer(dimension, INDEX)})
        sizes.append(new_value(op, DimOp, [op.operand_at(0), number], INDEX, rewriter))
    shape = new_value(op, FromElementsOp, sizes, RankedTensor((len(kept),), INDEX), rewriter)
    values = [
        new_value(op, DynamicBroadcastInDimOp, [value, shape], type, rewriter, attributes)
        for value, type in zip(initial, types, strict=True)
    ]
    return _replace_all(op, values, rewriter)


def use_outer_values(op: ReduceOp, rewriter: Rewriter) -> bool:
    """Replaces a reduction of some elements that returns values from outside of it by these."""
    source = op.operand_at(0).type
    assert isinstance(source, RankedTensor)
    returned = _terminator(op.regions[0]).operands
    is_inside = any(_region_of(value) is op.regions[0] for value in returned)
    # The result of a reduction of no elements is the initial value.
    if is_inside or any(source.shape[dimension] in (0, DYNAMIC) for dimension in op.dimensions):
        return False
    return _replace_all(op, returned, rewriter)


def _drop_unused_inputs(op: ReduceOp, rewriter: Rewriter) -> bool:
    """Removes the unused results of a reduction, if no used one is computed from their inputs."""
    count, block = len(op.results), op.regions[0].blocks[0]
    used = [index for index, result in enumerate(op.results) if result.has_uses]
    if not used or len(used) == count:
        return False
    returned = _terminator(op.regions[0]).operands
    needed = _computed_from([returned[index] for index in used], block)
    inputs = {argument.index % count for argument in block.arguments if argument in needed}
    if len(inputs) != len(used):
        return False
    kept = [index for index in range(count) if index in inputs]
    region = Region()
    new_block = region.add_block()
    copies: dict[Value, Value] = {}
    for argument in block.arguments:
        if argument.index % count in inputs:
            copies[argument] = new_block.add_argument(argument.type, argument.lazy_location)
    new = rewriter.create(
        ReduceOp,
        [op.operand_at(index + offset) for offset in (0, count) for index in kept],
        [op.results[index].type for index in used],
        _attributes_of_results(op, used),
        before=op,
        location=op.lazy_location,
        regions=[region],
    )
    for inner in block.ops:
        if any(result in needed for result in inner.results):
            rewriter.insert(rewriter.clone(inner, copies), at_end_of=new_block)
    values = [copies.get(returned[index], returned[index]) for index in used]
    location = _terminator(op.regions[0]).lazy_location
    rewriter.create(ReturnOp, values, at_end_of=new_block, location=location)
    return _replace_kept(op, new, used, rewriter)


def _computed_from(values: Sequence[Value], block: Block) -> set[Value]:
    """These values and those that they are computed from, in the region of a block."""
    captured: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in captured or _region_of(value) is not block.parent:
            continue
        captured.add(value)
        if value.defining_op is not None:
            for inner in value.defining_op.walk():
                pending += inner.operands
    return captured


# --- Sorts and loops ----------------------------------------------------------------------


def _drop_unused_sorted(op: SortOp, rewriter: Rewriter) -> bool:
    """Removes the operands of a sort whose results are unused, and which the comparator does not use."""
    block = op.regions[0].blocks[0]
    kept = [
        index
        for index, result in enumerate(op.results)
        if result.has_uses or any(block.arguments[2 * index + side].has_uses for side in (0, 1))
    ]
    if not kept or len(kept) == len(op.results):
        return False
    region = Region()
    new = rewriter.create(
        SortOp,
        [op.operand_at(index) for index in kept],
        [op.results[index].type for index in kept],
        _attributes_of_results(op, kept),
        before=op,
        location=op.lazy_location,
        regions=[region],
    )
    rewriter.take_body(op.regions[0], region)
    for argument in [argument for argument in block.arguments if argument.index // 2 not in kept]:
        rewriter.erase_argument(argument)
    return _replace_kept(op, new, kept, rewriter)


def _set_dimension(op: SortOp, rewriter: Rewriter) -> bool:
    """Sets the dimension of a sort to the last one, if it has the default."""
    type = op.operand_at(0).type
    if op.dimension != -1 or not isinstance(type, RankedTensor):
        return False
    rewriter.set_attribute(op, "dimension", IntegerAttr(type.rank - 1, I64))
    return True


def capture_invariants(op: WhileOp, rewriter: Rewriter) -> bool:
    """Uses values that a loop passes on unchanged from outside of it, instead of its arguments."""
    cond, body = op.regions[0].blocks[0], op.regions[1].blocks[0]
    terminator = _terminator(op.regions[1])
    initial, returned = list(op.operands), list(terminator.operands)
    invariant = [
        index
        for index, value in enumerate(returned)
        if (value is initial[index] or value is body.arguments[index]) and not _has_edge(op.results[index])
    ]
    if not invariant:
        return False
    for index in invariant:
        rewriter.replace_all_uses(cond.arguments[index], initial[index])
        rewriter.replace_all_uses(body.arguments[index], initial[index])
        rewriter.replace_all_uses(op.results[index], initial[index])
    for index in reversed(invariant):
        rewriter.erase_argument(cond.arguments[index])
        rewriter.erase_argument(body.arguments[index])
    rewriter.erase_operands(terminator, invariant)
    kept = [index for index in range(len(initial)) if index not in set(invariant)]
    regions = [Region(), Region()]
    new = rewriter.create(
        WhileOp,
        [initial[index] for index in kept],
        [initial[index].type for index in kept],
        _attributes_of_results(op, kept),
        before=op,
        location=op.lazy_location,
        regions=regions,
    )
    for source, target in zip(op.regions, regions, strict=True):
        rewriter.take_body(source, target)
    return _replace_kept(op, new, kept, rewriter)


def _has_edge(value: Value) -> bool:
    """Whether a value has a data-flow edge, which must be its only use."""
    return any(isinstance(user, DataFlowEdgeOp) for user in value.users)


# --- Empty tensors ------------------------------------------------------------------------


def empty_tensors_to_constants(op: Op, rewriter: Rewriter) -> bool:
    """Replaces the results and operands without elements by constants, unless the operation has effects."""
    check = type(op).is_effect_free
    if check is not None and not check(op.signature):
        return False
    changed = False
    for result in op.results:
        if _is_empty(result.type) and result.has_uses:
            rewriter.replace_all_uses(result, _empty_constant(op, result.type, rewriter))
            changed = True
    for use in op.operand_uses:
        if _is_empty(use.value.type) and not isinstance(use.value.defining_op, ConstantOp):
            rewriter.set_operand(use, _empty_constant(op, use.value.type, rewriter))
            changed = True
    return changed


def _is_empty(type: Type) -> bool:
    if not isinstance(type, RankedTensor) or not type.has_static_shape or type.num_elements:
        return False
    return isinstance(type.element, IntegerType | FloatType | ComplexType)


def _empty_constant(op: Op, type: Type, rewriter: Rewriter) -> Value:
    assert isinstance(type, RankedTensor)
    return new_value(op, ConstantOp, (), type, rewriter, {"value": DenseElements(type, b"")})


REGION_SIMPLIFICATIONS: dict[type[Op], list[Pattern]] = {
    ReduceOp: [
        Pattern(remove_reduce, "ReduceOp_RemoveNoop"),
        Pattern(_broadcast_initial_values, "ReduceOpEmptyCanon"),
        Pattern(use_outer_values, "ReduceOpNoopVariableReturn"),
        Pattern(_drop_unused_inputs, "ReduceOpUnusedResultCanon"),
    ],
    SortOp: [
        Pattern(_drop_unused_sorted, "SortOpDropUnusedArgs"),
        Pattern(_set_dimension, "SortOpSetDimension"),
    ],
    WhileOp: [Pattern(capture_invariants, "WhileOpImplicitCapture")],
}
