"""Checks a program: its figures, and what the shared search has for the places that cost most.

checker = Checker(module, has_passes)
check = checker.check(report)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.changes.effect import Effect, Measure
from sdyopt.analysis.changes.outcome import place_of_collective
from sdyopt.analysis.changes.same_batch import same_batches, same_exchanges, scattered_in_steps
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.causes import WRITTEN, is_of_program, stated_results, with_stated_results
from sdyopt.analysis.figures.compiled_collectives import AFTER_LOOPS
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips
from sdyopt.analysis.figures.figures import Collective, Compiled, Report
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import NO_LOCATION, Phase, SourceLocation, source_location
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.figures.totals import Total, along, wire_bytes_of_runs, wire_total, wire_totals
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.base.dataclasses import NamedTuple, dataclass, replace
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.run import Verify
from sdyopt.mlir.value_names import grouped_names, pattern_of
from sdyopt.shardy.record import FunctionResult

PLACES = 3
# A program that needs less than this part of the memory fits in any case.
_AMPLE = 2
# So much of what a change saves is nearly all of it.
_NEARLY = Fraction(9, 10)
# A line that sends less than this share is not named before one that sends more.
_LITTLE = Fraction(1, 20)


class PlaceCollectives(NamedTuple):
    """The collectives of a place that have one kind and axes.

    `largest` is the one that sends most in all of its runs, `names` are the arguments that they move or
    update.
    """

    largest: Collective
    total: Total
    names: Sequence[str]
    collectives: Sequence[Collective] = ()

    @property
    def kind(self) -> str:
        """`all_gather along "x"`."""
        return kind_of(self.largest)


@dataclass(slots=True)
class CostlyPlace:
    """The collectives of one line.

    `parts` are those of one kind and axes, the most expensive first, and `phases` the parts of a training
    step that they are in. `best` is the best change of the program with which the line sends less, if there
    is one. `blocker` says what is wrong, if figures do not. `shared` is the number of an earlier place that
    has the same one, and `shared_bytes` what that saves here. `after_best` is what it saves after the best
    change of the program, if that changes some of its places, too. `further` is the number of other lines
    that are the same, and that are counted here. `untried` is what to write if that cannot be
    tried. `compiled` is what the program of the compiler sends, if there is one.
    """

    parts: Sequence[PlaceCollectives]
    total: Total
    phases: Sequence[Phase]
    best: Trial | None = None
    blocker: str = ""
    shared: int = 0
    shared_bytes: Fraction = Fraction(0)
    after_best: Effect | None = None
    further: int = 0
    untried: str = ""
    compiled: Fraction | None = None

    @property
    def key(self) -> str:
        """What places are grouped by."""
        return _key(self.largest)

    @property
    def largest(self) -> Collective:
        """The collective that sends most of the most expensive part."""
        return self.parts[0].largest

    @property
    def is_written(self) -> bool:
        """Whether the program itself has the collective, so that no annotation changes it."""
        return is_of_program(self.largest.cause)

    def is_like(self, other: CostlyPlace) -> bool:
        """Whether another line has the same collectives, for the same reasons."""
        return [_alike(part) for part in self.parts] == [_alike(part) for part in other.parts]

    @property
    def name(self) -> str:
        """The line, and how many are like it; without one, the argument that moves or is updated."""
        largest, names = self.largest, self.parts[0].names
        name = largest.location.file_text if largest.location.line else (*names, largest.value)[0]
        return f"{name} and {counted(self.further, 'line')} like it" if self.further else name

    def key_of_change(self) -> object:
        return None if self.best is None else self.best.change.key


@dataclass(slots=True)
class MemoryPlace:
    """What takes more of the peak than it must: values that a change shards further, and that change.

    `name` is that of the inputs that it shards, or the line.
    """

    name: str
    location: SourceLocation
    trial: Trial

    @property
    def saved(self) -> int:
        """The bytes that the peak falls by."""
        return self.trial.before.peak_bytes - self.trial.after.peak_bytes

    @property
    def reason(self) -> str:
        """Why it takes more than it must."""
        return self.trial.change.reason or "several devices hold the same values"


@dataclass(slots=True)
class CheckResult:
    """A report, and the places that cost most, those that annotations change first.

    `device_memory` are the bytes that a device has; None if that is not given. `can_try` is False if the
    program is partitioned already. The first place is that for which the best change of the program saves
    most, unless that change is shown below another one; `elsewhere` is that change if it saves at no place.
    `tried` changes were tried, and others not if `proposed` is more; `together` is the trial of the best
    changes that go together.
    `alternative` is the best change of other places than those that are shown, and `further` others pay.
    `memory_place` is what the peak falls most with, if that is much, and
    more than with the changes of the places. `trials` are those of the program, before passes. `done` are the
    lines where changes would save what the compiler's program does not send.
    """

    report: Report
    places: list[CostlyPlace]
    device_memory: int | None
    can_try: bool
    tried: int = 0
    proposed: int = 0
    elsewhere: Trial | None = None
    together: Trial | None = None
    alternative: Trial | None = None
    further: int = 0
    memory_place: MemoryPlace | None = None
    trials: Trials | None = None
    done: Sequence[str] = ()

    @property
    def wire(self) -> Total:
        """The bytes that a device sends in a run of the program."""
        return wire_total(self.report)

    @property
    def fits(self) -> bool | None:
        """Whether the peak is within the memory of a device; None if that is not given."""
        peak = self.report.best_known.memory.peak
        return None if self.device_memory is None else peak <= self.device_memory


class Checker:
    """The check of one program. The constructor copies it, before passes change it.

    `has_passes`: passes run that the user gives. `jobs` trials run at the same time, in forked processes.
    Loops run as often as is `assumed`.
    """

    def __init__(
        self,
        module: Op,
        has_passes: bool,
        machine: Topology | None = None,
        jobs: int = 1,
        assumed: AssumedTrips = NONE_ASSUMED,
    ) -> None:
        self._module = Rewriter().clone(module)
        self._has_passes = has_passes
        self._machine = machine
        self._jobs = jobs
        self._assumed = assumed

    @cached_property
    def _trials(self) -> Trials:
        pipeline = completing_pipeline(self._module, self._has_passes, self._machine)
        is_inlined = not self._has_passes
        return trials_on(self._module, pipeline, self._machine, is_inlined, assumed=self._assumed)

    def partitioned(self, verify: Verify) -> Op | None:
        """The program after the assumed passes, which the search needs; None if they emit diagnostics."""
        if not self._trials.can_try or self._trials.outcome is None or self._trials.diagnostics:
            return None
        module = self._trials.outcome.module
        return module if verify.is_valid(module) else None

    def report_on(self, module: Op) -> Report:
        """The report on the program after the passes, which may be what `partitioned` has returned."""
        outcome = self._trials.outcome if self._trials.can_try else None
        if outcome is None or outcome.module is not module:
            return report_on(module, self._machine, self._assumed)
        if self._machine is not None:
            return replace(outcome.report)
        # Without a topology, figures are those of no compiler, as they are for the one that trials assume.
        return replace(
            outcome.report,
            time=None,
            elementwise=None,
            kernels=None,
            device_memory=None,
            topology="",
            speeds="",
        )

    def check(self, report: Report, memory: int | None = None) -> CheckResult:
        """The check of the program after the passes, on which a report was made."""
        memory = report.device_memory if memory is None else memory
        return check_of(report, Search(self._trials, memory=memory, jobs=self._jobs), memory)


def check_of(report: Report, search: Search, memory: int | None = None, most: int = PLACES) -> CheckResult:
    """The check of a program after the passes, with at most so many places; lint shows more of them."""
    report = with_stated_results(report, stated_results(search.trials.module))
    everywhere = places_of(report.collectives, report.compiled)
    check = CheckResult(report, costliest(everywhere), memory, search.trials.can_try)
    if not search.can_try:
        return check
    done = DoneByCompiler(everywhere, search, report.compiled)
    changed, others = places_by_change(everywhere, search, done)
    _give_reasons(others, report, search)
    check.memory_place = memory_place([place.best for place in changed[:PLACES]], search)
    if check.memory_place is not None and _is_ample(check, check.memory_place.trial):
        check.memory_place = None
    check.places = places_to_show(changed, others, most - (check.memory_place is not None))
    best = next((trial for trial in search.ranked if not done.is_done(trial)), None)
    shown = set(map(CostlyPlace.key_of_change, check.places))
    if check.memory_place is not None:
        shown.add(check.memory_place.trial.change.key)
    if best is not None and best.change.key not in shown:
        check.elsewhere = best
    check.together, check.trials = search.together, search.trials
    if check.elsewhere is not None:
        shown.add(check.elsewhere.change.key)
    if check.together is not None:
        shown.update(part.key for part in (check.together.change, *check.together.change.parts))
    unshown = [trial for trial in search.ranked if trial.change.key not in shown and not done.is_done(trial)]
    # What changes a part of the same places is no other way.
    changes = [trial.change for trial in search.ranked if trial.change.key in shown]
    free = [
        trial for trial in unshown if not any(change.subjects & trial.change.subjects for change in changes)
    ]
    check.alternative = next(iter(free), None)
    check.further = len(unshown) - (check.alternative is not None)
    check.done = list(dict.fromkeys(done.lines))
    check.tried, check.proposed = search.tried, search.proposed
    return check


def _give_reasons(places: list[CostlyPlace], report: Report, search: Search) -> None:
    """Says where devices have the same of a batch, or of what they exchange; these places come first."""
    outcome = search.trials.outcome
    assert outcome is not None
    number_of = dict(zip(counted_collectives(outcome.module), report.collectives, strict=False))
    reasons = {
        number_of[batch.gather].number: batch.reason
        for batch in same_batches(outcome.module, search.program.origins)
        if batch.gather in number_of
    }
    helps: dict[int, str] = {}
    gathers: dict[str, dict[Op, None]] = {}
    exchanges = list(same_exchanges(outcome.module, search.program.shapes))
    for exchange in exchanges:
        gathers.setdefault(exchange.reason, {}).update(dict.fromkeys(exchange.gathers))
    for exchange in exchanges:
        collectives = [number_of[op] for op in gathers[exchange.reason] if op in number_of]
        size = sum((wire_bytes_of_runs(item) or Fraction(0) for item in collectives), Fraction(0))
        for op in (exchange.exchange, *exchange.gathers):
            if op in number_of:
                reasons[number_of[op].number] = f"{exchange.reason} ({bytes_text(size)})"
                helps[number_of[op].number] = exchange.help
    for scattered in scattered_in_steps(outcome.module):
        scatter = number_of.get(scattered.scatter)
        # A sum that the program calls may be meant so.
        if scatter is not None and scatter.cause != WRITTEN and AFTER_LOOPS not in scatter.compiled:
            reasons[scatter.number], helps[scatter.number] = scattered.reason, scattered.help
    said = {""}
    for place in places:
        numbers = [collective.number for part in place.parts for collective in part.collectives]
        reason = next((reasons[number] for number in numbers if number in reasons), "")
        if reason not in said:
            place.blocker = reason
            said.add(reason)
        place.untried = next((helps[number] for number in numbers if number in helps), place.untried)
    places.sort(key=lambda place: (not place.untried, not place.blocker))


def first_untried(places: Iterable[CostlyPlace]) -> list[CostlyPlace]:
    """The first of the places without a change for each of what cannot be tried."""
    first: dict[str, CostlyPlace] = {}
    for place in places:
        if place.best is None and place.untried:
            first.setdefault(place.untried, place)
    return list(first.values())


def _is_ample(check: CheckResult, trial: Trial) -> bool:
    """Whether a device has so much memory that none is to be saved by what sends more, or may do so."""
    effect = trial.effect
    if check.device_memory is None or (effect.saved(Measure.WIRE) >= 0 and effect.holds):
        return False
    return _AMPLE * check.report.memory.peak < check.device_memory


class DoneByCompiler:
    """Which changes save only what the program of a compiler does not send; none without a compiler.

    `lines` are the places that they would save most at.
    """

    def __init__(
        self, everywhere: Sequence[CostlyPlace], search: Search, compiled: Compiled | None = None
    ) -> None:
        self._everywhere, self._search, self._compiled = everywhere, search, compiled
        self.lines: list[str] = []
        # By change: it is asked for its place, and among all.
        self._is_done: dict[object, bool] = {}

    def saved(self, place: CostlyPlace, trial: Trial) -> Fraction:
        """The part of the compiler's bytes of a place that a change saves by our figures."""
        result = Fraction(0)
        for part in place.parts:
            key = place_of_collective(part.largest)
            before, sent = self._search.sent_at(None, key), sent_as_compiled(self._compiled, [part])
            if before and sent:
                result += sent * (1 - self._search.sent_at(trial, key) / before)
        return result

    def is_done(self, trial: Trial) -> bool:
        """Whether a change that saves bytes, and no FLOPs, saves none of those that the compiler sends."""
        key = trial.change.key
        if key not in self._is_done:
            self._is_done[key] = self._saves_nothing(trial)
            if self._is_done[key] and self._everywhere:
                place = max(self._everywhere, key=lambda place: self._search.saved_at(trial, place.key))
                self.lines.append(place.name)
        return self._is_done[key]

    def _saves_nothing(self, trial: Trial) -> bool:
        less = trial.effect.saved(Measure.WIRE)
        if self._compiled is None or less <= 0 or trial.effect.saved(Measure.FLOPS) > 0:
            return False
        saved = sum((self.saved(place, trial) for place in self._everywhere), Fraction(0))
        return saved < less * _LITTLE


