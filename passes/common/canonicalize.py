"""canonicalize: fold operations and apply every operation's own simplifications to a fixed point.

    %0 = stablehlo.add %x, %y : tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %c, %c_0 : tensor<i32>
becomes
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %c, %c : tensor<i32>

Equal constants of a function become one at its top, what nobody uses goes, operations that can be folded are,
and the canonicalization patterns of the operations are applied. `enable-patterns` and `disable-patterns`
choose patterns by name or label: the sdy pipelines run those labelled `sdy-reshard` or `sdy-collective` by
themselves.

Between two rounds, `region-simplify` says what else is tidied up: blocks that nothing reaches and values that
are needed only by each other (`normal`), and equal blocks too (`aggressive`). If the program still changes
after `max-iterations` rounds, the result is taken as it is, unless `test-convergence` is set.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import GreedyOptions, Pattern, RegionSimplification, apply_greedily
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register


@register("canonicalize")
class Canonicalizer(Pass):
    anchor = None

    top_down: bool = option(default=True, help="Seed the worklist in general top-down order")
    region_simplify: RegionSimplification = option(
        default=RegionSimplification.NORMAL, help="Perform control flow optimizations to the region tree"
    )
    max_iterations: int = option(
        default=10, help="Max. iterations between applying patterns / simplifying regions"
    )
    max_num_rewrites: int = option(default=-1, help="Max. number of pattern rewrites within an iteration")
    test_convergence: bool = option(
        default=False, help="Test only: Fail pass on non-convergence to detect cyclic pattern"
    )
    cse_between_iterations: bool = option(
        default=False, help="Run CSE between iterations of the greedy pattern driver"
    )
    disable_patterns: tuple[str, ...] = option(
        default=(), help="Labels of patterns that should be filtered out during application"
    )
    enable_patterns: tuple[str, ...] = option(
        default=(),
        help="Labels of patterns that should be used during application, all other patterns are filtered out",
    )

    filter_dialects: tuple[str, ...] = option(
        default=(), help="Dialects whose canonicalization patterns are applied; all if none is given"
    )

    def run(self, op: Op) -> bool:
        options = GreedyOptions(
            top_down=self.top_down,
            max_iterations=self.max_iterations,
            max_rewrites=self.max_num_rewrites,
            region_simplification=self.region_simplify,
            merges_equal=self.cse_between_iterations,
        )
        changed, converged = apply_greedily(op, self._patterns_of, options)
        if self.test_convergence and not converged:
            raise op.error("canonicalization did not converge")
        return changed

    def _patterns_of(self, op_class: type[Op]) -> Sequence[Pattern]:
        if self.filter_dialects and op_class.name.partition(".")[0] not in self.filter_dialects:
            return ()
        chosen = [pattern for pattern in op_class.canonicalizations if self._is_enabled(pattern)]
        return sorted(chosen, key=lambda pattern: -pattern.benefit)

    def _is_enabled(self, pattern: Pattern) -> bool:
        names = {pattern.name, *pattern.labels}
        if not names.isdisjoint(self.disable_patterns):
            return False
        return not self.enable_patterns or not names.isdisjoint(self.enable_patterns)
