"""sdy-op-priority-propagate: spread shardings, over some kinds of operations before others.

    %0 = stablehlo.negate %a : tensor<8x8xf32>                  is looked at before
    %1 = stablehlo.dot_general %0, %b, … : tensor<8x8xf32>

In every round more operations take part in `sdy-aggressive-propagate`:

1. what passes its operands through (elementwise operations, reshapes, transposes, data-flow edges), if
   nothing else uses them; slices of dynamic position forward only
2. the same if others use them, too
3. all operations along the factors that pass through; broadcasts backward only
4. all operations along all factors; broadcasts backward only
5. broadcasts forward as well

So where two shardings could come to a value, the one that needs less communication comes first.
"""

from __future__ import annotations

from sdyopt.pipeline import option
from sdyopt.registry import register

from .aggressive_propagate import AggressivePropagation
from .basic_propagate import Propagation
from .engine.op_priorities import EVERYTHING, SCHEDULE


@register("sdy-op-priority-propagate")
class OpPriorityPropagation(AggressivePropagation):
    run_op_priority_propagation: bool = option(
        default=True, help="look at some kinds of operations before others"
    )

    def propagate(self, propagation: Propagation) -> None:
        for round in SCHEDULE if self.run_op_priority_propagation else [EVERYTHING]:
            self.propagate_round(propagation, round)
