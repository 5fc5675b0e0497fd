"""Checks a program: its figures, and what was tried at the places that cost most.

checker = Checker(module, completion)
with checker.recording():
    run_pipeline(…)
check = checker.check(module, report)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from sdyopt.analysis.figures.execution_counts import (
    NONE_ASSUMED,
    AssumedTrips,
    CallLocations,
    ExecutionCounts,
)
from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.topology import assumed_topology
from sdyopt.analysis.figures.totals import Total, wire_bytes_of_runs, wire_total, wire_totals
from sdyopt.analysis.figures.user_lines import UserLines
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.analysis.trials.blamed import Alike, Proposals
from sdyopt.analysis.trials.effect import NOISE, Effect, Figures, Measure, figures_of
from sdyopt.analysis.trials.moves import Move, constraint_moves, mesh_of, written
from sdyopt.analysis.trials.originals import Gradients, Originals
from sdyopt.analysis.trials.outcome import Outcome, Reported, changed_results, shardings_of_results
from sdyopt.analysis.trials.roles import Role, roles_of
from sdyopt.analysis.trials.trials import Trials, completing_pipeline, work_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, pattern_of, result_text
from sdyopt.shardy.record import FunctionResult

PLACES = 3
# At one place, at most so many changes are tried; and for all, on so many operations together.
_MAX_TRIALS = 6
# They are those for so many of its parts.
_PARTS_TRIED = 2
# So many changes of the constraints of so many roles are tried, for all places together.
_CONSTRAINTS, _CONSTRAINTS_TRIED = 2, 6
# A constraint is to blame for a place of which at least this share is gone without it.
_BLAMED = Fraction(1, 10)
_MAX_OPERATIONS = 60_000


class Trial(NamedTuple):
    """A change that was tried. `subject` is what it shards, in words, and `spec` how.

    `results` is the number of other results that are sharded otherwise then. `replaced` is the spec that the
    constraint has in the program, if the subject is one.
    """

    subject: str
    spec: str
    effect: Effect
    results: int
    replaced: str = ""

    @property
    def sent(self) -> Fraction:
        """The additional bytes that a device sends then; negative if they are fewer."""
        return -self.effect.saved(Measure.WIRE)

    @property
    def carried(self) -> int:
        """The additional bytes that a device sends between two steps, at most."""
        return self.effect.after.carried - self.effect.before.carried

    @property
    def memory(self) -> Fraction:
        """The additional bytes that a device needs at the peak."""
        return -self.effect.saved(Measure.MEMORY)

    @property
    def changes_memory(self) -> bool:
        """Whether the peak changes by more than noise."""
        return abs(self.memory) >= NOISE * self.effect.before.peak_bytes and self.memory != 0


class Part(NamedTuple):
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
class Place:
    """The collectives of one line.

    `parts` are those of one kind and axes, the most expensive first, and `phases` the parts of a training
    step that they are in. `tried` of the `proposed` changes were tried; `best` is the one of them with the
    best effect, if a device sends less then. `shared` is the number of an earlier place whose change is also
    the best one here, and `shared_bytes` what that saves here.
    """

    parts: Sequence[Part]
    total: Total
    phases: Sequence[Phase]
    proposed: int = 0
    tried: int = 0
    best: Trial | None = None
    shared: int = 0
    shared_bytes: Fraction = Fraction(0)

    @property
    def key(self) -> str:
        """What places are grouped by."""
        return _key(self.largest)

    @property
    def largest(self) -> Collective:
        """The collective that sends most of the most expensive part."""
        return self.parts[0].largest

    @property
    def name(self) -> str:
        """The line; without one, the argument that moves or is updated."""
        each = self.largest
        return each.location.file_text if each.location.line else (*self.parts[0].names, each.value)[0]


@dataclass(slots=True)
class Check:
    """A report, and the places that cost most, the most expensive one first.

    `device_memory` are the bytes that a device has; None if that is not given. `can_try` is False if the
    program is partitioned already.
    """

    report: Report
    places: list[Place]
    device_memory: int | None
    can_try: bool

    @property
    def wire(self) -> Total:
        """The bytes that a device sends in a run of the program."""
        return wire_total(self.report)

    @property
    def fits(self) -> bool | None:
        """Whether the peak is within the memory of a device; None if that is not given."""
        return (
            None if self.device_memory is None else self.report.best_known.memory.peak <= self.device_memory
        )


class Checker:
    """The check of one program. The constructor copies it, before passes change it.

    `has_passes`: passes run that the user gives. `record` is a record of these passes that others share.
    """

    def __init__(self, module: Op, has_passes: bool, record: ShardingRecord | None = None) -> None:
        copies: dict[Value, Value] = {}
        self._module = Rewriter().clone(module, copies)
        self._copies = copies
        self._record = record or ShardingRecord()
        self._has_passes = has_passes
        self._topology = assumed_topology()
        self._lines = UserLines.of_module(self._module)
        self._calls = CallLocations(ExecutionCounts(self._module))

    def recording(self) -> AbstractContextManager[None]:
        """Records the passes that run in the `with` block."""
        return self._record.active()

    def check(
        self, module: Op, report: Report, memory: int | None = None, assumed: AssumedTrips = NONE_ASSUMED
    ) -> Check:
        """The check of the program after the passes, on which a report was made with these trip counts."""
        places = places_of(report.collectives)[:PLACES]
        memory = report.device_memory if memory is None else memory
        pipeline = completing_pipeline(self._module, self._has_passes)
        trials = Trials(self._module, pipeline, self._topology, assumed=assumed)
        found = Check(report, places, memory, trials.can_try)
        if not found.can_try:
            return found
        ops = counted_collectives(module)
        before = figures_of(report, module, self._topology)
        made = shardings_of_results(module)
        originals = Originals(self._module, self._record.values, self._copies)
        proposals = Proposals.on(module, originals)
        roles = roles_of(self._module)
        alike = Alike(self._module, roles)
        remaining = _MAX_OPERATIONS // max(1, work_of(self._module))
        best: dict[int, Move] = {}
        for number, place in enumerate(places):
            blamed = [ops[part.largest.number] for part in place.parts[:_PARTS_TRIED]]
            each_in_turn = zip_longest(*map(proposals.for_collective, blamed))
            changes = list(dict.fromkeys(filter(None, chain.from_iterable(each_in_turn))))
            place.proposed = len(changes)
            moves = (move for each in changes if (move := alike.move(each)).changes)
            chosen = list(islice(moves, min(_MAX_TRIALS, -(-remaining // (len(places) - number)))))
            remaining -= len(chosen)
            place.tried = len(chosen)
            for trial in trials.of_moves(chosen, 1, None):
                if trial.figures is not None:
                    results = changed_results(made, trial.results or {}, written((trial.move,)))
                    if self._compare(place, trial.move, before, trial.figures, sum(1 for _ in results)):
                        best[number] = trial.move
        outcome = Outcome(Reported(module, report, before), originals)
        self._blame_constraints(found, trials, roles, outcome, remaining)
        for number, place in enumerate(places):
            # The change of an earlier place is printed once.
            same = (each for each, other in enumerate(places[:number], 1) if other.best == place.best)
            if place.best is not None and not place.shared and (first := next(same, 0)):
                left = _totals_after(trials, best[number])
                place.shared, place.shared_bytes = first, _cost(place) - left.get(place.key, Fraction(0))
        return found

    def _compare(self, place: Place, move: Move, before: Figures, after: Figures, results: int) -> bool:
        """Whether a change is the best one so far, which it then is of its place."""
        if not pays(before, after):
            return False
        trial = Trial("", move.changes[0].jax or "", Effect(before, after), results)
        if place.best is None or trial.effect.cost < place.best.effect.cost:
            place.best = trial._replace(
                subject=self._subject(move.changes, place), replaced=_replaced_spec(move.changes[0])
            )
            return True
        return False

    def _blame_constraints(
        self, check: Check, trials: Trials, roles: Sequence[Role], outcome: Outcome, remaining: int
    ) -> None:
        """Tries changes of the constraints that most is sent for, and gives the best one to its places."""
        mesh = mesh_of(self._module)
        constrained = [each for each in roles if any(one.constraints for one in each.classes)]
        sent = [(outcome.wire_bytes(each), each) for each in constrained]
        sent.sort(key=lambda pair: -pair[0])
        moves: list[Move] = []
        for size, role in sent[:_CONSTRAINTS]:
            if mesh is not None and size > _BLAMED * outcome.figures.wire_bytes:
                moves += islice(constraint_moves(role, mesh, outcome), _CONSTRAINTS_TRIED)
        before = outcome.figures
        better = [
            (effect.cost, trial)
            for trial in trials.of_moves(moves[:remaining], 1, None)
            if trial.figures is not None and pays(before, trial.figures)
            for effect in (Effect(before, trial.figures),)
        ]
        if not better:
            return
        _, best = min(better, key=lambda pair: pair[0])
        assert best.figures is not None
        effect, changes = Effect(before, best.figures), best.move.changes
        after = _totals_after(trials, best.move)
        first = 0
        for number, place in enumerate(check.places, 1):
            gone = _cost(place) - after.get(place.key, Fraction(0))
            if gone < _BLAMED * _cost(place) or (place.best and place.best.effect.cost < effect.cost):
                continue
            if first:
                place.shared, place.shared_bytes = first, gone
            else:
                first = number
                results = changed_results(shardings_of_results(outcome.module), best.results or {}, ())
                place.best = Trial(
                    self._subject(changes, place),
                    changes[0].jax or "",
                    effect,
                    sum(1 for _ in results),
                    _replaced_spec(changes[0]),
                )

    def _subject(self, changes: Sequence[Change], place: Place) -> str:
        """The subject of changes: an argument or result by its name, any other value by its line."""
        subject = changes[0].subject
        if isinstance(subject, FunctionResult):
            return result_text(*subject)
        if name := name_of(subject):
            return pattern_of(name) if len(changes) > 1 else name
        if changes[0].replaced is not None:
            lines = (self._constraint_line(each) for each in changes if each.replaced is not None)
            first, *others = dict.fromkeys(lines)
            more = f" and {counted(len(others), 'other line')}" if others else ""
            return f"the constraint {f'at {first}' if first else ''}{more}".rstrip()
        # Where the constraint is written, in a word: lines are short.
        how = changes[0].how and (" (jax.grad)" if "jax.grad" in changes[0].how else " (custom_vjp)")
        if (value := self._gradients.value(subject)) is not None:
            return f"the gradient of {name_of(value) or self._line(value, place)}{how}"
        what = self._line(subject, place)
        # It is that of an operand of this line.
        location = self._calls.completed(source_location(subject.location), owning_op(subject))
        is_gradient = location.phase is Phase.BACKWARD
        return f"a gradient of {what}{how}" if is_gradient else what

    def _constraint_line(self, change: Change) -> str:
        """The line that writes a constraint, which may call a helper."""
        subject = change.subject
        assert isinstance(subject, OpResult)
        location = self._calls.completed(source_location(subject.op.location), subject.op)
        return self._lines.chosen(location).file_text if location.line else ""

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(self._module)

    def _line(self, subject: OpResult | BlockArgument, place: Place) -> str:
        """The value of a line, in words."""
        op = owning_op(subject)
        location = self._calls.completed(source_location(op.location), op)
        there = place.largest.location
        calls = {(frame.file, frame.line) for frame in location.frames}
        # A value that a helper returns is constrained where the helper is called.
        location = there if (there.file, there.line) in calls else self._lines.chosen(location)
        if not location.line:
            return f"the result of {op.signature.name}"
        return f"the value at {location.file_text}"


def _patterns(names: Iterable[str]) -> list[str]:
    """`params[*]['w']` for the names of several layers, and other names as they are."""
    found: dict[str, dict[str, None]] = {}
    for name in filter(None, names):
        found.setdefault(pattern_of(name), {})[name] = None
    return [next(iter(same)) if len(same) == 1 else pattern for pattern, same in found.items()]


def places_of(collectives: Sequence[Collective]) -> list[Place]:
    """The places of collectives, those that send most first."""
    lines: dict[str, list[Collective]] = {}
    for each in collectives:
        lines.setdefault(_key(each), []).append(each)
    found = []
    for line in lines.values():
        parts = [
            part_of([each for each in line if kind_of(each) == kind], total)
            for kind, total in wire_totals(line, kind_of).items()
        ]
        parts = [part for part in parts if _cost(part) or part.total.unknown > part.total.in_loops] or parts
        phases = list(dict.fromkeys(each.location.phase for each in line))
        total = wire_totals(line, lambda _: "")[""]
        found.append(Place(sorted(parts, key=_cost, reverse=True), total, phases))
    found.sort(key=_cost, reverse=True)
    return [place for place in found if place.total.high or place.total.unknown]


def _key(each: Collective) -> str:
    """The line of a collective; without one, the weight."""
    return each.location.path_text or each.moved or each.updated


def _totals_after(trials: Trials, move: Move) -> dict[str, Fraction]:
    """What collectives send after a change, by place."""
    changed = trials.after(move).outcome
    places = [] if changed is None else places_of(changed.report.collectives)
    return {each.key: _cost(each) for each in places}


def pays(before: Figures, after: Figures) -> bool:
    """Whether a change saves more than noise of what is sent, also between steps, and holds or saves much.

    It must not add a larger share of the new peak memory or FLOPs than it saves of what is sent.
    """
    if not before.wire_bytes:
        return False
    sent = after.wire_bytes + after.carried - before.carried
    saved = 1 - Fraction(sent) / before.wire_bytes
    added = (1 - Fraction(old) / new for old, new in _costs(before, after) if new)
    return saved >= max(NOISE, *added) and Effect(before, after).is_worth_it


def _costs(before: Figures, after: Figures) -> Iterator[tuple[Fraction, Fraction]]:
    yield Fraction(before.peak_bytes), Fraction(after.peak_bytes)
    yield before.flops, after.flops


def _replaced_spec(change: Change) -> str:
    """The spec that a constraint has in the program; "" for a change of anything else."""
    op = change.replaced
    return "" if op is None else change._replace(sharding=op.sharding).jax or ""


def kind_of(each: Collective) -> str:
    """`all_gather along "x"`."""
    return f"{each.kind} {along(each.group)}"


def along(group: str) -> str:
    """`along "x", "y"` for `{"x", "y"}`, and `in groups of 4`."""
    return f"along {group.strip('{}')}" if group.startswith("{") else f"in {group}"


def part_of(group: Sequence[Collective], total: Total) -> Part:
    """A part of a place: collectives of one kind, and what they send."""
    largest = max(group, key=lambda each: wire_bytes_of_runs(each) or Fraction(0))
    return Part(largest, total, _patterns(each.moved or each.updated for each in group), group)


def _cost(each: Place | Part) -> Fraction:
    """What a place is sorted by: the bytes, those of one iteration for a loop of unknown trip count."""
    return each.total.high + each.total.per_iteration
