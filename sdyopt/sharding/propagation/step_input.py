"""The input of a propagation strategy: the factors of one operation, projected from its shardings."""

from __future__ import annotations

from dataclasses import dataclass

from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.sharding.sharding_projection import TensorProjection


@dataclass(slots=True)
class StepInput:
    """Sizes and directions of the factors, and the projections of operands and results.

    A strategy updates the projections. With `is_conservative` it propagates no sub-axes.
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
