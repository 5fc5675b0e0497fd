"""Proposals for what programs take and return: optimizer states, results, and what is large at the peak.

Those that lower the peak are no kind of the proposals in turns: a search asks for them if memory is what it
is about. They need not save time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from math import prod

from sdyopt.analysis.changes.axes import Axes, axes_of_sharding, with_axis
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.changes.proposals.rewrites import donations
from sdyopt.analysis.changes.roles import Place
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.mlir.value_names import name_of, name_of_result, path_parts, pattern_of
from sdyopt.shardy.record import FunctionResult, Subject

# Results that are smaller are not worth an annotation.
_MIN_BYTES = 1 << 16


@proposal("state", share=2, is_sure=True)
def state(program: ProposedOn) -> Iterator[Change]:
    """What belongs to a parameter, such as its moments, as the parameter: all that differ, as one change.

    It is what elementwise operations tie to the parameter, or has its shape and the end of its name.
    """
    groups: list[list[Place]] = []
    of_tail: dict[object, list[Place]] = {}
    named, returned = [], set[Subject]()
    for role in program.roles:
        for value_class in role.classes if role.is_input else ():
            arguments = (place.subject for place in value_class.arguments)
            names = (name_of(value) for value in arguments if isinstance(value, BlockArgument))
            parts = min((path_parts(name) for name in names if name), key=len, default=())
            named.append((value_class, parts))
    for value_class, parts in sorted(named, key=lambda pair: len(pair[1])):
        # A parameter is `params['up']['w']`, and its moment `state['nu']['up']['w']`.
        tails = [(value_class.shape, *parts[start:]) for start in range(len(parts))]
        same = next((of_tail[tail] for tail in tails if tail in of_tail), [])
        if not same:
            groups.append(same)
            of_tail.update(dict.fromkeys(tails[1:2] or tails, same))
        same += value_class.places
        returned.update(place.subject for place in value_class.places if value_class.results)
    edits, parameters = [], set[Subject]()
    for same in chain.from_iterable(map(_by_parameter, groups)):
        axes = [place.axes for place in same if place.axes is not None]
        most = max(axes, key=lambda axis: _sharded_size(program, axis), default=None)
        # Only what is sharded otherwise and less: the parameter has the annotation that was thought of.
        # What is not returned, such as a batch, is neither a parameter nor a state.
        is_state = any(place.subject in returned for place in same)
        if most is not None and is_state and len(set(axes)) > 1 and program.mesh.fits(most, same[0].shape):
            sharding = program.mesh.sharding(most)
            others = (place.subject for place in same if place.axes not in (None, most))
            edits += [AnnotationEdit(subject, sharding, program.mesh.mesh) for subject in others]
            parameters.add(same[0].subject)
    if edits:
        # A moment or a gradient may have the sharding that a parameter lacks.
        changes_parameters = any(edit.subject in parameters for edit in edits)
        alike = "shard the parameters and the state of the optimizer alike"
        title = alike if changes_parameters else "shard the state of the optimizer as its parameters"
        yield program.change(edits, title)


def _by_parameter(places: Sequence[Place]) -> Iterator[list[Place]]:
    """The places of each parameter, of several that are tied to each other.

    Parameters of one shape are, if the optimizer calls one function for all. Theirs are the shortest names.
    What has no name belongs to none.
    """
    parts = {id(place): _parts_in_state(place) for place in places}
    least = min(map(len, filter(None, parts.values())), default=0)
    of_parameter: dict[tuple[str, ...], list[Place]] = {
        names: [] for names in parts.values() if len(names) == least
    }
    if least == 0 or len(of_parameter) < 2:
        yield list(places)
        return
    for place in places:
        names = parts[id(place)]
        if names[-least:] in of_parameter:
            of_parameter[names[-least:]].append(place)
    yield from of_parameter.values()


def _parts_in_state(place: Place) -> tuple[str, ...]:
    """The keys of a name, without the number of what a step takes as one argument: `state[1]['w']`."""
    parts = path_parts(_name(place.subject))
    while len(parts) > 1 and parts[0].startswith("[") and parts[0].strip("[]").isdigit():
        parts = parts[1:]
    return parts


def _name(subject: Subject) -> str:
    if isinstance(subject, FunctionResult):
        return name_of_result(subject.function, subject.result_index)
    return name_of(subject)


@proposal("edges", share=1)
def edges(program: ProposedOn) -> Iterator[Change]:
    """All inputs and results that a shard_map takes or gives otherwise, in one way, as its specs say.

    One of them alone, such as a parameter without its momentum, is resharded where it meets the others.
    """
    differing: dict[tuple[object, ...], dict[Subject, Axes]] = {}
    for op in program.module.walk():
        if not isinstance(op, ManualComputationOp):
            continue
        taken = zip(op.operands, op.in_shardings, strict=True)
        crossing: list[tuple[Subject, TensorSharding]] = [
            (value, sharding) for value, sharding in taken if isinstance(value, BlockArgument)
        ]
        crossing += [
            (FunctionResult(use.owner.parent_op, use.index), sharding)
            for result, sharding in zip(op.results, op.out_shardings, strict=True)
            for use in result.uses
            if isinstance(use.owner, ReturnOp) and isinstance(use.owner.parent_op, FuncOp)
        ]
        for subject, sharding in crossing:
            type, now = subject.type, annotation_of(subject)
            if isinstance(type, RankedTensor) and now is not None:
                axes = axes_of_sharding(now, type.rank), axes_of_sharding(sharding, type.rank)
                if axes[1] is not None and axes[0] not in (None, axes[1]):
                    differing.setdefault((type.shape, *axes), {})[subject] = axes[1]
    for places in differing.values():
        if len(places) > 1:
            edits = {
                edit.subject: edit
                for subject, axes in places.items()
                for edit in program.alike(
                    AnnotationEdit(subject, program.mesh.sharding(axes), program.mesh.mesh)
                ).edits
            }
            yield Change(tuple(edits.values()))


@proposal("results", share=1)
def results(program: ProposedOn) -> Iterator[Change]:
    """Results that are replicated, as out_shardings of jax.jit: along all axes, or along one."""
    sizes = program.mesh.sizes
    places = [
        place
        for role in program.roles
        for value_class in role.classes
        for place in value_class.results
        if place.sharding is None
        and not value_class.arguments
        and (bytes_of(place.subject.type) or 0) >= _MIN_BYTES
    ]
    for names in dict.fromkeys([tuple(sizes), *((name,) for name in sizes)]):
        edits = []
        for place in places:
            axes = _with_axes(program, ((),) * len(place.shape), place.shape, names)
            if any(axes):
                edits.append(AnnotationEdit(place.subject, program.mesh.sharding(axes), program.mesh.mesh))
        if edits:
            listed = ", ".join(f'"{name}"' for name in names)
            yield program.change(edits, f"give the results out_shardings along {listed}")


_LAYERS = "a loop takes one layer at a time, and each is on some devices only"


@proposal("layers", share=1, is_sure=True)
def layers(program: ProposedOn) -> Iterator[Change]:
    """Stacks of weights without an axis in the dimension of which a loop takes one index at a time.

    What has a layer sends it to all others in each iteration. Without the axis, the stacks may take more
    memory; or they get it in another dimension.
    """
    stacked: dict[Subject, int] = {}
    for op in program.module.walk():
        argument = (
            program.written_origins.argument(op.operands[0]) if isinstance(op, DynamicSliceOp) else None
        )
        now = None if argument is None else annotation_of(argument)
        if argument is None or now is None or argument.type is not op.operands[0].type:
            continue
        taken = op.result_types[0]
        assert isinstance(taken, RankedTensor)
        for dim, (size, of_dim) in enumerate(zip(taken.shape, now.dims, strict=True)):
            if size == 1 and of_dim.axes:
                stacked[argument] = dim
    for is_moved in (False, True):
        edits = []
        for role in program.roles:
            stack = next((place.subject for place in role.places if place.subject in stacked), None)
            for place in role.beside() if stack is not None else ():
                dim = stacked[stack] if stack is not None else 0
                if place.axes is not None and (names := place.axes[dim]):
                    axes = (*place.axes[:dim], (), *place.axes[dim + 1 :])
                    if is_moved:
                        axes = _with_axes(program, axes, place.shape, names, without=dim)
                    sharding = program.mesh.sharding(axes)
                    edits.append(AnnotationEdit(place.subject, sharding, program.mesh.mesh))
        if edits:
            yield program.change(edits, reason=_LAYERS)


def _with_axes(
    program: ProposedOn, axes: Axes, shape: Sequence[int], names: Sequence[str], without: int | None = None
) -> Axes:
    """Each axis more that fits, in the largest dimension that has none, or else in another one."""
    for name in names:
        sized = enumerate(zip(axes, shape, strict=True))
        order = [(bool(of_dim), -size, dim) for dim, (of_dim, size) in sized if dim != without]
        fitting = (with_axis(axes, dim, name) for *_, dim in sorted(order))
        axes = next((fits for fits in fitting if program.mesh.fits(fits, shape)), axes)
    return axes


# An input that every device has all of is sharded if it takes this share of the peak; so many ways are tried.
_LARGE, _WAYS = Fraction(1, 20), 6


@proposal("replicated inputs", share=1, is_sure=True)
def replicated_inputs(program: ProposedOn) -> Iterator[Change]:
    """The input that most memory is taken for, of those that every device has all of, along one axis."""
    total: dict[int, int] = {}
    for number, role in enumerate(program.roles):
        if role.is_input and role.is_kept and not any(any(place.axes or ()) for place in role.places):
            places = [place for place in role.places if isinstance(place.subject, BlockArgument)]
            total[number] = sum(bytes_of(place.subject.type) or 0 for place in places)
    number = max(total, key=lambda number: total[number], default=-1)
    if number < 0 or total[number] < _LARGE * program.outcome.report.memory.peak:
        return
    place = program.roles[number].places[0]
    current: Axes = ((),) * len(place.shape)
    ways = (
        with_axis(current, dim, name)
        for dim in sorted(range(len(place.shape)), key=lambda dim: -place.shape[dim])
        for name in program.mesh.sizes
    )
    for axes in islice((axes for axes in ways if program.mesh.fits(axes, place.shape)), _WAYS):
        yield program.alike(AnnotationEdit(place.subject, program.mesh.sharding(axes), program.mesh.mesh))


def _sharded_size(program: ProposedOn, axes: Axes) -> int:
    return prod(program.mesh.sizes.get(name, 1) for names in axes for name in names)


# So many of the values that are live at the peak are looked at, each with this many dimensions.
_VALUES, _DIMS = 3, 2


def at_peak(program: ProposedOn) -> Iterator[Change]:
    """Donations; what belongs to a parameter as it; then an axis more for what most memory is wasted on."""
    return chain(donations(program), state(program), _with_spare_axis(program))


def _with_spare_axis(program: ProposedOn) -> Iterator[Change]:
    """An axis more for the values that are live at the peak and that several devices have all of."""
    wasted: dict[object, int] = {}
    values: dict[object, Sequence[str]] = {}
    for live in program.outcome.report.memory.live_at_peak:
        if live.spare_axis and live.spare_bytes is not None:
            # The weights of all layers are changed together, and the values of a line.
            key: object = pattern_of(live.name) if live.name else (live.location, live.type)
            wasted[key] = wasted.get(key, 0) + live.bytes - live.spare_bytes
            values.setdefault(key, (live.value, live.spare_axis))
    if not wasted:
        return
    of_name = {name: value for value, name in SsaNames(program.outcome.module).names.items()}
    for key in sorted(wasted, key=lambda key: -wasted[key])[:_VALUES]:
        name, axis = values[key]
        written = program.originals.place(of_name[name]) if name in of_name else None
        if written is None or not isinstance(written.type, RankedTensor):
            continue
        shape = tuple(written.type.shape)
        current = axes_of_sharding(annotation_of(written), len(shape))
        if current is None or any(axis in names for names in current):
            continue
        # The largest dimensions first, those that are not sharded yet before the others.
        dims = sorted(range(len(shape)), key=lambda dim: (bool(current[dim]), -shape[dim]))
        fitting = (with_axis(current, dim, axis) for dim in dims)
        for axes in islice((axes for axes in fitting if program.mesh.fits(axes, shape)), _DIMS):
            yield program.alike(AnnotationEdit(written, program.mesh.sharding(axes), program.mesh.mesh))
