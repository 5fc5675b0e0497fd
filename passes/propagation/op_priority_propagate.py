"""sdy-op-priority-propagate: propagate shardings in order of op priority.

    %0 = stablehlo.negate %a : tensor<8x8xf32>                  propagates before
    %1 = stablehlo.dot_general %0, %b, … : tensor<8x8xf32>

Runs `sdy-aggressive-propagate` in five rounds, each along more operations, factors or directions:

1. pass-through operations (elementwise operations, reshapes, transposes, data-flow edges, moves between host
   and device) in both directions, and `dynamic_slice` and `dynamic_update_slice` forward, if no operand but a
   scalar has other uses
2. the same operations, even if their operands have other uses
3. also pass-through factors of all operations, those of broadcasts backward only
4. all factors of all operations, those of broadcasts backward only
5. all factors of all operations, in both directions

A propagation barrier propagates in its allowed direction in every round.

Where shardings conflict, the one that propagates along operations with less communication thus prevails.
"""

from __future__ import annotations

from sdyopt.mlir.pipeline import option
from sdyopt.mlir.registry import register

from .aggressive_propagate import AggressivePropagation
from .basic_propagate import Propagation
from .engine.worklist import ALL_OPS, OP_PRIORITY_ROUNDS


@register("sdy-op-priority-propagate")
class OpPriorityPropagation(AggressivePropagation):
    run_op_priority_propagation: bool = option(
        default=True, help="propagate in rounds by op priority; if false, in one round"
    )

    def propagate(self, propagation: Propagation) -> None:
        for round in OP_PRIORITY_ROUNDS if self.run_op_priority_propagation else [ALL_OPS]:
            self.propagate_round(propagation, round)
