"""Proposals for shard_maps whose specs leave out an axis, along which all devices then do the same.

What is sharded along it outside is gathered for the body, unless the compiler shards the body along it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.collective_traffic import COLLECTIVES, traffic_of
from sdyopt.analysis.figures.execution_counts import CONTROL_FLOW
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.analysis.figures.manual_devices import Varying
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter


@proposal("free axes", share=1, is_sure=True)
def free_axes(program: ProposedOn) -> Iterator[Change]:
    """An axis that the specs of a shard_map leave out, in its backward pass, too, for the compiler."""
    # An explicit axis needs shardings in the body.
    if program.derived.is_explicit:
        return
    of_line: dict[object, list[ManualComputationOp]] = {}
    for op in program.module.walk():
        if isinstance(op, ManualComputationOp):
            location = source_location(op.location)
            of_line.setdefault((location.file, location.line) if location.line else op, []).append(op)
    mesh = program.mesh.mesh
    for computations in of_line.values():
        first, location = computations[0], source_location(computations[0].location)
        for axis in first.manual_axes:
            others = [name for name in first.manual_axes if name != axis]
            if others and all(_is_same_along(op, axis, mesh) for op in computations):
                at = f" at {location.file_text}" if location.line else ""
                names = ", ".join(map(repr, others))
                leaves = f'leaves "{axis}" to the compiler'
                text = f"write axis_names={{{names}}} in the shard_map{at}, which {leaves}"
                reason = f'the devices along "{axis}" do the same in the shard_map'
                words = text, f'no "{axis}" in manual_axes, and open shardings'
                yield Change(rewrite=partial(_free, axis, computations), words=words, reason=reason)


def _is_same_along(op: ManualComputationOp, axis: str, mesh: Mesh) -> bool:
    """Whether nothing in a manual computation depends on the index of the device along a manual axis."""
    if axis not in op.manual_axes or mesh.axis_size(axis) == 1 or op.parent_of_type(ManualComputationOp):
        return False
    if any(axis == used.name for sharding in op.out_shardings for used in sharding.axis_refs):
        return False
    varying = Varying(op, mesh)
    for inner in op.walk():
        # The body of a reduction depends on nothing else.
        if inner is op or not isinstance(inner.parent_op, (ManualComputationOp, *CONTROL_FLOW)):
            continue
        # The same value may be summed along the axis.
        if isinstance(inner, COLLECTIVES) and axis in axis_names(traffic_of(inner, mesh).axes):
            return False
        if axis in varying.joined(inner.results):
            return False
    return axis not in varying.joined(op.block.arguments)


def _free(
    axis: str, computations: Sequence[ManualComputationOp], copies: Mapping[Op, Op], rewriter: Rewriter
) -> None:
    """Removes a manual axis, so that propagation may shard along it what enters the body."""
    for op in (copies[computation] for computation in computations):
        assert isinstance(op, ManualComputationOp)
        kept = tuple([name for name in op.manual_axes if name != axis])
        rewriter.set_attribute(op, "manual_axes", ManualAxes(kept))
        for name, shardings in (("in_shardings", op.in_shardings), ("out_shardings", op.out_shardings)):
            opened = [
                sharding.with_dims(tuple([dim.opened() for dim in sharding.dims])) for sharding in shardings
            ]
            rewriter.set_attribute(op, name, ShardingPerValue(tuple(opened)))
