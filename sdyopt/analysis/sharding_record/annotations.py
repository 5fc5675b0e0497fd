"""Annotations of the user's program, at which the axes of shardings start."""

from __future__ import annotations

from enum import Enum

from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, block_or_result, owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult, Means, Subject


class AnnotationKind(Enum):
    """The place of an annotation."""

    INPUT = "input"
    OUTPUT = "output"
    CONSTRAINT = "sharding constraint"
    MANUAL_INPUT = "in_shardings of a manual computation"
    MANUAL_OUTPUT = "out_shardings of a manual computation"
    ATTRIBUTE = "sdy.sharding attribute"


class UserAnnotation(NamedTuple):
    """A sharding that the user has written.

    `op` has it, `number` is the index of the argument or result that it shards. `means` is how a pass copied
    it to the value that the chain ends at; None if no pass did. `priority` is the user priority.
    """

    kind: AnnotationKind
    op: Op
    number: int
    means: Means | None = None
    priority: int = 0


def annotation_on(
    record: ShardingRecord,
    run: PropagationRun,
    subject: Subject,
    priority: int = 0,
    is_manual_axis: bool = False,
) -> UserAnnotation:
    """The annotation from which a subject got its initial sharding.

    `is_manual_axis`: the axis is one of the manual axes of the computation at the data-flow edge.
    """
    copies = [] if is_manual_axis else record.copies.get(subject, [])
    if copies:
        kind, index = _KIND_OF_COPY[copies[-1].means], 0
        if copies[-1].means is Means.CALL and isinstance(subject, OpResult):
            index = subject.index
        return UserAnnotation(kind, copies[-1].op, index, copies[-1].means, priority)
    if isinstance(subject, FunctionResult):
        return UserAnnotation(AnnotationKind.OUTPUT, subject.function, subject.result_index, None, priority)
    owner = run.edge_owners.get(subject, subject)
    assert isinstance(owner, OpResult | BlockArgument)
    if owner is not subject:
        # The result of a call had the sharding before the call became a computation with an edge.
        for value in record.values.predecessors(owner):
            if isinstance(value, OpResult) and (earlier := record.copies.get(value)):
                return UserAnnotation(
                    AnnotationKind.OUTPUT, earlier[-1].op, value.index, Means.CALL, priority
                )
    return _on_value(owner, run, priority)


_KIND_OF_COPY = {
    Means.CONSTRAINT: AnnotationKind.CONSTRAINT,
    Means.MANUAL_INPUT: AnnotationKind.MANUAL_INPUT,
    Means.GROUP: AnnotationKind.ATTRIBUTE,
    Means.CALL: AnnotationKind.OUTPUT,
}


def _on_value(value: OpResult | BlockArgument, run: PropagationRun, priority: int) -> UserAnnotation:
    is_known = isinstance(value, BlockArgument) and value in run.op_of_argument
    op = run.op_of_argument[value] if is_known and isinstance(value, BlockArgument) else owning_op(value)
    is_argument = isinstance(value, BlockArgument)
    kind = AnnotationKind.ATTRIBUTE
    if isinstance(op, ManualComputationOp):
        kind = AnnotationKind.MANUAL_INPUT if is_argument else AnnotationKind.MANUAL_OUTPUT
    elif is_argument and isinstance(op, FuncOp | NamedComputationOp):
        kind = AnnotationKind.INPUT
    elif isinstance(op, ShardingConstraintOp):
        kind = AnnotationKind.CONSTRAINT
    elif isinstance(op, DataFlowEdgeOp):
        return _on_value(block_or_result(op.input), run, priority)
    return UserAnnotation(kind, op, value.index, None, priority)
