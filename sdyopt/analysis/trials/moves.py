"""Moves: the changes of annotations that are worth a try, those that matter most first.

A move gives all places of a role one sharding that differs from theirs in an axis: added to a dimension,
removed, moved to another dimension, swapped with another axis, or replaced by an unused one, there or in
another dimension; a constraint that replicates gets pairs of axes. Roles of equal shape also lend each other
their shardings, and a role gets that of its values in the program after the passes. Two kinds of moves
change several roles: sharding the first dimension of everything that is not kept from step to step, and
sharding parameters and what belongs to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import NamedTuple

from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.analysis.trials.originals import Gradients
from sdyopt.analysis.trials.outcome import Outcome
from sdyopt.analysis.trials.roles import Place, Role, is_uniform
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import largest_mesh_op
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult, Subject

# The names of the axes of each dimension.
Axes = tuple[tuple[str, ...], ...]


class Move(NamedTuple):
    """Changes that belong together: of one role, or of several for a move with a `title`."""

    changes: tuple[Change, ...]
    roles: tuple[Role, ...]
    title: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """The number of values that get a new constraint, and that of all annotations that change."""
        new = sum(change.is_new_constraint for change in self.changes)
        return new, len(self.changes)


class MeshOfProgram(NamedTuple):
    """The mesh that shardings of moves are on."""

    mesh: Mesh
    name: MeshOrRef

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis that can shard something."""
        return {axis.name: axis.size for axis in self.mesh.axes if axis.size > 1}

    def sharding(self, axes: Axes) -> TensorSharding:
        """A closed sharding, as a PartitionSpec is."""
        dims = tuple(DimensionSharding(tuple(map(AxisRef, names))) for names in axes)
        return TensorSharding(self.name, dims)

    def divides(self, name: str, sizes: Iterable[int]) -> bool:
        """Whether an axis divides one of some sizes."""
        return any(size % self.sizes[name] == 0 for size in sizes)

    def fits(self, axes: Axes, shape: Sequence[int]) -> bool:
        """Whether the axes divide each dimension into equal shards."""
        sizes = self.sizes
        return all(
            size % prod(sizes.get(name, 1) for name in names) == 0
            for names, size in zip(axes, shape, strict=True)
        )


def mesh_of(module: Op) -> MeshOfProgram | None:
    """The mesh of a program with the most devices."""
    largest = largest_mesh_op(module)
    return None if largest is None else MeshOfProgram(largest.mesh, SymbolRef(largest.sym_name))


# Values without annotations: so many roles are looked at, those for which most is sent.
_MAX_OTHERS = 16


class Moves:
    """The moves of the roles of a program on a mesh."""

    def __init__(self, module: Op, roles: Sequence[Role], mesh: MeshOfProgram) -> None:
        self.gradients = Gradients(module)
        self.roles = roles
        self.mesh = mesh

    def after(self, moves: Iterable[Move], outcome: Outcome) -> Iterator[Move]:
        """The moves for the program after others, without repetition."""
        roles = [_after(role, written(moves)) for role in self.roles]
        seen: set[tuple[Change, ...]] = set()
        for each in _all_moves(roles, self.mesh, outcome):
            move = each._replace(changes=self.gradients.constrained(each.changes))
            if move.changes and move.changes not in seen:
                seen.add(move.changes)
                yield move


def written(moves: Iterable[Move]) -> dict[Subject, Change]:
    """The changes of moves by place; the last one holds."""
    return {change.subject: change for move in moves for change in move.changes}


def _after(role: Role, changes: Mapping[Subject, Change]) -> Role:
    """A role with the shardings that changes write."""
    if not any(place.subject in changes for place in role.places):
        return role

    def placed(places: Sequence[Place]) -> list[Place]:
        return [
            place._replace(sharding=changes[place.subject].sharding) if place.subject in changes else place
            for place in places
        ]

    classes = []
    for each in role.classes:
        one = replace(
            each,
            arguments=placed(each.arguments),
            results=placed(each.results),
            constraints=placed(each.constraints),
        )
        if not one.places and each.first in changes:
            one.constraints = placed([Place(each.first, each.shape, None)])
        classes.append(one)
    return Role(tuple(classes))


