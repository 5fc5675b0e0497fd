"""Proposals for roles: one sharding for all places of a role, near to the one that they have.

It differs in an axis: added to a dimension, removed, moved to another dimension, swapped with another axis,
or replaced by an unused one, there or in another dimension; a constraint that replicates gets pairs of axes.
Roles of equal shape also lend each other their shardings, and a role gets that of its values in the program
after the passes. Roles for which most is sent come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.changes.axes import Axes, axes_of_sharding, first_dimensions_first, neighbours, pairs
from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, in_turns, proposal
from sdyopt.analysis.changes.roles import Place, RoleGroup, is_uniform

# Values without annotations: so many roles are looked at, those for which most is sent.
_MAX_OTHERS = 16
# A constraint is to blame for what is sent for its role if that is this share of all.
_COSTING = Fraction(1, 10)
# So many constraints are blamed.
_CONSTRAINTS = 2


@proposal("roles", share=6)
def roles(program: ProposedOn) -> Iterator[Change]:
    """Changes of the roles that have annotations, or arguments."""
    for role in program.roles_by_bytes:
        if _is_annotated(role):
            places = role.beside()
            for axes in _near(role, places, program):
                yield program.at(places, axes)


@proposal("values", share=3)
def values(program: ProposedOn) -> Iterator[Change]:
    """Constraints on values without annotations, which are near to what propagation gives them.

    There are none on literals, such as `0.1` in `0.1 * x`.
    """
    others = [role for role in program.roles_by_bytes if not _is_annotated(role)]
    return in_turns(
        _constrained(program, role)
        for role in others[:_MAX_OTHERS]
        if program.outcome.wire_bytes(role)
        and not all(is_uniform(item.first) and len(item.ops) == 1 for item in role.classes)
    )


def _constrained(program: ProposedOn, role: RoleGroup) -> Iterator[Change]:
    """Constraints on the values of a role, those in the first dimensions first."""
    for current in _computed(role, program)[:1]:
        near = sorted(neighbours(current, program.mesh.sizes), key=first_dimensions_first)
        for axes in (current, *near):
            if program.mesh.fits(axes, role.shape):
                yield program.at([place._replace(sharding=None) for place in role.places], axes)


@proposal("constraints", share=3)
def constraints(program: ProposedOn) -> Iterator[Change]:
    """The constraints that most is sent for, with an axis that they lack or have elsewhere.

    What the role's values have without them comes first, then axes in the first dimensions.
    """
    constrained = (
        role
        for role in program.roles_by_bytes
        if any(value_class.constraints for value_class in role.classes)
    )
    for role, _ in zip(constrained, range(_CONSTRAINTS), strict=False):
        if program.outcome.wire_bytes(role) <= _COSTING * program.outcome.figures.wire_bytes:
            break
        places = [place for value_class in role.classes for place in value_class.constraints]
        for current in dict.fromkeys(place.axes for place in places if place.axes is not None):
            near = sorted(neighbours(current, program.mesh.sizes), key=first_dimensions_first)
            for axes in dict.fromkeys([*_computed(role, program), *near]):
                if program.mesh.fits(axes, role.shape):
                    yield program.at(places, axes)


@proposal("outliers", share=1, is_sure=True)
def outliers(program: ProposedOn) -> Iterator[Change]:
    """The few constraints of a role that lack, in a dimension, the axes that all others of it have there."""
    for role in program.roles_by_bytes:
        places = [place for value_class in role.classes for place in value_class.constraints]
        for current in dict.fromkeys(place.axes for place in places if place.axes is not None):
            others = {place.axes for place in places if place.axes not in (None, current)}
            few = [place for place in places if place.axes == current]
            # Two shardings that take turns, as with sequence parallelism, may be meant so.
            if len(others) < 2 or 2 * len(few) >= len(places):
                continue
            common = [
                dims[0] if len(set(dims)) == 1 else () for dims in zip(*filter(None, others), strict=True)
            ]
            given = {name for names in common for name in names}
            if all(names == now for names, now in zip(common, current, strict=True) if names):
                continue
            axes = tuple(
                names or tuple([name for name in now if name not in given])
                for names, now in zip(common, current, strict=True)
            )
            if program.mesh.fits(axes, role.shape):
                yield program.at(few, axes)


def _is_annotated(role: RoleGroup) -> bool:
    return role.is_input or any(place.sharding is not None for place in role.places)


def _computed(role: RoleGroup, program: ProposedOn) -> list[Axes]:
    """What the values of a role have after propagation: that may differ from a constraint in several axes."""
    shardings = filter(None, map(program.outcome.sharding, role.classes))
    return [
        axes for sharding in shardings if (axes := axes_of_sharding(sharding, len(role.shape))) is not None
    ]


def _near(role: RoleGroup, places: Sequence[Place], program: ProposedOn) -> Iterator[Axes]:
    """The shardings that are near to those of the places of a role."""
    sizes = program.mesh.sizes
    lent = [*_computed(role, program), *program.written_axes[role.shape]]
    for current in dict.fromkeys(place.axes for place in places if place.axes is not None):
        two = pairs(current, sizes) if not any(current) and not role.is_input else ()
        for axes in dict.fromkeys((*lent, *neighbours(current, sizes), *two)):
            if program.mesh.fits(axes, role.shape):
                yield axes
