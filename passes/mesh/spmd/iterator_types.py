"""Iteration spaces: the iterators of an operation and the indexing maps of its operands and results."""

from __future__ import annotations

from enum import Enum

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor


class IteratorType(Enum):
    """The type of an iterator, which determines how it can be sharded."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    # The iterator cannot be sharded.
    REPLICATED = "replicated"


# The iterator of each dimension; None for a dimension that cannot be sharded.
IndexingMap = tuple[int | None, ...]


@dataclass(frozen=True)
class IterationSpace:
    """The iterators of an operation, and one indexing map per operand and result.

    `is_trivially_shardable`: the operation on shards is the operation itself with local types, as long
    as no reduction iterator is sharded. `requires_iterators`: an empty list of iterators is an error.
    """

    iterator_types: tuple[IteratorType, ...]
    operand_maps: tuple[IndexingMap, ...]
    result_maps: tuple[IndexingMap, ...]
    reduction_kind: ReductionKind = ReductionKind.GENERIC
    is_trivially_shardable: bool = True
    requires_iterators: bool = True

    @property
    def reduction_iterators(self) -> list[int]:
        return [
            iterator for iterator, type in enumerate(self.iterator_types) if type is IteratorType.REDUCTION
        ]


def elementwise(op: Op) -> IterationSpace | None:
    """One parallel iterator per dimension; None unless all operands and results are ranked tensors."""
    types = [type for type in (*op.operand_types, *op.result_types) if isinstance(type, RankedTensor)]
    if len(types) != len(op.operand_types) + len(op.result_types) or not types:
        return None
    identity = tuple(range(types[0].rank))
    return IterationSpace(
        (IteratorType.PARALLEL,) * len(identity),
        (identity,) * len(op.operand_types),
        (identity,) * len(op.result_types),
    )
