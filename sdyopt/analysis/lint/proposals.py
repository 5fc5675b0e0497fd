"""Changes of shardings that rules propose, for trials.

Inputs and results of one shape and one sharding, such as a weight and the state of its optimizer, change
together; so do constraints of one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from sdyopt.analysis.figures.boundary import carried_results
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.trials.annotation_edits import Change, is_input, place_of
from sdyopt.analysis.trials.originals import Gradients
from sdyopt.analysis.trials.remedies import Remedy, ValueNames, remedy_of
from sdyopt.analysis.trials.roles import statement_of
from sdyopt.analysis.trials.trials import Trials
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh, largest_mesh_op
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Subject

# The axes of each dimension by name.
Axes = Sequence[Sequence[str]]


class Proposals:
    """Proposes changes of a program before its passes; none if it has its collectives already."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self.module = trials.module

    @classmethod
    def of(cls, trials: Trials) -> Proposals:
        """The proposals for a program, made once."""
        return trials.shared(cls)

    @cached_property
    def _names(self) -> ValueNames:
        return ValueNames(self.module)

    @cached_property
    def mesh(self) -> tuple[MeshOrRef, Mesh] | None:
        """The mesh with the most devices, and the reference to it."""
        largest = largest_mesh_op(self.module)
        return None if largest is None else (SymbolRef(largest.sym_name), largest.mesh)

    @cached_property
    def functions(self) -> list[FuncOp]:
        """The functions where the program starts."""
        found = entry_functions(functions_in(self.module))
        return [each for each in found if not each.is_declaration]

    @cached_property
    def boundary(self) -> list[list[Subject]]:
        """Inputs and results in groups of one shape and one sharding, the largest tensors first."""
        groups: dict[object, list[Subject]] = {}
        for function in self.functions:
            results = [FunctionResult(function, n) for n in range(len(function.function_type.results))]
            arguments = [each for each in function.entry.arguments if isinstance(each, BlockArgument)]
            subjects: list[Subject] = [*arguments, *results]
            # What a step returns in place of a donated argument is sharded as the argument.
            carried: dict[Subject, Subject] = {
                results[number]: arguments[index] for index, number in carried_results(function).items()
            }
            for subject in subjects:
                type = subject.type
                if isinstance(type, RankedTensor) and type.rank:
                    sharding = sharding_of(subject) or sharding_of(carried.get(subject, subject))
                    key = type.shape, None if sharding is None else sharding.dims
                    groups.setdefault(key, []).append(subject)
        return sorted(groups.values(), key=lambda group: -sum(bytes_of(each.type) or 0 for each in group))

    @cached_property
    def constraints(self) -> list[list[OpResult]]:
        """Sharding constraints in groups of one statement, those of the largest tensors first."""
        groups: dict[object, list[OpResult]] = {}
        for op in self.module.walk():
            if isinstance(op, ShardingConstraintOp):
                output = op.output
                assert isinstance(output, OpResult)
                groups.setdefault(statement_of(op) or op, []).append(output)
        return sorted(groups.values(), key=lambda group: -sum(bytes_of(each.type) or 0 for each in group))

    def group_of(self, value: Value) -> list[Subject]:
        """The changes that belong to one of a value with collectives; [] if a pass created the value."""
        written = self._trials.written(value)
        if written is None:
            return []
        subject = place_of(written)
        groups: list[Sequence[Subject]] = [*self.boundary, *self.constraints]
        return next((list(group) for group in groups if subject in group), [subject])

    # --- Remedies -----------------------------------------------------------------------------------

    def remedy(self, subjects: Iterable[Subject], axes: Axes) -> Iterator[Remedy]:
        """These axes for the dimensions of subjects, if that is a change that JAX accepts."""
        changes = []
        for subject in map(self._writable, subjects):
            old, type = sharding_of(subject), subject.type
            mesh_or_ref, mesh = self.mesh or (None, None)
            if old is not None:
                mesh_or_ref, mesh = old.mesh_or_ref, find_mesh(old.mesh_or_ref, self.module)
            if mesh_or_ref is None or mesh is None or not isinstance(type, RankedTensor):
                return
            if len(axes) != type.rank or not all(mesh.has_axis(name) for names in axes for name in names):
                return
            dims = tuple([DimensionSharding(tuple([AxisRef(name) for name in names])) for names in axes])
            if old is not None and [dim.axes for dim in old.dims] == [dim.axes for dim in dims]:
                return
            for size, dim in zip(type.shape, dims, strict=True):
                if size <= 0 or size % dim.sharded_size(mesh):
                    return
            changes.append(Change(subject, TensorSharding(mesh_or_ref, dims), mesh))
        if written := self._gradients.constrained(changes):
            yield remedy_of(written, self._names)

    def _writable(self, subject: Subject) -> Subject:
        """A value that programs of JAX can constrain: a gradient is constrained with its value."""
        if isinstance(subject, OpResult) and not isinstance(subject.op, ShardingConstraintOp):
            value = self._gradients.value(subject)
            # The gradient of a weight is what a step gets of `jax.grad`.
            is_of_weight = value is not None and self._origins.argument(value) is not None
            return place_of(value) if isinstance(value, OpResult) and not is_of_weight else subject
        return subject

    @cached_property
    def _origins(self) -> TensorOrigins:
        return TensorOrigins(ExecutionCounts(self.module))

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(self.module)

    def like(self, value: Value, sharding: TensorSharding | None) -> Iterator[Remedy]:
        """The sharding of another value for a value of the program with collectives."""
        written = self._trials.written(value)
        if written is None or sharding is None or any(axis.sub_axis for axis in sharding.axis_refs):
            return
        axes = names_of(sharding, written.type)
        yield from self.remedy([place_of(written)], axes)
        # An input may be constrained where it is used.
        users = [each.output for each in written.users if isinstance(each, ShardingConstraintOp)]
        constraints = [each for each in users if isinstance(each, OpResult)]
        if place_of(written) not in constraints:
            yield from self.remedy(constraints, axes)

    def moved_before(self, op: Op, loop: Op, text: str) -> Iterator[Remedy]:
        """An operation of the program with collectives in front of the loop that it is in."""
        written = self._trials.written(op.results[0])
        if not isinstance(written, OpResult):
            return
        first = written.op
        around = next((each for each in first.ancestors() if type(each) is type(loop)), None)
        if around is None:
            return

        def edit(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
            rewriter.move(copies[first], before=copies[around])

        yield Remedy(text, (), edit, frozenset([written]))

    def with_axis(self, subjects: Sequence[Subject], axis: str) -> Iterator[Remedy]:
        """One axis more, in each dimension that it divides."""
        for dim in range(rank_of(subjects)):
            names = axes_of(subjects[0])
            if all(axis not in each for each in names):
                yield from self.remedy(subjects, [*names[:dim], [*names[dim], axis], *names[dim + 1 :]])

    def inputs_with_axis(self, axis: str) -> Iterator[Remedy]:
        """One axis more for groups of inputs and results, in each dimension that it divides."""
        for group in self.boundary if self._trials.can_try else []:
            yield from self.with_axis(group, axis)

    def without_axis(self, subjects: Sequence[Subject], axis: str) -> Iterator[Remedy]:
        """One axis less, and that axis in another dimension."""
        kept = [[name for name in each if name != axis] for each in axes_of(subjects[0])]
        yield from self.remedy(subjects, kept)
        yield from self.moved(subjects, axis)

    def moved(self, subjects: Sequence[Subject], axis: str) -> Iterator[Remedy]:
        """An axis in another dimension."""
        names = axes_of(subjects[0])
        kept = [[name for name in each if name != axis] for each in names]
        for dim, each in enumerate(names):
            if axis not in each:
                yield from self.remedy(subjects, [*kept[:dim], [*kept[dim], axis], *kept[dim + 1 :]])

    def replaced(self, subjects: Sequence[Subject], axis: str, other: str) -> Iterator[Remedy]:
        """Another axis in place of one, in each dimension."""
        kept = [[name for name in each if name != axis] for each in axes_of(subjects[0])]
        for dim in range(len(kept)):
            yield from self.remedy(subjects, [*kept[:dim], [*kept[dim], other], *kept[dim + 1 :]])

    def swapped(self, subjects: Sequence[Subject]) -> Iterator[Remedy]:
        """The axes of two dimensions exchanged."""
        names = list(axes_of(subjects[0]))
        for first in range(len(names)):
            for second in range(first + 1, len(names)):
                if names[first] or names[second]:
                    other = list(names)
                    other[first], other[second] = names[second], names[first]
                    yield from self.remedy(subjects, other)

    def opened(self, dimensions: Iterable[tuple[OpResult, int]]) -> Remedy:
        """Dimensions of constraints opened."""
        shardings: dict[OpResult, TensorSharding] = {}
        for output, dim in dimensions:
            assert isinstance(output.op, ShardingConstraintOp)
            sharding = shardings.get(output, output.op.sharding)
            dims = [each.opened() if dim == number else each for number, each in enumerate(sharding.dims)]
            shardings[output] = sharding.with_dims(dims)
        changes = []
        for output, sharding in shardings.items():
            mesh = find_mesh(sharding.mesh_or_ref, self.module)
            assert mesh is not None
            changes.append(Change(output, sharding, mesh))
        return remedy_of(changes, self._names)

    def removed(self, constraints: Sequence[OpResult]) -> Remedy:
        """Constraints removed."""
        changes = []
        for each in constraints:
            assert isinstance(each.op, ShardingConstraintOp)
            mesh = find_mesh(each.op.sharding.mesh_or_ref, self.module)
            assert mesh is not None
            changes.append(Change(each, each.op.sharding, mesh, is_removal=True))
        return remedy_of(changes, self._names)


def sharding_of(subject: Subject) -> TensorSharding | None:
    """The sharding that a subject is annotated with."""
    if isinstance(subject, FunctionResult):
        found = subject.function.result_attributes[subject.result_index].get(SHARDING)
    elif is_input(subject):
        op = owning_op(subject)
        assert isinstance(op, FuncOp)
        found = op.argument_attributes[subject.index].get(SHARDING)
    else:
        op = owning_op(subject)
        found = op.sharding if isinstance(op, ShardingConstraintOp) else None
    return found if isinstance(found, TensorSharding) else None


def axes_of(subject: Subject) -> list[list[str]]:
    """The axes of each dimension of an annotation, by name."""
    return names_of(sharding_of(subject), subject.type)


def names_of(sharding: TensorSharding | None, type: Type) -> list[list[str]]:
    """The axes of each dimension, by name."""
    if sharding is None:
        return [[] for _ in range(type.rank if isinstance(type, RankedTensor) else 0)]
    return [[axis.name for axis in dim.axes] for dim in sharding.dims]


def rank_of(subjects: Sequence[Subject]) -> int:
    """The number of dimensions of the first subject."""
    return len(axes_of(subjects[0]))