def places_by_change(
    everywhere: Sequence[CostlyPlace], search: Search, done: DoneByCompiler
) -> tuple[list[CostlyPlace], list[CostlyPlace]]:
    """The places that a change helps, and the others that send much, those that send most first.

    Of the places with one change, the one where it saves most has it; the others come after these. They have
    the order of the changes or, with a compiler, of the part of its bytes that these save.
    """
    least = sum(map(_cost, everywhere), Fraction(0)) / 100
    costly = [place for place in everywhere if _cost(place) >= least]
    owners: dict[object, CostlyPlace] = {}

    def saved(place: CostlyPlace, trial: Trial) -> Fraction:
        return search.saved_at(trial, place.key)

    at_lines = {place.key: search.at_line(place.key) for place in costly}
    chosen = {key: trial for key, trial in at_lines.items() if trial is not None and not done.is_done(trial)}
    for place in costly:
        # With a change, a line may send what another one has sent, in place of what it sends now.
        trial = chosen.get(place.key) or max(
            chosen.values(), key=lambda trial: saved(place, trial), default=None
        )
        if trial is None or (place.key not in chosen and saved(place, trial) < _LITTLE * _cost(place)):
            continue
        place.best = trial
        owner = owners.setdefault(trial.change.key, place)
        if saved(place, trial) > saved(owner, trial):
            owners[trial.change.key] = place
    best = next((trial for trial in search.ranked if not done.is_done(trial)), None)
    if best is not None and best.change.key not in owners and everywhere:
        # What saves most is read first.
        first = max(everywhere, key=lambda place: saved(place, best))
        if saved(first, best) > 0:
            if first.best is not None and owners.get(first.best.change.key) is first:
                del owners[first.best.change.key]
            first.best, owners[best.change.key] = best, first
    # A line that sends as much with what is to be written on it.
    for place in costly:
        trial = search.written_on(place.key) if place.best is None else None
        if trial is not None and trial.change.key not in owners and not done.is_done(trial):
            place.best, owners[trial.change.key] = trial, place
    # The best changes that go together, then the others.
    parts = () if search.together is None else search.together.change.parts
    order = [part.key for part in parts if part.key in owners] + [trial.change.key for trial in search.ranked]
    ranks = {key: rank for rank, key in reversed(list(enumerate(order)))}
    changed = sorted(owners.values(), key=lambda place: ranks.get(place.key_of_change(), len(ranks)))
    if any(place.compiled is not None for place in changed):
        changed.sort(key=lambda place: -done.saved(place, place.best) if place.best is not None else 0)
    number_of = {place.key_of_change(): number for number, place in enumerate(changed, 1)}
    for place in (place for place in costly if place.best is not None and place not in changed):
        place.shared = number_of.get(place.key_of_change(), 0)
        if not place.shared:
            place.best = None
        elif place.best is not None:
            place.shared_bytes = saved(place, place.best)
            if place.shared_bytes <= 0:
                place.best, place.shared = None, 0
    for place in changed:
        assert place.best is not None
        place.blocker = place.best.change.reason
        # What a compiler does already is no change to make first.
        place.after_best = search.after_best(place.best) if best is search.ranked[0] else None
    changed += [place for place in costly if place.shared]
    return changed, _merged([place for place in costly if place not in changed])


