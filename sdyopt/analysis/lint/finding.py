"""A finding of a rule: an operation, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sdyopt.analysis.trials.remedies import Remedy
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.error_help.culprit import Step
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

    `remedies` are changes that may save it: the linter tries them, and shows the best one in place of `help`.
    A finding that none of its remedies saves anything of is dropped, unless `is_kept`; if there are no
    trials, all are kept. With `is_better_only`, a remedy must make no figure worse. `{saved}` in the message
    becomes what the remedy saves.
    """

    op: Op
    message: str
    help: str = ""
    notes: tuple[Note, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    cost: Fraction | None = None
    collectives: tuple[Op, ...] = ()
    remedies: Iterable[Remedy] = ()
    is_kept: bool = False
    is_better_only: bool = False
