"""Proposals for the most expensive collectives, from the shardings before and after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sdyopt.analysis.changes.edits import AnnotationEdit, Change, place_of
from sdyopt.analysis.changes.proposals import ProposedOn, in_turns, proposal
from sdyopt.analysis.figures.causes import consumers, last_of_chain, producer
from sdyopt.analysis.figures.execution_counts import functions_in
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Subject

_REDUCTIONS = (AllReduceOp, ReduceScatterOp)

# So many lines are looked at, those that send most, and so many kinds of collectives of one.
_MAX_LINES, _MAX_KINDS = 8, 3


@proposal("collectives", share=8)
def collectives(program: ProposedOn) -> Iterator[Change]:
    """What may make the most expensive collectives of a program cheaper, in turns for each line."""
    lines = islice(program.outcome.sent_by_line.values(), _MAX_LINES)
    kinds = (islice(places, _MAX_KINDS) for places in lines)
    return in_turns(in_turns(at_place(program, place) for place in places) for places in kinds)


def at_place(program: ProposedOn, place: tuple[str, str, str]) -> Iterator[Change]:
    """What may make the collective of a place cheaper that sends most."""
    yield from exchanges(program, place)
    if (op := program.outcome.largest_at.get(place)) is not None:
        for edit in dict.fromkeys(_for_collective(program, op)):
            yield program.alike(edit)


def exchanges(program: ProposedOn, place: tuple[str, str, str]) -> Iterator[Change]:
    """The weights of the products beside the collective of a place, with axes in the dimensions of others."""
    if isinstance(op := program.outcome.largest_at.get(place), CollectiveOp):
        for edit in dict.fromkeys(_for_products(program, op)):
            yield program.alike(edit, of_parameter=True)


def _for_collective(program: ProposedOn, op: Op) -> Iterator[AnnotationEdit]:
    """Edits that may make a collective unnecessary or smaller, the most likely ones first."""
    if not isinstance(op, CollectiveOp):
        return
    source, last = producer(op), last_of_chain(op)
    before, after = program.shapes.sharding(source), program.shapes.sharding(last)
    if after is None:
        return
    if isinstance(op, _REDUCTIONS):
        yield from _for_reduction(program, op, source, after)
    elif before is not None:
        yield from _for_reshard(program, op, source, before, after)


def _for_reduction(
    program: ProposedOn, op: Op, source: Value, after: TensorSharding
) -> Iterator[AnnotationEdit]:
    """The result sharded along the axes, too, so that it is reduce-scattered; or the operands not.

    If the result is a gradient, so is the argument that it updates, or what jax.grad returns.
    """
    axes = op.reduction_axes if isinstance(op, AllReduceOp) else ()
    place = program.originals.place(source)
    used = {axis.name for dim in after.dims for axis in dim.axes}
    added = tuple([axis for axis in axes if axis.name not in used])
    if added:
        argument = _updated(program, source)
        result = argument, None if place is None else _sum_of(place), place
        places = [value for value in dict.fromkeys(result) if value is not None]
        for number, dim in enumerate(after.dims):
            dims = _dims(after)
            dims[number] = (*dim.axes, *added)
            for value in places:
                yield from _change(program, value, after, dims)
    if isinstance(source, OpResult):
        for operand in source.op.operands:
            argument = program.origins.argument(operand)
            if argument is not None:
                yield from _without(program, argument, tuple(axes))


def _for_reshard(
    program: ProposedOn, op: CollectiveOp, source: Value, before: TensorSharding, after: TensorSharding
) -> Iterator[AnnotationEdit]:
    """The sharding that is needed, at the value itself; or the one that it has, where it is needed."""
    argument, written = program.origins.argument(source), program.originals.value(source)
    is_view = argument is not None
    if argument is None and written is not None:
        # Halos are exchanged for a slice of an argument.
        argument = _after(program, program.written_origins.argument(written))
    if argument is not None:
        old = {axis for dim in before.dims for axis in dim.axes}
        kept = {axis for dim in after.dims for axis in dim.axes}
        yield from _without(program, argument, tuple(axis for axis in old if axis not in kept))
    if not is_view and written is not None:
        # What a loop takes is resharded before it, if it does not change there.
        owner = written.block.parent_op if isinstance(written, BlockArgument) else None
        if isinstance(owner, WhileOp) and isinstance(written, BlockArgument):
            entering = owner.operands[written.index]
            if isinstance(entering, OpResult | BlockArgument):
                yield from _change(program, place_of(entering), after, _dims(after))
        yield from _change(program, place_of(written), after, _dims(after))
    for user in consumers(op):
        if isinstance(user, FuncReturnOp):
            yield from _for_result(program, user, op, before)
        for result in user.results[:1]:
            if (place := program.originals.place(result)) is None:
                continue
            if isinstance(result.type, RankedShapedType) and result.type.rank == len(before.dims):
                yield from _change(program, place, before, _dims(before))
        break
    # What a product gives is sharded as its operands are.
    moved = tuple(
        {axis: None for one, other in ((before, after), (after, before)) for axis in _lost(one, other)}
    )
    for operand in source.op.operands if isinstance(source, OpResult) else ():
        if (argument := program.origins.argument(operand)) is not None:
            yield from _without(program, argument, moved)


def _for_products(program: ProposedOn, op: CollectiveOp) -> Iterator[AnnotationEdit]:
    """The weight of a product as the other operand is sharded, or as the result is needed.

    Its axes may be exchanged: then they are in the dimensions of each other.
    """
    source = producer(op)
    made = source.op if isinstance(source, OpResult) else None
    for product in dict.fromkeys([*consumers(op), *([] if made is None else [made])]):
        if isinstance(product, DotGeneralOp):
            operands = [_before(operand) for operand in product.operands]
            result = program.shapes.sharding(_after_chain(product.results[0]))
            shardings = [program.shapes.sharding(operand) for operand in operands]
            dims = product.dot_dimension_numbers
            for side, operand in enumerate(product.operands):
                for pair in dims.contracting:
                    if (other := shardings[1 - side]) is not None:
                        axes = other.dims[pair[1 - side]].axes
                        yield from _with_dimension(program, operand, pair[side], tuple(axes))
                for dim, position in _free_dimensions(product, side):
                    if result is not None:
                        yield from _with_dimension(program, operand, dim, tuple(result.dims[position].axes))


def _before(value: Value) -> Value:
    """A value before the collectives that change it."""
    return producer(value.op) if isinstance(value, OpResult) and isinstance(value.op, CollectiveOp) else value


def _after_chain(value: Value) -> Value:
    """A value after the collectives that change it, if nothing else uses it."""
    (user, *others) = [*value.users, None]
    return last_of_chain(user) if isinstance(user, CollectiveOp) and others == [None] else value


def _free_dimensions(product: DotGeneralOp, side: int) -> Iterator[tuple[int, int]]:
    """The dimensions of an operand that the result has, and their numbers there."""
    dims = product.dot_dimension_numbers
    related = (*dims.batching, *dims.contracting)
    ranks = [type.rank if isinstance(type, RankedShapedType) else 0 for type in product.operand_types]
    free = [[dim for dim in range(ranks[of]) if all(pair[of] != dim for pair in related)] for of in (0, 1)]
    first = len(dims.batching) + (len(free[0]) if side else 0)
    return zip(free[side], range(first, first + len(free[side])), strict=True)


def _with_dimension(
    program: ProposedOn, operand: Value, dim: int, axes: tuple[AxisRef, ...]
) -> Iterator[AnnotationEdit]:
    """The argument that an operand is, or a layer of it, with these axes in a dimension of the operand.

    What was there goes where they were.
    """
    argument = program.origins.argument(operand)
    sharding = None if argument is None else program.shapes.sharding(argument)
    place = None if argument is None else program.originals.value(argument)
    type, part = None if argument is None else argument.type, operand.type
    if sharding is None or place is None or not axes:
        return
    if not isinstance(type, RankedTensor) or not isinstance(part, RankedTensor):
        return
    dim += type.rank - part.rank
    if dim < 0 or tuple(type.shape[type.rank - part.rank :]) != tuple(part.shape):
        return
    dims = _dims(sharding)
    there = dims[dim]
    others = [number for number, names in enumerate(dims) if number != dim and set(names) & set(axes)]
    if others:
        dims = [tuple([axis for axis in names if axis not in axes]) for names in dims]
        dims[others[0]] = (*dims[others[0]], *(axis for axis in there if axis not in axes))
        dims[dim] = axes
        yield from _change(program, place, sharding, dims)


def _after(program: ProposedOn, argument: BlockArgument | None) -> BlockArgument | None:
    """The argument that one of the written program is after the passes."""
    return None if argument is None else program.arguments.get(argument)


def _updated(program: ProposedOn, gradient: Value) -> OpResult | BlockArgument | None:
    """The argument of the written program that a gradient updates, if it has its type."""
    argument = program.origins.updated_argument(gradient)
    if argument is None or argument.type is not gradient.type:
        return None
    return program.originals.value(argument)


def _for_result(
    program: ProposedOn, user: Op, op: CollectiveOp, before: TensorSharding
) -> Iterator[AnnotationEdit]:
    """A result of the program with the sharding that the returned value has."""
    function = user.parent_op
    if not isinstance(function, FuncOp):
        return
    written = [item for item in functions_in(program.originals.module) if item.sym_name == function.sym_name]
    for use in last_of_chain(op).uses:
        if use.owner is user:
            # A function whose terminator is not registered may return another number of values.
            for item in (function for function in written if use.index < len(function.function_type.results)):
                yield from _change(program, FunctionResult(item, use.index), before, _dims(before))


def _without(
    program: ProposedOn, argument: BlockArgument, axes: Sequence[AxisRef]
) -> Iterator[AnnotationEdit]:
    """An argument without axes; with them in another dimension, or exchanged with the axes there."""
    sharding, place = program.shapes.sharding(argument), program.originals.value(argument)
    if sharding is None or place is None:
        return
    names = {axis.name for axis in axes}
    kept = [tuple([axis for axis in dim.axes if axis.name not in names]) for dim in sharding.dims]
    moved = [axis for dim in sharding.dims for axis in dim.axes if axis.name in names]
    if not moved:
        return
    source = next(number for number, dim in enumerate(sharding.dims) if moved[0] in dim.axes)
    for number, dim in enumerate(sharding.dims):
        if not any(axis in dim.axes for axis in moved):
            dims = [*kept[:number], (*kept[number], *moved), *kept[number + 1 :]]
            yield from _change(program, place, sharding, dims)
            if kept[number]:
                dims[number], dims[source] = tuple(moved), (*kept[source], *kept[number])
                yield from _change(program, place, sharding, dims)
    yield from _change(program, place, sharding, kept)


def _change(
    program: ProposedOn, place: Subject, like: TensorSharding, dims: Sequence[tuple[AxisRef, ...]]
) -> Iterator[AnnotationEdit]:
    """The change to these axes, on the mesh of another sharding, if they divide the dimensions."""
    mesh = find_mesh(like.mesh_or_ref, program.originals.module)
    type = place.type
    if mesh is None or not isinstance(type, RankedShapedType) or type.rank != len(dims):
        return
    if any(axis.sub_axis is not None or not mesh.has_axis(axis.name) for axes in dims for axis in axes):
        return
    new = [DimensionSharding(axes) for axes in dims]
    if all(size % dim.sharded_size(mesh) == 0 for size, dim in zip(type.shape, new, strict=True)):
        yield AnnotationEdit(place, TensorSharding(like.mesh_or_ref, tuple(new)), mesh)


def _sum_of(place: Subject) -> Subject:
    """The sum of the gradients of a value that several statements use; else the gradient itself."""
    while isinstance(place, OpResult) and place.has_one_use:
        (user,) = place.users
        if not isinstance(user, AddOp) or source_location(user.location).phase is not Phase.BACKWARD:
            break
        place = user.results[0]
    return place


def _lost(before: TensorSharding, after: TensorSharding) -> list[AxisRef]:
    """The axes of dimensions that do not have them afterwards."""
    pairs = zip(before.dims, after.dims, strict=True)
    return [axis for old, new in pairs for axis in old.axes if axis not in new.axes]


def _dims(sharding: TensorSharding) -> list[tuple[AxisRef, ...]]:
    return [tuple(dim.axes) for dim in sharding.dims]
