"""sdy-resolve-permutation-factors: reshard operations that need elements of other shards.

Over `sdy.mesh @mesh = <["x"=2]>`,

    %0 = stablehlo.slice %a [2:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
becomes, if %a is sharded along "x",
    %0 = sdy.reshard %a <@mesh, [{}]>
    %1 = stablehlo.slice %0 [2:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
    %2 = sdy.reshard %1 <@mesh, [{"x"}]>

After this pass, every operation can be run on the shards of its operands. A slice, a convolution or a
window that crosses the border between two shards gets the whole dimension, and the result is resharded. So
does an operation without a sharding rule, for all dimensions, and one whose shardings are on different
meshes. What stays in its shard is not changed: a slice of whole shards, padding between elements, windows
that do not overlap.

An operation with side effects runs on every device too, with a warning.

Run this pass after `sdy-insert-explicit-reshards` in its full version and before
`sdy-reshard-to-collectives`, which lowers the reshards.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.ops import PropagationBarrierOp, ReshardOp
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.dialects.stablehlo.control_flow import IfOp, OptimizationBarrierOp
from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.partition.local_types import LocalTypes
from sdyopt.partition.replication import dims_to_replicate
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register

from ..exporting.explicit_reshards.insertion import apply_plan
from ..exporting.explicit_reshards.reshard_plan import ReshardPlan
from .resolution.branches import reshard_barrier_operands, reshard_branches
from .resolution.meshes import resolve_mesh_change


@register("sdy-resolve-permutation-factors")
class ResolvePermutationFactors(Pass):
    enable_halo_exchange: bool = option(
        default=True, help="keep windows, slices and padding sharded where they stay in their shards"
    )
    replica_count: int = option(default=1, help="number of replicas of the program")
    partition_count: int = option(default=1, help="number of partitions of each replica")

    def run(self, module: ModuleOp) -> bool:
        rewriter, types = Rewriter(), LocalTypes(module)
        for op in list(module.walk_post_order()):
            if isinstance(op, ReshardOp):
                resolve_mesh_change(op, types, rewriter)
            elif isinstance(op, PropagationBarrierOp):
                rewriter.replace(op, [op.input])
            elif isinstance(op, IfOp):
                reshard_branches(op, rewriter)
            elif op.dialect_name in ("stablehlo", "chlo"):
                _warn_of_effects(op, types)
                _replicate(op, types, self.enable_halo_exchange, rewriter)
        for op in list(module.walk()):
            if isinstance(op, OptimizationBarrierOp):
                reshard_barrier_operands(op, rewriter)
        return rewriter.changed


def _warn_of_effects(op: Op, types: LocalTypes) -> None:
    """Warns of an effect that happens once in the program, and will happen on every device."""
    if isinstance(op, CustomCallOp) and op.has_side_effect:
        shardings = (types.sharding(value) for value in (*op.operands, *op.results))
        meshes = (types.mesh(sharding) for sharding in shardings if sharding is not None)
        devices = max((mesh.total_size for mesh in meshes if mesh is not None), default=1)
        if devices > 1:
            op.warning(f"has side effects, and runs on each of {devices} devices")


def _replicate(op: Op, types: LocalTypes, keep_local_windows: bool, rewriter: Rewriter) -> None:
    """Reshards operands and results so that no dimension that the operation needs whole is sharded."""
    dims = dims_to_replicate(op, types, keep_local_windows)
    if not dims:
        return
    values = (*op.operands, *op.results)
    changes: list[tuple[int, TensorSharding]] = []
    for number, value in enumerate(values):
        sharding = types.sharding(value)
        numbers = {each.dim for each in dims if each.tensor % len(values) == number}
        if sharding is not None and any(sharding.dims[dim].axes for dim in numbers):
            changes.append((number, _without_axes(sharding, numbers)))
    first_result = len(op.operands)
    operands = tuple([change for change in changes if change[0] < first_result])
    results = tuple([(number - first_result, new) for number, new in changes if number >= first_result])
    mesh_or_ref = changes[0][1].mesh_or_ref
    apply_plan(op, ReshardPlan(mesh_or_ref, operands, results), rewriter)


def _without_axes(sharding: TensorSharding, dims: set[int]) -> TensorSharding:
    return sharding.with_dims(
        DimensionSharding() if number in dims else dim for number, dim in enumerate(sharding.dims)
    )
