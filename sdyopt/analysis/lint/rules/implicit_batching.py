"""implicit-batching: a gather or scatter could have a batching dimension.

    %row = stablehlo.iota dim = 0 : tensor<64x8x1xi32>
    %at = stablehlo.concatenate %row, %column, dim = 2 : (…) -> tensor<64x8x2xi32>
    %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = […]>

Row i of the operand is indexed by row i of the indices only, but the operation does not declare this: the row
number is one of its indices. Propagation therefore cannot shard operand, indices and result along the rows
together: indices are gathered, and partial results reduced.

The rule runs `sdy-explicit-gather-scatter-batching` on a copy of the program, partitions it, and reports
the operations that the pass changes if the program then sends less. Run this pass first, or write batching
dimensions: in JAX, `jnp.take_along_axis` and `vmap` do so, an index with `jnp.arange` does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.proposals.rewrites import BATCHED, is_implicit_batching
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.rule import MIN_WIRE_BYTES, Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.location import Location
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op


@rule("implicit-batching", Severity.WARNING, Looks.TRIALS)
class ImplicitBatching(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        trials = programs.trials
        is_found = any(isinstance(op, GatherOp | ScatterOp) for op in trials.module.walk())
        if not trials.can_try or not is_found:
            return
        changed = _batched(trials.changed(BATCHED)) - _batched(trials.module)
        ops = [op for op in trials.module.walk() if is_implicit_batching(op) and changed[op.location]]
        effect = trials.effect(BATCHED) if ops else None
        saved = None if effect is None else effect.saved(Measure.WIRE)
        if not saved or saved < self.limit("min_bytes"):
            return
        total = programs.with_collectives.wire_bytes
        others = counted(len(ops) - 1, "other")
        operations = f"this operation and {others} do" if len(ops) > 1 else "this operation does"
        for number, op in enumerate(ops):
            yield Finding(
                op,
                f"{operations} not declare a batching dimension: with it, the program sends "
                f"{bytes_text(saved)} less of {bytes_text(total)}",
                cost=saved if number == 0 else None,
                proposals=(BATCHED,) if number == 0 else (),
                is_kept=number > 0,
            )


def _batched(module: Op) -> Counter[Location]:
    """The locations of the gathers and scatters that have batching dimensions."""
    return Counter(
        op.location
        for op in module.walk()
        if isinstance(op, GatherOp | ScatterOp) and not is_implicit_batching(op)
    )
