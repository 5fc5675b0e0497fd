"""The search that check, lint, explain and advise share: the changes of a program that pay, the best first.

    search = Search(Trials(module, pipeline, topology))
    for trial in search.ranked: ...
    search.at_line("model.py:12")      # the best one of them that this line sends less with
    search.together                    # those that go together, as one
    search.for_memory                  # the one that lowers the peak most, and costs little time

All commands look at the same changes, and try the same of them: those that are best by an estimate. A change
pays if the time falls, and if neither memory nor FLOPs rise by more than a tenth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, islice
from time import monotonic

from sdyopt.analysis.changes.edits import AnnotationEdit, Change, joined
from sdyopt.analysis.changes.effect import NOISE, Effect, Measure
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.layers import ReducedProgram, with_fewer_layers
from sdyopt.analysis.changes.names import ChangeNames, written_in_jax
from sdyopt.analysis.changes.order import (
    LEAST_OF_PEAK,
    TIME_FOR_MEMORY,
    Comparison,
    each_place_once,
    surest_first,
    without_equals,
)
from sdyopt.analysis.changes.outcome import Sent, work_of
from sdyopt.analysis.changes.proposals import proposals, sure_proposals
from sdyopt.analysis.changes.proposals.boundary import at_peak
from sdyopt.analysis.changes.proposals.collectives import at_place, collectives, exchanges
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import MayPay, Trials
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.shardy.record import FunctionResult

# A change is one for a place that sends so much less with it.
_LEAST_AT_PLACE = Fraction(1, 10)
# So many lines are searched in any case.
_LINES = 3
# So many changes are made together, and so many of those that pay, and of others, are tried for the next one.
_MAX_TOGETHER, _LOOKED_AT = 4, 6
# So many changes are tried for memory alone.
_FOR_MEMORY = 4
# An estimate takes this part of the time of a trial.
_BY_ESTIMATE = 10
# The time of an exchange of axes, or of two changes that pay, may be estimated by this share too high.
_ESTIMATED = Fraction(1, 10)
# So many of the first changes are tried by all passes.
_IN_FULL = 3
# So many of the changes that are best with fewer layers are tried on the whole program.
_MAX_LIKELY = 12


class TrialBudget(NamedTuple):
    """All trials together process so many operations; there are at least `least` and at most `most`.

    At most `looked_at` changes are looked at, by estimates.
    """

    operations: int
    least: int
    most: int
    looked_at: int = 400

    def trials(self, size: int) -> int:
        """The number of trials on a program of so much work, in operations."""
        return max(self.least, min(self.most, self.operations // max(size, 1)))

    def changes(self, size: int) -> int:
        """The number of changes of such a program that are looked at: estimates take as long as trials."""
        return max(self.least, min(self.looked_at, _BY_ESTIMATE * self.operations // max(size, 1)))


BUDGET = TrialBudget(15_000, 8, 64)
# For changes that are made one after the other.
SEQUENCE = TrialBudget(500_000, 24, 400)


class Search(Comparison):
    """The changes of one program, as far as a budget allows.

    `memory` is what a device has: what lowers the peak comes first if the program needs more. `fills_memory`:
    what saves time may need all of it. `moves_whole`: reshards of activations count as if whole tensors were
    moved. `jobs` trials run at the same time, and `seconds` end the search. `keeps_slower`: of changes that
    are asked for, those of slower programs have figures, too. `keeps_unsure`: a compiler verifies changes
    later. `show` gets the number of trials, and of how many.
    """

    def __init__(
        self,
        trials: Trials,
        budget: TrialBudget | None = None,
        *,
        memory: int | None = None,
        fills_memory: bool = False,
        moves_whole: bool = True,
        jobs: int = 1,
        seconds: int = 0,
        keeps_slower: bool = False,
        keeps_unsure: bool = False,
        show: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        super().__init__(trials, memory, fills_memory, moves_whole, keeps_unsure)
        self.seconds = seconds
        self._budget = budget or BUDGET
        self._jobs = jobs
        self._keeps_slower = keeps_slower
        self._show = show
        self._start = monotonic()
        self.limit = self._budget.changes(self._size)
        self._further = self._budget.trials(self._size)
        # The numbers of trials of proposed changes, of these changes, which are more if there are others that
        # are not tried, of trials whose pipeline fails, and of those with fewer layers; and whether some
        # changes are not in the order of what they save.
        self.tried = self.proposed = self.failed = self.reduced = 0
        self.is_out_of_time = self.prefers_less = False
        self._known: dict[object, Trial] = {}
        self._proposed: set[object] = set()
        # The keys of changes that save nothing in the program with fewer layers.
        self._no_better: set[object] = set()
        # What a device sends by line and by place, without a change and after each.
        self._sent: dict[object, dict[object, Fraction]] = {}

    @cached_property
    def _size(self) -> int:
        return work_of(self.trials.module)

    @cached_property
    def names(self) -> ChangeNames:
        """The names of the places of the program."""
        return ChangeNames(self.trials.module)

    # --- What pays ----------------------------------------------------------------------------------

    @cached_property
    def ranked(self) -> list[Trial]:
        """The changes that pay, the best first, in words."""
        if not self.can_try:
            return []
        usable = filter(self._is_usable, proposals(self.program))
        # No more are made up than are looked at, and one that tells that there are others.
        possible = list(islice(usable, self.limit + 1))
        if len(possible) > self.limit and self._with_fewer_layers is not None:
            possible += usable
        # The search of the lines that all commands speak of is through, however small the budget is.
        costliest = [next(iter(places)) for places in islice(self._lines.values(), _LINES)]
        of_places = chain.from_iterable(at_place(self.program, place) for place in costliest)
        of_peak = islice(at_peak(self.program), _FOR_MEMORY) if self.is_above_memory else ()
        asked = self._usable(
            chain(sure_proposals(self.program), of_peak, self.for_repeated_product(), of_places)
        )
        asked = asked[: self._further]
        likely = self.likely(self.trials, possible, asked)
        asked = [change for change in asked if change.key not in self._no_better]
        trials = list(self.tries(self.trials, likely, asked=asked))
        return self._confirmed([*trials, *self._exchanged(costliest)])

    def _exchanged(self, places: Iterable[tuple[str, str, str]]) -> Iterator[Trial]:
        """The exchanges of axes of weights that an estimate leaves out: it may be wrong in their time."""
        before = self.program.outcome.figures
        left_out = {}
        for change in chain.from_iterable(exchanges(self.program, place) for place in places):
            trial = self._known.get(change.key)
            if trial is not None and trial.figures is None and not trial.has_failed:
                left_out[change.key] = change
        if left_out and not self.excess(before):
            cut = self.limit_of(before, before.of_step * (1 + _ESTIMATED), self.cost(before))
            yield from self.tries(self.trials, (), cut, asked=list(left_out.values()))

    @cached_property
    def _with_fewer_layers(self) -> ReducedProgram | None:
        return with_fewer_layers(self.trials.module)

    @property
    def _lines(self) -> dict[str, Sent]:
        """The places by line, those that send most first."""
        return {} if self.trials.outcome is None else self.trials.outcome.sent_by_line

    def _usable(self, changes: Iterable[Change]) -> list[Change]:
        """The changes that are not tried yet, each once."""
        usable = (
            change
            for change in changes
            if self._is_usable(change) and (change.edits or change.rewrite is not None)
        )
        return list({change.key: change for change in usable if change.key not in self._known}.values())

    def _is_usable(self, change: Change) -> bool:
        """Whether a change may pay, whatever its figures are."""
        if change.turns_sharding_off or (change.is_unsure and not self._keeps_unsure):
            return False
        return self.is_above_memory or not self.shards_rows_further(change)

    def _confirmed(self, trials: Iterable[Trial]) -> list[Trial]:
        """The changes that pay, in order: the first ones, which are shown, by all passes."""
        by_key = {trial.change.key: trial for trial in trials}
        confirmed: set[object] = set()
        while True:
            ordered = self._ordered(by_key.values())
            new = [trial for trial in ordered[:_IN_FULL] if trial.change.key not in confirmed]
            if not new or self.is_over():
                return ordered
            for trial in new:
                key = trial.change.key
                confirmed.add(key)
                full = self.trials.in_full(by_key[key])
                if full.figures != trial.figures:
                    by_key[key] = self._known[key] = full
                    self._sent.pop(key, None)

    def _ordered(self, trials: Iterable[Trial]) -> list[Trial]:
        paying = [self.worded(trial) for trial in trials if self.pays(trial)]
        paying.sort(key=self.rank)
        if not self.is_above_memory:
            paying.sort(key=lambda item: -item.saved(self.moves_whole))
        paying = list(without_equals(paying, self.moves_whole))
        if self.is_above_memory:
            # What saves time, too, is preferred to what costs some, if it makes the program fit.
            faster = [trial for trial in paying if trial.saved(self.moves_whole) > 0]
            if faster and not self.excess(faster[0].after):
                paying = faster
        else:
            ordered = surest_first(paying, self.moves_whole)
            self.prefers_less, paying = ordered != paying, each_place_once(ordered)
        return paying

    def worded(self, trial: Trial) -> Trial:
        """A trial with its words, and whether the program fits in the memory only with it."""
        fits = self.excess(trial.before) and not self.excess(trial.after)
        worded = self.names.worded(trial, self.trials)
        return worded._replace(fits_in=self.memory) if fits else worded

    @property
    def is_above_memory(self) -> bool:
        """Whether the program needs more memory than the limit: then changes lower its peak."""
        return self.trials.figures is not None and self.excess(self.trials.figures) > 0

    @cached_property
    def together(self) -> Trial | None:
        """The changes that go together, at least two, as one: the best one, and what is best after it.

        These are others that pay, and what the most expensive collectives need that are left.
        """
        if not self.ranked:
            return None
        best, parts = self.ranked[0], [self.ranked[0].change]
        while len(parts) < _MAX_TOGETHER and not self.is_over():
            after = self.trials.after(*parts)
            further = [trial.change for trial in self.ranked[1:_LOOKED_AT]]
            # A program that is larger than the budget is not partitioned again to find more, nor is one whose
            # best change is of a collective that it writes: annotations do not depend on that.
            is_annotated = bool(best.change.edits) and self._size <= self._budget.operations
            if is_annotated and after.outcome is not None:
                further += islice(collectives(self.proposed_on(after)), _LOOKED_AT)
            subjects = [part.subjects for part in parts]
            # What a change of many places does to a few of them may be done otherwise: the last change holds.
            free = [
                change
                for change in further
                if self._is_usable(change)
                and not any(change.subjects <= other or other <= change.subjects for other in subjects)
            ]
            least = self.cost(best.after) - NOISE * self.cost(best.before)
            paying = {trial.change.key for trial in self.ranked}
            wider: tuple[list[Change], list[Change]] = [], []
            for change in (change for change in free if change.edits or change.words[0]):
                wider[change.key not in paying].append(joined([*parts, change]))
            # What takes as long as the changes so far is no better. Estimates may be too high.
            tried: list[Trial] = []
            for changes, most in zip(wider, (least * (1 + _ESTIMATED), least), strict=True):
                tried += self.trials_of(changes, self.limit_of(best.before, most, most)) if changes else []
            # Nor is what takes longer, unless XLA does the worst.
            slowest = None if self.excess(best.before) else best.after.seconds * (1 + NOISE)
            better = [
                trial
                for trial in tried
                if self.pays(trial)
                and self.cost(trial.after) < least
                and (slowest is None or trial.after.seconds <= slowest)
            ]
            if not better:
                break
            best = min(better, key=self.rank)
            parts = list(best.change.parts)
        if len(parts) < 2:
            return None
        best = self.trials.in_full(best)
        return self.worded(best) if self.pays(best) else None

    def after_best(self, trial: Trial) -> Effect | None:
        """What a change that has places of the best one saves after that; None if both were not tried.

        It is no effect if it saves no more than noise then.
        """
        best = self.ranked[0]
        is_other = trial.change.key != best.change.key and bool(best.change.subjects & trial.change.subjects)
        both = self._known.get(joined([best.change, trial.change]).key)
        if self.together is None or not is_other or both is None or both.has_failed:
            return None
        return Effect(best.after, best.after if both.figures is None else self.trials.in_full(both).after)

    @cached_property
    def for_memory(self) -> Trial | None:
        """The change that lowers the peak most, and costs little time; None if none lowers it by much.

        Of those that lower it by nearly as much, it is the fastest. If the program needs too much memory, it
        is the best one.
        """
        if not self.can_try or self.is_over():
            return None
        ranked = self.ranked
        if self.is_above_memory:
            return next(iter(ranked), None)
        usable = (
            change
            for change in at_peak(self.program)
            if (change.edits or change.rewrite) and not change.turns_sharding_off
        )
        wanted = list(islice(usable, _FOR_MEMORY))
        known = {change.key: self._known.get(change.key) for change in wanted}
        new = [
            change
            for change in wanted
            if (trial := known[change.key]) is None or (trial.figures is None and not trial.has_failed)
        ]
        before, most = self.program.outcome.figures, 1 + TIME_FOR_MEMORY
        cut = EstimatedCost(before.seconds * most, self.cost(before) * most * self.moves_whole)
        for _ in self.tries(self.trials, (), cut, asked=new):
            pass
        lowering = [trial for trial in (*ranked, *self._known.values()) if self.is_for_memory(trial)]
        least = min((trial.after.peak_bytes for trial in lowering), default=0)
        nearly = [
            trial
            for trial in lowering
            if trial.after.peak_bytes - least <= LEAST_OF_PEAK * (trial.before.peak_bytes - least)
        ]
        best = min(nearly, key=self.rank, default=None)
        return None if best is None else self.worded(best)

    # --- Places -------------------------------------------------------------------------------------

    def at_line(self, line: str) -> Trial | None:
        """The best change with which a line sends less, or less for its most expensive collectives.

        A line is what stands for it in `Sent`.
        """
        places = self._lines.get(line) if self.can_try else None
        if not places:
            return None
        return self._at(line, sum(places.values(), Fraction(0))) or self._at(
            *next(iter(places.items())), line
        )

    def written_on(self, line: str) -> Trial | None:
        """The best change that a person writes on a line, at a value or a constraint."""
        for trial in self.ranked if line else ():
            for edit in written_in_jax(trial.change.edits):
                subject = edit.subject
                if isinstance(subject, FunctionResult) or edit.is_boundary:
                    continue
                location = self.names.location(subject)
                if line in (location.path_text, location.file_text):
                    return trial
        return None

    def at_place(self, place: tuple[str, str, str]) -> Trial | None:
        """The best change with which the line of collectives sends less, or these collectives.

        Then the line may send more of others, if the program sends less.
        """
        if not self.can_try:
            return None
        self.ranked = self._with_tried(at_place(self.program, place))
        before = self.sent_at(None, place)
        if (trial := self.at_line(place[0])) is not None or not before:
            return trial
        less = [trial for trial in self.ranked if trial.effect.saved(Measure.WIRE) > 0]
        return self._at(place, before, place[0]) or self._first(less, place, before)

    def _first(self, trials: Iterable[Trial], where: object, before: Fraction) -> Trial | None:
        """The first change with which a place sends less."""
        most = (1 - _LEAST_AT_PLACE) * before
        return next((trial for trial in trials if self.sent_at(trial, where) <= most), None)

    def _at(self, where: str | tuple[str, str, str], before: Fraction, line: str = "") -> Trial | None:
        """The first change with which a place sends less, and its line, if that is given, no more."""
        most, of_line = (1 - _LEAST_AT_PLACE) * before, self.sent_at(None, line)

        def helps(trial: Trial) -> bool:
            return self.sent_at(trial, where) <= most and (not line or self.sent_at(trial, line) < of_line)

        if (first := next(filter(helps, self.ranked), None)) is not None:
            return first
        return self.together if self.together and helps(self.together) else None

    def sent_at(self, trial: Trial | None, where: object) -> Fraction:
        """What a device sends at a line or a place, after a trial or without a change."""
        outcome = self.trials.outcome
        assert outcome is not None
        key = None if trial is None else trial.change.key
        if key not in self._sent:
            sent = outcome.sent if trial is None else trial.sent or {}
            totals: dict[object, Fraction] = {}
            for place, size in sent.items():
                totals[place] = size
                totals[place[0]] = totals.get(place[0], Fraction(0)) + size
            self._sent[key] = totals
        return self._sent[key].get(where, Fraction(0))

    def saved_at(self, trial: Trial, line: str) -> Fraction:
        """What a device sends less at a line with a trial, without what it then sends at another line."""
        outcome = self.trials.outcome
        assert outcome is not None
        before, after = outcome.sent, trial.sent or {}
        result = Fraction(0)
        for kind in {place[1:]: None for place in (*before, *after) if place[0] == line}:
            places = dict.fromkeys(place for place in (*before, *after) if place[1:] == kind)
            less = {place: before.get(place, Fraction(0)) - after.get(place, Fraction(0)) for place in places}
            total, here = (
                sum(less.values(), Fraction(0)),
                sum((size for place, size in less.items() if place[0] == line), Fraction(0)),
            )
            if total * here > 0:
                # The others that change in this direction have their part of it.
                alike = sum((size for size in less.values() if size * total > 0), Fraction(0))
                result += here * total / alike
        return result

    def _with_tried(self, changes: Iterable[Change]) -> list[Trial]:
        """The changes that pay, those that are proposed for a place included."""
        ranked = self.ranked
        new = self.trials_of(self._usable(changes))
        return self._confirmed([*ranked, *new]) if new else ranked

    def trials_of(self, changes: Iterable[Change], cut: EstimatedCost | None = None) -> list[Trial]:
        """The trials of further changes, as many as the budget has; and of those that were tried before.

        `cut` is that of `tries`.
        """
        result = list({change.key: change for change in changes}.values())
        new = [change for change in result if not self._is_known(change)][: self._further]
        self._further -= len(new)
        for _ in self.tries(self.trials, (), cut, self._keeps_slower, new):
            pass
        return [self._known[change.key] for change in result if change.key in self._known]

    def _is_known(self, change: Change) -> bool:
        """Whether the trial of a change is known, with figures if they are needed."""
        trial = self._known.get(change.key)
        return trial is not None and (not self._keeps_slower or trial.figures is not None or trial.has_failed)

    # --- Trials -------------------------------------------------------------------------------------

    def tries(
        self,
        trials: Trials,
        changes: Sequence[Change],
        cut: EstimatedCost | None = None,
        keeps_slower: bool = False,
        asked: Sequence[Change] = (),
    ) -> Iterator[Trial]:
        """The trials of the first of the changes, as many as allowed; what is above `cut` is cut.

        That is what takes no less than without a change, unless the program needs too much memory. All are
        tried that are asked for; those of them that were not proposed before do not count.
        """
        before = trials.figures
        assert before is not None
        self._proposed.update(change.key for change in changes)
        self.proposed += len(changes)
        first = changes[: max(0, self.limit - self.tried)]
        of_key: dict[object, Change] = {}
        for change in (*first, *asked):
            # The first of equal changes has the plainest words.
            of_key.setdefault(change.key, change)
        chosen = list(of_key.values())
        may_pay: MayPay | None = None
        if cut is None and not keeps_slower and not self.excess(before):
            may_pay = partial(self.may_pay, before)
            cut = self.limit_of(before, before.of_step, self.cost(before))
        total = self.tried + len(chosen)
        if self.is_over():
            return
        size = self._size if trials.module is self.trials.module else work_of(trials.module)
        most = self._budget.trials(size)
        keys = {change.key for change in asked}
        for trial in trials.of_changes(chosen, self._jobs, cut, most, keys, may_pay):
            key, is_first = trial.change.key, trials is self.trials
            self.tried += key in self._proposed and not (is_first and key in self._known)
            self._show(self.tried, total)
            self.failed += trial.has_failed
            if is_first:
                self._known[key] = trial
            yield trial
            if self.is_over():
                break

    def is_over(self) -> bool:
        """Whether the time of the search has passed."""
        self.is_out_of_time |= self.has_passed(self.seconds)
        return self.is_out_of_time

    def has_passed(self, limit: float) -> bool:
        """Whether the seconds of a limit have passed; not for 0, which is no limit."""
        return limit > 0 and monotonic() - self._start > limit

    def likely(
        self, trials: Trials, possible: Sequence[Change], asked: Sequence[Change] = ()
    ) -> Sequence[Change]:
        """The changes of a program; if it has too many, those that are best with fewer layers.

        Those that are `asked` are looked at, too.
        """
        if len(possible) <= self.limit or trials.made:
            return possible
        is_whole = trials.module is self.trials.module
        reduced = self._with_fewer_layers if is_whole else with_fewer_layers(trials.module)
        if reduced is None:
            return possible
        small = trials.on(reduced.module)
        if small.figures is None or trials.figures is None:
            return possible
        originals: dict[tuple[AnnotationEdit, ...], list[Change]] = {}
        on_small: list[list[Change]] = []
        for changes in (possible, asked):
            fewer = [(reduced.change(change).edits, change) for change in changes if change.edits]
            for edits, change in fewer:
                originals.setdefault(edits, []).append(change)
            on_small.append([Change(edits) for edits, _ in dict(fewer).items() if edits])
        limit, memory = self.limit, self.memory
        if memory is not None:
            self.memory = memory * small.figures.peak_bytes // trials.figures.peak_bytes
        self.limit = self.tried + self._budget.changes(work_of(reduced.module))
        pairs: list[tuple[tuple[object, ...], Change]] = []
        keys = {change.key for change in possible}
        for trial in self.tries(small, on_small[0], asked=on_small[1]):
            first, *_ = same = originals[trial.change.edits]
            if trial.figures is None or self.cost(trial.figures) >= self.cost(trial.before):
                self._no_better.update(change.key for change in same)
            elif first.key in keys:
                pairs.append((self.rank(trial._replace(change=first)), first))
            if self.has_passed(self.seconds / 2):
                # The other half is for the whole program.
                break
        pairs.sort(key=lambda item: item[0])
        self.memory, self.reduced = memory, self.tried
        self.limit = self.tried + limit
        return [change for _, change in pairs[: min(limit, _MAX_LIKELY)]]