def places_to_show(
    changed: Sequence[CostlyPlace], others: Sequence[CostlyPlace], most: int
) -> list[CostlyPlace]:
    """The places to show: those with a change first, and what sends most in any case.

    Among them are as many others, where a change that is shown saves, too.
    """
    shown = [place for place in changed if not place.shared][:most]
    shared = [place for place in changed if 0 < place.shared <= len(shown)][:most]
    # What the program itself writes is no annotation's.
    least = sum(map(_cost, (*changed, *others)), Fraction(0)) * _LITTLE

    def is_last(place: CostlyPlace) -> bool:
        # All that is known of it is that the program calls its collectives itself, or it costs little.
        is_called = place.is_written and not place.untried and not place.blocker
        return is_called or _cost(place) < least

    rest = sorted(others, key=is_last)[: most - len(shown)]
    if others and others[0] not in rest and all(_cost(others[0]) > _cost(place) for place in shown):
        rest = [others[0], *rest[:-1]]
    return [*shown, *shared, *rest]


def memory_place(shown: Sequence[Trial | None], search: Search) -> MemoryPlace | None:
    """What takes more of the peak than it must; None if a change that is shown mends half of that."""
    trial = search.for_memory
    if trial is None:
        return None
    saved = trial.effect.saved(Measure.MEMORY)
    if any(other is not None and 2 * other.effect.saved(Measure.MEMORY) >= saved for other in shown):
        return None
    together = search.together
    # What goes together is several edits, for other reasons, too.
    if together is not None and together.effect.saved(Measure.MEMORY) >= _NEARLY * saved:
        return None
    names, edits = search.names, trial.change.edits
    if not edits:
        op = trial.change.op
        is_at_line = op is not None and not isinstance(op, FuncOp)
        at = source_location(op.location) if op is not None and is_at_line else NO_LOCATION
        return MemoryPlace(at.file_text or "the arguments", at, trial)
    inputs = grouped_names(names.place(edit) for edit in edits if edit.is_of_input)
    first = next((edit for edit in edits if edit.is_of_input == bool(inputs)), edits[0])
    more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
    location = NO_LOCATION if isinstance(first.subject, FunctionResult) else names.location(first.subject)
    return MemoryPlace(
        f"{inputs[0]}{more}" if inputs else location.file_text or names.place(first),
        location,
        trial,
    )


