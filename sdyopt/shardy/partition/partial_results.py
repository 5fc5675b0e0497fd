"""Combination of partial results by collectives, and operations whose results are partial with an operand.

The difference of two partial sums is a partial sum of the difference, if both operands are partial; the
product is one if only one operand is. Operations that only move elements preserve any reduction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, AllSliceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp, ImagOp, RealOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    ComplexOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    SubtractOp,
)
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, ComplexType, FloatType, Type, element_of, tensor
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.partition.combiners import (
    COUNTS_EACH,
    binary_body,
    combiner_of,
    identity_of,
    is_identity,
    origin_of_partial_results,
)
from sdyopt.shardy.partition.local_builder import LocalBuilder, shape_of
from sdyopt.shardy.partition.local_context import Axes, LocalContext
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of


def combine_partial_results(
    op: AllReduceOp | ReduceScatterOp, axes: Sequence[AxisRef], sharding: TensorSharding, local: LocalContext
) -> Value:
    """The operand of an all-reduce or reduce-scatter, combined over all devices along `axes`."""
    value = op.tensor
    combiner = combiner_of(op)
    if combiner is not None:
        return all_reduce(value, axes, sharding, combiner, op, local)
    origin = origin_of_partial_results(value).defining_op
    if isinstance(origin, ReduceOp) and value.defining_op is origin:
        assert isinstance(value, OpResult)
        return _reduce_again(origin, axes, sharding, local)[value.index]
    raise op.op_error("cannot combine partial results of this reduction with a collective")


def combine_results(op: Op, values: Sequence[Value], axes: Axes, local: LocalContext) -> Sequence[Value]:
    """The partial results of an operation, combined over all devices along `axes`.

    Those of a reduction to several results are gathered along a new last dimension and reduced again.
    """
    sharding, builder = local.first_sharding(op), local.builder(op)
    if isinstance(op, ReduceOp) and len(values) > 1:
        rows = []
        for value in values:
            row = builder.reshape(value, (*shape_of(value), 1))
            rows.append(all_gather(row, len(shape_of(value)), axes, sharding, op, local))
        return _reduce_rows(op, rows, values, builder)
    combiner: type[Op] | Region = AddOp
    combined: list[Value] = []
    for value in values:
        if isinstance(op, ReduceOp | ScatterOp) and len(values) == 1:
            combiner = Region()
            local.rewriter.copy_region(op.regions[0], combiner)
        elif isinstance(op, ScatterOp):
            combiner = binary_body(op.update_computation, len(combined)) or AddOp
        combined.append(all_reduce(value, axes, sharding, combiner, op, local))
    return combined


def _reduce_rows(
    origin: ReduceOp, rows: Sequence[Value], like: Sequence[Value], builder: LocalBuilder
) -> Sequence[Value]:
    """Reduces gathered partial results along their last dimension to values of the types of others."""
    inits: list[Value] = []
    for index, init in enumerate(origin.init_values):
        combiner = binary_body(origin.body, index)
        if combiner in COUNTS_EACH and not is_identity(combiner, init):
            # The partial results contain the initial value already.
            identity = identity_of(combiner, ranked(init).element)
            assert identity is not None
            init = builder.splat(ranked(init), identity)
        inits.append(init)
    body = Region()
    builder.rewriter.copy_region(origin.body, body)
    attributes = {"dimensions": dense_array(I64, [len(shape_of(like[0]))])}
    return builder.create(ReduceOp, [*rows, *inits], [v.type for v in like], attributes, [body]).results


def all_reduce(
    value: Value,
    axes: Sequence[AxisRef],
    sharding: TensorSharding,
    combiner: type[Op] | Region,
    op: Op,
    local: LocalContext,
) -> Value:
    """A `stablehlo.all_reduce` of a value along axes of the mesh of a sharding."""
    builder, mesh = local.builder(op), local.mesh(sharding, op)
    groups = local.replica_groups(axes, mesh, sharding.mesh_or_ref, op)
    return builder.all_reduce(value, groups.attribute, local.new_channel(), combiner)


def all_gather(
    value: Value, dim: int, axes: Sequence[AxisRef], sharding: TensorSharding, op: Op, local: LocalContext
) -> Value:
    """A `stablehlo.all_gather` of a value along one dimension."""
    mesh = local.mesh(sharding, op)
    groups = local.replica_groups(axes, mesh, sharding.mesh_or_ref, op)
    builder, shape = local.builder(op), list(shape_of(value))
    shape[dim] *= groups.size
    if 0 in shape:  # which the verifier rejects
        return builder.zero(tensor(tuple(shape), ranked(value).element))
    return builder.all_gather(value, dim, groups.attribute, groups.size, local.new_channel())


def _reduce_again(
    origin: ReduceOp, axes: Sequence[AxisRef], sharding: TensorSharding, local: LocalContext
) -> Sequence[Value]:
    """All results of a reduction over the partial results of all devices, gathered along a new dimension.

    They are cached for the collectives on the other results of `origin`.
    """
    key = (origin, tuple(axes))
    if key not in local.combined:
        local.combined[key] = _gather_and_reduce(origin, axes, sharding, local)
    return local.combined[key]


def _gather_and_reduce(
    origin: ReduceOp, axes: Sequence[AxisRef], sharding: TensorSharding, local: LocalContext
) -> Sequence[Value]:
    after = origin.next
    assert after is not None
    gathered = []
    for result in origin.results:
        # Created after the reduction, because the collective of another result may come first.
        builder = LocalBuilder(after, local.rewriter)
        row = builder.reshape(result, (1, *shape_of(result)))
        gathered.append(all_gather(row, 0, axes, sharding, after, local))
    body = Region()
    local.rewriter.copy_region(origin.body, body)
    attributes = {"dimensions": dense_array(I64, [0])}
    builder = LocalBuilder(after, local.rewriter)
    operands = [*gathered, *origin.init_values]
    types = [result.type for result in origin.results]
    return builder.create(ReduceOp, operands, types, attributes, [body]).results


_HELP = "run -sdy-insert-explicit-reshards=enable-full-version before, which inserts all-reduces"


def check_is_combined(
    op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext, wrong_user: str, wrong_axes: str
) -> None:
    """Checks that all users of an operation combine its partial results along `axes`.

    Along its unreduced axes, a result remains partial. `wrong_user` and `wrong_axes` are error messages. If
    no user combines the results, the conversion does, since jaxlib 0.12.0.1.
    """
    if is_combined_by_none(op, axes := list(axes), mesh, local):
        return
    needed = sorted_and_merged(axes, mesh)
    for result in op.results:
        sharding = local.sharding(result)
        kept = () if sharding is None else sharding.unreduced_axes
        if sorted_and_merged(kept, mesh) == needed:
            continue
        for user in _users(result):
            if not isinstance(user, AllReduceOp | ReduceScatterOp):
                raise op.op_error(wrong_user).help(_HELP)
            axes_of = (
                user.reduction_axes.axes if isinstance(user, AllReduceOp) else user.reduce_scatter_axes.axes
            )
            if sorted_and_merged((*axes_of, *kept), mesh) != needed:
                raise op.op_error(wrong_axes).help(_HELP)


def is_combined_by_none(op: Op, axes: Iterable[AxisRef], mesh: Mesh, local: LocalContext) -> bool:
    """Whether the conversion must combine the partial results of an operation itself. If so, notes it."""
    if not Behavior.COMBINED_PARTIAL_RESULTS.active:
        return False
    for result in op.results:
        sharding = local.sharding(result)
        if sharding is not None and sharding.unreduced_axes:
            return False
        if any(isinstance(user, AllReduceOp | ReduceScatterOp) for user in _users(result)):
            return False
    local.uncombined[op] = sorted_and_merged(axes, mesh)
    return True


def _users(value: Value) -> Iterator[Op]:
    """The users of a value; in place of padding and slices, which may precede the collective, their users."""
    for use in value.uses:
        if isinstance(use.owner, PadOp | SliceOp | AllSliceOp) and use.index == 0:
            yield from _users(use.owner.results[0])
        else:
            yield use.owner


# The operands whose elements an operation moves; None for all.
_MOVED: dict[type[Op], tuple[int, ...] | None] = {
    BroadcastInDimOp: None,
    ConcatenateOp: None,
    DynamicSliceOp: (0,),
    DynamicUpdateSliceOp: (0, 1),
    GatherOp: (0,),
    PadOp: None,
    ReshapeOp: None,
    ReverseOp: None,
    SelectOp: (1, 2),
    SliceOp: None,
    TransposeOp: None,
}
# The operands that an operation is linear in, together.
_SUMMED: dict[type[Op], tuple[int, ...] | None] = {
    AddOp: None,
    ComplexOp: None,
    SubtractOp: None,
    NegOp: None,
    RealOp: None,
    ImagOp: None,
    **_MOVED,
}
# The operations that are linear in either operand, if the other one is whole.
_PRODUCTS = (MulOp, DotOp, DotGeneralOp, ConvolutionOp)
_BY_KIND: dict[ReductionKind, type[Op]] = {
    ReductionKind.SUM: AddOp,
    ReductionKind.MAX: MaxOp,
    ReductionKind.MIN: MinOp,
}
_DECLARED = {
    None: ReductionKind.SUM,
    Reduction.ADD: ReductionKind.SUM,
    Reduction.MAX: ReductionKind.MAX,
    Reduction.MIN: ReductionKind.MIN,
}


def partial_together(op: Op, kind: ReductionKind) -> Sequence[int]:
    """The operands that must all be partial, by a reduction of this kind, for a partial result.

    Empty if the result is not partial even then.
    """
    every = range(len(op.operands))
    if any(element_of(value.type) is I1 for value in op.results):
        return ()
    if isinstance(op, ReduceOp):
        return range(len(op.results)) if _combines(op, kind) else ()
    if kind is not ReductionKind.SUM:
        if isinstance(op, _BY_KIND[kind]):
            return every
        return _positions(_MOVED, op, every)
    if isinstance(op, DivOp) and _is_float(op.results[0].type):
        return (0,)
    if isinstance(op, ConvertOp) and all(_is_float(value.type) for value in (*op.operands, *op.results)):
        return every
    return _positions(_SUMMED, op, every)


def is_product(op: Op, kind: ReductionKind) -> bool:
    """Whether the result is partial if exactly one operand is."""
    return kind is ReductionKind.SUM and isinstance(op, _PRODUCTS)


def is_partial_everywhere(value: Value, kind: ReductionKind) -> bool:
    """Whether a value is a constant that changes nothing, on however many devices it is added."""
    return is_identity(_BY_KIND[kind], value)


def introduced_kind(op: Op) -> ReductionKind | None:
    """The reduction of the partial results that an operation on shards has; None for another one."""
    if not isinstance(op, ReduceOp | ScatterOp):
        return _DECLARED.get(reduction_of(op))
    bodies = {binary_body(op.regions[0], index) for index in range(len(op.results))}
    return next((kind for kind, combiner in _BY_KIND.items() if bodies == {combiner}), None)


def _positions(table: dict[type[Op], tuple[int, ...] | None], op: Op, every: range) -> Sequence[int]:
    return () if type(op) not in table else table[type(op)] or every


def _combines(op: ReduceOp, kind: ReductionKind) -> bool:
    """Whether a reduction of partial results has partial results: it must not add initial values to each."""
    combiner = _BY_KIND[kind]
    return introduced_kind(op) is kind and (
        kind is not ReductionKind.SUM or all(is_identity(combiner, init) for init in op.init_values)
    )


def _is_float(type: Type) -> bool:
    return isinstance(element_of(type), FloatType | ComplexType)
