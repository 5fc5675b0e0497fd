"""Proposals for axes: in one order everywhere, kept where constraints lose them, and those of a neighbour.

A dimension such as the batch is that of many values. A reshard that loses its axis has others after it that
follow, and the edges of products: changed one by one, each sends more, because the others stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from math import prod

from sdyopt.analysis.changes.axes import axes_of_sharding, with_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, is_input, place_of
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.roles import DimensionGroup, Place, statement_of
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.source_locations import UserLines
from sdyopt.analysis.sharding_record.absences import absences
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import OpResult

# Names of axes, major to minor.
Order = tuple[str, ...]
# So many orders are tried.
_MAX_ORDERS = 4


@proposal("axis orders", share=1)
def axis_orders(program: ProposedOn) -> Iterator[Change]:
    """The orders of axes before and after permutes, and in their meshes, for all shardings."""
    orders: dict[Order, None] = {}
    for op in program.outcome.module.walk():
        if not isinstance(op, CollectivePermuteOp) or op.operand_sharding.rank != op.out_sharding.rank:
            continue
        pairs = zip(op.operand_sharding.dims, op.out_sharding.dims, strict=True)
        for dims in (pair for pair in pairs if pair[0].axes != pair[1].axes):
            orders.update(dict.fromkeys(tuple([axis.name for axis in dim.axes]) for dim in dims))
        mesh = program.shapes.mesh(op.out_sharding.mesh_or_ref)
        names = [axis.name for dim in op.out_sharding.dims for axis in dim.axes]
        orders[tuple([axis.name for axis in mesh.axes if axis.name in names] if mesh else ())] = None
    usable = [order for order in orders if len(set(order)) == len(order) > 1]
    for order in usable[:_MAX_ORDERS]:
        text = f"write {', '.join(map(repr, order))} in this order in each PartitionSpec"
        sdy = f"{', '.join([chr(34) + name + chr(34) for name in order])} in this order in all shardings"
        yield Change(
            rewrite=partial(_write, order), words=(text, sdy), of_sharding=partial(_sorted, order=order)
        )


def _write(order: Order, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    """Writes these axes in this order; in a dimension with others, they change indices among themselves."""
    for op in copies.values():
        if isinstance(op, FuncOp):
            _write_in_function(op, order, rewriter)
        elif isinstance(op, ShardingConstraintOp):
            rewriter.set_attribute(op, "sharding", _sorted(op.sharding, order))
        elif isinstance(shardings := op.attributes.get(SHARDING), ShardingPerValue):
            new = ShardingPerValue(tuple([_sorted(sharding, order) for sharding in shardings]))
            rewriter.set_attribute(op, SHARDING, new)


def _write_in_function(function: FuncOp, order: Order, rewriter: Rewriter) -> None:
    for index, attributes in enumerate(function.argument_attributes):
        if isinstance(sharding := attributes.get(SHARDING), TensorSharding):
            rewriter.set_argument_attribute(function, index, SHARDING, _sorted(sharding, order))
    for index, attributes in enumerate(function.result_attributes):
        if isinstance(sharding := attributes.get(SHARDING), TensorSharding):
            rewriter.set_result_attribute(function, index, SHARDING, _sorted(sharding, order))


def _sorted(sharding: TensorSharding, order: Order) -> TensorSharding:
    return sharding.with_dims(tuple([_sorted_dimension(dim, order) for dim in sharding.dims]))


def _sorted_dimension(dim: DimensionSharding, order: Order) -> DimensionSharding:
    axes = list(dim.axes)
    # Sub-axes of one axis keep their order: merged, they would be another sharding.
    indices = [index for index, axis in enumerate(axes) if axis.name in order and axis.sub_axis is None]
    ordered = sorted([axes[index] for index in indices], key=lambda axis: order.index(axis.name))
    for index, axis in zip(indices, ordered, strict=True):
        axes[index] = axis
    return DimensionSharding(tuple(axes), dim.is_closed, dim.priority)


# So many dimensions and axes are looked at, those of the largest values.
_MAX_GROUPS = 6


@proposal("kept axes", share=2)
def kept_axes(program: ProposedOn) -> Iterator[Change]:
    """One axis at a dimension of all constraints that lack it, if other annotations have it there."""
    if not program.has_constraints:
        return
    lines = UserLines.of_module(program.module)
    kept = (place.subject for role in program.roles if role.is_kept for place in role.places)
    of_parameters = program.derived.whole(kept)
    have: set[tuple[DimensionGroup, str]] = set()
    lack: dict[tuple[DimensionGroup, str], list[tuple[Place, int]]] = {}
    for role in program.roles:
        groups = program.dimensions.of(role)
        for place in (place for place in role.places if place.sharding is not None):
            axes = place.axes
            if axes is None:
                continue
            for dim, group in enumerate(groups):
                have.update((group, name) for name in axes[dim])
                is_constraint = isinstance(place.subject, OpResult) and isinstance(
                    place.subject.op, ShardingConstraintOp
                )
                if not is_constraint or group in groups[:dim] or place.subject in of_parameters:
                    continue
                for name in program.mesh.sizes:
                    if not any(name in names for names in axes):
                        lack.setdefault((group, name), []).append((place, dim))
    lost = [key for key in lack if key in have]
    lost.sort(key=lambda key: -sum(prod(place.shape) for place, _ in lack[key]))
    for key in lost[:_MAX_GROUPS]:
        edits, statements = [], set[object]()
        for place, dim in lack[key]:
            axes = with_axis(place.axes or (), dim, key[1])
            if program.mesh.fits(axes, place.shape):
                edits.append(AnnotationEdit(place.subject, program.mesh.sharding(axes), program.mesh.mesh))
                op = edits[-1].replaced
                statements.add(place.subject if op is None else statement_of(op, lines) or op)
        # The constraints of one statement are other proposals.
        if len(statements) > 1:
            yield program.change(edits, f'keep "{key[1]}"')


# Of so many of the largest values, so many that lack an axis get constraints; of those with one type and
# sharding, so many are looked at.
_LOOKED_AT, _VALUES, _ALIKE = 200, 6, 2


@proposal("missing axes", share=2)
def missing_axes(program: ProposedOn) -> Iterator[Change]:
    """The shardings of large values with the axes that an operation needs at them."""
    run = program.run
    if run is None:
        return
    seen: Counter[object] = Counter()
    count = 0
    sized = [(bytes_of(value.type) or 0, value) for value in run.final if isinstance(value, OpResult)]
    # Of equal sizes, the first in the program: the sort is stable.
    for size, subject in sorted(sized, key=lambda pair: -pair[0])[:_LOOKED_AT]:
        written, own = program.originals.value(subject), run.final[subject]
        key = subject.type, own
        if not size or seen[key] >= _ALIKE or written is None or is_input(written) or count == _VALUES:
            continue
        seen[key] += 1
        changes: dict[object, Change] = {}
        for absence in absences(run, subject):
            neighbour = run.final.get(absence.neighbor)
            if absence.dim < 0 or neighbour is None or absence.axis.sub_axis is not None:
                continue
            rank = rank_of(subject.type)
            current = axes_of_sharding(own, rank)
            like = [axis.name for axis in neighbour.dims[absence.neighbor_dim].axes if axis.sub_axis is None]
            mesh = find_mesh(neighbour.mesh_or_ref, program.module)
            is_there = current is not None and absence.dim < len(current)
            if current is None or mesh is None or not is_there or not all(map(mesh.has_axis, like)):
                continue
            kept = [tuple(name for name in names if name not in like) for names in current]
            kept[absence.dim] = tuple(like)
            if program.mesh.mesh is mesh and program.mesh.fits(tuple(kept), written.type.shape):  # type: ignore[attr-defined]
                sharding = TensorSharding(neighbour.mesh_or_ref, program.mesh.sharding(tuple(kept)).dims)
                change = program.alike(AnnotationEdit(place_of(written), sharding, mesh))
                changes.setdefault(change.key, change)
        if changes:
            seen[key] = _ALIKE
            count += 1
            yield from changes.values()
