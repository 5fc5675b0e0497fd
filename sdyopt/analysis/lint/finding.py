"""A finding of a rule: an operation, and what is wrong with it."""

from __future__ import annotations

from fractions import Fraction

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.error_help.table import Step
from sdyopt.mlir.ir.operation import Op


@dataclass(frozen=True, slots=True)
class Note:
    """Another operation that belongs to a finding."""

    message: str
    op: Op


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule reports. `steps` lead to the piece of the statement of `op` that the excerpt underlines.

    `cost` is what the finding costs on each device in one run of the program, in the unit of the rule; None
    if it has no cost, or an unknown one. `collectives` are those that the cost is of: it is told once.
    """

    op: Op
    message: str
    help: str
    notes: tuple[Note, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    cost: Fraction | None = None
    collectives: tuple[Op, ...] = ()
