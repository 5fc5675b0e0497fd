"""What is annotated around an operation, and how well a choice of shardings goes with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from sdyopt.dialects.mesh.shard_op import ShardOp
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value

# One for each operand or result; None where nothing is said.
Shardings = Sequence[MeshSharding | None]

# How a choice goes with what is annotated: lower is better.
FITS, DEPARTS, CONTRADICTS = 0, 1, 2


def annotation_of(value: Value) -> ShardOp | None:
    """The annotation that a value comes from."""
    op = value.defining_op
    return op if isinstance(op, ShardOp) else None


def annotations_on(value: Value) -> list[ShardOp]:
    """The annotations that use a value, the newest first."""
    return [user for user in value.users if isinstance(user, ShardOp)]


def result_choices(op: Op) -> Iterator[Shardings]:
    """The shardings that results may be taken to have: as the producer, or as users say."""
    return _choices([_result_request(value) for value in op.results])


def operand_choices(op: Op) -> Iterator[Shardings]:
    """The shardings that operands may be taken to have."""
    return _choices([_operand_request(value) for value in op.operands])


# A sharding, and whether it has to be.
_Request = tuple[MeshSharding | None, bool]


def _result_request(value: Value) -> _Request:
    annotations = annotations_on(value)
    for annotation in annotations:
        if not annotation.annotate_for_users:
            return (annotation.mesh_sharding, True) if value.has_one_use else (None, False)
    return (annotations[0].mesh_sharding, False) if annotations else (None, False)


def _operand_request(value: Value) -> _Request:
    annotation = annotation_of(value)
    return (
        (None, False)
        if annotation is None
        else (annotation.mesh_sharding, bool(annotation.annotate_for_users))
    )


def _choices(requests: list[_Request]) -> Iterator[Shardings]:
    """All combinations, in which those that need not be are there or not, there first."""
    return product(
        *[
            [sharding] if is_required or sharding is None else [sharding, None]
            for sharding, is_required in requests
        ]
    )


def match_quality(op: Op, operands: Sequence[MeshSharding], results: Sequence[MeshSharding]) -> int:
    """How shardings go with the annotations there are."""
    worst = FITS
    for value, sharding in zip(op.operands, operands, strict=True):
        annotation = annotation_of(value)
        if annotation is not None and not annotation.mesh_sharding.is_equivalent_to(sharding):
            worst = max(worst, CONTRADICTS if annotation.annotate_for_users else DEPARTS)
    for value, sharding in zip(op.results, results, strict=True):
        for annotation in annotations_on(value):
            if not annotation.mesh_sharding.is_equivalent_to(sharding):
                worst = max(worst, DEPARTS if annotation.annotate_for_users else CONTRADICTS)
    return worst
