"""Proposals for constraints: without them, with an open dimension, and all that replicate alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sdyopt.analysis.changes.axes import Axes, first_dimensions_first, neighbours
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.roles import Place, statement_of
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.user_lines import UserLines, is_auto
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.value import OpResult

# So many statements are looked at, those of the largest values.
_MAX_STATEMENTS = 8
# So many shardings are tried for all constraints of one sharding.
_MAX_SIBLINGS = 6


@proposal("removed", share=1)
def removed(program: ProposedOn) -> Iterator[Change]:
    """The constraints of a statement removed."""
    for statement in _statements(program):
        edits = []
        for output in statement:
            assert isinstance(output.op, ShardingConstraintOp)
            mesh = find_mesh(output.op.sharding.mesh_or_ref, program.module)
            # With explicit axes, the result of each operation has a sharding.
            if mesh is not None and is_auto(output.op):
                edits.append(AnnotationEdit(output, output.op.sharding, mesh, is_removal=True))
        if edits:
            yield Change(tuple(edits))


@proposal("opened", share=1)
def opened(program: ProposedOn) -> Iterator[Change]:
    """The dimensions without axes of the constraints of a statement opened: JAX has no open one with axes."""
    for statement in _statements(program):
        edits = []
        for output in statement:
            assert isinstance(output.op, ShardingConstraintOp)
            sharding = output.op.sharding
            is_jax = bool(source_location(output.op.location).name_stack)
            dims = [dim if dim.axes and is_jax else dim.opened() for dim in sharding.dims]
            mesh = find_mesh(sharding.mesh_or_ref, program.module)
            if mesh is not None and is_auto(output.op) and any(dim.is_closed for dim in sharding.dims):
                edits.append(AnnotationEdit(output, sharding.with_dims(tuple(dims)), mesh))
        if edits:
            yield Change(tuple(edits))


@proposal("siblings", share=2)
def siblings(program: ProposedOn) -> Iterator[Change]:
    """All constraints of one sharding with another one: a block needs it at all of its activations."""
    alike: dict[tuple[int, Axes], dict[int, list[Place]]] = {}
    for number, role in enumerate(program.roles):
        for place in (place for value_class in role.classes for place in value_class.constraints):
            if place.axes is not None:
                roles = alike.setdefault((len(place.shape), place.axes), {})
                roles.setdefault(number, []).append(place)
    for (_, current), roles in alike.items():
        places = [place for same in roles.values() for place in same]
        near = sorted(neighbours(current, program.mesh.sizes), key=first_dimensions_first)
        fitting = (axes for axes in near if all(program.mesh.fits(axes, place.shape) for place in places))
        for axes in islice(fitting, _MAX_SIBLINGS) if len(roles) > 1 else ():
            yield program.at(places, axes)


def _statements(program: ProposedOn) -> list[list[OpResult]]:
    """Sharding constraints in groups of one statement, those of the largest tensors first."""
    groups: dict[object, list[OpResult]] = {}
    lines = UserLines.of_module(program.module)
    for op in program.module.walk():
        if isinstance(op, ShardingConstraintOp) and isinstance(output := op.output, OpResult):
            groups.setdefault(statement_of(op, lines) or op, []).append(output)
    order = sorted(groups.values(), key=lambda group: -sum(bytes_of(item.type) or 0 for item in group))
    return order[:_MAX_STATEMENTS]
