"""What a strategy works on: the factors of one operation, in all its operands and results."""

from __future__ import annotations

from dataclasses import dataclass

from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.sharding.sharding_projection import TensorProjection


@dataclass(slots=True)
class FactorPropagation:
    """Sizes and directions of the factors, and how each operand and result is split along them.

    A strategy changes the projections. An operation is elementwise if every element of the results
    depends on one element of each operand. A conservative step does not split axes.
    """

    sizes: tuple[int, ...]
    directions: tuple[PropagationDirection, ...]
    operands: list[TensorProjection]
    results: list[TensorProjection]
    mesh: Mesh
    is_elementwise: bool
    is_conservative: bool

    @property
    def tensors(self) -> list[TensorProjection]:
        """The operands, then the results."""
        return self.operands + self.results
