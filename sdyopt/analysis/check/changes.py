"""Changes of annotations that may make a collective cheaper, to be tried on the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.analysis.figures.causes import consumers, last_of_chain, producer
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.sharding_record.record import TrackedValues
from sdyopt.analysis.trials.annotation_edits import Change, place_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, pattern_of
from sdyopt.shardy.record import FunctionResult, Subject

_REDUCTIONS = (AllReduceOp, ReduceScatterOp)


@dataclass(frozen=True)
class Written:
    """The program as it was written: `module`, and the values that those after the passes come from."""

    module: Op
    values: TrackedValues
    originals: Mapping[Value, Value]

    def value(self, value: Value) -> OpResult | BlockArgument | None:
        """The value of the written program that a value was; None if a pass created it."""
        for each in (value, *self.values.predecessors(value)):
            for original in self.values.originals(each):
                for earlier in (original, *self.values.predecessors(original)):
                    found = self.originals.get(earlier)
                    if isinstance(found, OpResult | BlockArgument):
                        return found
        return None

    def place(self, value: Value) -> Subject | None:
        """The place where the sharding of a value is written: at the constraint on it, or at itself."""
        found = self.value(value)
        return None if found is None else place_of(found)


class Alike:
    """Finds what a person changes together: all layers of a line, or the weights of all layers."""

    def __init__(self, module: Op) -> None:
        self._arguments: dict[tuple[object, ...], list[BlockArgument]] = {}
        self._results: dict[tuple[object, ...], list[OpResult]] = {}
        for op in module.walk():
            if isinstance(op, FuncOp) and not op.is_declaration:
                for argument in op.entry.arguments:
                    self._arguments.setdefault(_key_of_argument(argument), []).append(argument)
            for result in op.results:
                self._results.setdefault(_key_of_result(result), []).append(result)

    def changes(self, change: Change) -> list[Change]:
        """The change of all subjects like that of a change."""
        subject = change.subject
        found: Sequence[Subject] = [subject]
        if isinstance(subject, BlockArgument) and name_of(subject):
            found = self._arguments[_key_of_argument(subject)]
        elif isinstance(subject, OpResult) and not isinstance(subject.op.lazy_location, tuple):
            found = self._results[_key_of_result(subject)]
        return [change._replace(subject=each) for each in found]


def _key_of_argument(argument: BlockArgument) -> tuple[object, ...]:
    return pattern_of(name_of(argument)), argument.type, sharding_of(argument)


def _key_of_result(result: OpResult) -> tuple[object, ...]:
    op = result.op
    return type(op), op.lazy_location, result.index, result.type


@dataclass(frozen=True)
class Proposals:
    """Proposes changes for the collectives of a program after the passes."""

    written: Written
    shapes: LocalShapes
    origins: TensorOrigins

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
        """The result sharded along the axes, too, so that it is reduce-scattered; or the operands not."""
        axes = op.reduction_axes if isinstance(op, AllReduceOp) else ()
        place = self.written.place(source)
        used = {axis.name for dim in after.dims for axis in dim.axes}
        added = tuple([axis for axis in axes if axis.name not in used])
        if place is not None and added:
            for number, dim in enumerate(after.dims):
                dims = _replaced(after, number, (*dim.axes, *added))
                yield from self._change(place, after, dims)
        if isinstance(source, OpResult):
            for operand in source.op.operands:
                argument = self.origins.argument(operand)
                if argument is not None:
                    yield from self._without(argument, tuple(axes))

    def _for_reshard(
        self, op: CollectiveOp, source: Value, before: TensorSharding, after: TensorSharding
    ) -> Iterator[Change]:
        """The sharding that is needed, at the value itself; or the one that it has, where it is needed."""
        argument = self.origins.argument(source)
        if argument is not None:
            old = {axis for dim in before.dims for axis in dim.axes}
            kept = {axis for dim in after.dims for axis in dim.axes}
            yield from self._without(argument, tuple(axis for axis in old if axis not in kept))
        elif (place := self.written.place(source)) is not None:
            yield from self._change(place, after, _dims(after))
        for user in consumers(op):
            if isinstance(user, FuncReturnOp):
                yield from self._for_result(user, op, before)
            for result in user.results[:1]:
                if (place := self.written.place(result)) is None:
                    continue
                if isinstance(result.type, RankedShapedType) and result.type.rank == len(before.dims):
                    yield from self._change(place, before, _dims(before))
            break

    def _for_result(self, user: Op, op: CollectiveOp, before: TensorSharding) -> Iterator[Change]:
        """A result of the program with the sharding that the returned value has."""
        value, function = last_of_chain(op), user.parent_op
        for use in value.uses:
            if use.owner is user and isinstance(function, FuncOp):
                written = [each for each in self.written.module.walk() if isinstance(each, FuncOp)]
                for each in written:
                    if each.sym_name == function.sym_name:
                        yield from self._change(FunctionResult(each, use.index), before, _dims(before))

    def _without(self, argument: BlockArgument, axes: Sequence[AxisRef]) -> Iterator[Change]:
        """An argument that is not sharded along axes; or sharded along them in another dimension."""
        sharding, place = self.shapes.sharding(argument), self.written.value(argument)
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
        mesh = find_mesh(like.mesh_or_ref, self.written.module)
        type = _type(place)
        if mesh is None or not isinstance(type, RankedShapedType) or type.rank != len(dims):
            return
        if any(axis.sub_axis is not None or not mesh.has_axis(axis.name) for axes in dims for axis in axes):
            return
        new = [DimensionSharding(axes) for axes in dims]
        if all(size % dim.sharded_size(mesh) == 0 for size, dim in zip(type.shape, new, strict=True)):
            yield Change(place, TensorSharding(like.mesh_or_ref, tuple(new)), mesh)


def _dims(sharding: TensorSharding) -> list[tuple[AxisRef, ...]]:
    return [tuple(dim.axes) for dim in sharding.dims]


def _replaced(
    sharding: TensorSharding, number: int, axes: tuple[AxisRef, ...]
) -> Sequence[tuple[AxisRef, ...]]:
    dims = _dims(sharding)
    dims[number] = axes
    return dims


def _type(place: Subject) -> Type:
    if isinstance(place, FunctionResult):
        return place.function.function_type.results[place.result_index]
    return place.type
