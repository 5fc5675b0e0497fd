"""Proposals: changes that are worth a try, by kinds. A kind is one function, and nothing else has a list.

    @proposal("batch", share=2)
    def batch(program: ProposedOn) -> Iterator[Change]:
        ...

The kinds take turns: `share` is how many changes of a kind come in each round, so that a search that ends
early has tried the most likely changes of all kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from itertools import chain, islice, zip_longest
from math import prod
from pathlib import Path

from sdyopt.analysis.changes.axes import Axes, MeshOfProgram, axes_of_sharding, mesh_of, with_axis
from sdyopt.analysis.changes.derived import DerivedConstraints
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of, written
from sdyopt.analysis.changes.effect import NOISE
from sdyopt.analysis.changes.originals import Gradients, Originals
from sdyopt.analysis.changes.outcome import PipelineOutcome
from sdyopt.analysis.changes.roles import Dimensions, Place, RoleGroup, ValueClass, is_uniform, roles_of
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.product_collectives import counted_products
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.figures.totals import repeated_flops
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result, path_parts
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# A product that repeats more than this share of the FLOPs is sharded along so many axes that it lacks.
_REPEATED, _REPEATED_AXES = NOISE, 2


class ProposedOn:
    """A program to propose changes of. `outcome` is it after the passes, and `run` what propagation did.

    `made` are changes that are made already, and `first` is the program without them.
    """

    def __init__(
        self,
        module: Op,
        mesh: MeshOfProgram,
        outcome: PipelineOutcome,
        run: PropagationRun | None,
        roles: Sequence[RoleGroup],
        made: Sequence[Change] = (),
        first: ProposedOn | None = None,
    ) -> None:
        self.module, self.mesh, self.outcome, self.run, self._first = module, mesh, outcome, run, first
        # By edits: many places have the same gradients, or are constrained by the same statement.
        self._following: dict[tuple[AnnotationEdit, ...], list[AnnotationEdit] | None] = {}
        edits = written(made)
        self.roles = [_after(role, edits) for role in roles]

    @property
    def originals(self) -> Originals:
        """The program as it was written, for values after the passes."""
        return self.outcome.originals

    @cached_property
    def shapes(self) -> LocalShapes:
        """The shapes of values after the passes."""
        return LocalShapes(self.outcome.module)

    @cached_property
    def origins(self) -> TensorOrigins:
        """The arguments that values after the passes come from."""
        return TensorOrigins(ExecutionCounts(self.outcome.module))

    @cached_property
    def written_origins(self) -> TensorOrigins:
        """The arguments that values of the written program come from."""
        return TensorOrigins(ExecutionCounts(self.originals.module))

    @cached_property
    def arguments(self) -> dict[Value, BlockArgument]:
        """The arguments after the passes, by those of the written program."""
        return {
            written: argument
            for function in entry_functions(functions_in(self.outcome.module))
            for argument in (() if function.is_declaration else function.entry.arguments)
            if (written := self.originals.value(argument)) is not None and isinstance(argument, BlockArgument)
        }

    @cached_property
    def gradients(self) -> Gradients:
        """Relates values to their gradients."""
        return Gradients(self.module) if self._first is None else self._first.gradients

    @cached_property
    def derived(self) -> DerivedConstraints:
        """The constraints that follow from arguments."""
        return DerivedConstraints(self.module) if self._first is None else self._first.derived

    @cached_property
    def roles_by_bytes(self) -> list[RoleGroup]:
        """The roles, those for which most is sent first."""
        return sorted(self.roles, key=lambda role: -self.outcome.wire_bytes(role))

    @cached_property
    def has_constraints(self) -> bool:
        """Whether the program constrains values."""
        return any(isinstance(op, ShardingConstraintOp) for op in self.module.walk())

    @cached_property
    def dimensions(self) -> Dimensions:
        """The dimensions that belong together."""
        return Dimensions(self.module, self.roles)

    @cached_property
    def written_axes(self) -> dict[tuple[int, ...], list[Axes]]:
        """The axes that places of a shape have, each once, in the order of the roles."""
        axes_of: dict[tuple[int, ...], dict[Axes, None]] = {}
        for role in self.roles:
            of_shape = axes_of.setdefault(role.shape, {})
            of_shape.update((place.axes, None) for place in role.places if place.axes is not None)
        return {shape: list(axes) for shape, axes in axes_of.items()}

    @cached_property
    def _role_of(self) -> dict[Subject, RoleGroup]:
        return {place.subject: role for role in self.roles for place in role.places}

    @cached_property
    def _results(self) -> dict[tuple[object, ...], list[OpResult]]:
        results: dict[tuple[object, ...], list[OpResult]] = {}
        for op in self.module.walk():
            for result in op.results:
                results.setdefault(_key_of_result(result), []).append(result)
        return results

    def alike(self, edit: AnnotationEdit, of_parameter: bool = False) -> Change:
        """The change of all that is like a subject: the places of its role, or a line's in all layers.

        With `of_parameter`, other parameters of the role are left as they are: those of one shape may be tied
        by an optimizer that calls one function for all.
        """
        subject = edit.subject
        role = self._role_of.get(subject)
        same: Sequence[Subject] = [subject]
        if role is not None:
            same = [place.subject for place in role.beside(subject)]
            if of_parameter and (parts := _path(subject)):
                tails = [(other, _path(other)[-len(parts) :]) for other in same]
                same = [other for other, tail in tails if tail in ((), parts)]
        elif isinstance(subject, OpResult):
            same = self._results.get(_key_of_result(subject), same)
        subjects = same if subject in same else [subject, *same]
        return self.change(
            edit._replace(subject=item)
            for item in subjects
            if not isinstance(item, OpResult) or item is subject or annotation_of(item) != edit.sharding
        )

    def change(self, edits: Iterable[AnnotationEdit], title: str = "", reason: str = "") -> Change:
        """A change as JAX makes it: a statement constrains a value and its gradient, others follow.

        It is empty if it is not known what follows, or if no statement constrains a value.
        """
        edits = list(edits)
        if self.derived.is_explicit and any(edit.is_of_input for edit in edits):
            # What a program returns has the type of its value.
            edits = [
                edit
                for edit in edits
                if not isinstance(edit.subject, FunctionResult) or annotation_of(edit.subject) is not None
            ]
        constrained = self.gradients.constrained(edits)
        if any(edit.is_new_constraint and _is_literal(edit.subject) for edit in constrained):
            return Change()
        if constrained not in self._following:
            self._following[constrained] = self.derived.following(constrained)
        following = self._following[constrained]
        if following is None:
            return Change()
        known = {edit.subject for edit in constrained}
        return Change(
            (*constrained, *(edit for edit in following if edit.subject not in known)), title, reason=reason
        )

    def at(self, places: Iterable[Place], axes: Axes, title: str = "") -> Change:
        """The change to these axes of all places that have others."""
        changed = [place for place in places if place.axes not in (None, axes)]
        sharding = self.mesh.sharding(axes)
        return self.change(
            [AnnotationEdit(place.subject, sharding, self.mesh.mesh) for place in changed], title
        )


class SearchedProgram:
    """The program of a search, and proposals of changes of what is asked for."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials

    @cached_property
    def mesh(self) -> MeshOfProgram | None:
        """The mesh that changes are on."""
        return mesh_of(self.trials.module)

    @cached_property
    def roles(self) -> list[RoleGroup]:
        """The roles of the values of the program."""
        return roles_of(self.trials.module)

    @property
    def can_try(self) -> bool:
        """Whether there is anything to try: the program can be partitioned, for several devices."""
        is_possible = self.trials.can_try and self.mesh is not None and bool(self.mesh.sizes)
        return is_possible and self.trials.outcome is not None

    @cached_property
    def program(self) -> ProposedOn:
        """The program to propose changes of."""
        return self.proposed_on(self.trials)

    def proposed_on(self, trials: Trials) -> ProposedOn:
        """The program after changes, to propose further ones."""
        outcome = trials.outcome
        assert self.mesh is not None and outcome is not None
        first = None if trials is self.trials else self.program
        return ProposedOn(trials.module, self.mesh, outcome, trials.run, self.roles, trials.made, first)

    def for_repeated_product(self) -> Iterator[Change]:
        """The changes that shard the product that devices repeat most, if they repeat much."""
        outcome = self.program.outcome
        devices = outcome.report.devices
        products = zip(counted_products(outcome.module), outcome.report.products, strict=True)
        repeated = [
            (share, op, product)
            for op, product in products
            if product.spare_axes and (share := repeated_flops(product, devices)) is not None
        ]
        if repeated:
            most, op, product = max(repeated, key=lambda item: item[0])
            if most > _REPEATED * outcome.figures.flops:
                yield from self.sharing(op, product.spare_axes)

    def sharing(self, product: Op, axes: Sequence[str]) -> Iterator[Change]:
        """The operands and the result of a product, sharded along one of the first axes that it lacks."""
        for axis in axes[:_REPEATED_AXES]:
            for value in (*product.operands[:2], product.results[0]):
                yield from self.with_axis(value, axis)

    def with_axis(self, value: Value, axis: str) -> Iterator[Change]:
        """One axis more at what is like a value after the passes, in each dimension that it divides."""
        written = self.program.originals.place(value) if self.can_try else None
        if written is not None and isinstance(written.type, RankedTensor):
            current = axes_of_sharding(annotation_of(written), written.type.rank)
            yield from self._with_axis(Place(written, written.type.shape, None), current, axis)

    def inputs_with_axis(self, axis: str) -> Iterator[Change]:
        """One axis more at inputs, in each dimension that it divides, the largest inputs first."""
        inputs = [role for role in self.roles if role.is_input] if self.can_try else []
        for role in sorted(inputs, key=lambda role: -prod(role.shape)):
            yield from self._with_axis(role.places[0], role.places[0].axes, axis)

    def _with_axis(self, place: Place, current: Axes | None, axis: str) -> Iterator[Change]:
        assert self.mesh is not None
        for dim in range(len(current or ())):
            if current is not None and not any(axis in names for names in current):
                axes = with_axis(current, dim, axis)
                if axis in self.mesh.sizes and self.mesh.fits(axes, place.shape):
                    yield self.program.alike(
                        AnnotationEdit(place.subject, self.mesh.sharding(axes), self.mesh.mesh)
                    )


