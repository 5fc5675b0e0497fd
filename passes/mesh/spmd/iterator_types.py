"""Loops: what an operation runs over, and who is indexed by which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sdyopt.dialects.mesh.reduction import ReductionKind


class IteratorType(Enum):
    """What a loop does with the elements that it runs over."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    # The loop cannot be split.
    WHOLE = "whole"


# The loop that runs along each dimension; None where nothing may be split.
Map = tuple[int | None, ...]


@dataclass(frozen=True)
class IterationSpace:
    """The loops of an operation.

    `is_local` says that the operation on shards is the operation itself with smaller types, as long as
    no reduction is split. `needs_loops` says that it is an error to have none.
    """

    kinds: tuple[IteratorType, ...]
    operand_maps: tuple[Map, ...]
    result_maps: tuple[Map, ...]
    reduction: ReductionKind = ReductionKind.GENERIC
    is_local: bool = True
    needs_loops: bool = True

    @property
    def reductions(self) -> list[int]:
        """The loops that combine elements."""
        return [iterator for iterator, kind in enumerate(self.kinds) if kind is IteratorType.REDUCTION]
