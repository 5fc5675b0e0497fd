"""axis-order-permute: a collective_permute only changes the order of axes or devices.

    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>

`%0` is sharded along `{"x", "y"}`. Both shardings have the same shards; they are on other devices. Two meshes
with the same axes and different `device_ids` do the same to every value that is used under both.

The orders of the two shardings and of the mesh are tried in all shardings of a copy of the program. The rule
reports the permute if one of them saves bytes, and names the one that saves most. In JAX, a `PartitionSpec`
with `("y", "x")` in one place and `("x", "y")` in another is the usual cause, and a second `Mesh` whose
devices are transposed: use one order of devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.analysis.changes.effect import bytes_of_runs
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    LintedPrograms,
    Looks,
    Rule,
    collective_text,
    rule,
    runs_text,
)
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding


@rule("axis-order-permute", Severity.WARNING, Looks.TRIALS)
class AxisOrderPermute(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        permutes: dict[CollectivePermuteOp, str] = {}
        for op, figures in program.collectives.items():
            cost = bytes_of_runs(figures)
            if isinstance(op, CollectivePermuteOp) and cost and cost >= self.limit("min_bytes"):
                reason = _reason(op, program)
                if reason:
                    permutes[op] = reason
        for op, reason in permutes.items():
            figures = program.collectives[op]
            cost = bytes_of_runs(figures)
            yield Finding(
                op,
                f"{collective_text(figures)} only changes an order: {reason}; {bytes_text(cost)} on the "
                f"wire{runs_text(figures.times)}",
                cost=cost,
                collectives=(op,),
            )


def _reason(op: CollectivePermuteOp, program: LintedProgram) -> str:
    """The axes in another order before and after a permute; empty if more than an order changes."""
    before, after = op.operand_sharding, op.out_sharding
    meshes = [program.shapes.mesh(sharding.mesh_or_ref) for sharding in (before, after)]
    if None in meshes or before.rank != after.rank:
        return ""
    if meshes[0] is not meshes[1]:
        return _device_order(before, after, meshes)
    changes = []
    for number, (old, new) in enumerate(zip(before.dims, after.dims, strict=True)):
        if old.axes == new.axes:
            continue
        if sorted(old.axes, key=_sort_key) != sorted(new.axes, key=_sort_key):
            return ""
        changes.append(
            f"dimension {number} is sharded along {axis_refs_text(old.axes)} before and along "
            f"{axis_refs_text(new.axes)} after it"
        )
    return ", ".join(changes)


def _device_order(before: TensorSharding, after: TensorSharding, meshes: list[Mesh | None]) -> str:
    old, new = meshes
    assert old is not None and new is not None
    is_same = old.axes == new.axes and [dim.axes for dim in before.dims] == [dim.axes for dim in after.dims]
    return (
        f"the devices of @{before.mesh_name} and @{after.mesh_name} have different orders" if is_same else ""
    )


def _sort_key(axis: AxisRef) -> tuple[str, int, int]:
    return axis.sort_key