def _merged(places: Sequence[CostlyPlace]) -> list[CostlyPlace]:
    """Places that no change helps; lines that are the same are one place."""
    result: list[list[CostlyPlace]] = []
    for place in places:
        same = next((group for group in result if group[0].is_like(place)), None)
        if same is None:
            result.append([place])
        else:
            same.append(place)
    return sorted(map(_joined, result), key=_cost, reverse=True)


def _joined(group: Sequence[CostlyPlace]) -> CostlyPlace:
    """Places that are the same as one."""
    if len(group) == 1:
        return group[0]
    place = _place([item for place in group for part in place.parts for item in part.collectives])
    if group[0].compiled is not None:
        place.compiled = sum((item.compiled or Fraction(0) for item in group), Fraction(0))
    place.further = len(group) - 1
    return place


def _alike(part: PlaceCollectives) -> object:
    """What is equal in lines that are the same."""
    cause = pattern_of(part.largest.cause) if part.largest.cause else ""
    return part.kind, part.total, cause, part.largest.change


def costliest(places: Sequence[CostlyPlace]) -> list[CostlyPlace]:
    """The places to show: first those that annotations change; what sends most is one of them."""
    least = sum(map(_cost, places), Fraction(0)) / 100
    chosen = sorted(places, key=lambda place: place.is_written or _cost(place) < least)[:PLACES]
    if places and places[0] not in chosen:
        chosen[-1] = places[0]
    return chosen


