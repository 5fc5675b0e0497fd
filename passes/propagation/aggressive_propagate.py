"""sdy-aggressive-propagate: spread shardings, and decide where they are in each other's way.

    %0 = stablehlo.add %a, %b : tensor<8x8xf32>    %a is sharded [{"x"}, {?}], %b [{?}, {"x"}]
becomes
    %0 = stablehlo.add %a, %b {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x8xf32>

`sdy-basic-propagate` would leave the result as it is, because axis x can go to only one of its dimensions,
and there is no telling to which. This pass takes the one that is split in the larger tensor, or is split
along more devices, or in an earlier operand.
"""

from __future__ import annotations

from typing import Literal

from sdyopt.pipeline import option
from sdyopt.registry import register
from sdyopt.sharding.propagation.propagation_step import Strategy

from .basic_propagate import BasicPropagation, Propagation
from .engine.op_priorities import Round

_STRATEGIES = {
    "basic": (Strategy.BASIC,),
    "aggressive": (Strategy.AGGRESSIVE,),
    "basic-then-aggressive": (Strategy.BASIC, Strategy.AGGRESSIVE),
}


@register("sdy-aggressive-propagate")
class AggressivePropagation(BasicPropagation):
    propagation_strategy: Literal["basic", "aggressive", "basic-then-aggressive"] = option(
        default="aggressive", help="what is done about axes that are in each other's way"
    )

    def propagate_round(self, propagation: Propagation, round: Round) -> None:
        for strategy in _STRATEGIES[self.propagation_strategy]:
            propagation.driver.run(round, strategy)
