"""Compares annotations at the ends of chains with `sdy.sharding_origins`, where that attribute names one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, Arrival, UserAnnotation, arrivals
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.axes import axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import ORIGIN_NAME, ORIGINS
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, owning_op
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult
from tests.explanations.programs import Recorded

# Written by the reference for an axis that was there initially on a value that is not an origin.
_UNKNOWN = ": 0"


def compare_origins(program: Recorded, counts: Counter[str]) -> Iterator[str]:
    """The axes whose origin differs; counts equal, unknown and different ones."""
    for value, own, origins in _origins(program):
        subject = program.run.subject_of.get(value)
        sharding = None if subject is None else program.run.final.get(subject)
        if subject is None or sharding is None:
            continue
        for axis in [axis for dim in sharding.dims for axis in dim.axes]:
            named = origins.get(axis_ref_text(axis).replace('"', ""))
            if not isinstance(named, StringAttr):
                counts["origin not written"] += 1
                continue
            name = own if named.value == "self" else named.value
            found: set[str] = set()
            for each in arrivals(program.record, program.run, subject, axis):
                *_, last = each.chain()
                found |= _names(last)
            if name == _UNKNOWN:
                counts["unknown in sdy.sharding_origins"] += 1
            elif name in found:
                counts["same origin"] += 1
            else:
                counts["other origin"] += 1
                text = axis_ref_text(axis)
                yield f"{program.name}: {text} is from {found}, sdy.sharding_origins has {name}"


def _origins(program: Recorded) -> Iterator[tuple[Value, str, dict[str, Attribute]]]:
    """The origins of each value, with the name that `self` stands for."""
    for op in program.imported.ops:
        if op.parent is None:
            continue
        if isinstance(op, FuncOp):
            for index, attributes in enumerate(op.argument_attributes):
                if isinstance(found := attributes.get(ORIGINS), DictAttr) and not op.is_declaration:
                    yield op.entry.arguments[index], f"input: {index}", dict(found)
            continue
        attribute = op.attributes.get(ORIGINS)
        per_result = attribute.elements if isinstance(attribute, ArrayAttr) else [attribute]
        for result, each in zip(op.results, per_result, strict=False):
            if isinstance(result, OpResult) and isinstance(each, DictAttr):
                yield result, _own_name(op), dict(each)


def _own_name(op: Op) -> str:
    """What `self` stands for in the origins of an operation."""
    if not isinstance(op, DataFlowEdgeOp):
        return _origin_name(op)
    owner = op.input
    assert isinstance(owner, OpResult | BlockArgument)
    side = "input" if isinstance(owner, BlockArgument) else "output"
    return f"{_origin_name(owning_op(owner))}_{side}: {owner.index}"


def _origin_name(op: Op) -> str:
    name = op.attributes.get(ORIGIN_NAME)
    return name.value if isinstance(name, StringAttr) else ""


def _names(last: Arrival) -> set[str]:
    """The names that `sdy.sharding_origins` may have for the annotation at the end of a chain.

    It calls the axes of an annotated value after a constraint, computation or output that uses the value.
    """
    assert last.annotation is not None
    names = {_name(last.annotation)}
    for use in () if isinstance(last.subject, FunctionResult) else last.subject.uses:
        if isinstance(use.owner, ShardingConstraintOp):
            names.add(_origin_name(use.owner))
        elif isinstance(use.owner, ManualComputationOp):
            names.add(f"{_origin_name(use.owner)}_input: {use.index}")
        elif isinstance(use.owner, ReturnOp):
            names.add(f"output: {use.index}")
    return names


def _name(annotation: UserAnnotation) -> str:
    """The name of an annotation in `sdy.sharding_origins`."""
    if annotation.kind is AnnotationKind.INPUT:
        return f"input: {annotation.number}"
    if annotation.kind is AnnotationKind.OUTPUT:
        return f"output: {annotation.number}"
    name = _origin_name(annotation.op)
    if annotation.kind is AnnotationKind.MANUAL_INPUT:
        return f"{name}_input: {annotation.number}"
    if annotation.kind is AnnotationKind.MANUAL_OUTPUT:
        return f"{name}_output: {annotation.number}"
    return name