Proposal = Callable[[ProposedOn], Iterable[Change]]


class ProposalKind(NamedTuple):
    """A kind of proposals: so many changes of it come in a round.

    Every search tries all of them if it `is_sure`, however small its budget is: they are few.
    """

    share: int
    propose: Proposal
    is_sure: bool


# By name, filled when the modules of this package are imported.
_KINDS: dict[str, ProposalKind] = {}


def proposal(name: str, share: int, is_sure: bool = False) -> Callable[[Proposal], Proposal]:
    """Decorator: registers a kind of proposals."""

    def add(function: Proposal) -> Proposal:
        assert name not in _KINDS, f"two kinds of proposals have the name {name!r}"
        _KINDS[name] = ProposalKind(share, function, is_sure)
        return function

    return add


@cache
def kinds() -> dict[str, ProposalKind]:
    """All kinds, in the order of their names: modules are imported in any order."""
    for file in Path(__file__).parent.glob("[!_]*.py"):  # not `pkgutil`, which imports `inspect`
        import_module(f"{__name__}.{file.stem}")
    return dict(sorted(_KINDS.items(), key=lambda item: (-item[1].share, item[0])))


def proposals(program: ProposedOn) -> Iterator[Change]:
    """The changes of all kinds in turns, each once; none that turns sharding off."""
    waiting = [(kind.share, iter(kind.propose(program))) for kind in kinds().values()]
    seen: set[object] = set()
    while waiting:
        going = []
        for share, changes in waiting:
            taken = list(islice(changes, share))
            for change in taken:
                is_change = change.edits or change.words[0]
                if is_change and change.key not in seen and not change.turns_sharding_off:
                    seen.add(change.key)
                    yield change
            if len(taken) == share:
                going.append((share, changes))
        waiting = going


