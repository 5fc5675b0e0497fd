"""closed-dimension-gather: a closed dimension of a constraint forces an all-gather.

    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<64x4096xf32>

`%0` is sharded along `"model"` in dimension 1, and what uses `%1` could be. The constraint closes the
dimension, so the value is gathered. In JAX, `None` in a `PartitionSpec` closes a dimension;
`P.UNCONSTRAINED` leaves it open.

The rule opens the dimension in a copy of the program, partitions it again, and reports the constraint if the
program then sends less. Write `{?}`, or `P.UNCONSTRAINED`, unless the value must be replicated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from sdyopt.diagnostics.diagnostic import Severity
from sdyopt.diagnostics.location import Location
from sdyopt.dialects.sdy.collectives import AllGatherOp
from sdyopt.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.explain.culprit import brackets, item
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.lint.finding import Finding
from sdyopt.lint.limits import MIN_WIRE_BYTES
from sdyopt.lint.program import bytes_of_runs
from sdyopt.lint.rule import Looks, Rule, Subject, rule
from sdyopt.lint.trials import Edit, wire_bytes
from sdyopt.report.units import bytes_text


@rule("closed-dimension-gather", Severity.WARNING, Looks.TRIALS)
class ClosedDimensionGather(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, subject: Subject) -> Iterator[Finding]:
        trials = subject.trials
        if trials.base is None:
            return
        for op, dim in _candidates(subject, self)[: trials.count]:
            saved = trials.saved_bytes(_opening(op, dim))
            if saved and saved >= self.limit("min_bytes"):
                total = wire_bytes(subject.with_collectives)
                yield Finding(
                    op,
                    f"dimension {dim} of this constraint is closed, which forces a gather: if it is open, the "
                    f"program sends {bytes_text(saved)} less of {bytes_text(total)}",
                    "write `{?}` for the dimension (in JAX, `P.UNCONSTRAINED` instead of `None`)",
                    steps=(brackets("["), item(dim)),
                    cost=saved,
                )


def _candidates(subject: Subject, rule: Rule) -> list[tuple[ShardingConstraintOp, int]]:
    """Constraints with a gathered closed dimension, those of the largest gathers first."""
    program, base = subject.with_collectives, subject.trials.base
    assert base is not None
    gathered: dict[tuple[Location, int], Fraction] = {}
    for op, figures in program.collectives.items():
        if isinstance(op, AllGatherOp):
            for dim, axes in enumerate(op.gathering_axes):
                if len(axes):
                    key = (op.location, dim)
                    gathered[key] = gathered.get(key, Fraction(0)) + bytes_of_runs(figures)
    found = []
    for op in base.module.walk():
        if isinstance(op, ShardingConstraintOp):
            for dim, sharding in enumerate(op.sharding.dims):
                cost = gathered.get((op.location, dim), Fraction(0))
                if sharding.is_closed and cost and cost >= rule.limit("min_bytes"):
                    found.append((cost, op, dim))
    return [(op, dim) for _, op, dim in sorted(found, key=lambda each: -each[0])]


def _opening(op: ShardingConstraintOp, dim: int) -> Edit:
    """Opens a dimension of a constraint."""
    dims = list(op.sharding.dims)
    dims[dim] = dims[dim].opened()
    opened = op.sharding.with_dims(dims)

    def edit(twins: Mapping[Op, Op], rewriter: Rewriter) -> None:
        rewriter.set_attribute(twins[op], "sharding", opened)

    return edit
