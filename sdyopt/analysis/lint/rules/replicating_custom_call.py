"""replicating-custom-call: a custom call without a sharding rule gets sharded operands.

    %1 = stablehlo.custom_call @my_kernel(%0) : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>

The program does not define which dimensions of operands and results correspond. No sharding propagates
through the call, each device needs all of its operands, and computes all of its results.

Give the call an `sdy.sharding_rule`, or run it in a manual computation on the shards: in JAX, wrap the
kernel in `shard_map` or `custom_partitioning`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.causes import producer
from sdyopt.analysis.figures.collective_traffic import ring
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram, has_sharding_rule
from sdyopt.analysis.lint.rule import MIN_WIRE_BYTES, Finding, LintedPrograms, Looks, Rule, rule, runs_text
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.error_help.table import text
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value


@rule("replicating-custom-call", Severity.WARNING, Looks.WITH_COLLECTIVES)
class ReplicatingCustomCall(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        for op in program.module.walk():
            if not isinstance(op, CustomCallOp) or has_sharding_rule(op) or _is_on_one_device(op, program):
                continue
            sources = [_source(value, program) for value in op.operands]
            sharded = [value for value in sources if _is_sharded(value, program)]
            sizes = [_gathered_bytes(value, program) for value in sharded]
            times = program.counts.times(op)
            cost = sum(sizes, Fraction(0)) * (1 if times is None else times.high)
            if sharded and cost >= self.limit("min_bytes"):
                whole_bytes = sum(bytes_of(value.type) or 0 for value in sharded)
                yield Finding(
                    op,
                    f"custom call @{op.call_target_name} has no sharding rule: {_operands(len(sharded))} "
                    f"gathered, {bytes_text(whole_bytes)} on each device and {bytes_text(cost)} on the "
                    f"wire{runs_text(times)}",
                    steps=(text(f"@{op.call_target_name}"),),
                    cost=cost,
                    is_kept=True,
                )


def _operands(count: int) -> str:
    return f"{counted(count, 'sharded operand')} {'is' if count == 1 else 'are'}"


def _is_on_one_device(op: Op, program: LintedProgram) -> bool:
    """Whether a single device runs an operation, according to its shardings."""
    shardings = op.attributes.get(SHARDING)
    if not isinstance(shardings, ShardingPerValue):
        return False
    meshes = [program.shapes.mesh(sharding.mesh_or_ref) for sharding in shardings]
    return any(mesh is not None and mesh.is_maximal for mesh in meshes)


def _source(value: Value, program: LintedProgram) -> Value:
    """The value before collectives that replicate it, or the value itself."""
    op = value.defining_op
    is_gathered = isinstance(op, CollectiveOp) and not _is_sharded(value, program)
    return producer(op) if op is not None and is_gathered else value


def _is_sharded(value: Value, program: LintedProgram) -> bool:
    sharding = program.shapes.sharding(value)
    return sharding is not None and not sharding.is_fully_replicated


def _gathered_bytes(value: Value, program: LintedProgram) -> Fraction:
    """The wire bytes of one device if a value is gathered."""
    sharding = program.shapes.sharding(value)
    mesh = None if sharding is None else program.shapes.mesh(sharding.mesh_or_ref)
    if sharding is None or mesh is None:
        return Fraction(0)
    axes = [axis for dim in sharding.dims for axis in dim.axes]
    return ring(axes, mesh, 1, of_result=True).share_out * (bytes_of(value.type) or 0)
