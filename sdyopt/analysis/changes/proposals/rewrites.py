"""Proposals that edit no annotation: edges of shard_map, batching dimensions, collectives before loops.

Sums that a loop adds up need not be moved: the compilers of TPU and GPU move them behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sdyopt.analysis.changes.axes import Axes, axes_of_sharding, with_axis
from sdyopt.analysis.changes.edits import Change, dims_text
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.loop_invariants import is_invariant, owner_of
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.shardy.notation.partition_spec import annotation_spec
from sdyopt.shardy.notation.sharding_on_mesh import NotExpressible, ShardingOnMesh

BATCHING = "sdy-explicit-gather-scatter-batching"
# So many of the edges of all manual computations are tried.
_MAX_EDGES = 12


@proposal("edges of shard_map", share=2)
def edges(program: ProposedOn) -> Iterator[Change]:
    """Results of a partially manual computation sharded along its free axes, too, or also what it takes."""
    count = 0
    for op in program.module.walk():
        if not isinstance(op, ManualComputationOp):
            continue
        free = [name for name in program.mesh.sizes if name not in op.manual_axes]
        for name in free:
            for dim in range(max((_rank(value.type) for value in op.results), default=0)):
                for takes in (False, True):
                    new = _with_axis(op, name, dim, takes, program)
                    if new is not None and count < _MAX_EDGES:
                        count += 1
                        yield new


def _with_axis(
    op: ManualComputationOp, name: str, dim: int, takes: bool, program: ProposedOn
) -> Change | None:
    """The change of the entries that have an axis at a dimension then."""
    sides = [("out_shardings", op.out_shardings, [result.type for result in op.results])]
    sides += [("in_shardings", op.in_shardings, [operand.type for operand in op.operands])] if takes else []
    new: dict[str, ShardingPerValue] = {}
    changed: list[TensorSharding] = []
    for side, given, types in sides:
        shardings: list[TensorSharding] = []
        for sharding, type in zip(given, types, strict=True):
            axes = axes_of_sharding(sharding, _rank(type))
            if (
                isinstance(type, RankedTensor)
                and axes
                and dim < len(axes)
                and all(name not in of for of in axes)
            ):
                wider: Axes = with_axis(axes, dim, name)
                if program.mesh.fits(wider, type.shape):
                    dims = program.mesh.sharding(wider).dims
                    shardings.append(TensorSharding(sharding.mesh_or_ref, dims))
                    changed.append(shardings[-1])
                    continue
            shardings.append(sharding)
        new[side] = ShardingPerValue(tuple(shardings))
    if not changed:
        return None
    try:
        spec = annotation_spec(ShardingOnMesh(changed[0], program.mesh.mesh))
    except NotExpressible:
        return None
    location = source_location(op.location)
    line = f" at {location.file_text}" if location.line else ""
    both = "in_specs/out_specs" if takes else "out_specs"
    words = f"{spec} as {both}{line}", f"{dims_text(changed[0])} in {', '.join(new)}"
    return Change(rewrite=partial(_rewrite, op, new), words=words)


def _rewrite(
    op: Op, new: Mapping[str, ShardingPerValue], copies: Mapping[Op, Op], rewriter: Rewriter
) -> None:
    for name, shardings in new.items():
        rewriter.set_attribute(copies[op], name, shardings)


def _rank(type: object) -> int:
    return type.rank if isinstance(type, RankedTensor) else 0


@proposal("batching", share=1)
def batching(program: ProposedOn) -> Iterator[Change]:
    """Gathers and scatters with batching dimensions, as `jnp.take_along_axis` makes them."""
    if any(is_implicit_batching(op) for op in program.module.walk()):
        yield BATCHED


BATCHED = Change(
    passes={BATCHING: {}},
    words=("index with batching dimensions, as `jnp.take_along_axis` does", f"run -{BATCHING} first"),
)


def is_implicit_batching(op: Op) -> bool:
    """Whether a gather or scatter without batching dimensions has several indices, one of them of rows."""
    if isinstance(op, GatherOp):
        gather = op.dimension_numbers
        batching, indexed, collapsed = (
            gather.operand_batching_dims,
            gather.start_index_map,
            gather.collapsed_slice_dims,
        )
    elif isinstance(op, ScatterOp):
        scatter = op.scatter_dimension_numbers
        batching, indexed, collapsed = (
            scatter.input_batching_dims,
            scatter.scatter_dims_to_operand_dims,
            scatter.inserted_window_dims,
        )
    else:
        return False
    return not batching and len(indexed) > 1 and 0 in indexed and 0 in collapsed


@proposal("invariant collectives", share=1)
def invariant_collectives(program: ProposedOn) -> Iterator[Change]:
    """A collective before the loop in which its operands do not change."""
    counts = ExecutionCounts(program.module)
    for op in program.module.walk():
        loop = op.parent_of_type(WhileOp) if isinstance(op, COLLECTIVES) and op.results else None
        if not isinstance(loop, WhileOp) or not all(
            is_invariant(operand, loop, counts) for operand in op.operands
        ):
            continue
        if not any(loop.is_ancestor(owner_of(operand)) for operand in op.operands):
            name = op.signature.name.removeprefix("stablehlo.")
            words = f"run this {name} before the loop", ""
            yield Change(rewrite=partial(_move_before, op, loop), words=words)


def _move_before(op: Op, loop: Op, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    rewriter.move(copies[op], before=copies[loop])
