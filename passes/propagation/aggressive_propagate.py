"""sdy-aggressive-propagate: propagate shardings and resolve conflicts.

    %0 = stablehlo.add %a, %b : tensor<8x8xf32>    %a is sharded [{"x"}, {?}], %b [{?}, {"x"}]
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x8xf32>

`sdy-basic-propagate` does not shard the result, because two dimensions conflict over axis x. This pass
prefers the dimension that is sharded in the larger tensor, then, in elementwise operations, the one with the
larger sharded size, then the one that is sharded in the earlier operand or result.
"""

from __future__ import annotations

from typing import Literal

from sdyopt.mlir.pipeline import option
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.propagation.propagation_step import Strategy

from .basic_propagate import BasicPropagation, Propagation
from .engine.worklist import Round

_STRATEGIES = {
    "basic": (Strategy.BASIC,),
    "aggressive": (Strategy.AGGRESSIVE,),
    "basic-then-aggressive": (Strategy.BASIC, Strategy.AGGRESSIVE),
}


@register("sdy-aggressive-propagate")
class AggressivePropagation(BasicPropagation):
    propagation_strategy: Literal["basic", "aggressive", "basic-then-aggressive"] = option(
        default="aggressive",
        help="propagate only axes without conflicts (basic), resolve conflicts (aggressive), or both in turn",
    )

    def propagate_round(self, propagation: Propagation, round: Round) -> None:
        for strategy in _STRATEGIES[self.propagation_strategy]:
            propagation.driver.run(round, strategy)
