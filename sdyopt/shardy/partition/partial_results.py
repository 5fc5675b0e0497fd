"""Combination of partial results: by one collective or, where none can, by an all-gather and a reduction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, AllSliceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I64, tensor
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.partition.combiners import binary_body, combiner_of, origin_of_partial_results
from sdyopt.shardy.partition.identities import COUNTS_EACH, identity_of, is_identity
from sdyopt.shardy.partition.local_builder import LocalBuilder, ranked, shape_of
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.local_types import Axes


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
        return _reduce_again(origin, axes, sharding, op, local)[value.index]
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
    origin: ReduceOp, axes: Sequence[AxisRef], sharding: TensorSharding, op: Op, local: LocalContext
) -> Sequence[Value]:
    """All results of a reduction over the partial results of all devices, gathered along a new dimension.

    They are cached for the collectives on the other results of `origin`.
    """
    key = (origin, tuple(axes))
    if key not in local.combined:
        local.combined[key] = _gather_and_reduce(origin, axes, sharding, op, local)
    return local.combined[key]


def _gather_and_reduce(
    origin: ReduceOp, axes: Sequence[AxisRef], sharding: TensorSharding, op: Op, local: LocalContext
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
            if sorted_and_merged((*_axes_of(user), *kept), mesh) != needed:
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


def _axes_of(op: AllReduceOp | ReduceScatterOp) -> Iterable[AxisRef]:
    if isinstance(op, AllReduceOp):
        return op.reduction_axes.axes
    return op.reduce_scatter_axes.axes
