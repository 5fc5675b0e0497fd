"""The input of a propagation strategy: the factors of one operation, projected from its shardings."""

from __future__ import annotations

from sdyopt.dataclasses import dataclass
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.ops import PropagationDirection
from sdyopt.sharding.propagation.refusals import Report, StepTrace, ignore
from sdyopt.sharding.sharding_projection import TensorProjection


@dataclass(slots=True)
class StepInput:
    """Sizes and directions of the factors, and the projections of operands and results.

    A strategy updates the projections. With `is_conservative` it propagates no sub-axes. It reports to
    `trace`, if there is one, which axes it does not propagate.
    """

    sizes: tuple[int, ...]
    directions: tuple[PropagationDirection, ...]
    operands: list[TensorProjection]
    results: list[TensorProjection]
    mesh: Mesh
    is_elementwise: bool
    is_conservative: bool
    trace: StepTrace | None = None

    @property
    def tensors(self) -> list[TensorProjection]:
        """The operands, then the results."""
        return self.operands + self.results

    @property
    def report(self) -> Report:
        """Receives the conflicts of single axes."""
        return ignore if self.trace is None else self.trace.conflict
