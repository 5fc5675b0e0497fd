"""Proposals for several roles at once: the batch, all parameters, and the constraints of one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from sdyopt.analysis.changes.axes import Axes, neighbours, with_axis, without_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.roles import Place, RoleGroup
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult


@proposal("batch", share=2)
def batch(program: ProposedOn) -> Iterator[Change]:
    """Shards the first dimension of the inputs that are not kept, of one size, along an axis."""
    mesh = program.mesh
    for name in mesh.sizes:
        sizes: dict[int, list[RoleGroup]] = {}
        for role in program.roles:
            if role.is_input and not role.is_kept:
                sizes.setdefault(role.shape[0], []).append(role)
        for size, of_size in sorted(sizes.items(), key=lambda entry: -_elements(entry[1])):
            edits = []
            for place in (place for role in of_size for place in role.places):
                axes = place.axes
                new = (
                    None if axes is None or name in axes[0] else with_axis(without_axis(axes, name), 0, name)
                )
                if new is not None and mesh.fits(new, place.shape):
                    edits.append(AnnotationEdit(place.subject, mesh.sharding(new), mesh.mesh))
            if edits and len(of_size) > 1:
                title = f'shard the first dimension of inputs, of size {size}, along "{name}"'
                yield program.change(edits, title)


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


def line_of(value: OpResult | BlockArgument) -> str:
    """`model.py:42`; "" if that is unknown."""
    location = source_location(value.location)
    return location.file_text if location.line else ""


def _elements(of_size: Iterable[RoleGroup]) -> int:
    return sum(prod(role.shape) * len(role.classes) for role in of_size)
