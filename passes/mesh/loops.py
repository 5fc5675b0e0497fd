"""What shardings have to know of an operation: the loops it stands for, and who is indexed by which.

`loops_of(op)` gives, for an operation that can be sharded, a list of loops, each of which runs over
independent elements or combines them, and for each operand and result which loop runs along which of
its dimensions. An operation that is not described here cannot be sharded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from sdyopt.dialects.mesh.reduction import ReductionKind
from sdyopt.dialects.tosa.elementwise import ElementwiseOp
from sdyopt.dialects.tosa.matmul import MatMulOp
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedTensor


class Loop(Enum):
    """What a loop does with the elements that it runs over."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"


# The loop that runs along each dimension.
Map = tuple[int, ...]


@dataclass(frozen=True)
class Loops:
    """The loops of an operation.

    `is_local` says that the operation on shards is the operation itself with smaller types, as long as
    no reduction is split.
    """

    kinds: tuple[Loop, ...]
    operand_maps: tuple[Map, ...]
    result_maps: tuple[Map, ...]
    reduction: ReductionKind = ReductionKind.GENERIC
    is_local: bool = True

    @property
    def reductions(self) -> list[int]:
        """The loops that combine elements."""
        return [loop for loop, kind in enumerate(self.kinds) if kind is Loop.REDUCTION]


def elementwise(op: Op) -> Loops | None:
    """One loop per dimension, and everything indexed by all of them."""
    types = [type for type in (*op.operand_types, *op.result_types) if isinstance(type, RankedTensor)]
    if len(types) != len(op.operand_types) + len(op.result_types) or not types:
        return None
    identity = tuple(range(types[0].rank))
    return Loops(
        (Loop.PARALLEL,) * len(identity),
        (identity,) * len(op.operand_types),
        (identity,) * len(op.result_types),
    )


def _matmul(op: Op) -> Loops:
    """Batch, rows and columns, and the dimension that is summed over."""
    return Loops(
        (Loop.PARALLEL, Loop.PARALLEL, Loop.PARALLEL, Loop.REDUCTION),
        ((0, 1, 3), (0, 3, 2)),
        ((0, 1, 2),),
        ReductionKind.SUM,
        is_local=False,
    )


# The loops of operations, by class; a class's own entry comes before those of its bases.
_TABLE: dict[type[Op], Callable[[Op], Loops | None]] = {
    ElementwiseOp: elementwise,
    MatMulOp: _matmul,
}


def has_loops(op: Op) -> bool:
    """Whether operations of this class can be sharded at all."""
    return _finder(type(op)) is not None


def loops_of(op: Op) -> Loops | None:
    """The loops of an operation; None if it cannot be sharded, or not with these types."""
    find = _finder(type(op))
    return None if find is None else find(op)


def _finder(op_class: type[Op]) -> Callable[[Op], Loops | None] | None:
    return next((_TABLE[base] for base in op_class.__mro__ if base in _TABLE), None)
