"""Finds common axes as XLA's SPMD partitioner does.

    lhs [{"data"}, {}]    rhs [{"data"}, {}]    result [{"data"}, {}]

"data" shards the rows of the left operand and of the result, and the contracting dimension of the right
operand. XLA keeps the axes that two tensors of a product agree on, so it gathers the right operand, however
large it is. Shardy compares the sizes of the tensors: if the right operand is the largest, it keeps its
sharding, and the left operand and the result are resharded.

- An axis of a product shards the factor that most of its tensors have it in.
- If the axes on which two tensors agree do not shard a product over all devices, its result decides: operands
  are resharded for it, even if only they agree on an axis of the batch. Axes of one operand for a contracting
  dimension are kept if they shard it over the remaining devices, and a sum sends less than a gather. If both
  operands have axes for it that differ, none are kept, unless one has those of the batch that the other and
  the result have: then it is resharded. A convolution is a product, too.
- A reduction is computed with the sharding of its operands, and its results are resharded.
- A gather or scatter is computed in the way that needs least memory (`lookups.py`).
- A slice at a dynamic position takes dimensions whole, and has the sharding of the result in the others.
- The batch of a top-k of a long dimension is gathered, unless it is sharded over all devices.
- Any other operation whose factors are all in its results is computed with the sharding of the results, and
  its operands are resharded; but with that of the operands if these all have the same and would send
  something, so that only the result is resharded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.shardy.sharding.axis_lists import (
    Axes,
    common_prefix,
    is_prefix,
    overlap,
    prefix_without_overlap,
    sharded_size,
)
from sdyopt.shardy.sharding.explicit_reshards.common_axes import (
    already_common_axes,
    find_common_axes,
    has_multi_factor_dimension,
)
from sdyopt.shardy.sharding.explicit_reshards.lookups import find_lookup
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import better_dot_result_axes
from sdyopt.shardy.sharding.sharding_projection import TensorProjection

_DOTS = (DotOp, DotGeneralOp)
# By name: most programs do not use chlo, which takes long to import.
_TOP_K, _TOP_K_CALLS = "chlo.top_k", ("TopK", "mhlo.topk")
# The least size of a dimension along which the compiler for TPU lets a library find the largest elements.
_LONG_TOP_K = 32_000


def find_partitioner_axes(
    signature: OpSignature,
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
) -> list[Axes]:
    """The axes of each factor. `sizes` are the numbers of elements of the tensors."""
    op_class = signature.op_class
    is_dot = issubclass(op_class, _DOTS)
    # What Shardy does before XLA partitions.
    better = better_dot_result_axes(rule, tensors, sizes) if is_dot else None
    if better is not None:
        tensors = [*tensors[:2], tensors[2].copy()]
        tensors[2].set_axes(*better)
    if _is_top_k(signature) and _is_top_k_gathered(tensors[0], rule, mesh):
        return [()] * len(rule.factor_sizes)
    common = already_common_axes(rule, tensors)
    if common is not None:
        return common
    if is_dot and not rule.reduction:
        # A product that sums up nothing has become a multiplication by then.
        return _axes_of(tensors[len(rule.operands) :], rule)
    if is_dot or issubclass(op_class, ConvolutionOp):
        tensors = _with_axes_of_result(tensors, rule, sizes, mesh)
        tensors = _with_agreed_axes(tensors, len(rule.factor_sizes))
    elif issubclass(op_class, GatherOp | ScatterOp):
        lookup = find_lookup(signature, rule, tensors, mesh)
        if lookup is not None:
            return lookup.axes
    elif issubclass(op_class, ReduceOp):
        return _axes_of(tensors[: len(rule.operands)], rule)
    elif issubclass(op_class, DynamicSliceOp | FftOp):
        return _axes_of_slice(tensors[len(rule.operands) :], rule)
    elif not (
        rule.reduction or rule.need_replication or rule.permutation or has_multi_factor_dimension(rule)
    ):
        results = tensors[len(rule.operands) :]
        if all(factor in results[0].factors for tensor in tensors for factor in tensor.factors):
            # The only operand of an elementwise operation is resharded itself: that sends the same, but what
            # reshards the result back cannot read the operand in its place. A transpose's is not.
            is_one = len(rule.operands) == 1 and ELEMENTWISE in op_class.traits
            if not is_one and _operands_agree(tensors, len(rule.operands)):
                return _axes_of(tensors[: len(rule.operands)], rule)
            return _axes_of(results, rule)
    return find_common_axes(rule, tensors, sizes, mesh)


def _is_top_k(signature: OpSignature) -> bool:
    op_class = signature.op_class
    if issubclass(op_class, CustomCallOp):
        return signature[CustomCallOp.call_target_name] in _TOP_K_CALLS
    return op_class.name == _TOP_K


def _is_top_k_gathered(operand: TensorProjection, rule: OpShardingRule, mesh: Mesh) -> bool:
    """Whether XLA gathers the batch of a top-k: of a long dimension, and not on all devices a part of it."""
    # One dimension, unless a custom call has a result of other sizes.
    searched = rule.need_replication
    is_long = any(rule.factor_sizes[factor] >= _LONG_TOP_K for factor in searched)
    is_whole = not any(operand.factors[factor].axes for factor in searched)
    return is_long and is_whole and 1 < operand.sharded_size(mesh) < mesh.total_size


def _axes_of_slice(results: Sequence[TensorProjection], rule: OpShardingRule) -> list[Axes]:
    """The axes of a slice at a dynamic position; none if its result is sharded where it is sliced."""
    axes = _axes_of(results, rule)
    return [()] * len(axes) if any(axes[factor] for factor in rule.need_replication) else axes


def _operands_agree(tensors: Sequence[TensorProjection], count: int) -> bool:
    """Whether all operands have the same axes, which are not just some of those of the result."""
    operands, result = tensors[:count], tensors[count]
    if any(set(operand.factors) != set(result.factors) for operand in operands):
        return False
    factors = list(result.factors)
    first = [operands[0].factors[factor].axes for factor in factors]
    if any([operand.factors[factor].axes for factor in factors] != first for operand in operands[1:]):
        return False
    return not all(
        is_prefix(axes, result.factors[factor].axes) for factor, axes in zip(factors, first, strict=True)
    )


def _axes_of(tensors: Iterable[TensorProjection], rule: OpShardingRule) -> list[Axes]:
    """The axes of the first of some tensors that has a factor, without those of other factors."""
    axes: list[Axes] = [()] * len(rule.factor_sizes)
    used: Axes = ()
    for tensor in tensors:
        for factor, sharding in tensor.factors.items():
            if not axes[factor]:
                axes[factor] = prefix_without_overlap(sharding.axes, used)
                used += axes[factor]
    return axes


def _with_axes_of_result(
    tensors: Sequence[TensorProjection], rule: OpShardingRule, sizes: Sequence[int], mesh: Mesh
) -> Sequence[TensorProjection]:
    """The tensors of a product without axes of operands that give way to the sharding of the result.

    All axes are kept if those on which two tensors agree shard the product over all devices. Otherwise, the
    result decides on the factors that it has. Axes that only one operand has, and for a contracting factor,
    are kept if they shard the product over the remaining devices, and to sum sends less than to gather. If
    both operands have axes for it, but others, none are kept, even if one list begins with the other. Those
    of one are if the other's are axes of a batch on which the result agrees with that one. And the beginning
    is kept if the other operand has the further axes for another factor, so that it is what remains of a
    batch that is sharded along them, too, and the result does not have the beginning itself.
    """
    equal = [axis for factor in range(len(rule.factor_sizes)) for axis in _equal_axes(tensors, factor)]
    if sharded_size(equal, mesh) == mesh.total_size:
        return tensors
    lhs, rhs, result = (tensor.copy() for tensor in tensors)
    of_result = [axis for sharding in result.factors.values() for axis in sharding.axes]
    for operand, other, size in (lhs, tensors[1], sizes[0]), (rhs, tensors[0], sizes[1]):
        for factor, sharding in list(operand.factors.items()):
            if factor in result.factors:
                operand.set_axes(factor, common_prefix(sharding.axes, result.factors[factor].axes))
            elif factor in other.factors and other.factors[factor].axes:
                if _is_kept_alone(operand, other, factor, equal):
                    # The sum is resharded, whatever that sends.
                    for number, of_factor in list(result.factors.items()):
                        result.set_axes(number, prefix_without_overlap(of_factor.axes, sharding.axes))
                elif sharding.axes != other.factors[factor].axes:
                    common = _common_beginning(tensors, factor)
                    operand.set_axes(factor, () if overlap(common, of_result) else common)
            elif sharding.axes:
                axes = sharding.axes
                gathered = size // operand.sharded_size(mesh) * sharded_size(axes, mesh)
                summed = 2 * sizes[2] // result.sharded_size(mesh)
                covers = sharded_size((*equal, *axes), mesh) == mesh.total_size
                if overlap(axes, of_result) or not covers or gathered < summed:
                    operand.set_axes(factor, ())
    return lhs, rhs, result


def _is_kept_alone(
    operand: TensorProjection, other: TensorProjection, factor: int, equal: Sequence[AxisRef]
) -> bool:
    """Whether an operand keeps its axes for a contracting factor, and the other one is resharded to them.

    This is so if the axes of the other one are those of a batch that the operand and the result agree on.
    """
    mine, theirs = operand.factors[factor].axes, other.factors[factor].axes
    used = [axis for index, sharding in other.factors.items() if index != factor for axis in sharding.axes]
    return bool(mine) and overlap(theirs, equal) and not overlap(mine, (*equal, *used, *theirs))


def _common_beginning(tensors: Sequence[TensorProjection], factor: int) -> Axes:
    """The axes of both operands for a factor, if one has more, which the other has for another factor.

    None are kept in products of several matrices.
    """
    lhs, rhs, result = (tensor.factors for tensor in tensors)
    lists = [operand[factor].axes for operand in (lhs, rhs)]
    common = common_prefix(*lists)
    if common not in lists or any(other in rhs and other in result for other in lhs):
        return ()
    shorter = lists.index(common)
    others = [
        axis for other, sharding in (lhs, rhs)[shorter].items() for axis in sharding.axes if other != factor
    ]
    return common if overlap(lists[1 - shorter][len(common) :], others) else ()


def _equal_axes(tensors: Sequence[TensorProjection], factor: int) -> Axes:
    """The axes that shard a factor in two tensors in the same way."""
    lists = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
    return next((axes for number, axes in enumerate(lists) if axes in lists[number + 1 :]), ())


def _with_agreed_axes(tensors: Sequence[TensorProjection], count: int) -> list[TensorProjection]:
    """The tensors without axes of factors where two tensors have them in another factor."""
    agreed = [_agreed_axes(tensors, factor) for factor in range(count)]
    result = []
    for tensor in tensors:
        changed = tensor.copy()
        for factor, sharding in tensor.factors.items():
            others = [axis for index, axes in enumerate(agreed) if index != factor for axis in axes]
            mine: Sequence[AxisRef] = agreed[factor]
            if overlap(sharding.axes, others) and not overlap(mine, others):
                changed.set_axes(factor, prefix_without_overlap(sharding.axes, others))
        result.append(changed)
    return result


def _agreed_axes(tensors: Sequence[TensorProjection], factor: int) -> Axes:
    """The longest list of axes that shards a factor in two tensors."""
    lists = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
    prefixes = [
        common_prefix(one, other) for number, one in enumerate(lists) for other in lists[number + 1 :]
    ]
    return max(prefixes, key=len, default=())
