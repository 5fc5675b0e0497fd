"""Contractions, reductions and sorts: `dot`, `dot_general`, `reduce` and `sort`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, SortOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.halo_exchange import all_gather
from sdyopt.shardy.partition.identities import COUNTS_EACH, identity_of, is_identity
from sdyopt.shardy.partition.local_builder import ranked, shape_of
from sdyopt.shardy.partition.local_context import LocalContext, first_shard_table
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape
from sdyopt.shardy.partition.partial_results import check_is_combined, is_combined_by_none
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody, Values, begin_body
from sdyopt.shardy.sharding.explicit_reshards.dot_result import reduction_kind


@lowering(DotOp)
def lower_dot(op: DotOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    lhs = op.signature[DotOp.lhs]
    _check_contraction(op, op.lhs, [lhs.rank - 1], "dot", local)
    return None


@lowering(DotGeneralOp)
def lower_dot_general(op: DotGeneralOp, local: LocalContext) -> Lowered:
    """Checks that partial sums are combined."""
    contracting = list(op.dot_dimension_numbers.lhs_contracting_dimensions)
    _check_contraction(op, op.lhs, contracting, "dot_general", local)
    return None


def _check_contraction(op: Op, lhs: Value, contracting: list[int], name: str, local: LocalContext) -> None:
    axes_per_dim = local.axes_per_dim(lhs)
    type = op.signature.operand_types[0]
    assert isinstance(type, RankedTensor)
    axes = [axis for dim in contracting for axis in axes_per_dim[dim]]
    if not axes:
        return
    check_is_combined(
        op,
        axes,
        local.common_mesh(op),
        local,
        f"Expected sharded contracting {name} to have one user and the user is an sdy.all_reduce.",
        f"The axes of the sdy.all_reduce should match the sharded contracting dimensions of the {name}.",
    )


@lowering(ReduceOp)
def lower_reduce(op: ReduceOp, local: LocalContext) -> Lowered:
    """Initial values that may count only once, as in a sum, count on the first device of each group only.

    On the others, the identity takes their place. Nothing changes if they are the identity, as they usually
    are.
    """
    axes_per_dim = local.axes_per_dim(op.inputs[0])
    axes = tuple([axis for dim in op.dimensions for axis in axes_per_dim[dim]])
    if not axes:
        return None
    is_combined_by_none(op, axes, local.common_mesh(op), local)
    inits = list(op.init_values)
    for index, init in enumerate(inits):
        combiner, element = binary_body(op.body, index), ranked(init).element
        if combiner not in COUNTS_EACH or is_identity(combiner, init):
            continue
        identity = identity_of(combiner, element)
        assert identity is not None
        builder, mesh = local.builder(op), local.common_mesh(op)
        is_first = builder.reshape(local.lookup(builder, first_shard_table(axes, mesh, op), I1), ())
        inits[index] = builder.select(is_first, init, builder.splat(tensor((), element), identity))
    if inits != list(op.init_values):
        local.rewriter.set_operands(op, [*op.inputs, *inits])
    return None


@crosses_shards(SortOp)
def sort(op: SortOp, types: LocalTypes) -> Iterator[Dim]:
    """The sorted dimension. The sharding rule has a factor for it only if it counts from the start."""
    yield from by_rule(op, types)
    rank = ranked(op.results[0]).rank
    for number in range(len(op.operands) + len(op.results)):
        yield Dim(number, op.dimension % rank)


def exchange_partial_results(op: ReduceOp, context: HaloContext) -> Values:
    """Gathers the partial results of a reduction of several values, such as an argmax, and reduces them.

    None if its dimensions are not sharded, or if all-reduces combine the results.
    """
    axes_per_dim = context.types.axes_per_dim(op.inputs[0])
    axes = tuple([axis for dim in op.dimensions for axis in axes_per_dim[dim]])
    if len(op.results) == 1 or not axes or reduction_kind(op) is not None:
        return None
    body = begin_body(op, context)
    if body is None:
        return None
    inits = [body.shard_of(init) for init in op.init_values]
    fillers = []
    for index, (init, shard) in enumerate(zip(op.init_values, inits, strict=True)):
        combiner, element = binary_body(op.body, index), ranked(init).element
        identity = identity_of(combiner, element) if combiner in COUNTS_EACH else None
        fillers.append(shard if identity is None else body.splat(tensor((), element), identity))
    shards = [body.shard_of(input, init) for input, init in zip(op.inputs, op.init_values, strict=True)]
    rows = []
    for result in _reduced(body, op, shards, fillers, op.dimensions):
        row = body.reshape(result, (1, *shape_of(result)))
        rows.append(all_gather(body, row, 0, axes))
    return body.finish(_reduced(body, op, rows, inits, [0]))


def _reduced(
    body: ShardedBody, op: ReduceOp, values: Sequence[Value], inits: Sequence[Value], dims: Sequence[int]
) -> Sequence[Value]:
    """Values reduced along some dimensions, as an operation does."""
    region = Region()
    body.rewriter.copy_region(op.body, region)
    shape = [size for dim, size in enumerate(shape_of(values[0])) if dim not in dims]
    types = [tensor(tuple(shape), ranked(value).element) for value in values]
    return body.create(
        ReduceOp, [*values, *inits], types, {"dimensions": dense_array(I64, dims)}, [region]
    ).results


@pads(DotGeneralOp)
def pad_dot_general(op: DotGeneralOp, padder: Padder) -> Padded:
    """Fills both paddings with zeros: zero times undefined padding in the other operand could be NaN."""
    dims = op.dot_dimension_numbers
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), dims.lhs_contracting_dimensions)
    rhs = padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), dims.rhs_contracting_dimensions)
    _set_operands(op, [lhs, rhs], padder)
    return None


@pads(DotOp)
def pad_dot(op: DotOp, padder: Padder) -> Padded:
    """As for dot_general: the last dimension of the left operand and the first of the right one."""
    lhs = padder.mask_with_zero(op, op.lhs, unpadded_shape(op, 0), [len(unpadded_shape(op, 0)) - 1])
    _set_operands(op, [lhs, padder.mask_with_zero(op, op.rhs, unpadded_shape(op, 1), [0])], padder)
    return None


@pads(ReduceOp)
def pad_reduce(op: ReduceOp, padder: Padder) -> Padded:
    """Fills the padding with the identity of the reduction or, if none is known, with the initial value."""
    inputs = []
    for number, (input, init) in enumerate(zip(op.inputs, op.init_values, strict=True)):
        unpadded = unpadded_shape(op, number)
        if any(shape_of(input)[dim] != unpadded[dim] for dim in op.dimensions):
            input = padder.mask(op, input, unpadded, op.dimensions, _filler(op, number, init, padder))
        inputs.append(input)
    _set_operands(op, [*inputs, *op.init_values], padder)
    return None


def _filler(op: ReduceOp, number: int, init: Value, padder: Padder) -> Value:
    combiner, type = binary_body(op.body, number), ranked(init)
    identity = None if combiner is None else identity_of(combiner, type.element)
    if combiner is None or identity is None or is_identity(combiner, init):
        return init
    return padder.builder(op).splat(type, identity)


def _set_operands(op: DotGeneralOp | DotOp | ReduceOp, operands: list[Value], padder: Padder) -> None:
    if operands != op.operands:
        padder.rewriter.set_operands(op, operands)
