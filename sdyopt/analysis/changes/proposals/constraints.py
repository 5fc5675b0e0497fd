"""Proposals for constraints, and for several roles at once: the batch, all parameters, those of one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod

from sdyopt.analysis.changes.axes import Axes, first_dimensions_first, neighbours, with_axis, without_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.roles import Place, RoleGroup, statement_of
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    UserLines,
    constraint_text,
    is_auto,
    source_location,
)
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.value_names import tree_of_values
from sdyopt.shardy.record import FunctionResult

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


@proposal("batch", share=2)
def batch(program: ProposedOn) -> Iterator[Change]:
    """Shards the first dimension of the inputs that are not kept, of one size, along an axis.

    The constraints of what has this dimension would undo it without that axis.
    """
    mesh = program.mesh
    sizes: dict[int, list[RoleGroup]] = {}
    for role in program.roles:
        if role.is_input and not role.is_kept:
            sizes.setdefault(role.shape[0], []).append(role)
    for name in mesh.sizes:
        for size, of_size in sorted(sizes.items(), key=lambda entry: -_elements(entry[1])):
            edits = _along(program, name, [(place, 0) for role in of_size for place in role.places])
            is_of_input = any(edit.is_boundary for edit in edits)
            constrained = list(_constraints_of(program, of_size)) if is_of_input else []
            # An axis that activations have otherwise is not forgotten.
            if any(_has_elsewhere(*place, name) for place in constrained):
                constrained = []
            constraints = _along(program, name, constrained)
            if edits and (len(of_size) > 1 or constraints):
                title = f'shard the first dimension of inputs, of size {size}, along "{name}"'
                reason = f'the devices along "{name}" have the same of the batch' if is_of_input else ""
                yield program.change([*edits, *constraints], title, reason)


def _along(program: ProposedOn, name: str, places: Iterable[tuple[Place, int]]) -> list[AnnotationEdit]:
    """One axis at dimensions of places, and nowhere else."""
    edits, mesh = [], program.mesh
    for place, dim in places:
        axes = place.axes
        if axes is not None and name not in axes[dim]:
            new = with_axis(without_axis(axes, name), dim, name)
            if mesh.fits(new, place.shape):
                edits.append(AnnotationEdit(place.subject, mesh.sharding(new), mesh.mesh))
    return edits


def _constraints_of(program: ProposedOn, inputs: Sequence[RoleGroup]) -> Iterator[tuple[Place, int]]:
    """The constraints of what has the first dimension of inputs, and which dimension of theirs that is."""
    if program.has_constraints:
        groups = {program.dimensions.of(role)[0] for role in inputs}
        for role in program.roles:
            dims = [dim for dim, group in enumerate(program.dimensions.of(role)) if group in groups]
            for value_class in role.classes if dims else ():
                yield from ((place, dims[0]) for place in value_class.constraints)


def _has_elsewhere(place: Place, dim: int, name: str) -> bool:
    """Whether a place has an axis in another dimension than this one."""
    return any(name in names for other, names in enumerate(place.axes or ()) if other != dim)


@proposal("parameters", share=2)
def parameters(program: ProposedOn) -> Iterator[Change]:
    """Shards the largest dimension that an axis divides of all that is kept from step to step."""
    mesh = program.mesh
    kept = [role for role in program.roles if role.is_kept]
    for name in mesh.sizes if len(kept) > 1 else ():
        edits = []
        for place in (place for role in kept for place in role.places):
            axes = place.axes
            if axes is None or any(name in names for names in axes):
                continue
            dims = sorted(range(len(place.shape)), key=lambda dim: -place.shape[dim])
            fitting = (with_axis(axes, dim, name) for dim in dims)
            new = next((names for names in fitting if mesh.fits(names, place.shape)), None)
            if new is not None:
                edits.append(AnnotationEdit(place.subject, mesh.sharding(new), mesh.mesh))
        if edits:
            yield program.change(edits, f'shard all parameters and their state along "{name}"')


@proposal("lines", share=2)
def lines(program: ProposedOn) -> Iterator[Change]:
    """Changes the equal constraints that one line writes on values of different shapes."""
    of_line: dict[tuple[str, Axes], list[Place]] = {}
    numbers: dict[tuple[str, Axes], set[int]] = {}
    for number, role in enumerate(program.roles):
        for place in (place for value_class in role.classes for place in value_class.constraints):
            line = "" if isinstance(place.subject, FunctionResult) else line_of(place.subject)
            if line and place.axes is not None:
                of_line.setdefault((line, place.axes), []).append(place)
                numbers.setdefault((line, place.axes), set()).add(number)
    for (line, current), places in of_line.items():
        # Those of one role are changed with it.
        for axes in neighbours(current, program.mesh.sizes) if len(numbers[line, current]) > 1 else ():
            if all(program.mesh.fits(axes, place.shape) for place in places):
                yield program.at(places, axes)


@proposal("trees", share=1, is_sure=True)
def trees(program: ProposedOn) -> Iterator[Change]:
    """Shards the values of a tree, such as sums of gradients, as the arguments that have its leaves.

    A statement that constrains a tree has one sharding for leaves that parameters shard differently.
    """
    groups: dict[object, list[OpResult]] = {}
    lines = UserLines.of_module(program.module)
    for op in program.module.walk() if program.has_constraints else ():
        if not isinstance(op, ShardingConstraintOp) or not isinstance(output := op.output, OpResult):
            continue
        statement = statement_of(op, lines)
        if isinstance(statement, tuple) and source_location(op.location).phase not in GRADIENTS:
            groups.setdefault((statement[0], constraint_text(op)), []).append(output)
    edits: dict[str, list[AnnotationEdit]] = {}
    for outputs in groups.values():
        specs = {_stated(output) for output in outputs}
        if len(specs) > 1 or len({output.type for output in outputs}) < 2:
            continue
        tree, leaves = tree_of_values(program.module, outputs) or ("", [])
        for output, leaf in zip(outputs, leaves, strict=False):
            assert isinstance(output.op, ShardingConstraintOp)
            sharding, now = annotation_of(leaf), output.op.sharding
            mesh = None if sharding is None else find_mesh(sharding.mesh_or_ref, program.module)
            if sharding is not None and mesh is not None and sharding.dims != now.dims:
                edits.setdefault(tree, []).append(AnnotationEdit(output, sharding, mesh))
    for tree, of_tree in edits.items():
        yield program.change(of_tree, f"shard the values as those of {tree}")


def _stated(value: OpResult) -> Axes:
    """The axes of a constraint, without dimensions after the last that has some, as in a `PartitionSpec`."""
    assert isinstance(value.op, ShardingConstraintOp)
    axes = [tuple([axis.name for axis in dim.axes]) for dim in value.op.sharding.dims]
    while axes and not axes[-1]:
        axes.pop()
    return tuple(axes)


def line_of(value: OpResult | BlockArgument) -> str:
    """`model.py:42`; "" if that is unknown."""
    location = source_location(value.location)
    return location.file_text if location.line else ""


def _elements(of_size: Iterable[RoleGroup]) -> int:
    return sum(prod(role.shape) * len(role.classes) for role in of_size)
