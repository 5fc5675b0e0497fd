"""Reshapes whose axes overflow: a dimension is split in a way that its first factors cannot take.

By `([ij])->([i, j])` with i=3 and j=4, a split of the dimension of size 12 along "x"=4 gives nothing to
factor i, though "x" comes first: the parts would not be contiguous. So "x" overflows. It could still split
factor j if the tensor were laid out anew, and that is what is agreed on here: the axes of the side that is
split further are given out again, to operand and result separately, each axis to the first factor that has
room for it. What both sides can have in common is the agreement.
"""

from __future__ import annotations

from math import gcd

from sdyopt.dialects.sdy.axes import with_axes, with_axis
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import MeshOrRef
from sdyopt.sharding.axis_lists import Axes, common_prefix, split_axis
from sdyopt.sharding.sharding_projection import TensorProjection, project_tensor, unproject


def has_overflow(tensor: TensorProjection) -> bool:
    """Whether axes of a tensor belong to no factor."""
    return any(split.overflow_axes for split in tensor.factors.values())


def find_common_reshape_axes(
    rule: OpShardingRule, tensors: list[TensorProjection], mesh_or_ref: MeshOrRef, mesh: Mesh
) -> list[Axes]:
    """The axes of each factor of a reshape. Changes the projections of its operand and its result."""
    operand, result = tensors
    better = operand if operand.sharded_size(mesh) >= result.sharded_size(mesh) else result
    given: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        split = better.factors.get(factor)
        if split is not None:
            given += split.axes + split.overflow_axes
    possible = []
    for tensor, mapping in zip(tensors, rule.tensors, strict=True):
        _distribute_axes(given, tensor, mapping, rule.factor_sizes, mesh)
        # What a sharding can say of this, which is less if a factor before others is not split fully.
        sharding = unproject(tensor, mapping, rule.factor_sizes, mesh_or_ref, mesh)
        possible.append(project_tensor(mapping, sharding, rule.factor_sizes, mesh))
    agreed = [_common(possible, factor) for factor in range(len(rule.factor_sizes))]
    for tensor in tensors:
        for factor, split in tensor.factors.items():
            tensor.factors[factor] = split._replace(axes=agreed[factor], overflow_axes=())
    return agreed


def _common(tensors: list[TensorProjection], factor: int) -> Axes:
    splits = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
    common: Axes = splits[0] if splits else ()
    for axes in splits[1:]:
        common = common_prefix(common, axes)
    return common


def _distribute_axes(
    given: Axes, tensor: TensorProjection, mapping: TensorMapping, sizes: tuple[int, ...], mesh: Mesh
) -> None:
    """Splits a tensor along other axes, taken in order; what no factor takes overflows at the last."""
    takers = [factor for dim in mapping.dims for factor in dim.factors if factor in tensor.factors]
    room = [sizes[factor] for factor in takers]
    taken: list[Axes] = [()] * len(takers)
    left = list(reversed(given))
    while left:
        count = len(left), left[-1]
        for position in range(len(takers)):
            axis = left[-1]
            size = axis.size(mesh)
            part = gcd(room[position], size)
            if room[position] <= 1 or (part == 1 and size != 1):
                continue
            room[position] //= part
            if part == size:
                left.pop()
                taken[position] = with_axis(taken[position], axis, mesh)
                break
            major, left[-1] = split_axis(axis, part, size)
            taken[position] = with_axis(taken[position], major, mesh)
        if left and (len(left), left[-1]) == count:
            break
    for factor, axes in zip(takers, taken, strict=True):
        tensor.factors[factor] = tensor.factors[factor]._replace(axes=axes, overflow_axes=())
    if left and takers:
        last = tensor.factors[takers[-1]]
        tensor.factors[takers[-1]] = last._replace(overflow_axes=with_axes((), reversed(left), mesh))
