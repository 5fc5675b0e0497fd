"""Runs a propagation strategy on one operation."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.propagation.step_input import BOTH, StepInput
from sdyopt.shardy.sharding.sharding_projection import project, unproject
from tests.unit.sharding.notation import read_sharding, write_sharding


def propagate(
    strategy: Callable[[StepInput], None],
    rule: OpShardingRule,
    mesh: Mesh,
    shardings: list[str],
    direction: PropagationDirection = BOTH,
    is_elementwise: bool = False,
    is_conservative: bool = False,
) -> list[str]:
    """The shardings of operands and results after the strategy has run, in the notation of the tests."""
    tensors = project(rule, [read_sharding(text) for text in shardings], mesh)
    count = len(rule.operands)
    strategy(
        StepInput(
            rule.factor_sizes,
            (direction,) * len(rule.factor_sizes),
            tensors[:count],
            tensors[count:],
            mesh,
            is_elementwise,
            is_conservative,
        )
    )
    return [
        write_sharding(unproject(tensor, mapping, rule.factor_sizes, SymbolRef("mesh"), mesh))
        for tensor, mapping in zip(tensors, rule.tensors, strict=True)
    ]
