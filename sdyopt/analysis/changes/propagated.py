"""A program before propagation, from which shardings propagate again after changes of annotations.

    program = propagated(copy, copies, pipeline)
    program.shardings(changes)     # the fixed point, by slot; exact, in a fraction of the time
    program.changed(changes)       # a copy after propagation with them; program.after has the passes to run

The passes before propagation run once: their effect on annotations is known, and a change for which it is
not has no shardings here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of, copy_of, written
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, handling
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, edge_of, owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.record import FunctionResult, Means, Subject, recording_copies
from sdyopt.shardy.repropagation import Repropagating, Repropagation, Shardings, repropagation

# What may give a value a sharding before propagation.
_CONSTRAINING = (ShardingConstraintOp, ManualComputationOp)
# The shardings of subjects before propagation; None for none.
Annotations = dict[Subject, TensorSharding | None]


class Propagated(NamedTuple):
    """A program before propagation. `copies` has its operation for each of the written program.

    `applied` has the constraint whose sharding each value got, and `after` the passes after propagation.
    `merges_constraints`: those before it merge equal ones, which they do not if these are to differ.
    """

    module: ModuleOp
    copies: Mapping[Op, Op]
    applied: Mapping[Value, Op]
    again: Repropagation
    after: Pipeline
    merges_constraints: bool

    def shardings(self, changes: Sequence[Change]) -> Shardings | None:
        """The shardings after changes, by slot; None if they are not known."""
        shardings_by_value: Annotations = {}
        for edit in written(changes).values():
            for subject, sharding in self._annotations(edit):
                if subject is None:
                    return None
                shardings_by_value[subject] = sharding
        return self.again.shardings(shardings_by_value)

    def with_each(self, of_sharding: Callable[[TensorSharding], TensorSharding]) -> Shardings | None:
        """The shardings after each that is written becomes another; None if none does or one is not known."""
        shardings_by_value: Annotations = {}
        is_changed = False
        for subject, sharding in self.again.annotations():
            op = owning_op_of(subject)
            # Those of manual computations, and of collectives of the program, are left.
            if not isinstance(op, (FuncOp, ShardingConstraintOp)) and SHARDING not in op.attributes:
                return None
            new = shardings_by_value[subject] = of_sharding(sharding)
            is_changed |= new is not sharding
        return self.again.shardings(shardings_by_value) if is_changed else None

    def changed(self, changes: Sequence[Change]) -> tuple[Op, list[Op]] | None:
        """A copy of the program with changes, after propagation, and the operations to verify.

        None if nothing changes, or if passes before propagation might treat the program otherwise with a
        change: that takes a trial of all passes.
        """
        edits = list(written(changes).values())
        if not self.is_resumed(edits):
            return None
        if (shardings := self.shardings(changes)) is None:
            return None
        values: dict[Value, Value] = {}
        copy = self.again.copy(shardings, values)
        if copy is None:
            return None
        rewriter = Rewriter()
        edited: list[Op] = []
        for edit in edits:
            if not edit.is_boundary:
                subject = copy_of(edit.subject, self.copies)
                assert not isinstance(subject, FunctionResult)
                value = values[subject]
                assert isinstance(value, OpResult | BlockArgument)
                edit.edit_copy(value, rewriter)
                if not edit.is_removal:
                    # The outermost manual computation around a constraint, which verifies its axes; or
                    # itself.
                    constraint = owning_op(value) if edit.replaced else next(value.users)
                    around = [op for op in constraint.ancestors() if isinstance(op, ManualComputationOp)]
                    verified_with = around[-1] if around else constraint
                    edited.append(verified_with)
        return copy, edited

    def is_resumed(self, edits: Sequence[AnnotationEdit]) -> bool:
        """Whether passes before propagation treat the program with edits as they do without them."""
        return any(map(_is_effective, edits)) and all(map(self._is_as_written, edits))

    def _is_as_written(self, edit: AnnotationEdit) -> bool:
        """Whether passes before propagation leave all around what an edit changes as it is written.

        Then they do not simplify more or less with a constraint than without it, or with another one.
        """
        sharding, replaced = edit.sharding, edit.replaced
        if not self._is_kept(edit) or sharding.mesh_name is None:
            # A pass names inlined meshes.
            return False
        if edit.is_boundary:
            # A constraint gives an input its sharding if that says nothing.
            return any(dim.axes or dim.is_closed for dim in sharding.dims)
        subject = copy_of(edit.subject, self.copies)
        assert not isinstance(edit.subject, FunctionResult) and not isinstance(subject, FunctionResult)
        if replaced is None:
            return self._has_its_users(edit.subject, subject)
        # Removing or opening a constraint may let passes before propagation simplify more.
        if edit.is_removal or not (sharding.is_fully_closed and replaced.sharding.is_fully_closed):
            return False
        op = self.copies[replaced]
        value = op.operand_at(0)
        constraining = [user for user in value.users if isinstance(user, _CONSTRAINING)]
        is_in_chain = isinstance(value.defining_op, ShardingConstraintOp) or any(
            isinstance(user, ShardingConstraintOp) for user in subject.users
        )
        is_other = is_in_chain or constraining != [op] or _is_edge_target(value)
        return not is_other and not self.merges_constraints

    def _has_its_users(self, written: Value, value: Value) -> bool:
        """Whether a value before propagation has the users that it has in the written program."""
        return {self.copies[user] for user in written.users} == set(value.users)

    def is_equal(self, edit: AnnotationEdit, shardings: Shardings) -> bool:
        """Whether the program with an edit is the same as without it, if propagation ends alike.

        A constraint that is opened still keeps what is before it apart from what follows. One that is removed
        does not, but what is before it is sharded as what follows.
        """
        op = edit.replaced
        if op is None or not edit.frees:
            return op is None
        if not edit.is_removal:
            return True
        copy = self.copies[op]
        before, after = (shardings[self.again.slot(value)] for value in (*copy.operands, *copy.results))
        return before is after or (
            before is not None and after is not None and before.closed() is after.closed()
        )

    def is_simplified(self, change: Change) -> bool:
        """Whether a change constrains a value that passes simplify away before propagation.

        What the value is computed from, or what is computed from it, can be constrained instead.
        """
        return any(edit.is_new_constraint and not self._is_kept(edit) for edit in change.edits)

    def _is_kept(self, edit: AnnotationEdit) -> bool:
        """Whether the operation of an annotation is there when shardings propagate."""
        copy = self.copies.get(owning_op_of(edit.subject))
        return copy is not None and copy.parent is not None

    def _annotations(self, edit: AnnotationEdit) -> Iterator[tuple[Subject | None, TensorSharding | None]]:
        """The subjects whose annotations an edit changes; None for one that is not known."""
        sharding = edit.sharding
        mesh = find_mesh(sharding.mesh_or_ref, self.module)
        if mesh is not edit.mesh or any(axis.size == 1 for axis in edit.mesh.axes) or not self._is_kept(edit):
            yield None, None
            return
        subject = copy_of(edit.subject, self.copies)
        if edit.is_boundary:
            was = annotation_of(edit.subject)
            yield subject if self.again.annotation(subject) is was else None, sharding
            return
        assert not isinstance(subject, FunctionResult)
        if any(isinstance(user, ManualComputationOp) for user in subject.users):
            # What a manual computation takes has a sharding of its own there.
            yield None, None
            return
        op = edit.replaced
        constrained: Value = subject if op is None else self.copies[op].operand_at(0)
        if op is not None:
            yield subject, None if edit.is_removal else sharding
        if not isinstance(constrained, OpResult | BlockArgument):
            return
        is_applied = op is not None and self.applied.get(constrained) is self.copies[op]
        if is_applied or self._can_apply(constrained, op):
            is_left = edit.is_removal or not sharding.is_fully_closed
            yield constrained, None if is_left else sharding
        elif op is None:
            yield None, None

    def _can_apply(self, value: OpResult | BlockArgument, op: Op | None) -> bool:
        """Whether a value gets the sharding of a constraint on it, which it does not have yet."""
        if op is not None or _is_edge_target(value) or len(owning_op(value).results) > 1:
            return False
        is_constrained = any(isinstance(user, _CONSTRAINING) for user in value.users)
        return self.again.annotation(value) is None and not is_constrained


def _is_effective(edit: AnnotationEdit) -> bool:
    return edit.is_new_constraint or edit.is_removal or annotation_of(edit.subject) is not edit.sharding


def owning_op_of(subject: Subject) -> Op:
    """The operation that has the annotation of a subject."""
    return subject.function if isinstance(subject, FunctionResult) else owning_op(subject)


def propagated(copy: Op, copies: Mapping[Op, Op], pipeline: Pipeline) -> Propagated | None:
    """A copy of a program before propagation; None if its pipeline cannot propagate again."""
    elements = pipeline.merged().elements
    index = next(
        (number for number, pipeline in enumerate(elements) if isinstance(pipeline, Repropagating)), None
    )
    if index is None or not isinstance(copy, ModuleOp):
        return None
    applied = _Applied()
    with suppress(DiagnosticError), handling(lambda _: None), recording_copies(applied):
        if not run_pipeline(Pipeline(pipeline.anchor, elements[:index]), copy, None):
            return None
        pass_ = elements[index]
        again = None if isinstance(pass_, Pipeline) else repropagation(pass_, copy)
        if again is not None:
            after = Pipeline(pipeline.anchor, elements[index + 1 :])
            constraints = [made for op, made in copies.items() if isinstance(op, ShardingConstraintOp)]
            is_merging = any(constraint.parent is None for constraint in constraints)
            return Propagated(copy, copies, applied.of_value, again, after, is_merging)
    return None


class _Applied:
    """Records the constraints whose shardings values get."""

    def __init__(self) -> None:
        self.of_value: dict[Value, Op] = {}

    def copied(self, op: Op, target: Value, sharding: TensorSharding, means: Means) -> None:
        self.of_value[target] = op

    def truncated(self, *_: object) -> None:
        """Only copies count."""

    def removed(self, *_: object) -> None:
        """Only copies count."""


def _is_edge_target(value: Value) -> bool:
    return isinstance(value.defining_op, DataFlowEdgeOp) or edge_of(value) is not None