def in_turns(changes: Iterable[Iterable[Change]]) -> Iterator[Change]:
    """The first of each, then the second of each, and so on."""
    return (change for change in chain.from_iterable(zip_longest(*changes)) if change is not None)


def sure_proposals(program: ProposedOn) -> Iterator[Change]:
    """The changes that every search tries."""
    for kind in kinds().values():
        if kind.is_sure:
            yield from kind.propose(program)


def _is_literal(subject: Subject) -> bool:
    """Whether a value is a literal in an expression, such as the 0 in `max(x, 0)`, which compilers fold."""
    if isinstance(subject, FunctionResult) or not is_uniform(subject):
        return False
    return all(is_elementwise(user.signature) for user in subject.users)


def _path(subject: Subject) -> tuple[str, ...]:
    """The keys of a name without the numbers of layers; those of a moment end with those of its parameter."""
    if isinstance(subject, FunctionResult):
        name = name_of_result(subject.function, subject.result_index)
    else:
        name = name_of(subject)
    return tuple([re.sub(r"\d+", "*", part) for part in path_parts(name)])


def _key_of_result(result: OpResult) -> tuple[object, ...]:
    op = result.op
    # A location that is read later is another object then.
    return type(op), op.location, result.index, result.type


def _after(role: RoleGroup, edits: dict[Subject, AnnotationEdit]) -> RoleGroup:
    """A role with the shardings that edits write."""
    if not any(place.subject in edits for place in role.places):
        return role

    def placed(places: Sequence[Place]) -> list[Place]:
        return [
            place._replace(sharding=edits[place.subject].sharding) if place.subject in edits else place
            for place in places
        ]

    classes = []
    for value_class in role.classes:
        one = ValueClass(
            value_class.shape,
            value_class.first,
            placed(value_class.arguments),
            placed(value_class.results),
            placed(value_class.constraints),
            value_class.ops,
            value_class.colour,
        )
        if not one.places and value_class.first in edits:
            one.constraints = placed([Place(value_class.first, value_class.shape, None)])
        classes.append(one)
    return RoleGroup(tuple(classes))
