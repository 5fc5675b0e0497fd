"""sdy-merge-all-reduces: all-reduce slices and sums of partial results once, instead of what they consist of.

    %2 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %3 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %4 = stablehlo.add %2, %3 : tensor<8xf32>
becomes, if %2 and %3 have no other uses,
    %4 = stablehlo.add %0, %1 {sdy.sharding = … [{}], unreduced={"x"} …} : tensor<8xf32>
    %5 = sdy.all_reduce {"x"} %4 out_sharding=<@mesh, [{}]> : tensor<8xf32>

The gradients of an input of several matrix products are such sums. Sums of more terms are merged, too, and
reduce-scatters as all-reduces are. Transposes between an all-reduce and the addition are done before it.

    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = sdy.all_slice [{"y"}] %1 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
becomes, so that only the slices are all-reduced,
    %1 = sdy.all_slice [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
    %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
If the all-reduce is along {"x", "y"}, the slice along {"y"} becomes a reduce-scatter. A slice is done before
transposes and conversions for that, as far as `slices-before` says: the gradient of a weight that a program
gathers is such a slice of a transposed sum.

    %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<1xf32>
becomes, if "x" is larger than 2 and only the first shard of %0 is not all padding,
    %1 = sdy.sharded_to_unreduced [{"x"}] %0 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<1xf32>
    %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}]> : tensor<1xf32>
because an all-gather sends padding, too.

Only sums are merged. Floats are added in another order then, so results may differ by rounding.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, TypeVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    CollectiveOp,
    ReduceScatterOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.mesh import REPLACES, SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.ops import ConstantOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_or_replicated
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import PadOp, SliceOp
from sdyopt.mlir.ir.attribute import Attribute, StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, FloatType, Type, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.combiners import combiner_of
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.sharding.axis_lists import Axes, overlap, sharded_size

T = TypeVar("T")
SlicesBefore = Literal["conversions", "transposes", "nothing"]
_PASSED: Mapping[SlicesBefore, tuple[type[Op], ...]] = {
    "conversions": (TransposeOp, ConvertOp),
    "transposes": (TransposeOp,),
    "nothing": (),
}
_COLLECTIVES = (AllReduceOp, ReduceScatterOp)
_TERMS = (TransposeOp, *_COLLECTIVES)
# Operations whose partial results may be declared as such.
_ORIGINS = (DotOp, DotGeneralOp, ConvolutionOp, ReduceOp, GatherOp, ScatterOp)
# Operations that may be between one of these and the collective.
_BETWEEN = (PadOp, SliceOp, AllSliceOp, AllReduceOp)


@register("sdy-merge-all-reduces")
class MergeAllReduces(Pass):
    whole_sums_only: bool = option(
        default=False,
        help="as XLA does, merge only the all-reduces of sums without other terms, scatter only sums along "
        "the axes of the slice, and set `sdy.replaces` on these reduce-scatters",
    )
    slices_before: SlicesBefore = option(
        default="conversions",
        help="what the slice of a sum is done before: conversions and transposes, transposes, or nothing",
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter, types = Rewriter(), LocalTypes(module)
        passed = _PASSED[self.slices_before]
        for op in module.nested(AllSliceOp):
            _slice_first(op, passed, self.whole_sums_only, types, rewriter)
        for gather in module.nested(AllGatherOp):
            _sum_instead_of_gather(gather, types, rewriter)
        mixed: set[Op] | None = set() if self.whole_sums_only else None
        for add in module.nested(AddOp):
            if mixed is not None and _is_mixed(add, mixed):
                mixed.add(add)
            elif mixed is not None or not _is_term(add):
                _Sum(add, types, rewriter, mixed).merge()
        # Of merged sums, too.
        for op in module.nested(AllSliceOp):
            _slice_first(op, passed, self.whole_sums_only, types, rewriter)
        return rewriter.changed


def _slice_first(
    op: AllSliceOp, passed: tuple[type[Op], ...], as_xla: bool, types: LocalTypes, rewriter: Rewriter
) -> None:
    """Slices partial results before they are all-reduced.

    If they are all-reduced along the axes of the slice, among others, this is a reduce-scatter along these;
    with `as_xla`, only if there are no others, and it is marked.
    """
    op = _before(op, passed, rewriter)
    collective = op.tensor.defining_op
    if not isinstance(collective, AllReduceOp) or not _is_merged_sum(collective):
        return
    mesh = types.mesh(op.out_sharding)
    if mesh is None or collective.parent is not op.parent:
        return
    partial = _sharding(collective.tensor, collective)
    axes = sorted_and_merged(collective.reduction_axes.axes, mesh)
    sliced = [axis for dim in op.slicing_axes for axis in dim.axes]
    unreduced, first = partial.unreduced_axes, "slicing_axes"
    if overlap(sliced, axes):
        others = difference(axes, sliced, mesh)
        if difference(sliced, axes, mesh) or (as_xla and others):
            return
        if not _may_be_declared(collective.tensor, axes, collective):
            return
        _declare(collective.tensor, axes, mesh, collective, rewriter)
        axes, first = others, "reduce_scatter_axes"
        unreduced = difference(unreduced or collective.reduction_axes.axes, sliced, mesh)
    attributes: dict[str, Attribute] = {
        first: op.slicing_axes,
        "out_sharding": op.out_sharding.with_unreduced_axes(sorted_and_merged(unreduced, mesh)),
    }
    location, type = op.lazy_location, op.output.type
    op_class = AllSliceOp if first == "slicing_axes" else ReduceScatterOp
    if op_class is ReduceScatterOp and as_xla:
        attributes[REPLACES] = StringAttr(op.signature.name)
    shard = rewriter.create(
        op_class, [collective.tensor], [type], attributes, before=op, location=location
    ).result
    if axes:
        reduced = {
            **dict(collective.signature.attributes),
            "reduction_axes": AxisRefList(axes),
            "out_sharding": op.out_sharding,
        }
        shard = rewriter.create(AllReduceOp, [shard], [type], reduced, before=op, location=location).result
    rewriter.replace(op, [shard])
    rewriter.erase(collective)


def _before(op: AllSliceOp, passed: tuple[type[Op], ...], rewriter: Rewriter) -> AllSliceOp:
    """Slices a sum before operations of some classes, if nothing else uses it; returns the new slice."""
    after: list[Op] = []
    inner = op.tensor.defining_op
    while inner is not None and isinstance(inner, passed) and inner.parent is op.parent:
        if not _has_one_use(inner.results[0]):
            break
        after.append(inner)
        inner = inner.operand_at(0).defining_op
    if not after or not isinstance(inner, AllReduceOp) or not _is_merged_sum(inner):
        return op
    axes, sharding = op.slicing_axes.dims, op.out_sharding
    for user in after:
        set_sharding(user.results[0], sharding, rewriter)
        if isinstance(user, TransposeOp):
            # Where a dimension of the operand is in the result.
            places = sorted(range(len(axes)), key=user.permutation.__getitem__)
            axes = tuple(axes[place] for place in places)
            sharding = sharding.with_dims([sharding.dims[place] for place in places])
    first = after[-1]
    attributes = {"slicing_axes": AxesPerDim(axes), "out_sharding": sharding}
    moved = rewriter.create(
        AllSliceOp,
        [inner.result],
        [inner.result.type],
        attributes,
        before=first,
        location=op.lazy_location,
    )
    assert isinstance(moved, AllSliceOp)
    rewriter.set_operand(first.operand_uses[0], moved.result)
    rewriter.replace(op, [op.tensor])
    return moved


def _sum_instead_of_gather(op: AllGatherOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Replaces a gather of one dimension, if an all-reduce of its elements is less."""
    before, after = types.sharding(op.tensor), op.out_sharding
    mesh = types.mesh(after)
    dims = [dim for dim, axes in enumerate(op.gathering_axes) if axes.axes]
    if before is None or mesh is None or len(dims) != 1 or after.dims[dims[0]].axes:
        return
    if before.unreduced_axes or not isinstance(element_of(op.tensor.type), FloatType):
        return
    axes, size = before.dims[dims[0]].axes, shape_of(op.tensor)[dims[0]]
    shards = sharded_size(axes, mesh)
    # An all-reduce sends elements twice, an all-gather the largest shard from each device.
    if 2 * size >= shards * -(-size // shards):
        return
    summed, type, location = sorted_and_merged(axes, mesh), op.tensor.type, op.lazy_location
    partial: dict[str, Attribute] = {
        "axes": op.gathering_axes,
        "out_sharding": after.with_unreduced_axes(summed),
    }
    value = rewriter.create(
        ShardedToUnreducedOp, [op.tensor], [type], partial, before=op, location=location
    ).result
    reduced: dict[str, Attribute] = {"reduction_axes": AxisRefList(summed), "out_sharding": after}
    rewriter.replace(op, rewriter.create(AllReduceOp, [value], [type], reduced, before=op, location=location))


def _is_merged_sum(op: AllReduceOp | ReduceScatterOp) -> bool:
    """Whether a collective adds numbers, and only one operation uses the result."""
    return element_of(op.tensor.type) is not I1 and combiner_of(op) is AddOp and _has_one_use(op.results[0])


def _is_zero(value: Value) -> bool:
    """Whether a value is a constant, maybe repeated, of which all elements are 0."""
    op = value.defining_op
    while isinstance(op, BroadcastInDimOp):
        op = op.operand_at(0).defining_op
    constant = op.signature.attributes.get("value") if isinstance(op, ConstantOp) else None
    if op is not None and constant is None:
        constant = constant_value(op)
    return isinstance(constant, DenseElements) and not any(constant.data)


def _is_mixed(add: AddOp, mixed: set[Op]) -> bool:
    """Whether an operand is a mixed sum, or certainly neither the result of a collective, a sum, nor 0."""
    for value in add.operands:
        op = value.defining_op
        if isinstance(op, AddOp):
            if op in mixed and op.parent is add.parent and _has_one_use(value):
                return True
        elif not isinstance(op, _TERMS) and not _is_zero(value):
            return True
    return False


def _has_one_use(value: Value) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def _is_term(op: AddOp) -> bool:
    """Whether a sum is only a term of another one in the same block."""
    if not _has_one_use(op.result):
        return False
    user = next(iter(op.result.uses)).owner
    return isinstance(user, AddOp) and user.parent is op.parent


class _Term(NamedTuple):
    """A term of a sum: the result of a collective, transposed by some operations."""

    collective: AllReduceOp | ReduceScatterOp
    transposes: Sequence[TransposeOp]

    def permuted(self, items: Sequence[T]) -> Sequence[T]:
        """The parts for the dimensions of the collective, in the order of those of the term."""
        for transpose in self.transposes:
            items = [items[dim] for dim in transpose.permutation]
        return items

    def after(self, sharding: TensorSharding) -> TensorSharding:
        """The sharding of the term for one of the operand or result of the collective."""
        return sharding.with_dims(self.permuted(sharding.dims))

    def axes_of(self, mesh: Mesh) -> Axes:
        """The axes along which the collective of a term combines partial results."""
        if isinstance(self.collective, AllReduceOp):
            return sorted_and_merged(self.collective.reduction_axes.axes, mesh)
        return sorted_and_merged(self.collective.reduce_scatter_axes.axes, mesh)


class _Sum:
    """Merges the collectives of the terms of a sum; with `mixed`, only if all terms have the same.

    `mixed` has the sums before this one with a term that has no collective, as have all sums of them.
    """

    def __init__(self, root: AddOp, types: LocalTypes, rewriter: Rewriter, mixed: set[Op] | None) -> None:
        self._root = root
        self._mixed = mixed
        self._types = types
        self._rewriter = rewriter

    def merge(self) -> None:
        groups: dict[Hashable, list[Value]] = {}
        terms: dict[Value, _Term] = {}
        leaves, sums = self._leaves()
        if self._mixed is not None and not self._mixed.isdisjoint((self._root, *sums)):
            self._mixed.add(self._root)
            return
        for value in leaves:
            term = self._term(value)
            mesh = None if term is None else self._types.mesh(term.collective.out_sharding)
            if term is None or mesh is None:
                continue
            sharding = _sharding(self._root.result, term.collective)
            if not term.after(term.collective.out_sharding).shards_like(sharding):
                continue
            partial, axes = _sharding(term.collective.tensor, term.collective), term.axes_of(mesh)
            if not _may_be_declared(term.collective.tensor, axes, term.collective):
                continue
            key = type(term.collective), axes, term.after(partial).dims, partial.mesh_or_ref
            groups.setdefault((key, term.collective.out_sharding.unreduced_axes), []).append(value)
            terms[value] = term
        if all(len(group) == 1 for group in groups.values()):
            return
        others = [value for value in leaves if value not in terms and not _is_zero(value)]
        if self._mixed is not None and (others or len(groups) > 1):
            return
        kept = [value for value in leaves if value not in terms or len(_group_of(value, groups)) == 1]
        merged = [group for group in groups.values() if len(group) > 1]
        kept += [self._merged([terms[value] for value in group]) for group in merged]
        total = self._total(kept, self._types.sharding(self._root.result))
        self._rewriter.replace(self._root, [total])
        for add in sums:
            self._rewriter.erase(add)
        for term in terms.values():
            for op in (*reversed(term.transposes), term.collective):
                if not op.results[0].has_uses:
                    self._rewriter.erase(op)

    def _leaves(self) -> tuple[list[Value], list[AddOp]]:
        """The terms of the sum, and the sums that are terms of it, users first; up to one that is mixed."""
        leaves: list[Value] = []
        sums: list[AddOp] = []
        pending = list(reversed(self._root.operands))
        while pending:
            value = pending.pop()
            op = value.defining_op
            if isinstance(op, AddOp) and op.parent is self._root.parent and _has_one_use(value):
                sums.append(op)
                if self._mixed is not None and op in self._mixed:
                    break
                pending += reversed(op.operands)
            else:
                leaves.append(value)
                if self._mixed is not None and self._term(value) is None and not _is_zero(value):
                    self._mixed.add(self._root)
                    break
        return leaves, sums

    def _term(self, value: Value) -> _Term | None:
        """The collective and the transposes that compute a term of the sum and nothing else."""
        transposes: list[TransposeOp] = []
        op = value.defining_op
        while isinstance(op, TransposeOp) and op.parent is self._root.parent and _has_one_use(op.out):
            transposes.insert(0, op)
            op = op.operand.defining_op
        if not isinstance(op, _COLLECTIVES) or op.parent is not self._root.parent or not _is_merged_sum(op):
            return None
        return _Term(op, transposes)

    def _merged(self, terms: Sequence[_Term]) -> Value:
        """The sum of the partial results, combined by one collective."""
        first = terms[0]
        mesh = self._types.mesh(first.collective.out_sharding)
        assert mesh is not None
        axes = first.axes_of(mesh)
        values: list[Value] = []
        for term in terms:
            value = term.collective.tensor
            _declare(value, axes, mesh, term.collective, self._rewriter)
            for transpose in term.transposes:
                declared = self._types.sharding(value)
                assert declared is not None
                permuted = declared.with_dims([declared.dims[dim] for dim in transpose.permutation])
                attributes = dict(transpose.signature.attributes)
                value = self._create(TransposeOp, [value], transpose.out.type, attributes, permuted)
            values.append(value)
        declared = self._types.sharding(values[0])
        assert declared is not None
        total = self._total(values, declared)
        collective = first.collective
        reduced: dict[str, Attribute] = {
            **dict(collective.signature.attributes),
            "out_sharding": first.after(collective.out_sharding),
        }
        if isinstance(collective, ReduceScatterOp):
            reduced["reduce_scatter_axes"] = AxesPerDim(
                tuple(first.permuted(list(collective.reduce_scatter_axes)))
            )
        return self._create(type(collective), [total], total.type, reduced)

    def _total(self, values: Sequence[Value], sharding: TensorSharding | None) -> Value:
        total, *others = values
        for other in others:
            total = self._create(AddOp, [total, other], total.type, {}, sharding)
        return total

    def _create(
        self,
        op_class: type[Op],
        operands: Sequence[Value],
        type: Type,
        attributes: dict[str, Attribute],
        sharding: TensorSharding | None = None,
    ) -> Value:
        if sharding is not None:
            attributes = {**attributes, SHARDING: ShardingPerValue((sharding,))}
        location = self._root.lazy_location
        return self._rewriter.create(
            op_class, operands, [type], attributes, before=self._root, location=location
        ).results[0]


def _sharding(value: Value, collective: CollectiveOp) -> TensorSharding:
    """The sharding of a value; without one, it is replicated on the mesh of a collective."""
    return sharding_or_replicated(value, collective.out_sharding.mesh_or_ref, is_closed=True)


def _may_be_declared(value: Value, axes: Axes, collective: CollectiveOp) -> bool:
    """Whether a value is declared as partial along axes, or can be, because only a collective uses it."""
    sharding = _sharding(value, collective)
    if set(axes) <= set(sharding.unreduced_axes):
        return sharding.reduction is ReductionKind.SUM
    if sharding.unreduced_axes or not _has_one_use(value):
        return False
    op = value.defining_op
    if isinstance(op, _BETWEEN):
        return _may_be_declared(op.operands[0], axes, collective)
    return isinstance(op, _ORIGINS) and len(op.results) == 1


def _declare(value: Value, axes: Axes, mesh: Mesh, collective: CollectiveOp, rewriter: Rewriter) -> None:
    """Declares a value as partial along axes."""
    sharding, op = _sharding(value, collective), value.defining_op
    if set(axes) <= set(sharding.unreduced_axes):
        return
    if isinstance(op, _BETWEEN):
        _declare(op.operands[0], axes, mesh, collective, rewriter)
    set_sharding(value, sharding.with_unreduced_axes(sorted_and_merged(axes, mesh)), rewriter)


def _group_of(value: Value, groups: dict[Hashable, list[Value]]) -> Sequence[Value]:
    return next(group for group in groups.values() if value in group)
