"""Proposals for sums in manual computations of which devices use a part: `psum_scatter` for `psum`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from sdyopt.analysis.changes.axes import axes_of_sharding, with_axis
from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.stablehlo_collectives import traffic_of
from sdyopt.mlir.dialects.func import ReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.partition.device_positions import replica_groups
from sdyopt.shardy.partition.local_builder import dense_integers


class Scattered(NamedTuple):
    """A sum that becomes a result of a manual computation, with an axis that a device uses its part along."""

    computation: ManualComputationOp
    number: int
    sum: AllReduceOp
    axis: str
    dim: int
    others: tuple[str, ...]
    mesh: Mesh


@proposal("scattered sums", share=1)
def scattered_sums(program: ProposedOn) -> Iterator[Change]:
    """A sum of which each device uses its part along an axis of the sum."""
    for op in program.module.walk():
        if not isinstance(op, ManualComputationOp) or op.block.last is None:
            continue
        for index, value in enumerate(op.block.last.operands):
            made = value.defining_op
            if isinstance(made, AllReduceOp) and len(made.operands) == 1 and value.has_one_use:
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
                text = f"psum_scatter along {axis!r} in place of the psum{line}{rest}"
                scattered = Scattered(op, index, made, axis, dim, others, mesh)
                words = text, f'{{"{axis}"}} in out_shardings'
                yield Change(rewrite=partial(_scatter, scattered), words=words, op=made)


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


def _scatter(item: Scattered, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    op, made = copies[item.computation], copies[item.sum]
    assert isinstance(op, ManualComputationOp)
    value = made.operand_at(0)
    assert isinstance(value.type, RankedTensor)
    shape = list(value.type.shape)
    shape[item.dim] //= AxisRef(item.axis).size(item.mesh)
    scattered = _reduction(item, made, ReduceScatterOp, value, (item.axis,), tuple(shape), rewriter)
    if item.others:
        scattered = _reduction(item, made, AllReduceOp, scattered, item.others, tuple(shape), rewriter)
    rewriter.replace(made, [scattered])
    shardings = list(op.out_shardings)
    sharding = shardings[item.number]
    dims = list(sharding.dims)
    dim = dims[item.dim]
    dims[item.dim] = type(dim)((*dim.axes, AxisRef(item.axis)), dim.is_closed, dim.priority)
    shardings[item.number] = sharding.with_dims(dims)
    rewriter.set_attribute(op, "out_shardings", ShardingPerValue(tuple(shardings)))


def _reduction(
    scattered: Scattered,
    made: Op,
    kind: type[Op],
    value: Value,
    axes: tuple[str, ...],
    shape: tuple[int, ...],
    rewriter: Rewriter,
) -> Value:
    """A reduction of a value along axes, by the computation of the sum."""
    assert isinstance(value.type, RankedTensor)
    attributes: dict[str, Attribute] = dict(made.signature.attributes.entries)
    groups = replica_groups(map(AxisRef, axes), scattered.mesh)
    ids = [device for group in groups for device in group]
    attributes["replica_groups"] = dense_integers(tensor((len(groups), len(groups[0])), I64), ids)
    if kind is ReduceScatterOp:
        attributes["scatter_dimension"] = integer(scattered.dim, I64)
    body = Region()
    rewriter.copy_region(made.regions[0], body)
    type = RankedTensor(shape, value.type.element, value.type.encoding)
    created = rewriter.create(
        kind, [value], [type], attributes, before=made, location=made.lazy_location, regions=[body]
    )
    return created.results[0]
