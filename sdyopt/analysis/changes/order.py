"""The order of changes, each of which makes a program cheaper, and which of them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, partial

from sdyopt.analysis.changes.edits import Change, annotation_of
from sdyopt.analysis.changes.effect import LEAST_UNSURE, NOISE, Figures, Measure, is_indexed
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.proposals import SearchedProgram
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp

# A change is nearly as fast as another one that saves this much more of the program's time.
_NEARLY = Fraction(1, 20)
# A change of fewer places comes first if it saves no less but for this share.
_TENTH = Fraction(1, 10)
# What is written at a part of the places comes first if it saves this share, and more for each of them.
_HALF = Fraction(1, 2)
# Memory and FLOPs may rise by this share.
_MAY_RISE = Fraction(1, 10)
# What sends more saves this share of the time, and what sends as much and reshards activations, the other.
_FOR_MORE, _FOR_AS_MUCH = Fraction(1, 10), Fraction(1, 20)
# So it is if no more than this share of the FLOPs is left, which are known better than times. If the time at
# most falls by a tenth, too, what is more than noise is enough.
_FEWER_FLOPS = Fraction(3, 4)
# Estimates of time and of what is sent may be wrong by this share.
_ESTIMATED = Fraction(1, 50)
# A change is one for memory if it lowers the peak by this share, and by so many bytes; it may cost a part of
# that share of the time.
LEAST_OF_PEAK, _LEAST_OF_MEMORY, TIME_FOR_MEMORY = Fraction(1, 10), 1 << 20, Fraction(1, 5)


class Comparison(SearchedProgram):
    """Which changes of a program pay, and which of them pays more.

    The parameters are those of `Search`.
    """

    def __init__(
        self, trials: Trials, memory: int | None, fills_memory: bool, moves_whole: bool, keeps_unsure: bool
    ) -> None:
        super().__init__(trials)
        self.memory = memory
        self.fills_memory = fills_memory
        self.moves_whole = moves_whole
        self._keeps_unsure = keeps_unsure

    def pays(self, trial: Trial) -> bool:
        """Whether a change is worth it on the whole."""
        before, after = trial.before, trial.figures
        if after is None or (trial.change.is_unsure and not self._keeps_unsure):
            return False
        if excess := self.excess(before):
            # What makes it fit may cost any time, and what does a part of that, as large a share of the time.
            removed = Fraction(excess - self.excess(after), excess)
            seconds = (figures.at_most(self.moves_whole) for figures in (after, before))
            return removed == 1 or (removed > 0 and next(seconds) <= (1 + removed) * next(seconds))
        least_saved = _FOR_AS_MUCH if after.flops <= before.flops * _FEWER_FLOPS else _FOR_MORE
        is_surely_faster = after.at_most(self.moves_whole) <= before.at_most(self.moves_whole) * (
            1 - _FOR_MORE
        )
        least_saved = NOISE if is_surely_faster and least_saved < _FOR_MORE else least_saved
        if trial.may_send_still_more or (trial.sends_more and trial.saved(self.moves_whole) < least_saved):
            return False
        saves_time_alone = after.wire_bytes >= before.wire_bytes * (1 - NOISE)
        least_saved = min(least_saved, _FOR_AS_MUCH)
        is_risky = saves_time_alone and not trial.effect.adds_no_reshards
        if is_risky and trial.saved(self.moves_whole) < least_saved:
            return False
        if self.shards_rows_further(trial.change):
            return False
        edits = trial.change.edits
        is_new = bool(edits) and all(edit.is_new_constraint for edit in edits)
        looks_up, frees = _is_indexed(trial.change), _frees(trial.change)
        if self.moves_whole and not trial.effect.is_worth_it(looks_up, frees, is_new):
            return False
        # Then a donation cannot be used, and what is saved in a step is sent before the next one.
        if after.carried > before.carried + NOISE * before.wire_bytes:
            return False
        # Both must fall: a change that only avoids reshards of activations is better for some partitioners.
        least, most = 1 - NOISE, 1 + _MAY_RISE
        is_faster = after.of_step < before.of_step * least and self.cost(after) < self.cost(before) * least
        if after.wire_bytes <= before.wire_bytes * (1 - _FOR_MORE) and trial.effect.holds:
            # It sends so much less that the time may be the same.
            is_faster |= (
                after.of_step <= before.of_step * (1 + NOISE) and self.cost(after) < self.cost(before) * least
            )
        if trial.effect.holds and all(trial.effect.saved(measure) > 0 for measure in Measure):
            # Less is sent, stored and computed, none of it in place of another.
            is_faster |= after.of_step < before.of_step and self.cost(after) < self.cost(before)
        if trial.change.op is not None and after.wire_bytes < before.wire_bytes * least:
            # A collective that the program writes is replaced by one that sends less: that is known better
            # than its time.
            is_faster |= self.cost(after) <= self.cost(before) * (1 + self.trials.error)
        # Compilers decide what is on the chip.
        peak = max(before.peak_bytes, self.trials.on_chip)
        fits = self.fills_memory or after.peak_bytes <= peak * most
        return is_faster and fits and after.flops <= before.flops * most

    def shards_rows_further(self, change: Change) -> bool:
        """Whether rows of a table that are sharded get further axes: XLA looks them up at other expense."""
        for edit in change.edits if self.moves_whole else ():
            for dim in self._looked_up.get(edit.subject, ()):
                before = annotation_of(edit.subject)
                was = () if before is None else before.dims[dim].axes
                if was and set(was) < set(edit.sharding.dims[dim].axes):
                    return True
        return False

    @cached_property
    def _looked_up(self) -> dict[object, tuple[int, ...]]:
        """The dimensions of arguments along which the program looks up rows."""
        looked_up: dict[object, tuple[int, ...]] = {}
        for op in self.trials.module.walk():
            if isinstance(op, GatherOp) and self.can_try:
                argument = self.program.written_origins.argument(op.operands[0])
                shapes = [getattr(value.type, "shape", None) for value in (argument, op.operands[0]) if value]
                if argument is not None and shapes[0] == shapes[1]:
                    looked_up[argument] = tuple(op.dimension_numbers.start_index_map)
        return looked_up

    def may_pay(self, before: Figures, change: Change, cost: EstimatedCost) -> bool:
        """Whether a change of a program with these figures may pay, if it costs what is estimated.

        What an estimate may miss is granted to it. The limit of memory is not looked at.
        """
        if not before.of_step or not before.wire_bytes:
            return True
        more = cost.wire_bytes / before.wire_bytes - 1
        most = cost.at_most if self.moves_whole else cost.seconds
        saved = 1 - max(cost.seconds / before.of_step, most / before.at_most(self.moves_whole))
        if more > NOISE + _ESTIMATED and saved < _FOR_MORE - _ESTIMATED:
            # `pays` leaves out what sends more, and computes as much.
            return cost.flops <= before.flops * (_FEWER_FLOPS + _ESTIMATED)
        is_unsure = cost.adds_reshards or _is_indexed(change) or _frees(change)
        is_little = NOISE + _ESTIMATED < -more < LEAST_UNSURE - _ESTIMATED
        return not (self.moves_whole and is_unsure and is_little)

    def limit_of(self, before: Figures, seconds: Fraction, at_most: Fraction) -> EstimatedCost:
        """What a change of a program with these figures may take by an estimate, if it pays."""
        return EstimatedCost(
            seconds,
            at_most * self.moves_whole,
            before.carried + NOISE * before.wire_bytes,
            before.flops * (1 + _MAY_RISE),
        )

    def rank(self, trial: Trial) -> tuple[object, ...]:
        """The sort key of changes."""
        after = trial.after
        return self.cost(after), after.conflicts, after.peak_bytes, *trial.change.size

    def cost(self, figures: Figures) -> Fraction:
        """Seconds, those between steps and of reshards that a partitioner may do otherwise included.

        Excess of memory comes first.
        """
        return figures.at_most(self.moves_whole) + self.excess(figures)

    def excess(self, figures: Figures) -> int:
        """The bytes above the limit of the peak."""
        return 0 if self.memory is None else max(0, figures.peak_bytes - self.memory)

    def is_for_memory(self, trial: Trial) -> bool:
        """Whether a change lowers the peak by much, and costs little time."""
        change = trial.change
        if trial.figures is None or change.is_unsure or change.turns_sharding_off or change.parts:
            return False
        if trial.may_send_still_more:
            return False
        before, after = trial.before, trial.after
        saved = before.peak_bytes - max(after.peak_bytes, self.trials.on_chip)
        share = Fraction(saved, before.peak_bytes)
        if share < LEAST_OF_PEAK or saved < _LEAST_OF_MEMORY:
            return False
        most = 1 + TIME_FOR_MEMORY * share
        is_slower = self.cost(after) > self.cost(before) * most or after.seconds > before.seconds * most
        return not is_slower and after.flops <= before.flops * (1 + _MAY_RISE)


def _is_indexed(change: Change) -> bool:
    """Whether a change is of what a gather or scatter takes or gives."""
    return any(map(is_indexed, change.subjects))


def _frees(change: Change) -> bool:
    """Whether compilers choose what was constrained."""
    return any(edit.frees for edit in change.edits)


def without_equals(trials: Sequence[Trial], moves_whole: bool) -> Iterable[Trial]:
    """The changes without those of an annotation, or with the figures at a place, that one before has.

    Of those with one effect, the easiest one to write is left; and a part of a change that saves nearly as
    much.
    """
    easiest: dict[object, Trial] = {}
    for trial in trials:
        key = _effect_of(trial)
        if key not in easiest or _difficulty(trial) < _difficulty(easiest[key]):
            easiest[key] = trial
    seen: dict[object, Trial] = {}
    for trial in (easiest[_effect_of(trial)] for trial in trials):
        keys: set[object] = {(_place(trial), trial.after)}
        keys |= {(edit.subject, edit.sharding, edit.is_removal) for edit in trial.change.edits}
        if all(_is_within(trial, seen[key], moves_whole) for key in keys if key in seen):
            yield trial
        for key in keys:
            seen.setdefault(key, trial)


def _place(trial: Trial) -> object:
    """The first place of a change, or what it is."""
    return trial.change.edits[0].subject if trial.change.edits else trial.change.words


def _effect_of(trial: Trial) -> object:
    """What is equal for new constraints of a gradient and of what is computed from it.

    They give the same results the same sharding, with the same figures. The weights of two layers may have
    the same figures, too, but other results.
    """
    if not trial.change.edits:
        return trial.change.words, trial.after
    first, after = trial.change.edits[0], trial.after
    if first.is_new_constraint and trial.results:
        # One before or after an elementwise operation differs in the time of that.
        return first.sharding, trial.results, after.wire_bytes, after.peak_bytes, after.reshards
    return first.sharding, after, first.subject


def _difficulty(trial: Trial) -> int:
    """How many of its constraints are written within a backward pass."""
    return sum(bool(edit.how) for edit in trial.change.edits)


def each_place_once(trials: Sequence[Trial]) -> list[Trial]:
    """The best change of each place."""
    best: dict[object, Trial] = {}
    for trial in trials:
        best.setdefault(_place(trial), trial)
    return list(best.values())


def surest_first(trials: Sequence[Trial], moves_whole: bool) -> list[Trial]:
    """The changes, of those that are nearly as fast first what sends no more, with the least time at most.

    What differs from the fastest by less than noise is no reason to come before it. Of those that save alike,
    the one of the fewest places comes first. `moves_whole` is that of
    `Trial.saved`.
    """
    rest, ordered = list(trials), []
    while rest:
        first = rest[0]
        least = first.saved(moves_whole) - _NEARLY
        near = [trial for trial in rest if trial.saved(moves_whole) >= least]
        surest = min(near, key=lambda trial: (trial.sends_more, trial.after.at_most(moves_whole)))
        least_gain = NOISE * first.before.at_most(moves_whole)
        is_surer = surest.after.at_most(moves_whole) < first.after.at_most(moves_whole) - least_gain
        if is_surer or surest.sends_more != first.sends_more:
            first = surest
        alike = [trial for trial in near if _saves_nearly(trial, first, moves_whole)]
        first = min([first, *alike], key=_places) if _places(first) > 1 else first
        # The changes of some of the constraints of a wide one that save half as much as it, or more.
        # These were written otherwise than the rest of them: of equal ones, all are wrong.
        within = (trial for trial in rest if _is_within(trial, first, moves_whole))
        first = max([first, *within], key=partial(_gain, moves_whole))
        rest.remove(first)
        ordered.append(first)
    return ordered


def _saves_nearly(trial: Trial, best: Trial, moves_whole: bool) -> bool:
    """Whether a change saves as much as another one of time, and of what is sent, but for a tenth."""
    sent, most = trial.before.wire_bytes, 1 - _TENTH
    is_fast = trial.saved(moves_whole) >= most * best.saved(moves_whole)
    return is_fast and sent - trial.after.wire_bytes >= most * (sent - best.after.wire_bytes)


def _is_within(trial: Trial, wide: Trial, moves_whole: bool) -> bool:
    edits = (*trial.change.edits, *wide.change.edits)
    if not trial.change.edits or any(edit.replaced is None for edit in edits) or trial.sends_more:
        return False
    is_part = _places_of(trial) < _places_of(wide) and len(_now(trial)) < len(_now(wide))
    return is_part and trial.saved(moves_whole) >= _HALF * wide.saved(moves_whole)


def _now(trial: Trial) -> set[object]:
    """What is written at the places of a change, for values of which types."""
    return {
        (edit.replaced.sharding, edit.named.type) for edit in trial.change.edits if edit.replaced is not None
    }


def _gain(moves_whole: bool, trial: Trial) -> Fraction:
    """What a change saves for each place."""
    return trial.saved(moves_whole) / max(_places(trial), 1)


def _places(trial: Trial) -> int:
    """The number of places where a change is written.

    Inputs and results that get one sharding are one, as what an optimizer keeps of a parameter follows it.
    """
    pairs = zip(trial.change.edits, trial.annotations, strict=False)
    return len({(annotation.place, annotation.sdy)[edit.is_boundary] for edit, annotation in pairs})


def _places_of(trial: Trial) -> frozenset[str]:
    return frozenset(annotation.place for annotation in trial.annotations)