def _all_moves(roles: Sequence[Role], mesh: MeshOfProgram, outcome: Outcome) -> Iterator[Move]:
    for name in mesh.sizes:
        yield from (move for move in _of_batch(roles, mesh, name) if len(move.roles) > 1)
    for name in mesh.sizes:
        yield from (move for move in _of_parameters(roles, mesh, name) if len(move.roles) > 1)
    yield from _of_lines(roles, mesh)
    sent = {id(role): outcome.wire_bytes(role) for role in roles}
    order = sorted(roles, key=lambda role: -sent[id(role)])
    annotated = [role for role in order if _is_annotated(role)]
    others = [role for role in order if not _is_annotated(role) and sent[id(role)]][:_MAX_OTHERS]
    yield from _interleaved(
        (list(_of_role(role, roles, mesh, outcome)) for role in annotated),
        (list(_of_values(role, mesh, outcome)) for role in others),
    )


def _of_lines(roles: Sequence[Role], mesh: MeshOfProgram) -> Iterator[Move]:
    """Changes the equal constraints that one line writes on values of different shapes."""
    lines: dict[tuple[str, Axes], dict[int, Role]] = {}
    found: dict[tuple[str, Axes], list[Place]] = {}
    for role in roles:
        for place in (place for each in role.classes for place in each.constraints):
            axes = axes_of(place)
            line = "" if isinstance(place.subject, FunctionResult) else line_of(place.subject)
            if line and axes is not None:
                lines.setdefault((line, axes), {})[id(role)] = role
                found.setdefault((line, axes), []).append(place)
    for (line, current), of_line in lines.items():
        places = found[line, current]
        for axes in _neighbours(current, mesh.sizes) if len(of_line) > 1 else ():
            if all(mesh.fits(axes, place.shape) for place in places):
                changes = (Change(place.subject, mesh.sharding(axes), mesh.mesh) for place in places)
                yield Move(tuple(changes), tuple(of_line.values()))


def constraint_moves(role: Role, mesh: MeshOfProgram, outcome: Outcome) -> Iterator[Move]:
    """The constraints of a role with an axis that they lack or have elsewhere, in the first dimensions first.

    What the role's values have without them comes first.
    """
    places = [place for each in role.classes for place in each.constraints]
    computed = (outcome.sharding(each) for each in role.classes)
    found = [axes_of(Place(role.classes[0].first, role.shape, each)) for each in computed if each is not None]
    for current in dict.fromkeys(axes for place in places if (axes := axes_of(place)) is not None):
        near = sorted(_neighbours(current, mesh.sizes), key=_first_dimension)
        for axes in dict.fromkeys([*filter(None, found), *near]):
            changed = [each for each in places if axes_of(each) not in (None, axes)]
            if changed and mesh.fits(axes, role.shape):
                yield Move(
                    tuple([Change(each.subject, mesh.sharding(axes), mesh.mesh) for each in changed]), (role,)
                )


def _first_dimension(axes: Axes) -> tuple[int, ...]:
    """Sorts axes in the first dimension before those in others, and those before none."""
    return tuple([-len(names) for names in axes])


def line_of(value: OpResult | BlockArgument) -> str:
    """`model.py:42`; "" if that is unknown."""
    location = source_location(value.location)
    return location.file_text if location.line else ""


def _of_values(role: Role, mesh: MeshOfProgram, outcome: Outcome) -> Iterator[Move]:
    """Constraints on values without annotations, which are near to what propagation gives them.

    There are none on literals, such as `0.1` in `0.1 * x`.
    """
    if all(is_uniform(each.first) and len(each.ops) == 1 for each in role.classes):
        return
    found = outcome.sharding(role.classes[0])
    current = axes_of(Place(role.classes[0].first, role.shape, found))
    if current is not None:
        for axes in (current, *_neighbours(current, mesh.sizes)):
            if mesh.fits(axes, role.shape):
                changes = (Change(place.subject, mesh.sharding(axes), mesh.mesh) for place in role.places)
                yield Move(tuple(changes), (role,))


def _interleaved(annotated: Iterable[list[Move]], others: Iterable[list[Move]]) -> Iterator[Move]:
    """The moves of a role that has annotations, then those of one that has none, and so on."""
    first, second = iter(annotated), iter(others)
    while True:
        moves = [*next(first, ()), *next(second, ())]
        if not moves:
            break
        yield from moves


def _is_annotated(role: Role) -> bool:
    return role.is_input or any(place.sharding is not None for place in role.places)


def _of_role(role: Role, roles: Sequence[Role], mesh: MeshOfProgram, outcome: Outcome) -> Iterator[Move]:
    places = role.places
    # What a value has before its constraint may differ from the constraint in several axes.
    computed = (outcome.sharding(each) for each in role.classes)
    found = (axes_of(Place(role.classes[0].first, role.shape, each)) for each in computed if each is not None)
    lent = [axes for axes in found if axes is not None]
    lent += [
        axes
        for other in roles
        if other.shape == role.shape
        for place in other.places
        if (axes := axes_of(place)) is not None
    ]
    for current in dict.fromkeys(axes for place in places if (axes := axes_of(place)) is not None):
        pairs = _pairs(current, mesh.sizes) if not any(current) and not role.is_input else ()
        for axes in dict.fromkeys((*lent, *_neighbours(current, mesh.sizes), *pairs)):
            if mesh.fits(axes, role.shape):
                yield Move(tuple(_changes(role, axes, mesh)), (role,))


