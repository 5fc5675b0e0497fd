"""sdy-resolve-permutation-factors: give operations the elements of other shards that they need.

Over `sdy.mesh @mesh = <["x"=2]>`,

    %0 = stablehlo.pad %a, %v, low = [0], high = [4], interior = [0] : … -> tensor<12xf32>
becomes, if %a has 8 elements and is sharded along "x", and %v is the constant 0,
    %0 = sdy.manual_computation(%a, %v) … manual_axes={"x"} (%shard: tensor<4xf32>, %value: tensor<f32>) {
      %1 = stablehlo.slice %shard [0:2]
      %2 = "stablehlo.collective_permute"(%1) <{source_target_pairs = dense<[[1, 0]]>, …}>
      %3 = stablehlo.concatenate %shard, %2, dim = 0
      %4 = stablehlo.pad %3, %value, low = [0], high = [2], interior = [0]
      %5 = stablehlo.dynamic_slice %4, %start, sizes = [6]
      sdy.return %5 : tensor<6xf32>
    } : (tensor<8xf32>, tensor<f32>) -> tensor<12xf32>

After this pass, every operation can be run on the shards of its operands. Slices, pads, concatenations,
reversals, reshapes, convolutions and windows get halos: the elements of other shards that they read. If
halos are as large as the rest of the dimension, and for other operations, the dimension is replicated by a
reshard, and the result is resharded. An operation without a sharding rule gets whole operands, and so does
one whose shardings are on different meshes. What stays in its shard is not changed: a slice of whole
shards, padding between elements, windows that do not overlap.

A concatenation whose operands are gathered by reshards gets halos instead, where they are smaller. A
rotation, the concatenation of two slices of one tensor, is one exchange.

A result that is declared unreduced, but would be the whole value on every device, gets a
`sdy.replicated_to_unreduced`. A propagation barrier is removed, or becomes a reshard.

A cumulative sum, product, maximum or minimum, which is a window over all elements before or after each one,
gathers the totals of the shards instead of their elements, except with `as-partitioner`. A top-k along a
sharded dimension gathers the k largest elements of each shard. A dynamic slice of a sharded dimension is a
sum of slices, with zeros for the elements of other shards, if that is less than the dimension.

With `mark-exchanges`, a reduction of several values, such as an argmax, gathers its partial results;
otherwise the conversion to local types does this.

With `as-partitioner`, the halos of a slice that come from neighbors are those of XLA: each neighbor sends all
from its border up to the farthest element that any shard reads, unless this is more than two shards of the
result.

With `reduce-communication`, a slice of a padded tensor becomes a pad, and a reshape between reshards gets the
sharding before or after them, and exchanges halos, where this communicates less: 6 heads of an attention,
over 4 devices, are 2+2+2+0. The operands of a product are gathered instead of all-reducing the result, if
this communicates at most half.

A slice of a tensor that is gathered along other dimensions is gathered instead of the tensor.

With `rng-bit-generator-unsafe=false`, random bits are generated whole on every device and then sliced, so
that they do not depend on their sharding.

A custom call with side effects runs on every device, too, which is reported with a warning.

Reshards between meshes with different axes are split into a gather and a slice. The branches of
`stablehlo.if` and optimization barriers get operands with the shardings of their results. Propagation
barriers are removed.

Run this pass after `sdy-insert-explicit-reshards` in its full version and before
`sdy-reshard-to-collectives`, which lowers the reshards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sdyopt.base.context import kept_by
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.chlo.operations import TopKOp
from sdyopt.mlir.dialects.sdy.collectives import ReplicatedToUnreducedOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import meshes_at
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.asynchronous import AsyncStartOp
from sdyopt.mlir.dialects.stablehlo.control_flow import IfOp, OptimizationBarrierOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.numerics import RngBitGeneratorOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import Channels
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.operations.reduction import exchange_partial_results
from sdyopt.shardy.partition.replication import Dim, dims_to_replicate
from sdyopt.shardy.partition.sharded_body import HaloContext, exchange_halos, may_be_sharded_more

from ..exporting.explicit_reshards.insertion import apply_plan
from ..exporting.explicit_reshards.reshard_plan import ReshardPlan
from .resolution.reshapes import delay_gathers, merge_with_pad, reshard_reshape
from .resolution.sums import PRODUCTS, drop_sums_of_copies, gather_instead_of_sum
from .resolution.unreduced import (
    PartialUseResharder,
    make_all_partial,
    remove_barriers,
    reshard_barrier_operands,
    reshard_branches,
    resolve_unreduced_uses,
    shard_operand,
)
from .resolution.without_reshards import erase_unused, exchange_instead_of_reshards, exchange_top_k
from .resolve_single_device_sharding import resolve_mesh_change


@register("sdy-resolve-permutation-factors")
class ResolvePermutationFactors(Pass):
    enable_halo_exchange: bool = option(
        default=True,
        help="exchange halos, and keep windows sharded that stay in their shards, instead of replicating",
    )
    replica_count: int = option(default=1, help="number of replicas of the program")
    partition_count: int = option(default=1, help="number of partitions of each replica")
    rng_bit_generator_unsafe: bool = option(
        default=True,
        help="let the random bits of `stablehlo.rng_bit_generator` depend on their sharding, instead of "
        "replicating them",
        since=Since(Behavior.SHARDED_RANDOM_BITS),
    )
    mark_exchanges: bool = option(
        default=False,
        help="set `sdy.replaces` on manual computations that exchange data: the operation that they replace",
        is_addition=True,
    )
    reduce_communication: bool = option(
        default=False,
        help="change operations and the reshards around them, where this communicates less",
        is_addition=True,
    )
    as_partitioner: bool = option(
        default=False,
        help="gather the operands of cumulative operations, and send gapless halos of slices, as XLA does",
        is_addition=True,
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter, types = Rewriter(), LocalTypes(module)
        types.dims_to_replicate = kept_by(lambda: (self, meshes_at(module)))
        context = HaloContext(
            types, rewriter, Channels(module), self.replica_count, self.mark_exchanges, self.as_partitioner
        )
        drop_sums_of_copies(module, types, rewriter)
        ops = list(module.walk_post_order())
        resharder = PartialUseResharder(types, rewriter)
        remove_barriers(module, types, resharder, rewriter)
        resolve_unreduced_uses(ops, types, rewriter)
        make_all_partial(ops, types, rewriter)
        delay_gathers(module, types, rewriter)
        if self.reduce_communication:
            for slice in module.nested(SliceOp):
                merge_with_pad(slice, types, rewriter)
            for op in ops:
                if type(op) in PRODUCTS:
                    gather_instead_of_sum(op, types, rewriter)
        ops = list(module.walk_post_order())
        self._resolve_rotations(ops, context)
        for op in ops:
            if op.parent is None:
                continue  # replaced or erased with another operation
            if isinstance(op.parent_op, AsyncStartOp):
                # The operands of the outer operation are replicated.
                rewriter.remove_attribute(op, SHARDING)
                continue
            if isinstance(op, ReshardOp):
                resolve_mesh_change(op, types, rewriter)
            elif isinstance(op, IfOp):
                reshard_branches(op, resharder)
            elif op.successors or (op.dialect is not None and op.dialect_name not in _LOCAL_DIALECTS):
                if _follows_rule(type(op)) and not dims_to_replicate(op, types, self.enable_halo_exchange):
                    continue  # nearly all operations
                _warn_of_effects(op, types)
                if self.reduce_communication and isinstance(op, ReshapeOp):
                    reshard_reshape(op, types, rewriter)
                self._resolve(op, context)
        for op in module.nested(OptimizationBarrierOp, ReplicatedToUnreducedOp):
            if isinstance(op, OptimizationBarrierOp):
                reshard_barrier_operands(op, resharder)
            elif isinstance(op, ReplicatedToUnreducedOp):
                shard_operand(op, types, rewriter)
        return rewriter.changed

    def _resolve_rotations(self, ops: Sequence[Op], context: HaloContext) -> None:
        """Exchanges halos of concatenations before those of slices, which may be their operands."""
        if not self.enable_halo_exchange:
            return
        for op in ops:
            if isinstance(op, ConcatenateOp):
                slices = [_definition(value) for value in op.operands]
                self._resolve(op, context)
                erase_unused([sliced for sliced in slices if isinstance(sliced, SliceOp)], context.rewriter)

    def _resolve(self, op: Op, context: HaloContext) -> None:
        """Exchanges halos, or replicates the dimensions that the operation needs whole."""
        if self.enable_halo_exchange and _exchange_more(op, context):
            return
        # Otherwise the conversion to local types combines partial results.
        if self.mark_exchanges and isinstance(op, ReduceOp):
            values = exchange_partial_results(op, context)
            if values is not None:
                context.rewriter.replace(op, values)
                return
        dims = dims_to_replicate(op, context.types, self.enable_halo_exchange)
        if isinstance(op, RngBitGeneratorOp) and not self.rng_bit_generator_unsafe:
            # The sharded dimensions of random bits.
            sharded_bits = [
                Dim(-1, number) for number, axes in enumerate(context.types.axes_per_dim(op.output)) if axes
            ]
            dims = [*dims, *sharded_bits]
        if not dims:
            return
        values = exchange_halos(op, context) if self.enable_halo_exchange else None
        if values is None:
            _replicate(op, dims, context.types, context.rewriter)
        else:
            context.rewriter.replace(op, values)


# The dialects whose operations are not changed. Others are stablehlo, chlo, and those of plugins.
_LOCAL_DIALECTS = frozenset(
    (
        *(
            "affine",
            "arith",
            "builtin",
            "cf",
            "func",
            "linalg",
            "math",
            "mesh",
            "mhlo",
            "quant",
            "scf",
            "sdy",
        ),
        *("shape", "tensor", "tosa", "vhlo"),
    )
)


@cache
def _follows_rule(op_class: type[Op]) -> bool:
    """Whether only the dimensions that an operation needs whole decide what is done with it."""
    others = (CustomCallOp, RngBitGeneratorOp, ReduceOp, ReshapeOp, TopKOp)
    return not issubclass(op_class, others) and not may_be_sharded_more(op_class)


def _exchange_more(op: Op, context: HaloContext) -> bool:
    """Exchanges halos or other parts of operands that reshards gather or move; returns whether it did."""
    return exchange_top_k(op, context) or exchange_instead_of_reshards(op, context)


def _definition(value: Value) -> Op | None:
    """The operation that computes a value before it is resharded."""
    op = value.defining_op
    return op.input.defining_op if isinstance(op, ReshardOp) else op


def _warn_of_effects(op: Op, types: LocalTypes) -> None:
    """Warns of an effect that happens once in the program, and will happen on every device."""
    if isinstance(op, CustomCallOp) and op.has_side_effect:
        shardings = (types.sharding(value) for value in (*op.operands, *op.results))
        meshes = (types.mesh(sharding) for sharding in shardings if sharding is not None)
        devices = max((mesh.total_size for mesh in meshes if mesh is not None), default=1)
        if devices > 1:
            op.warning(f"has side effects, and runs on each of {devices} devices")


def _replicate(op: Op, dims: Sequence[Dim], types: LocalTypes, rewriter: Rewriter) -> None:
    """Reshards operands and results so that no dimension that the operation needs whole is sharded."""
    values = (*op.operands, *op.results)
    changes: list[tuple[int, TensorSharding]] = []
    for number, value in enumerate(values):
        sharding = types.sharding(value)
        whole = {dim.dim for dim in dims if dim.tensor % len(values) == number}
        if sharding is not None and any(sharding.dims[dim].axes for dim in whole):
            changes.append((number, _without_axes(sharding, whole)))
    first_result = len(op.operands)
    operands = tuple([change for change in changes if change[0] < first_result])
    results = tuple([(number - first_result, new) for number, new in changes if number >= first_result])
    mesh_or_ref = changes[0][1].mesh_or_ref
    apply_plan(op, ReshardPlan(mesh_or_ref, operands, results), rewriter)


def _without_axes(sharding: TensorSharding, dims: set[int]) -> TensorSharding:
    return sharding.with_dims(
        DimensionSharding() if number in dims else dim for number, dim in enumerate(sharding.dims)
    )