def places_of(collectives: Sequence[Collective], compiled: Compiled | None = None) -> list[CostlyPlace]:
    """The places of collectives, those that send most first, in the compiler's program if there is one."""
    lines: dict[str, list[Collective]] = {}
    for collective in collectives:
        lines.setdefault(_key(collective), []).append(collective)
    result = list(map(_place, lines.values()))
    for place in result if compiled is not None else ():
        place.compiled = sent_as_compiled(compiled, place.parts)
    result.sort(key=_cost, reverse=True)
    return [place for place in result if place.total.high or place.total.unknown]


def _place(collectives: Sequence[Collective]) -> CostlyPlace:
    parts = [
        part_of([collective for collective in collectives if kind_of(collective) == kind], total)
        for kind, total in wire_totals(collectives, kind_of).items()
    ]
    parts = [part for part in parts if _cost(part) or part.total.unknown > part.total.in_loops] or parts
    shown = {part.kind for part in parts}
    in_parts = (collective for collective in collectives if kind_of(collective) in shown)
    phases = list(dict.fromkeys(collective.location.phase for collective in in_parts))
    total = wire_totals(collectives, lambda _: "")[""]
    return CostlyPlace(sorted(parts, key=_cost, reverse=True), total, phases)


def sent_as_compiled(compiled: Compiled | None, parts: Sequence[PlaceCollectives]) -> Fraction | None:
    """What the program of the compiler sends for parts of a place; None without a compiler."""
    if compiled is None:
        return None
    numbers = [item.number for part in parts for item in part.collectives]
    return sum((compiled.sent.get(number, Fraction(0)) for number in numbers), Fraction(0))


def _key(collective: Collective) -> str:
    """The line of a collective; without one, the weight."""
    return place_of_collective(collective)[0]


def kind_of(collective: Collective) -> str:
    """`all_gather along "x"`."""
    return f"{collective.kind} {along(collective.group)}"


def part_of(group: Sequence[Collective], total: Total) -> PlaceCollectives:
    """A part of a place: collectives of one kind, and what they send."""
    largest = max(group, key=lambda item: wire_bytes_of_runs(item) or Fraction(0))
    return PlaceCollectives(
        largest, total, grouped_names(collective.moved or collective.updated for collective in group), group
    )


def _cost(place: CostlyPlace | PlaceCollectives) -> Fraction:
    """What a place is sorted by: the bytes, those of one iteration for a loop of unknown trip count.

    With a compiler, they are those of its program.
    """
    if isinstance(place, CostlyPlace) and place.compiled is not None:
        return place.compiled
    return place.total.high + place.total.per_iteration
