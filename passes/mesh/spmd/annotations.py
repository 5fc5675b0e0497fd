"""The annotations of an operation's operands and results, and the resharding that shardings require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import product

from sdyopt.mlir.dialects.mesh.attributes import MeshSharding
from sdyopt.mlir.dialects.mesh.shard_op import ShardOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

# One for each operand or result; None without an annotation.
Shardings = Sequence[MeshSharding | None]


class ReshardingRequirement(IntEnum):
    """Which annotations differ from given shardings and so require resharding; lower is better.

    An annotation is explicit if it is about this operation: an annotation of an operand with
    `annotate_for_users`, or an annotation of a result without it.
    """

    NONE = 0
    NOT_FOR_EXPLICIT_ANNOTATIONS = 1
    FOR_EXPLICIT_ANNOTATIONS = 2


def annotation_of(value: Value) -> ShardOp | None:
    """The annotation that defines a value."""
    op = value.defining_op
    return op if isinstance(op, ShardOp) else None


def annotations_on(value: Value) -> list[ShardOp]:
    """The annotations that use a value, in the order of its uses: usually the last in the program first."""
    return [user for user in value.users if isinstance(user, ShardOp)]


def possible_result_shardings(op: Op) -> Iterator[Shardings]:
    """The combinations of shardings that the annotations on results allow."""
    return _combinations([_result_candidate(value) for value in op.results])


def possible_operand_shardings(op: Op) -> Iterator[Shardings]:
    """The combinations of shardings that the annotations on operands allow."""
    return _combinations([_operand_candidate(value) for value in op.operands])


# A sharding, and whether it is mandatory.
_Candidate = tuple[MeshSharding | None, bool]


def _result_candidate(value: Value) -> _Candidate:
    annotations = annotations_on(value)
    for annotation in annotations:
        if not annotation.annotate_for_users:
            return (annotation.mesh_sharding, True) if value.has_one_use else (None, False)
    return (annotations[0].mesh_sharding, False) if annotations else (None, False)


def _operand_candidate(value: Value) -> _Candidate:
    annotation = annotation_of(value)
    if annotation is None:
        return None, False
    return annotation.mesh_sharding, bool(annotation.annotate_for_users)


def _combinations(candidates: list[_Candidate]) -> Iterator[Shardings]:
    """All combinations with and without each optional sharding; the first combination has all shardings."""
    return product(
        *[
            [sharding] if is_mandatory or sharding is None else [sharding, None]
            for sharding, is_mandatory in candidates
        ]
    )


def resharding_requirement(
    op: Op, operands: Sequence[MeshSharding], results: Sequence[MeshSharding]
) -> ReshardingRequirement:
    """The resharding that these shardings require, given the annotations on operands and results."""
    requirement = ReshardingRequirement.NONE
    for value, sharding in zip(op.operands, operands, strict=True):
        annotation = annotation_of(value)
        if annotation is not None:
            requirement = max(requirement, _requirement(annotation, sharding, is_operand=True))
    for value, sharding in zip(op.results, results, strict=True):
        for annotation in annotations_on(value):
            requirement = max(requirement, _requirement(annotation, sharding, is_operand=False))
    return requirement


def _requirement(annotation: ShardOp, sharding: MeshSharding, is_operand: bool) -> ReshardingRequirement:
    if annotation.mesh_sharding.is_equivalent_to(sharding):
        return ReshardingRequirement.NONE
    if bool(annotation.annotate_for_users) is is_operand:
        return ReshardingRequirement.FOR_EXPLICIT_ANNOTATIONS
    return ReshardingRequirement.NOT_FOR_EXPLICIT_ANNOTATIONS
