"""missed-reduce-scatter: an all_reduce is followed by an all_slice along one of its axes.

    %1 = sdy.all_reduce {"data", "fsdp"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
    %2 = sdy.all_slice [{"fsdp"}, {}] %1 out_sharding=<@mesh, [{"fsdp"}, {}]> : tensor<1024x1024xf32>

Every device reduces all of the tensor and keeps a slice of it. A reduce_scatter along `"fsdp"` moves at most
half as much, and the remaining all_reduce, along `"data"`, then moves the slice only. This is usual for the
gradients of sharded weights. There may be elementwise operations between the two: they can run on the slices
as well.

Where the slice has all axes of the all_reduce, constrain the result of the reduction to the sliced sharding
directly after it is computed. Otherwise, shard the weight along all of the axes, or reduce its gradient in
a manual computation: in JAX, `psum_scatter` along the axes of the slice, then `psum` along the others.
Depending on the device, XLA may find the reduce_scatter itself: the compiled program shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.sdy_collectives import ring
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    Looks,
    Note,
    Rule,
    Subject,
    axes_text,
    collective_text,
    rule,
    runs_text,
)
from sdyopt.analysis.trials.trials import bytes_of_runs
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, AllSliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.elementwise import is_elementwise

# The search for all-slices gives up after this many uses.
MAX_OPERATIONS = 64


@rule("missed-reduce-scatter", Severity.WARNING, Looks.WITH_COLLECTIVES)
class MissedReduceScatter(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, subject: Subject) -> Iterator[Finding]:
        program = subject.with_collectives
        for op in program.collectives:
            figures = program.collectives[op]
            if not isinstance(op, AllReduceOp) or not figures.wire_bytes:
                continue
            slices = _slices(op.output, program)
            axes = _common_axes(op, slices)
            if not axes:
                continue
            cost = bytes_of_runs(figures) * (1 - _share(op, axes))
            if cost >= self.limit("min_bytes"):
                names = axes_text(axes)
                yield Finding(
                    op,
                    f"{collective_text(figures)} is sliced along {names} next: a reduce_scatter along "
                    f"{names} would send {bytes_text(cost)} less of {bytes_text(bytes_of_runs(figures))}"
                    f"{runs_text(figures.times)}",
                    _help(op, axes),
                    (Note("the result is sliced for this use", slices[0]),),
                    cost=cost,
                    collectives=(op,),
                )


def _help(op: AllReduceOp, axes: list[AxisRef]) -> str:
    rest = [axis for axis in op.reduction_axes if axis not in axes]
    if not rest:
        return f"constrain the result of the reduction to a sharding along {axes_text(axes)}"
    return (
        f"shard the value along {axes_text(list(op.reduction_axes))}, or reduce it in a manual computation "
        f"(in JAX, `psum_scatter` along {axes_text(axes)}, then `psum` along {axes_text(rest)})"
    )


def _slices(value: Value, program: LintedProgram) -> list[AllSliceOp]:
    """The all-slices of a value, directly or after elementwise operations; none if it has other uses."""
    found: list[AllSliceOp] = []
    pending, count = [value], 0
    while pending:
        current = pending.pop()
        for user in current.users:
            count += 1
            if isinstance(user, AllSliceOp):
                found.append(user)
            elif count <= MAX_OPERATIONS and _keeps_sharding(user, current, program):
                pending += user.results
            else:
                return []
    return list(dict.fromkeys(found))


def _keeps_sharding(op: Op, value: Value, program: LintedProgram) -> bool:
    """Whether an operation is elementwise, and its result is used and has the sharding of a value."""
    if not is_elementwise(op.signature) or not op.results or not op.results[0].has_uses:
        return False
    before, after = program.shapes.sharding(value), program.shapes.sharding(op.results[0])
    return (
        after is before
        or (before is not None and before.is_equivalent(after))
        or (before is None and after is not None and after.is_fully_replicated)
    )


def _common_axes(op: AllReduceOp, slices: list[AllSliceOp]) -> list[AxisRef]:
    """The axes of an all-reduce along which each of the slices shards the same dimension."""
    if not slices:
        return []
    reduced = list(op.reduction_axes)
    dims = {axis: dim for dim, axes in enumerate(slices[0].slicing_axes) for axis in axes}
    common = {axis: dim for axis, dim in dims.items() if axis in reduced}
    for each in slices[1:]:
        dims = {axis: dim for dim, axes in enumerate(each.slicing_axes) for axis in axes}
        common = {axis: dim for axis, dim in common.items() if dims.get(axis) == dim}
    return list(common)


def _share(op: AllReduceOp, axes: list[AxisRef]) -> Fraction:
    """The wire bytes of a reduce_scatter and an all_reduce of the slices, as a share of those of `op`."""
    mesh = op.mesh
    rest = [axis for axis in op.reduction_axes if axis not in axes]
    whole, scatter, remaining = ring(op.reduction_axes, mesh, 2), ring(axes, mesh, 1), ring(rest, mesh, 2)
    assert whole.share_in is not None and scatter.share_in is not None and remaining.share_in is not None
    return (scatter.share_in + remaining.share_in / scatter.group_size) / whole.share_in
