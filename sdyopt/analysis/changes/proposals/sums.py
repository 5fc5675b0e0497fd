"""Proposals for sums in manual computations of which devices use a part: `psum_scatter` for `psum`.

The part is a slice by `axis_index` in the manual computation, or the users outside constrain the result. The
gradient of a slice that is summed is an update of zeros that is summed: `all_gather` is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from math import prod

from sdyopt.analysis.changes.axes import axes_of_sharding, with_axis
from sdyopt.analysis.changes.device_scalars import DeviceScalars
from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.causes import is_transposed_pvary
from sdyopt.analysis.figures.collective_traffic import traffic_of
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import ReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.collectives import AllGatherOp, AllReduceOp, AllToAllOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, NegOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.partition.local_builder import dense_integers
from sdyopt.shardy.sharding.axis_lists import replica_groups, shard_indices
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# Chains are short; nothing is gained by longer ones, and axes are tried in all orders.
_MAX_BETWEEN = 8
_MAX_AXES = 3
# What is wrong with a sum.
_SLICED = "each device keeps only its part of the sum"


class Scattered(NamedTuple):
    """A sum that becomes a result of a manual computation, with an axis that a device uses its part along."""

    computation: ManualComputationOp
    number: int
    sum: AllReduceOp
    axis: str
    dim: int
    others: tuple[str, ...]
    mesh: Mesh


@proposal("scattered sums", share=1, is_sure=True)
def scattered_sums(program: ProposedOn) -> Iterator[Change]:
    """A sum of which each device uses its part along an axis of the sum."""
    for op in program.module.walk():
        if not isinstance(op, ManualComputationOp) or op.block.last is None:
            continue
        for index, value in enumerate(op.block.last.operands):
            made = value.defining_op
            # What JAX transposes an implicit pvary to is no statement that could be another one.
            if not isinstance(made, AllReduceOp) or is_transposed_pvary(made):
                continue
            if len(made.operands) == 1 and value.has_one_use:
                yield from _of_sum(op, index, made, program)


def _of_sum(op: ManualComputationOp, index: int, made: AllReduceOp, program: ProposedOn) -> Iterator[Change]:
    result, mesh = op.results[index], program.mesh.mesh
    summed = axis_names(traffic_of(made, mesh).axes)
    if not isinstance(result.type, RankedTensor):
        return
    given = axes_of_sharding(op.out_shardings.shardings[index], result.type.rank)
    for dim, axes in enumerate(_used(result)):
        for axis in axes:
            if given is None or axis not in summed or any(axis in names for names in given):
                continue
            if program.mesh.fits(with_axis(given, dim, axis), result.type.shape):
                others = tuple([name for name in summed if name != axis])
                location = source_location(made.location)
                line = f" at {location.file_text}" if location.line else ""
                rest = f", then psum along {', '.join(map(repr, others))}" if others else ""
                text = f"write {_call(axis, dim)} in place of the psum{line}{rest}"
                scattered = Scattered(op, index, made, axis, dim, others, mesh)
                words = text, f'{{"{axis}"}} in out_shardings'
                yield Change(rewrite=partial(_scatter, scattered), words=words, op=made, reason=_SLICED)


def _call(axis: str, dim: int) -> str:
    return f"jax.lax.psum_scatter(…, {axis!r}, scatter_dimension={dim}, tiled=True)"


def _used(result: OpResult) -> list[list[str]]:
    """The axes of each dimension along which all users have their part of a value."""
    texts: list[list[list[str]]] = []
    for user in result.users:
        if isinstance(user, ShardingConstraintOp):
            texts.append(_names(user.sharding))
        elif not isinstance(user, ReturnOp):
            return []
    first, *others = texts or [[]]
    return [
        [axis for axis in axes if all(axis in names[dim] for names in others)]
        for dim, axes in enumerate(first)
    ]


def _names(sharding: TensorSharding) -> list[list[str]]:
    return [[axis.name for axis in dim.axes if axis.sub_axis is None] for dim in sharding.dims]


class Sliced(NamedTuple):
    """A sum whose devices use a slice of it along axes; or the gradient of that, a sum of updates of zeros.

    `between` are operations from the first of the sum and the slice to the other that a part of the value
    passes as well.
    """

    sum: AllReduceOp
    between: tuple[Op, ...]
    slice: DynamicSliceOp | DynamicUpdateSliceOp
    axes: tuple[str, ...]
    others: tuple[str, ...]
    dim: int
    mesh: Mesh


@proposal("sliced sums", share=1, is_sure=True)
def sliced_sums(program: ProposedOn) -> Iterator[Change]:
    """A sum that is sliced by the index of the device along an axis of it, in all layers and gradients."""
    mesh, sliced = program.mesh.mesh, list[Sliced]()
    sums = [op for op in program.module.walk() if isinstance(op, AllReduceOp) and len(op.operands) == 1]
    scalars = DeviceScalars(mesh) if sums else None
    for op in sums:
        item = None if scalars is None else _sliced(op, scalars, mesh)
        sliced += [] if item is None else [item]
    at_place: dict[object, list[Sliced]] = {}
    # A gradient has the place of the sum or, if JAX sums what it updates for the slice, that of the slice.
    of_slice = {_place(item.slice, item): _place(item.sum, item) for item in sliced if _is_written(item)}
    for item in sliced:
        place = _place(item.sum, item)
        at_place.setdefault(place if _is_written(item) else of_slice.get(place, place), []).append(item)
    for items in at_place.values():
        written = list(filter(_is_written, items))
        for first in written[:1]:
            location = source_location(first.sum.location)
            # Compilers make a sum over all devices of one scatter along several axes.
            then = "".join([f", then along {axis!r}," for axis in first.axes[1:]])
            line = f" at {location.file_text}" if location.line else ""
            rest = f", then psum along {', '.join(map(repr, first.others))}" if first.others else ""
            text = f"write {_call(first.axes[0], first.dim)}{then} for the sliced psum{line}{rest}"
            words = text, "stablehlo.reduce_scatter"
            yield Change(rewrite=partial(_scatter_all, items), words=words, op=first.sum, reason=_SLICED)


def _is_written(item: Sliced) -> bool:
    """Whether the program writes a sum, which is no gradient."""
    return isinstance(item.slice, DynamicSliceOp) and not is_transposed_pvary(item.sum)


def _place(op: Op, item: Sliced) -> object:
    location = source_location(op.location)
    return (location.file_text, item.axes) if location.line else op


def _sliced(op: AllReduceOp, scalars: DeviceScalars, mesh: Mesh) -> Sliced | None:
    added = op.regions[0].blocks[0].first
    if not isinstance(added, AddOp):
        return None
    slice, between = _slice_after(op.results[0]) or _update_before(op.operands[0]) or (None, ())
    if slice is None:
        return None
    is_slice = isinstance(slice, DynamicSliceOp)
    whole, part = slice.operands[0].type, (slice.results[0] if is_slice else slice.operands[1]).type
    if not isinstance(whole, RankedTensor) or not isinstance(part, RankedTensor):
        return None
    dims = [dim for dim, size in enumerate(whole.shape) if size != part.shape[dim]]
    if len(dims) != 1 or not all(_leaves(other, dims[0]) for other in between):
        return None
    (dim,) = dims
    starts = scalars.values(slice.operands[(1 if is_slice else 2) + dim])
    count, remainder = divmod(whole.shape[dim], max(part.shape[dim], 1))
    if starts is None or remainder:
        return None
    indices = tuple([start // part.shape[dim] if start % part.shape[dim] == 0 else -1 for start in starts])
    summed = axis_names(traffic_of(op, mesh).axes)
    for number in range(1, min(len(summed), _MAX_AXES) + 1):
        for axes in permutations(summed, number):
            refs = tuple(map(AxisRef, axes))
            if prod(axis.size(mesh) for axis in refs) == count and shard_indices(refs, mesh) == indices:
                others = tuple([name for name in summed if name not in axes])
                return Sliced(op, between, slice, axes, others, dim, mesh)
    return None


def _slice_after(value: Value) -> tuple[DynamicSliceOp, tuple[Op, ...]] | None:
    """The only use of a value that is a slice, and elementwise operations and collectives before it."""
    between: list[Op] = []
    while value.has_one_use and len(between) < _MAX_BETWEEN:
        user = next(iter(value.users))
        if isinstance(user, DynamicSliceOp) and user.operands[0] is value:
            return user, tuple(between)
        others = [operand for operand in user.operands if operand is not value]
        if not _passes(user) or not all(_is_scalar(operand) for operand in others):
            return None
        between.append(user)
        value = user.results[0]
    return None


def _update_before(value: Value) -> tuple[DynamicUpdateSliceOp, tuple[Op, ...]] | None:
    """The update of zeros that a value is, and operations after it that keep zeros."""
    between: list[Op] = []
    while value.has_one_use and len(between) < _MAX_BETWEEN:
        op = value.defining_op
        if isinstance(op, DynamicUpdateSliceOp):
            return (op, tuple(between[::-1])) if _is_zero(op.operands[0]) else None
        if not isinstance(op, ConvertOp | NegOp | AllToAllOp) or len(op.operands) != 1:
            return None
        between.append(op)
        value = op.operands[0]
    return None


def _passes(op: Op) -> bool:
    """Whether an operation computes a part of its result from the same part of its operand."""
    is_stablehlo = op.signature.name.startswith("stablehlo.") and len(op.results) == 1 and not op.regions
    return is_stablehlo and (isinstance(op, AllToAllOp) or is_elementwise(op.signature))


def _leaves(op: Op, dim: int) -> bool:
    return not isinstance(op, AllToAllOp) or dim not in (op.split_dimension, op.concat_dimension)


def _is_scalar(value: Value) -> bool:
    """Whether a value is a scalar, or one that is broadcast."""
    op = value.defining_op
    value = op.operands[0] if isinstance(op, BroadcastInDimOp) else value
    return isinstance(value.type, RankedTensor) and not value.type.shape


def _is_zero(value: Value) -> bool:
    op = value.defining_op
    op = op.operands[0].defining_op if isinstance(op, BroadcastInDimOp) else op
    elements = op.value if isinstance(op, ConstantOp) else None
    return isinstance(elements, DenseElements) and elements.is_splat and not any(elements.data)


def _scatter_all(items: Sequence[Sliced], copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    for item in items:
        made, slice = copies[item.sum], copies[item.slice]
        between = [copies[op] for op in item.between]
        if isinstance(item.slice, DynamicSliceOp):
            part = _scattered(made, item.axes, item.others, item.dim, item.mesh, rewriter)
            part = _between(between, made.results[0], part, item.dim, rewriter)
            rewriter.replace(slice, [part])
            unused = [made, *between]
        else:
            part = _between(between, slice.results[0], slice.operands[1], item.dim, rewriter)
            if item.others:
                part = _reduction(made, AllReduceOp, part, item.others, item.dim, item.mesh, rewriter)
            part = _reduction(made, AllGatherOp, part, item.axes, item.dim, item.mesh, rewriter)
            rewriter.replace(made, [part])
            unused = [slice, *between]
        for op in reversed(unused):
            rewriter.erase(op)


def _between(ops: Sequence[Op], value: Value, part: Value, dim: int, rewriter: Rewriter) -> Value:
    """The part of the result of a chain of operations, from the part of the value that it starts with."""
    for op in ops:
        operands = []
        for operand in op.operands:
            made = operand.defining_op
            if operand is value:
                operand = part
            elif isinstance(made, BroadcastInDimOp) and operand.type is not made.operands[0].type:
                operand = _with_size(made, made.operands, part, dim, op, rewriter)
            operands.append(operand)
        part, value = _with_size(op, operands, part, dim, op, rewriter), op.results[0]
    return part


def _with_size(
    op: Op, operands: Sequence[Value], part: Value, dim: int, before: Op, rewriter: Rewriter
) -> Value:
    """The result of an operation with the size of a part in a dimension."""
    type = op.results[0].type
    assert isinstance(type, RankedTensor) and isinstance(part.type, RankedTensor)
    shape = (*type.shape[:dim], part.type.shape[dim], *type.shape[dim + 1 :])
    result = RankedTensor(shape, type.element, type.encoding)
    attributes = dict(op.signature.attributes.entries)
    created = rewriter.create(
        op.signature.op_class, operands, [result], attributes, before=before, location=op.lazy_location
    )
    return created.results[0]


def _scatter(item: Scattered, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    op, made = copies[item.computation], copies[item.sum]
    assert isinstance(op, ManualComputationOp)
    scattered = _scattered(made, (item.axis,), item.others, item.dim, item.mesh, rewriter)
    rewriter.replace(made, [scattered])
    shardings = list(op.out_shardings)
    sharding = shardings[item.number]
    dims = list(sharding.dims)
    dim = dims[item.dim]
    dims[item.dim] = type(dim)((*dim.axes, AxisRef(item.axis)), dim.is_closed, dim.priority)
    shardings[item.number] = sharding.with_dims(dims)
    rewriter.set_attribute(op, "out_shardings", ShardingPerValue(tuple(shardings)))


def _scattered(
    made: Op, axes: tuple[str, ...], others: tuple[str, ...], dim: int, mesh: Mesh, rewriter: Rewriter
) -> Value:
    """The part of a sum that a device has along axes: of each part along one axis, that along the next."""
    scattered = made.operand_at(0)
    for axis in axes:
        scattered = _reduction(made, ReduceScatterOp, scattered, (axis,), dim, mesh, rewriter)
    return _reduction(made, AllReduceOp, scattered, others, dim, mesh, rewriter) if others else scattered


def _reduction(
    made: Op, kind: type[Op], value: Value, axes: tuple[str, ...], dim: int, mesh: Mesh, rewriter: Rewriter
) -> Value:
    """A collective of a value along axes in place of a sum; `dim` is scattered or gathered."""
    assert isinstance(value.type, RankedTensor)
    attributes: dict[str, Attribute] = dict(made.signature.attributes.entries)
    groups = replica_groups(map(AxisRef, axes), mesh)
    ids = [device for group in groups for device in group]
    attributes["replica_groups"] = dense_integers(tensor((len(groups), len(groups[0])), I64), ids)
    shape, size = list(value.type.shape), len(groups[0])
    regions = [Region()]
    if kind is AllGatherOp:
        attributes["all_gather_dim"] = integer(dim, I64)
        shape[dim] *= size
        regions = []
    elif kind is ReduceScatterOp:
        attributes["scatter_dimension"] = integer(dim, I64)
        shape[dim] //= size
    for body in regions:
        rewriter.copy_region(made.regions[0], body)
    type = RankedTensor(tuple(shape), value.type.element, value.type.encoding)
    created = rewriter.create(
        kind, [value], [type], attributes, before=made, location=made.lazy_location, regions=regions
    )
    return created.results[0]