def _neighbours(current: Axes, sizes: Mapping[str, int]) -> Iterator[Axes]:
    """The axes of a sharding that differs in one axis, or in the places of two."""
    used = {name: dim for dim, names in enumerate(current) for name in names}
    for name in sizes:
        for dim in range(len(current)):
            if used.get(name) != dim:
                yield with_axis(_without(current, name), dim, name)
        if name in used:
            rest = _without(current, name)
            yield rest
            for other in sizes:
                if other not in used:
                    yield _renamed(current, {name: other})
                    yield from (
                        with_axis(rest, dim, other) for dim in range(len(current)) if dim != used[name]
                    )
                elif used[other] != used[name] and other > name:
                    yield _renamed(current, {name: other, other: name})


def _pairs(replicated: Axes, sizes: Mapping[str, int]) -> Iterator[Axes]:
    """Two axes in place of none: a constraint may replicate what would be sharded along both."""
    for first, second in combinations(sizes, 2):
        for dim in range(len(replicated)):
            for other in range(len(replicated)):
                yield with_axis(with_axis(replicated, dim, first), other, second)


def with_axis(axes: Axes, dim: int, name: str) -> Axes:
    return (*axes[:dim], (*axes[dim], name), *axes[dim + 1 :])


def _without(axes: Axes, name: str) -> Axes:
    return tuple(tuple(each for each in names if each != name) for names in axes)


def _renamed(axes: Axes, names: Mapping[str, str]) -> Axes:
    return tuple(tuple(names.get(each, each) for each in of_dim) for of_dim in axes)


def axes_of(place: Place) -> Axes | None:
    """The axes of a place, none for one without annotation. None if a PartitionSpec cannot say them."""
    sharding = place.sharding
    if sharding is None:
        return ((),) * len(place.shape)
    if sharding.replicated_axes or sharding.unreduced_axes:
        return None
    if any(axis.sub_axis is not None for dim in sharding.dims for axis in dim.axes):
        return None
    return tuple(tuple(axis.name for axis in dim.axes) for dim in sharding.dims)


def _changes(role: Role, axes: Axes, mesh: MeshOfProgram) -> Iterator[Change]:
    for place in role.places:
        if axes_of(place) not in (None, axes):
            yield Change(place.subject, mesh.sharding(axes), mesh.mesh)


def _of_batch(roles: Sequence[Role], mesh: MeshOfProgram, name: str) -> Iterator[Move]:
    """Shards the first dimension of the inputs that are not kept, of one size, along an axis."""
    sizes: dict[int, list[Role]] = {}
    for role in roles:
        if role.is_input and not role.is_kept:
            sizes.setdefault(role.shape[0], []).append(role)
    for size, found in sorted(sizes.items(), key=lambda entry: -_elements(entry[1])):
        changes = []
        for role in found:
            for place in role.places:
                axes = axes_of(place)
                new = None if axes is None or name in axes[0] else with_axis(_without(axes, name), 0, name)
                if new is not None and mesh.fits(new, place.shape):
                    changes.append(Change(place.subject, mesh.sharding(new), mesh.mesh))
        if changes:
            title = f'shard the first dimension of inputs, of size {size}, along "{name}"'
            yield Move(tuple(changes), tuple(found), title)


def _elements(roles: Iterable[Role]) -> int:
    return sum(prod(role.shape) * len(role.classes) for role in roles)


def _of_parameters(roles: Sequence[Role], mesh: MeshOfProgram, name: str) -> Iterator[Move]:
    """Shards the largest dimension that an axis divides of all that is kept from step to step."""
    kept = [role for role in roles if role.is_kept]
    changes = []
    for place in (place for role in kept for place in role.places):
        axes = axes_of(place)
        if axes is None or any(name in names for names in axes):
            continue
        dims = sorted(range(len(place.shape)), key=lambda dim: -place.shape[dim])
        fitting = (with_axis(axes, dim, name) for dim in dims)
        new = next((each for each in fitting if mesh.fits(each, place.shape)), None)
        if new is not None:
            changes.append(Change(place.subject, mesh.sharding(new), mesh.mesh))
    if changes:
        yield Move(tuple(changes), tuple(kept), f'shard all parameters and their state along "{name}"')
