"""sdy-optimize-collectives: reorder axes by all-to-alls of a reshaped tensor instead of a collective-permute.

    %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
becomes, if %a is sharded as [{"x", "y"}, {}] and both axes have size 2,
    %0 = stablehlo.reshape %a {… [{"x"}, {"y"}, {}, {}]} : (tensor<16x8xf32>) -> tensor<2x2x4x8xf32>
    %1 = sdy.all_to_all [{"x"}: 0->3] %0 out_sharding=<@mesh, [{}, {"y"}, {}, {"x"}]> : tensor<2x2x4x8xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {}, {}, {"x"}]> : tensor<2x2x4x8xf32>
    %3 = stablehlo.reshape %2 {… [{"y"}, {"x"}]} : (tensor<2x2x4x8xf32>) -> tensor<16x8xf32>

A collective-permute sends whole shards, only to bring axes into the order in which all-to-alls can move them.
The reshape splits the dimension into one dimension per axis, from which every axis can move by itself, and
one for the rest of the shard. The axes that stay then move to the front, in the order of the result. Both
reshapes are local.

The collective-permute must change only the order of the axes of one dimension, or of their sub-axes, each of
which then gets a dimension. Its only use must be an all-to-all. The all-to-alls that follow are part of the
rewrite as long as they move axes out of the dimension and, but for the last one, have a single use. The
program is kept

  * if one of them moves several axes, or a sub-axis of one;
  * if axes that stay would have to exchange their places;
  * if a staying axis does not have the size of the axis whose place it takes; the last one may be smaller,
    if it divides that size;
  * if the size of the dimension is not a multiple of the number of shards, or the type is dynamic, has an
    encoding, or is quantized per axis;
  * if the result has another mesh or other replicated axes than the input.

Run it after `sdy-reshard-to-collectives`, as `sdy-export-pipeline` does where it inserts collectives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.quant import UniformQuantizedPerAxis
from sdyopt.mlir.dialects.sdy.axes import AllToAllParam, AllToAllParams, AxisRef, SubAxis, with_axis
from sdyopt.mlir.dialects.sdy.collectives import AllToAllOp, CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.axis_lists import Axes, sharded_size


@register("sdy-optimize-collectives", since=Behavior.OPTIMIZED_COLLECTIVES)
class OptimizeCollectives(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        changed, _ = apply_greedily(
            function, lambda op_class: _PATTERNS if issubclass(op_class, CollectivePermuteOp) else ()
        )
        return changed


def _replace_permute(permute: CollectivePermuteOp, rewriter: Rewriter) -> bool:
    """Replaces a collective-permute and the all-to-alls after it."""
    source = sharding_of(permute.tensor)
    mesh = None if source is None else mesh_of(source, permute)
    if source is None or mesh is None:
        return False
    axis_lists = _AxisLists(mesh)
    dim = axis_lists.reordered_dimension(source, permute.out_sharding)
    if dim is None:
        return False
    axes, _ = axis_lists.common_pieces(source.dims[dim].axes, permute.out_sharding.dims[dim].axes)
    chain = list(_moves_out_of(dim, permute))
    if not chain or permute.tensor.defining_op in chain:  # the latter in a graph region
        return False
    if any(len(_move(op).axes) > 1 or _move(op).axes[0] not in axes for op in chain):
        return False
    target = chain[-1].out_sharding
    if target.mesh_or_ref is not source.mesh_or_ref or target.replicated_axes != source.replicated_axes:
        return False
    type = permute.tensor.type
    if not isinstance(type, RankedTensor):
        return False
    sizes = axis_lists.split_sizes(type, dim, axes)
    moves = axis_lists.moves_to_front(axes, [_move(op).axes[0] for op in chain], target.dims[dim].axes)
    if sizes is None or moves is None:
        return False
    # The dimensions after `dim` are that much further back in the reshaped tensor.
    shift = len(sizes) - 1
    moves_out = [
        AllToAllParam(move.axes, dim + axes.index(move.axes[0]), _shifted(move.target, dim, shift))
        for move in map(_move, chain)
    ]
    moves_in = [AllToAllParam(move.axes, dim + move.source, dim + move.target) for move in moves]

    split_type = RankedTensor((*type.shape[:dim], *sizes, *type.shape[dim + 1 :]), type.element)
    sharding = _split_sharding(source, dim, axes, len(sizes))
    value = _reshape(permute.tensor, split_type, sharding, permute, rewriter)
    for move in moves_out + moves_in:
        sharding = axis_lists.with_move(sharding, move)
        attributes = {"params": AllToAllParams((move,)), "out_sharding": sharding}
        all_to_all = rewriter.create(
            AllToAllOp, [value], [split_type], attributes, before=permute, location=permute.lazy_location
        )
        value = all_to_all.results[0]
    rewriter.replace(chain[-1], [_reshape(value, type, target, permute, rewriter)])
    for op in reversed((permute, *chain[:-1])):
        rewriter.erase(op)
    return True


_PATTERNS = (Pattern(_replace_permute),)


# --- The collectives that are replaced ------------------------------------------------------------


@dataclass(frozen=True)
class _AxisLists:
    """Operations on lists of axes of a mesh."""

    mesh: Mesh

    def reordered_dimension(self, before: TensorSharding, after: TensorSharding) -> int | None:
        """The only dimension whose axes are in another order, if the shardings do not differ otherwise.

        Priorities and unreduced axes do not count.
        """
        if before.mesh_or_ref is not after.mesh_or_ref or before.replicated_axes != after.replicated_axes:
            return None
        pairs = list(zip(before.dims, after.dims, strict=True))
        if any(dim.is_closed is not other.is_closed for dim, other in pairs):
            return None
        changed = [number for number, (dim, other) in enumerate(pairs) if dim.axes != other.axes]
        if len(changed) != 1:
            return None
        dim, other = pairs[changed[0]]
        axes, other_axes = self.common_pieces(dim.axes, other.axes)
        return changed[0] if len(axes) == len(other_axes) and set(axes) == set(other_axes) else None

    def common_pieces(self, axes: Axes, others: Axes) -> tuple[Axes, Axes]:
        """Both lists, with each axis split into the sub-axes of it that the other list has."""
        return self._split(axes, others), self._split(others, axes)

    def _split(self, axes: Axes, others: Axes) -> Axes:
        pieces: list[AxisRef] = []
        for axis in axes:
            start, end = axis.pre_size, axis.next_pre_size(self.mesh)
            bounds = {bound for other in others if other.name == axis.name for bound in self._bounds(other)}
            cuts = [start, *sorted(bound for bound in bounds if start < bound < end), end]
            if len(cuts) == 2 or any(larger % smaller for smaller, larger in pairwise(cuts)):
                pieces.append(axis)
            else:
                pieces += [
                    AxisRef(axis.name, SubAxis(smaller, larger // smaller))
                    for smaller, larger in pairwise(cuts)
                ]
        return tuple(pieces)

    def _bounds(self, axis: AxisRef) -> tuple[int, int]:
        return axis.pre_size, axis.next_pre_size(self.mesh)

    def split_sizes(self, type: RankedTensor, dim: int, axes: Axes) -> list[int] | None:
        """The sizes of the dimensions of which each axis gets one, and the rest another if it is not 1.

        None if a tensor of this type cannot be reshaped like this.
        """
        if not type.has_static_shape or type.encoding is not None:
            return None
        if isinstance(type.element, UniformQuantizedPerAxis):
            return None
        rest, remainder = divmod(type.shape[dim], sharded_size(axes, self.mesh))
        if remainder or not rest:
            return None
        sizes = [axis.size(self.mesh) for axis in axes]
        return sizes if rest == 1 else [*sizes, rest]

    def moves_to_front(
        self, axes: Axes, moved_out: Sequence[AxisRef], staying: Axes
    ) -> list[AllToAllParam] | None:
        """The moves between places of `axes` after which the staying axes have the first places, in order.

        An axis moves as soon as its new place is free. None if axes wait for each other, or a place has
        another size.
        """
        for place, axis in enumerate(staying):
            size, available = axis.size(self.mesh), axes[place].size(self.mesh)
            if available % size or (available != size and axis is not staying[-1]):
                return None
        free = {axes.index(axis) for axis in moved_out}
        pending = {place: axes.index(axis) for place, axis in enumerate(staying) if axes[place] is not axis}
        moves = []
        while pending:
            reachable = [place for place in pending if place in free]
            if not reachable:
                return None
            place = reachable[0]
            current = pending.pop(place)
            moves.append(AllToAllParam((axes[current],), current, place))
            free ^= {current, place}
        return moves

    def with_move(self, sharding: TensorSharding, move: AllToAllParam) -> TensorSharding:
        """The sharding after one axis has moved out of a dimension that had no other."""
        dims = list(sharding.dims)
        target = dims[move.target]
        dims[move.source] = DimensionSharding()
        dims[move.target] = DimensionSharding(
            with_axis(target.axes, move.axes[0], self.mesh), target.is_closed
        )
        return sharding.with_dims(dims)


def _moves_out_of(dim: int, permute: CollectivePermuteOp) -> Iterator[AllToAllOp]:
    """The all-to-alls after a collective-permute that only move axes out of a dimension."""
    value: Value = permute.results[0]
    while value.has_one_use:
        user = next(value.users)
        if not isinstance(user, AllToAllOp) or len(user.params) != 1 or _move(user).source != dim:
            return
        yield user
        value = user.results[0]


def _move(all_to_all: AllToAllOp) -> AllToAllParam:
    return all_to_all.params.moves[0]


# --- The collectives that replace them ------------------------------------------------------------


def _shifted(number: int, dim: int, shift: int) -> int:
    return number if number < dim else number + shift


def _split_sharding(sharding: TensorSharding, dim: int, axes: Axes, count: int) -> TensorSharding:
    """The sharding of the reshaped tensor, in which `count` closed dimensions replace `dim`."""
    split = [DimensionSharding((axis,)) for axis in axes]
    split += [DimensionSharding()] * (count - len(axes))
    return sharding.with_dims((*sharding.dims[:dim], *split, *sharding.dims[dim + 1 :]))


def _reshape(
    value: Value, type: RankedTensor, sharding: TensorSharding, permute: Op, rewriter: Rewriter
) -> Value:
    """Reshapes a value before the collective-permute."""
    attributes = {SHARDING: ShardingPerValue((sharding,))}
    reshape = rewriter.create(
        ReshapeOp, [value], [type], attributes, before=permute, location=permute.lazy_location
    )
    return reshape.results[0]
