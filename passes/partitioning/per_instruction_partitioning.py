"""sdy-per-instruction-partitioning: partition single operations into manual computations.

Over `sdy.mesh @mesh = <["x"=2]>`,

    %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
becomes
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"x"} (%b: tensor<4xf32>) {
      %1 = stablehlo.sine %b : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>

This pass helps to find an operation that is partitioned wrongly. Each selected operation is partitioned by
itself, and the rest of the program is left to another partitioner, such as that of XLA. If the result is
wrong with half of the operations selected, one of them is the culprit. `--bisect` automates a search of this
kind.

An operation is a candidate if it has a sharded operand or result and is not nested in another operation of
its function. Collectives, manual computations, and operations that compute nothing, such as sharding
constraints, are no candidates. Candidates are numbered from 0, in the order of the program. `filter` selects
some of them: `selectLow=3, selectHigh=7` by number, `dot, gather` by parts of their names. Without a filter,
all are partitioned.

An operation runs through `sdy-insert-explicit-reshards` in its full version,
`sdy-resolve-permutation-factors`, `sdy-reshard-to-collectives`, `sdy-pad-for-divisibility` and
`sdy-convert-global-to-local`. Operands whose shards are uneven are padded before the computation, and results
are cut after it. Called functions are inlined.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.ops import (
    PropagationBarrierOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, sharding_of
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register

from ..exporting.drop_sharding_and_mesh import DropShardingAndMesh
from ..exporting.insert_explicit_reshards import InsertExplicitReshards
from ..exporting.reshard_to_collectives import ReshardToCollectives
from .convert_global_to_local import ConvertGlobalToLocal
from .instructions.instruction import InstructionPartitioner
from .instructions.op_filter import parse_filter
from .pad_for_divisibility import PadForDivisibility
from .resolve_permutation_factors import ResolvePermutationFactors

# They change no data, are collectives, or are local already.
_NO_CANDIDATES = (
    CollectiveOp,
    DataFlowEdgeOp,
    ManualComputationOp,
    PropagationBarrierOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
# Custom calls that are sharding constraints.
_SHARDING_CALLS = ("Sharding", "mhlo.sharding")


@register("sdy-per-instruction-partitioning")
class PerInstructionPartitioning(Pass):
    filter: str = option(
        default="",
        help="operations to partition: parts of names, selectLow=N, selectHigh=N, separated by commas; all "
        "if empty",
    )
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

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        selection = parse_filter(self.filter)
        selected = [op for n, op in enumerate(_candidates(module)) if selection.selects(op.name, n)]
        partitioner = InstructionPartitioner(self._passes(), module, rewriter)
        for op in selected:
            partitioner.partition(op)
        return rewriter.changed

    def _passes(self) -> list[Pass]:
        replicas, partitions = self.replica_count, self.partition_count
        return [
            InsertExplicitReshards(enable_full_version=True),
            ResolvePermutationFactors(
                enable_halo_exchange=self.enable_halo_exchange,
                replica_count=replicas,
                partition_count=partitions,
                rng_bit_generator_unsafe=self.rng_bit_generator_unsafe,
            ),
            ReshardToCollectives(),
            PadForDivisibility(),
            ConvertGlobalToLocal(
                enable_rgv3=Behavior.REPLICA_GROUPS_BY_AXES.active,
                replica_count=replicas,
                partition_count=partitions,
            ),
            DropShardingAndMesh(),
        ]


def _candidates(module: ModuleOp) -> Iterator[Op]:
    """The candidates of a module, in the order of the program."""
    for function in module.functions:
        assert isinstance(function, FuncOp)
        for block in function.body.blocks:
            yield from filter(_is_candidate, block.ops)


def _is_candidate(op: Op) -> bool:
    if op.is_terminator or isinstance(op, _NO_CANDIDATES):
        return False
    if isinstance(op, CustomCallOp) and op.call_target_name in _SHARDING_CALLS:
        return False
    return any(map(_is_sharded, (*op.operands, *op.results)))


def _is_sharded(value: Value) -> bool:
    sharding = sharding_of(value)
    return sharding is not None and not sharding.is_fully_replicated
