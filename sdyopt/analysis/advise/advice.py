"""Advice: changes of a program with their figures, and the numbers of trials."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from sdyopt.analysis.advise.verification import Compiled
from sdyopt.analysis.trials.effect import NOISE, Effect, Figures
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

    def saved(self, moves_whole: bool) -> Fraction:
        """The share of the time that it saves at least: of the time, or of that at most."""
        before, after = self.before, self.after
        most, least = before.at_most(moves_whole), before.seconds
        return min(
            1 - after.seconds / least if least else Fraction(0),
            1 - after.at_most(moves_whole) / most if most else Fraction(0),
        )

    @property
    def sends_more(self) -> bool:
        """Whether a device sends more after it, by more than noise."""
        return self.after.wire_bytes > self.before.wire_bytes * (1 + NOISE)

    @property
    def seconds_in_xla(self) -> tuple[Fraction, Fraction] | None:
        """The seconds before and after it with XLA's communication, and our estimate of the rest."""
        if self.compiled is None:
            return None
        before, after = self.compiled
        return before.seconds + self.before.compute, after.seconds + self.after.compute

    @property
    def is_confirmed(self) -> bool:
        """Whether XLA sends no more after it, and takes no longer; so if that is not verified."""
        if self.compiled is None or self.seconds_in_xla is None:
            return True
        before, after = self.compiled
        earlier, later = self.seconds_in_xla
        return after.wire_bytes <= before.wire_bytes and later <= earlier

    @property
    def is_contradicted(self) -> bool:
        """Whether XLA takes longer after it, and sends no less."""
        if self.compiled is None or self.seconds_in_xla is None:
            return False
        before, after = self.compiled
        earlier, later = self.seconds_in_xla
        return later > earlier and after.wire_bytes >= before.wire_bytes

    @property
    def is_conflict_free(self) -> bool:
        """Whether partitioners send the same after it."""
        return self.effect.is_conflict_free


@dataclass
class Advice:
    """The findings. `program` is the program with the best change, or with all of several changes.

    `changes` are alternatives, the best first, or several changes in their order if `is_sequence`. `tried`
    is the number of trials, `proposed` that of moves, `failed` that of trials whose pipeline fails.
    `reduced` is the number of trials on the program with fewer layers. `is_above_memory`: the program takes
    more memory than the limit, so changes lower its peak. `excess`: the bytes above the limit after all
    changes of a sequence. `contradicted` are the changes that are left out because they make the program
    that XLA compiles slower, or because XLA rejects it, and `unverified` why it compiles nothing. `reason`
    says why there were no trials. `moves_whole`: the times at most assume that whole tensors move where
    activations are resharded. `prefers_less`: some changes that send more come after others that are nearly
    as fast. `has_others`: the best changes of all places come before further ones of these places.
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
    contradicted: list[AdvisedChange] = field(default_factory=list)
    unverified: str = ""
    seconds: int = 0
    machine: str = ""
    moves_whole: bool = True
    prefers_less: bool = False
    has_others: bool = False
    assumption: str = ""
    reason: str = ""
    # From scratch: the figures with the given annotations, and at the end; all annotations that were found,
    # and what XLA sends before and after, if that is verified.
    given: Figures | None = None
    final: Figures | None = None
    annotations: list[Annotation] = field(default_factory=list)
    compiled: tuple[Compiled, Compiled] | None = None
