"""Moves that may make a collective cheaper, from the shardings before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.figures.causes import consumers, last_of_chain, producer
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.trials.annotation_edits import Change, place_of
from sdyopt.analysis.trials.effect import bytes_of_runs
from sdyopt.analysis.trials.moves import Move
from sdyopt.analysis.trials.originals import Gradients, Originals
from sdyopt.analysis.trials.outcome import Outcome
from sdyopt.analysis.trials.roles import Role
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Subject

_REDUCTIONS = (AllReduceOp, ReduceScatterOp)


# So many collectives are looked at, those that send most.
_MAX_BLAMED = 8


def blamed_moves(module: Op, roles: Sequence[Role], outcome: Outcome) -> Iterator[Move]:
    """Moves that may make the most expensive collectives of a program cheaper."""
    alike = Alike(module, roles)
    proposals = Proposals.on(outcome.module, outcome.originals)
    pairs = zip(counted_collectives(outcome.module), outcome.report.collectives, strict=True)
    places: dict[tuple[str, str, str], Op] = {}
    sizes: dict[tuple[str, str, str], Fraction] = {}
    for op, each in pairs:
        key = each.location.path_text or each.moved or each.updated, each.kind, each.group
        places.setdefault(key, op)
        sizes[key] = sizes.get(key, Fraction(0)) + bytes_of_runs(each)
    for key in sorted(sizes, key=lambda key: -sizes[key])[:_MAX_BLAMED]:
        if sizes[key]:
            for change in dict.fromkeys(proposals.for_collective(places[key])):
                if (move := alike.move(change)).changes:
                    yield move


class Alike:
    """Finds what a person changes together: the places of a role, or what a line computes in all layers."""

    def __init__(self, module: Op, roles: Sequence[Role]) -> None:
        self._gradients = Gradients(module)
        self._roles = {place.subject: role for role in roles for place in role.places}
        self._results: dict[tuple[object, ...], list[OpResult]] = {}
        for op in module.walk():
            for result in op.results:
                self._results.setdefault(_key_of_result(result), []).append(result)

    def move(self, change: Change) -> Move:
        """The change of all that is like its subject."""
        subject = change.subject
        role = self._roles.get(subject)
        found: Sequence[Subject] = [subject]
        if role is not None:
            found = [place.subject for place in role.places]
        elif isinstance(subject, OpResult) and not isinstance(subject.op.lazy_location, tuple):
            # The location of an operation may not have been read before: it is that of the operation alone.
            found = self._results.get(_key_of_result(subject), found)
        changes = [change._replace(subject=each) for each in dict.fromkeys([subject, *found])]
        return Move(self._gradients.constrained(changes), () if role is None else (role,))


def _key_of_result(result: OpResult) -> tuple[object, ...]:
    op = result.op
    return type(op), op.lazy_location, result.index, result.type


@dataclass(frozen=True)
class Proposals:
    """Proposes changes for the collectives of a program after the passes."""

    module: Op
    originals: Originals
    shapes: LocalShapes
    origins: TensorOrigins

    @classmethod
    def on(cls, module: Op, originals: Originals) -> Proposals:
        """The proposals for a program after the passes."""
        return cls(module, originals, LocalShapes(module), TensorOrigins(ExecutionCounts(module)))

    def for_collective(self, op: Op) -> Iterator[Change]:
        """Changes that may make a collective unnecessary or smaller, the most likely ones first."""
        if not isinstance(op, CollectiveOp):
            return
        source, last = producer(op), last_of_chain(op)
        before, after = self.shapes.sharding(source), self.shapes.sharding(last)
        if after is None:
            return
        if isinstance(op, _REDUCTIONS):
            yield from self._for_reduction(op, source, after)
        elif before is not None:
            yield from self._for_reshard(op, source, before, after)

    def _for_reduction(self, op: Op, source: Value, after: TensorSharding) -> Iterator[Change]:
        """The result sharded along the axes, too, so that it is reduce-scattered; or the operands not.

        If the result is a gradient, so is the argument that it updates, or what jax.grad returns.
        """
        axes = op.reduction_axes if isinstance(op, AllReduceOp) else ()
        place = self.originals.place(source)
        used = {axis.name for dim in after.dims for axis in dim.axes}
        added = tuple([axis for axis in axes if axis.name not in used])
        if added:
            argument = self._updated(source)
            found = argument, None if place is None else _sum_of(place), place
            places = [each for each in dict.fromkeys(found) if each is not None]
            for number, dim in enumerate(after.dims):
                dims = _replaced(after, number, (*dim.axes, *added))
                for each in places:
                    yield from self._change(each, after, dims)
        if isinstance(source, OpResult):
            for operand in source.op.operands:
                argument = self.origins.argument(operand)
                if argument is not None:
                    yield from self._without(argument, tuple(axes))

    def _for_reshard(
        self, op: CollectiveOp, source: Value, before: TensorSharding, after: TensorSharding
    ) -> Iterator[Change]:
        """The sharding that is needed, at the value itself; or the one that it has, where it is needed."""
        argument, written = self.origins.argument(source), self.originals.value(source)
        is_view = argument is not None
        if argument is None and written is not None:
            # Halos are exchanged for a slice of an argument.
            argument = self._after(self._written_origins.argument(written))
        if argument is not None:
            old = {axis for dim in before.dims for axis in dim.axes}
            kept = {axis for dim in after.dims for axis in dim.axes}
            yield from self._without(argument, tuple(axis for axis in old if axis not in kept))
        if not is_view and written is not None:
            yield from self._change(place_of(written), after, _dims(after))
        for user in consumers(op):
            if isinstance(user, FuncReturnOp):
                yield from self._for_result(user, op, before)
            for result in user.results[:1]:
                if (place := self.originals.place(result)) is None:
                    continue
                if isinstance(result.type, RankedShapedType) and result.type.rank == len(before.dims):
                    yield from self._change(place, before, _dims(before))
            break

    @cached_property
    def _written_origins(self) -> TensorOrigins:
        return TensorOrigins(ExecutionCounts(self.originals.module))

    @cached_property
    def _arguments(self) -> dict[Value, BlockArgument]:
        """The arguments after the passes, by those of the written program."""
        found: dict[Value, BlockArgument] = {}
        for function in entry_functions(functions_in(self.module)):
            for each in () if function.is_declaration else function.entry.arguments:
                written = self.originals.value(each)
                if written is not None and isinstance(each, BlockArgument):
                    found[written] = each
        return found

    def _after(self, argument: BlockArgument | None) -> BlockArgument | None:
        """The argument that one of the written program is after the passes."""
        return None if argument is None else self._arguments.get(argument)

    def _updated(self, gradient: Value) -> OpResult | BlockArgument | None:
        """The argument of the written program that a gradient updates, if it has its type."""
        argument = self.origins.updated_argument(gradient)
        if argument is None or argument.type is not gradient.type:
            return None
        return self.originals.value(argument)

    def _for_result(self, user: Op, op: CollectiveOp, before: TensorSharding) -> Iterator[Change]:
        """A result of the program with the sharding that the returned value has."""
        function = user.parent_op
        if not isinstance(function, FuncOp):
            return
        written = [each for each in functions_in(self.originals.module) if each.sym_name == function.sym_name]
        for use in last_of_chain(op).uses:
            if use.owner is user:
                for each in written:
                    yield from self._change(FunctionResult(each, use.index), before, _dims(before))

    def _without(self, argument: BlockArgument, axes: Sequence[AxisRef]) -> Iterator[Change]:
        """An argument that is not sharded along axes; or sharded along them in another dimension."""
        sharding, place = self.shapes.sharding(argument), self.originals.value(argument)
        if sharding is None or place is None:
            return
        names = {axis.name for axis in axes}
        kept = [tuple([axis for axis in dim.axes if axis.name not in names]) for dim in sharding.dims]
        moved = [axis for dim in sharding.dims for axis in dim.axes if axis.name in names]
        if not moved:
            return
        for number, dim in enumerate(sharding.dims):
            if not any(axis in dim.axes for axis in moved):
                yield from self._change(
                    place, sharding, [*kept[:number], (*kept[number], *moved), *kept[number + 1 :]]
                )
        yield from self._change(place, sharding, kept)

    def _change(
        self, place: Subject, like: TensorSharding, dims: Sequence[tuple[AxisRef, ...]]
    ) -> Iterator[Change]:
        """The change to these axes, on the mesh of another sharding, if they divide the dimensions."""
        mesh = find_mesh(like.mesh_or_ref, self.originals.module)
        type = place.type
        if mesh is None or not isinstance(type, RankedShapedType) or type.rank != len(dims):
            return
        if any(axis.sub_axis is not None or not mesh.has_axis(axis.name) for axes in dims for axis in axes):
            return
        new = [DimensionSharding(axes) for axes in dims]
        if all(size % dim.sharded_size(mesh) == 0 for size, dim in zip(type.shape, new, strict=True)):
            yield Change(place, TensorSharding(like.mesh_or_ref, tuple(new)), mesh)


def _sum_of(place: Subject) -> Subject:
    """The sum of the gradients of a value that several statements use; else the gradient itself."""
    while isinstance(place, OpResult) and place.has_one_use:
        (user,) = place.users
        if not isinstance(user, AddOp) or source_location(user.location).phase is not Phase.BACKWARD:
            break
        place = user.results[0]
    return place


def _dims(sharding: TensorSharding) -> list[tuple[AxisRef, ...]]:
    return [tuple(dim.axes) for dim in sharding.dims]


def _replaced(
    sharding: TensorSharding, number: int, axes: tuple[AxisRef, ...]
) -> Sequence[tuple[AxisRef, ...]]:
    dims = _dims(sharding)
    dims[number] = axes
    return dims
