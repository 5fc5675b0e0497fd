"""test-mesh-resharding-spmdization: replace pairs of annotations with collectives.

    %1 = mesh.shard %0 to <@grid, [[0]]> : tensor<6x9xf32>
    %2 = mesh.shard %1 to <@grid, [[]]> annotate_for_users : tensor<6x9xf32>
becomes, on a mesh of three devices,
    %1 = builtin.unrealized_conversion_cast %0 : tensor<6x9xf32> to tensor<2x9xf32>
    %2 = mesh.all_gather %1 on @grid mesh_axes = [0] gather_axis = 0
      : tensor<2x9xf32> -> tensor<6x9xf32>

The rest of the program keeps its global tensors, hence the casts. This pass tests resharding alone;
mesh-spmdization partitions whole functions.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from sdyopt.mlir.dialects.mesh.shard_op import ShardOp, local_type
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .spmd.mesh_resharding import reshard


def _reshard_for_users(op: ShardOp, rewriter: Rewriter) -> bool:
    if op.annotate_for_users:
        return False
    source = op.mesh_sharding
    users = [
        user
        for user in dict.fromkeys(op.result.users)
        if isinstance(user, ShardOp) and user.annotate_for_users and user.mesh_sharding.mesh is source.mesh
    ]
    global_type = op.result.type
    assert isinstance(global_type, RankedTensor)
    for user in users:
        local = local_type(global_type, source, op)
        shard = rewriter.create(
            UnrealizedConversionCastOp, [op.src], [local], before=op, location=op.location
        )
        value = reshard(rewriter, shard.results[0], source, user.mesh_sharding, global_type, user, before=op)
        back = rewriter.create(
            UnrealizedConversionCastOp, [value], [global_type], before=op, location=op.location
        )
        rewriter.replace_all_uses(user.results[0], back.results[0])
    return bool(users)


_PATTERNS = (Pattern(_reshard_for_users),)


@register("test-mesh-resharding-spmdization")
class TestMeshReshardingSpmdization(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(
            module, lambda op_class: _PATTERNS if issubclass(op_class, ShardOp) else ()
        )
        return changed


@register("test-grid-resharding-partition")
class TestReshardingPass(TestMeshReshardingSpmdization):
    """test-grid-resharding-partition: test-mesh-resharding-spmdization, as LLVM 22 names it.

    With `--mesh-version=22`.
    """
