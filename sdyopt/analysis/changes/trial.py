"""What is known of a change that was tried: the figures before and after it, and the words for it."""

from __future__ import annotations

from fractions import Fraction

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.effect import NOISE, Effect, Figures
from sdyopt.analysis.changes.outcome import Results, Sent
from sdyopt.analysis.changes.processes import Answer
from sdyopt.base.dataclasses import NamedTuple

# What lowers the peak by this share is for that.
_LOWER_PEAK = Fraction(1, 10)


class CompiledCost(NamedTuple):
    """The bytes that a device sends under XLA, and the seconds of its collectives on a topology."""

    wire_bytes: Fraction
    seconds: Fraction


class Annotation(NamedTuple):
    """A sharding to write: where, as a PartitionSpec if one can express it, and as MLIR."""

    place: str
    spec: str | None
    sdy: str


class Trial(NamedTuple):
    """A change with the figures of the program before and after it.

    `figures` are those after it; None if it is slower, or if `has_failed`: the pipeline fails on the changed
    program. `shardings` are those of the results of the program then, and `sent` the bytes by place.

    A trial that is shown has words: `text` says what to write, and `now` what is written there, "" for a
    result without an annotation, or several places. `results` are the results without one that are sharded
    otherwise: who uses them may have to reshard. `texts` are those of several changes in one. `compiled` is
    what XLA sends before and after, if that is verified. `fits_in` is the memory that the program fits in
    only with it.
    """

    change: Change
    before: Figures
    figures: Figures | None
    has_failed: bool = False
    shardings: Results | None = None
    sent: Sent | None = None
    text: str = ""
    now: str = ""
    annotations: tuple[Annotation, ...] = ()
    results: tuple[Annotation, ...] = ()
    compiled: tuple[CompiledCost, CompiledCost] | None = None
    texts: tuple[str, ...] = ()
    fits_in: int | None = None

    @property
    def after(self) -> Figures:
        """The figures of the program after it."""
        assert self.figures is not None
        return self.figures

    @property
    def effect(self) -> Effect:
        """What it changes."""
        return Effect(self.before, self.after)

    def saved(self, moves_whole: bool) -> Fraction:
        """The share of the time that it saves at least: of the time, or of that at most."""
        before, after = self.before, self.after
        if not before.of_step:
            return Fraction(0)
        share_at_most = after.at_most(moves_whole) / before.at_most(moves_whole)
        return 1 - max(after.of_step / before.of_step, share_at_most)

    @property
    def sends_more(self) -> bool:
        """Whether a device sends more after it, by more than noise."""
        return self.after.wire_bytes > self.before.wire_bytes * (1 + NOISE)

    @property
    def may_send_still_more(self) -> bool:
        """Whether a device sends more after it, and a partitioner may send still more.

        It may not if all that it may do otherwise is less than before.
        """
        before, after = self.before, self.after
        is_less = after.of_results <= before.of_results and after.sliced <= before.sliced
        return self.sends_more and not self.effect.holds and not (is_less and after.penalty < before.penalty)

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
        if self.compiled is None:
            return True
        assert self.seconds_in_xla is not None
        (before, after), (earlier, later) = self.compiled, self.seconds_in_xla
        return after.wire_bytes <= before.wire_bytes and later <= earlier

    @property
    def is_contradicted(self) -> bool:
        """Whether XLA takes longer after it, or takes no less time and sends no less, by more than noise.

        What lowers the peak, or computes less, need not send less, but must not send more.
        """
        if self.compiled is None:
            return False
        assert self.seconds_in_xla is not None
        (before, after), (earlier, later) = self.compiled, self.seconds_in_xla
        if later > earlier * (1 + NOISE):
            return True
        if later < earlier * (1 - NOISE) or after.wire_bytes < before.wire_bytes * (1 - NOISE):
            return False
        if after.wire_bytes > before.wire_bytes * (1 + NOISE):
            return later >= earlier
        saves_memory = self.after.peak_bytes <= self.before.peak_bytes * (1 - _LOWER_PEAK)
        return not saves_memory and self.after.flops >= self.before.flops * (1 - NOISE)

    @property
    def is_conflict_free(self) -> bool:
        """Whether partitioners send the same after it."""
        return self.effect.is_conflict_free

    def answer(self) -> Answer:
        return self.figures, self.has_failed, self.shardings, self.sent
