"""Advice: changes of a program with their figures, and the numbers of trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sdyopt.analysis.advise.verification import Compiled
from sdyopt.analysis.trials.effect import Effect, Figures
from sdyopt.analysis.trials.moves import Move
from sdyopt.mlir.ir.operation import Op


class Annotation(NamedTuple):
    """A sharding to write: where, as a PartitionSpec if one can express it, and as MLIR."""

    place: str
    spec: str | None
    sdy: str


class AdvisedChange(NamedTuple):
    """A change, with the figures of the program before and after it.

    `text` says what to write, and `now` what is written there; "" for a result or several places.
    `results` are the results without an annotation that are sharded otherwise after it: who uses them may
    have to reshard. `compiled` is what XLA sends before and after it, if that is verified.
    """

    text: str
    now: str
    annotations: tuple[Annotation, ...]
    effect: Effect
    move: Move
    results: tuple[Annotation, ...] = ()
    compiled: tuple[Compiled, Compiled] | None = None

    @property
    def before(self) -> Figures:
        """The figures of the program before it."""
        return self.effect.before

    @property
    def after(self) -> Figures:
        """The figures of the program after it."""
        return self.effect.after

    @property
    def is_conflict_free(self) -> bool:
        """Whether partitioners send the same after it."""
        return self.effect.is_conflict_free


@dataclass
class Advice:
    """The findings. `program` is the program with the best change, or with all of several changes.

    `changes` are alternatives, the best first, or several changes in their order if `is_sequence`. `tried` is
    the number of trials, `proposed` that of moves, `failed` that of trials whose pipeline fails. `reduced` is
    the number of trials on the program with fewer layers. `is_above_memory`: the program takes more memory
    than the limit, so changes lower its peak. `excess`: the bytes above the limit after all changes of a
    sequence. `contradicted` is the number of changes that are left out because XLA sends more, and
    `unverified` why it compiles nothing. `reason` says why there were no trials.
    """

    program: Op
    changes: list[AdvisedChange] = field(default_factory=list)
    is_sequence: bool = False
    is_above_memory: bool = False
    excess: int = 0
    reduced: int = 0
    tried: int = 0
    proposed: int = 0
    failed: int = 0
    limit: int = 0
    contradicted: int = 0
    unverified: str = ""
    seconds: int = 0
    machine: str = ""
    assumption: str = ""
    reason: str = ""
    # From scratch: the figures with the given annotations, and at the end; all annotations that were found,
    # and what XLA sends before and after, if that is verified.
    given: Figures | None = None
    final: Figures | None = None
    annotations: list[Annotation] = field(default_factory=list)
    compiled: tuple[Compiled, Compiled] | None = None
