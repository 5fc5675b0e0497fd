"""canonicalize: fold operations and apply canonicalization patterns.

    %0 = stablehlo.add %x, %y : tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %c, %c_0 : tensor<i32>
becomes
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %c, %c : tensor<i32>

The pass moves constants to the top of their function and merges equal ones, erases dead operations, folds
operations and applies their canonicalization patterns until nothing changes. `enable-patterns` and
`disable-patterns` select patterns by name or label: the sdy pipelines run only those with the label
`sdy-reshard` or `sdy-collective`.

Between two iterations, `region-simplify=normal` removes unreachable blocks and dead values, dead block
arguments included; `aggressive` also merges identical blocks and removes redundant block arguments. If the
program still changes after `max-iterations` iterations, the result is kept; with `test-convergence`, it is an
error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.base.diagnostics.ids import UNKNOWN_PATTERN
from sdyopt.base.diagnostics.usage import nearest
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, RegionSimplification, apply_greedily
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import all_dialects, find_dialect, register


@register("canonicalize")
class Canonicalizer(Pass):
    anchor = None

    top_down: bool = option(default=True, help="seed the worklist top-down instead of bottom-up")
    region_simplify: RegionSimplification = option(
        default=RegionSimplification.NORMAL, help="simplify control flow between iterations"
    )
    max_iterations: int = option(
        default=10, help="stop after this number of iterations of patterns and region simplification"
    )
    max_num_rewrites: int = option(
        default=-1, help="stop an iteration after this number of rewrites; -1 for no limit"
    )
    test_convergence: bool = option(default=False, help="fail if no fixed point is reached")
    cse_between_iterations: bool = option(default=False, help="run CSE between iterations")
    disable_patterns: tuple[str, ...] = option(
        default=(), help="skip the patterns with these names or labels"
    )
    enable_patterns: tuple[str, ...] = option(
        default=(), help="apply only the patterns with these names or labels; all if empty"
    )
    filter_dialects: tuple[str, ...] = option(
        default=(), help="apply only the patterns of these dialects; all if empty"
    )

    def run(self, op: Op) -> bool:
        self._warn_of_unknown_patterns(op)
        options = GreedyOptions(
            top_down=self.top_down,
            max_iterations=self.max_iterations,
            max_rewrites=self.max_num_rewrites,
            region_simplification=self.region_simplify,
            cse_between_iterations=self.cse_between_iterations,
        )
        changed, converged = apply_greedily(op, self._patterns_of, options)
        if self.test_convergence and not converged:
            raise op.error("canonicalization did not converge")
        return changed

    def _warn_of_unknown_patterns(self, op: Op) -> None:
        """Warns of names that are neither the name nor a label of a pattern, once per name."""
        # Most names are those of sdy patterns; the other dialects are imported only if a name is not.
        unknown = {*self.enable_patterns, *self.disable_patterns} - _pattern_names("sdy")
        if not unknown:
            return
        known = frozenset[str]().union(*map(_pattern_names, all_dialects()))
        for flag, names in (("enable", self.enable_patterns), ("disable", self.disable_patterns)):
            for name in dict.fromkeys(names):
                if name in known or not is_first_occurrence(f"unknown pattern {name}"):
                    continue
                message = f"{flag}-patterns: no pattern has the name or label '{name}'"
                help = nearest(name, known) or "--log-actions-to=- shows the names of patterns"
                emit(Diagnostic(Severity.WARNING, op.location, message, help=help, id=UNKNOWN_PATTERN))

    def _patterns_of(self, op_class: type[Op]) -> Sequence[Pattern]:
        if self.filter_dialects and op_class.name.partition(".")[0] not in self.filter_dialects:
            return ()
        enabled = [pattern for pattern in op_class.canonicalizations if self._is_enabled(pattern)]
        return sorted(enabled, key=lambda pattern: -pattern.benefit)

    def _is_enabled(self, pattern: Pattern) -> bool:
        names = {pattern.name, *pattern.labels}
        if not names.isdisjoint(self.disable_patterns):
            return False
        return not self.enable_patterns or not names.isdisjoint(self.enable_patterns)


@cache
def _pattern_names(namespace: str) -> frozenset[str]:
    """The names and labels of the patterns of a dialect."""
    dialect = find_dialect(namespace)
    patterns = [p for op in dialect.ops.values() for p in op.canonicalizations] if dialect else []
    return frozenset(name for pattern in patterns for name in (pattern.name, *pattern.labels) if name)
