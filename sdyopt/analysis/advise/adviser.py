"""The changes of a program that make it cheaper, the best one first.

    advice = Adviser(module, pipeline, topology, options).advice()
    for each in advice.changes: ...

Programs are compared by estimated seconds, those that reshards of activations may take included. Ties are
broken by these reshards, then by peak memory, then by the number of annotations that change. Alternatives are
in the order of the share that they save of the seconds with these reshards or without, whichever is less; one
that sends more comes after those that do not and are nearly as fast. Several changes are made one after the
other: each is the best one for the program with those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from time import monotonic

from sdyopt.analysis.advise import SDY, Options
from sdyopt.analysis.advise.advice import Advice, AdvisedChange, Annotation
from sdyopt.analysis.advise.order import each_place_once, less_sent_first, without_equals
from sdyopt.analysis.advise.strategies import Strategies, Strategy, StrategySearch
from sdyopt.analysis.advise.verification import Verification
from sdyopt.analysis.advise.wording import PlaceNames, current, sdy_text
from sdyopt.analysis.execution.process import Worker
from sdyopt.analysis.figures.execution_counts import functions_in
from sdyopt.analysis.figures.machines import ASSUMED_MACHINE
from sdyopt.analysis.figures.topology import Topology, assumed_topology
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.analysis.trials.blamed import blamed_moves
from sdyopt.analysis.trials.effect import NOISE, Effect, Figures
from sdyopt.analysis.trials.layers import with_fewer_layers
from sdyopt.analysis.trials.moves import MeshOfProgram, Move, Moves, mesh_of, written
from sdyopt.analysis.trials.outcome import changed_results
from sdyopt.analysis.trials.roles import Role, roles_of
from sdyopt.analysis.trials.trials import Passes, Trial, Trials, pipeline_of, work_of
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.record import FunctionResult

# All trials together process about this many operations; a program of 2,000 operations has 250 trials.
_MAX_OPERATIONS = 500_000
_MIN_TRIALS, _MAX_TRIALS, _MAX_FROM_SCRATCH = 24, 400, 160
# From scratch, so many changes are made at most after a strategy is chosen.
_MAX_STEPS = 16
# After a change, so many moves are tried that were not possible before it, and so many others at a time.
_MAX_NEW, _BATCH = 24, 8
# So many of the changes that are best with fewer layers are tried on the whole program.
_MAX_LIKELY = 12
# So many of the best changes are compiled, to choose one that XLA does not contradict.
_MAX_VERIFIED = 3
# Before trials, as in sdy-jax-pipeline: what they change must be there, and is processed only once.
_BEFORE: Passes = {"sdy-inline-unsharded-calls": {}, "cse": {}}


class Adviser:
    """Advises on one program, which is not changed. `show` gets the number of trials, and of how many."""

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        topology: Topology | None,
        options: Options,
        show: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._module = module
        self._names = PlaceNames(module)
        self._pipeline = pipeline
        self._topology = topology or assumed_topology()
        self._machine = ASSUMED_MACHINE if topology is None else ""
        self._options = options
        self._memory = options.memory
        self._show = show
        self._start = monotonic()
        # What a move has saved when it was tried last.
        self._saved: dict[tuple[Change, ...], Fraction] = {}

    @cached_property
    def search(self) -> Trials:
        """The trials on the program as it is."""
        program = Rewriter().clone(self._module)
        run_pipeline(pipeline_of(_BEFORE), program, None)
        return self._search(program)

    def _search(self, program: Op) -> Trials:
        return Trials(program, self._pipeline, self._topology, may_fork=self._options.may_fork)

    def advice(self) -> Advice:
        """Tries moves, and ranks those that make the program cheaper."""
        mesh = mesh_of(self._module)
        if not self._pipeline.elements:
            return Advice(self._module, reason="it has its collectives already")
        if mesh is None or not mesh.sizes:
            return Advice(self._module, reason="it has no mesh of several devices")
        search = self.search
        program = search.module
        advice = Advice(program, machine=self._machine, moves_whole=self._moves_whole)
        size = work_of(program)
        advice.limit = _most_trials(
            size, _MAX_FROM_SCRATCH if self._options.advise_from_scratch else _MAX_TRIALS
        )
        if search.figures is None:
            advice.reason = "its pipeline fails"
            return advice
        if self._options.advise_from_scratch:
            return self._from_scratch(advice, search, mesh)
        moves = Moves(program, roles_of(program), mesh)
        if self._options.advise_changes > 1:
            advice.is_sequence = True
            self._add_changes(advice, search, moves, self._options.advise_changes)
            return advice
        advice.changes = self._best(advice, search, moves)
        if advice.changes:
            advice.program = search.edited(advice.changes[0].move)
        else:
            advice.program = self._module
        return advice

    def figures(self) -> Figures | None:
        """The figures of the program as it is; None if its pipeline fails."""
        return self.search.figures

    # --- One change -----------------------------------------------------------------------------------

    def _best(self, advice: Advice, search: Trials, moves: Moves) -> list[AdvisedChange]:
        """The changes that make the program cheaper, the best first."""
        before = search.figures
        assert before is not None
        advice.is_above_memory = self._excess(before) > 0
        likely = self._likely(advice, search, moves)
        found = [
            self._advised(search, trial)
            for trial in self._trials(advice, search, likely, self._limit(before))
            if trial.figures is not None and self._is_better(trial.figures, before)
        ]
        is_choice = not advice.is_sequence and not advice.is_above_memory
        found.sort(key=lambda each: self._rank(each.after, each.move))
        if is_choice:
            found.sort(key=lambda each: -each.saved(self._moves_whole))
        found = list(without_equals(found))
        if is_choice:
            ordered = less_sent_first(found, self._moves_whole)
            advice.prefers_less, found = ordered != found, ordered
            ordered = each_place_once(found)
            advice.has_others, found = ordered != found, ordered
        return self._verified(advice, search, found)

    def _advised(self, search: Trials, trial: Trial) -> AdvisedChange:
        """A change with the results that it shards otherwise, and that are not kept as inputs."""
        assert search.figures is not None and trial.figures is not None
        found = self._of_move(trial.move, search.figures, trial.figures)
        if trial.results is None:
            return found
        functions = {op.sym_name: op for op in functions_in(search.module)}
        made = written((*search.made, trial.move))
        results = []
        for name, number in changed_results(search.results, trial.results, made):
            sharding = trial.results[name, number]
            assert sharding is not None
            change = Change(FunctionResult(functions[name], number), sharding, trial.move.changes[0].mesh)
            results.append(Annotation(self._names.of(change), change.jax, sdy_text(sharding)))
        return found._replace(results=tuple(results))

    def _of_move(self, move: Move, before: Figures, after: Figures) -> AdvisedChange:
        written = tuple(map(self._annotation, move.changes))
        return AdvisedChange(self._names.heading(move), current(move), written, Effect(before, after), move)

    def _annotation(self, change: Change) -> Annotation:
        return Annotation(self._names.of(change), change.jax, sdy_text(change.sharding))

    def _annotations(self, search: Trials, roles: Sequence[Role]) -> list[Annotation]:
        """What is written, the annotations of inputs first. What is kept is returned as it is taken."""
        made = written(search.made).items()
        known = {subject: change for subject, change in made if not isinstance(subject, FunctionResult)}
        inputs = [place.subject for role in roles if role.is_input for place in role.places]
        order = [*(each for each in inputs if each in known), *(each for each in known if each not in inputs)]
        return [self._annotation(known[subject]) for subject in dict.fromkeys(order)]

    def _possible(self, search: Trials, moves: Moves) -> list[Move]:
        """The moves for a program, those for its most expensive collectives first."""
        outcome = search.outcome
        assert outcome is not None
        found = {move.changes: move for move in blamed_moves(search.module, moves.roles, outcome)}
        found |= {
            move.changes: move for move in moves.after(search.made, outcome) if move.changes not in found
        }
        return list(found.values())

    def _likely(self, advice: Advice, search: Trials, moves: Moves) -> Sequence[Move]:
        """The moves for a program; if it has too many, those that are best with fewer layers."""
        possible = self._possible(search, moves)
        if len(possible) <= advice.limit or search.made:
            return possible
        reduced = with_fewer_layers(search.module)
        if reduced is None:
            return possible
        small = self._search(reduced.module)
        if small.figures is None or search.figures is None:
            return possible
        of_move: dict[tuple[Change, ...], Move] = {}
        for move in possible:
            of_move.setdefault(reduced.move(move).changes, move)
        of_move.pop((), None)
        limit, memory = advice.limit, self._memory
        if memory is not None:
            self._memory = memory * small.figures.peak_bytes // search.figures.peak_bytes
        advice.limit = advice.tried + _most_trials(work_of(reduced.module), _MAX_TRIALS)
        new = [Move(changes, ()) for changes in of_move]
        trials = self._trials(advice, small, new, self._limit(small.figures))
        found: list[tuple[tuple[object, ...], Move]] = []
        for trial in trials:
            if trial.figures is not None:
                move = of_move[trial.move.changes]
                found.append((self._rank(trial.figures, move), move))
            if self._has_passed(self._options.advise_seconds / 2):
                # The other half is for the whole program.
                break
        found.sort(key=lambda each: each[0])
        self._memory, advice.reduced = memory, advice.tried
        advice.limit = advice.tried + limit
        return [move for _, move in found[: min(limit, _MAX_LIKELY)]]

    def _trials(
        self, advice: Advice, search: Trials, moves: Sequence[Move], limit: Fraction | None
    ) -> Iterator[Trial]:
        """The trials of the first of the moves, as many as allowed; what takes `limit` seconds is cut."""
        before = search.figures
        assert before is not None
        advice.proposed += len(moves)
        chosen = moves[: max(0, advice.limit - advice.tried)]
        if self._is_over(advice):
            return
        total = advice.tried + len(chosen)
        for trial in search.of_moves(chosen, self._options.jobs, limit):
            advice.tried += 1
            self._show(advice.tried, total)
            advice.failed += trial.has_failed
            after = trial.figures
            saved = Fraction(0) if after is None else self._cost(before) - self._cost(after)
            self._saved[trial.move.changes] = saved
            yield trial
            if self._is_over(advice):
                break

    def _is_over(self, advice: Advice) -> bool:
        if self._has_passed(self._options.advise_seconds):
            advice.seconds = self._options.advise_seconds
        return advice.seconds > 0

    def _has_passed(self, limit: float) -> bool:
        """Whether the seconds of a limit have passed; not for 0, which is no limit."""
        return limit > 0 and monotonic() - self._start > limit

    def _verified(self, advice: Advice, search: Trials, found: list[AdvisedChange]) -> list[AdvisedChange]:
        """The changes that XLA does not contradict, of those that are to be shown. Raises NoJax."""
        assert search.outcome is not None
        if not self._options.advise_verify or self._options.advise_from_scratch or not found:
            return found
        shown = found[: _MAX_VERIFIED if advice.is_sequence else self._options.rows or len(found)]
        report = search.outcome.report
        programs = [search.edited(), *(search.edited(each.move) for each in shown)]
        verification = Verification(Worker(*self._options.jax), self._topology)
        before, *after = verification.compiled(programs, report.mesh, report.devices)
        if isinstance(before, str):
            advice.unverified = before
            return found
        kept: list[AdvisedChange] = []
        for each, compiled in zip(shown, after, strict=True):
            if isinstance(compiled, str):
                advice.contradicted.append(each)
                continue
            each = each._replace(compiled=(before, compiled))
            is_left_out = each.is_contradicted and not advice.is_above_memory
            (advice.contradicted if is_left_out else kept).append(each)
        # What XLA confirms by its time only, or by its bytes only, comes last.
        return sorted(kept, key=lambda each: not each.is_confirmed)

    # --- Several changes ------------------------------------------------------------------------------

    def _add_changes(self, advice: Advice, search: Trials, moves: Moves, count: int) -> Trials:
        """Makes up to so many changes, each the best one after those before it."""
        for number in range(count):
            found = self._best(advice, search, moves) if not number else self._next(advice, search, moves)
            if not found:
                break
            advice.changes.append(found[0])
            search = search.after(found[0].move)
        assert search.figures is not None
        advice.program, advice.excess = search.edited(), self._excess(search.figures)
        return search

    def _next(self, advice: Advice, search: Trials, moves: Moves) -> list[AdvisedChange]:
        """The changes that make the program cheaper, of the moves that did so before, and of new ones.

        What saved less before is not tried if something saves more now.
        """
        before = search.figures
        assert before is not None
        found: dict[tuple[Change, ...], AdvisedChange] = {}

        def try_moves(moves: Sequence[Move]) -> None:
            for trial in self._trials(advice, search, moves, self._limit(before)):
                if trial.figures is not None and self._is_better(trial.figures, before):
                    found[trial.move.changes] = self._advised(search, trial)

        possible = self._possible(search, moves)
        known = [each for each in possible if self._saved.get(each.changes, 0) > 0]
        known.sort(key=lambda move: -self._saved[move.changes])
        try_moves([each for each in possible if each.changes not in self._saved][:_MAX_NEW])
        while known:
            best = max((self._saved[key] for key in found), default=Fraction(0))
            if best >= self._saved[known[0].changes]:
                break
            batch, known = known[:_BATCH], known[_BATCH:]
            try_moves(batch)
        ranked = sorted(found.values(), key=lambda each: self._rank(each.after, each.move))
        return self._verified(advice, search, ranked)

    def _from_scratch(self, advice: Advice, given: Trials, mesh: MeshOfProgram) -> Advice:
        """Leaves out all annotations. Then the axes get a strategy, and roles one change after the other."""
        assert given.figures is not None
        advice.is_sequence, advice.given = True, given.figures
        if self._memory is None:
            # The program is to fit where it fitted before.
            self._memory = advice.given.peak_bytes
        program = given.edited()
        _remove_annotations(program)
        moves, search = Moves(program, roles_of(program), mesh), self._search(program)
        if search.figures is None:
            advice.reason = "its pipeline fails without annotations"
            return advice
        for part in self._strategy(advice, given, search, moves):
            search = self._added(advice, search, part)
        search = self._closed(self._add_changes(advice, search, moves, _MAX_STEPS), moves)
        assert search.figures is not None
        advice.program, advice.final = search.edited(), search.figures
        advice.excess = self._excess(advice.final)
        advice.annotations = self._annotations(search, moves.roles)
        if self._options.advise_verify:
            self._verify_both(advice, given, search)
        return advice

    def _strategy(self, advice: Advice, given: Trials, search: Trials, moves: Moves) -> Iterator[Move]:
        """The changes of the best strategy, one axis after the other."""
        strategies = Strategies(search.module, moves.roles, moves.mesh)
        reduced = self._on_fewer_layers(advice, given, search, strategies)
        if reduced:
            best = self._strategies(advice, given, search).best_of(strategies, reduced)
        else:
            best = self._strategies(advice, given, search).best(strategies)
        return strategies.parts(best)

    def _strategies(self, advice: Advice, given: Trials, search: Trials) -> StrategySearch:
        """The search among strategies for a program without annotations."""
        assert given.figures is not None and search.figures is not None
        share = given.figures.seconds / max(self._memory or 1, 1)

        def soft_cost(figures: Figures) -> Fraction:
            excess = self._excess(figures)
            return self._cost(figures) - excess + excess * share

        def tries(new: Sequence[Move], limit: Fraction | None) -> Iterator[Trial]:
            yield from self._trials(advice, search, new, limit)

        return StrategySearch(tries, self._cost, soft_cost, search.figures)

    def _on_fewer_layers(
        self, advice: Advice, given: Trials, search: Trials, strategies: Strategies
    ) -> list[Strategy]:
        """The best strategies for the program with fewer layers; none if it has no equal layers."""
        annotated, reduced = with_fewer_layers(given.module), with_fewer_layers(search.module)
        if annotated is None or reduced is None:
            return []
        of_given, small = self._search(annotated.module), self._search(reduced.module)
        if of_given.figures is None or small.figures is None or given.figures is None:
            return []
        memory, limit = self._memory, advice.limit
        if memory is not None:
            self._memory = memory * of_given.figures.peak_bytes // given.figures.peak_bytes
        advice.limit = _most_trials(work_of(reduced.module), _MAX_FROM_SCRATCH)
        of_small = Strategies(reduced.module, roles_of(reduced.module), strategies.mesh)
        found = self._strategies(advice, of_given, small)
        found.best(of_small)
        self._memory, advice.limit, advice.reduced = memory, limit + advice.tried, advice.tried
        return [strategies.like(each, of_small, reduced.values) for each in found.kept()]

    def _added(self, advice: Advice, search: Trials, move: Move) -> Trials:
        """The program after a move that is one of the changes."""
        after = search.after(move)
        assert search.figures is not None and after.figures is not None
        advice.changes.append(self._of_move(move, search.figures, after.figures))
        return after

    def _closed(self, search: Trials, moves: Moves) -> Trials:
        """The program with the shardings that propagation gives inputs written down, if it is not slower."""
        figures, outcome = search.figures, search.outcome
        assert figures is not None and outcome is not None
        known = written(search.made)
        places = [place.subject for role in moves.roles if role.is_input for place in role.places]
        changes = [
            Change(each, found, moves.mesh.mesh)
            for each in places
            if each not in known and (found := outcome.boundary(each)) is not None
        ]
        after = search.after(Move(tuple(changes), ()))
        if after.figures is None or self._cost(after.figures) > self._cost(figures):
            return search
        return after

    def _verify_both(self, advice: Advice, given: Trials, found: Trials) -> None:
        """Compiles the program with the given annotations, and with those that were found. Raises NoJax."""
        assert found.outcome is not None
        report = found.outcome.report
        verification = Verification(Worker(*self._options.jax), self._topology)
        before, after = verification.compiled([given.edited(), found.edited()], report.mesh, report.devices)
        if isinstance(before, str) or isinstance(after, str):
            advice.unverified = before if isinstance(before, str) else str(after)
        else:
            advice.compiled = before, after

    # --- Comparison -----------------------------------------------------------------------------------

    def _is_better(self, after: Figures, before: Figures) -> bool:
        if excess := self._excess(before):
            return self._excess(after) < excess
        # Both must fall: a change that only avoids reshards of activations is better for some partitioners.
        least = 1 - NOISE
        return after.seconds < before.seconds * least and self._cost(after) < self._cost(before) * least

    def _rank(self, figures: Figures, move: Move) -> tuple[object, ...]:
        return self._cost(figures), figures.conflicts, figures.peak_bytes, *move.size

    def _cost(self, figures: Figures) -> Fraction:
        """Seconds, those between steps and of reshards that a partitioner may do otherwise included.

        Excess of memory comes first.
        """
        return figures.at_most(self._moves_whole) + self._excess(figures)

    @property
    def _moves_whole(self) -> bool:
        return self._options.advise_partitioner != SDY

    def _limit(self, before: Figures) -> Fraction | None:
        """The seconds of what is no better; a program that needs too much memory may become slower."""
        return None if self._excess(before) else before.seconds

    def _excess(self, figures: Figures) -> int:
        """The bytes above the limit of the peak."""
        return 0 if self._memory is None else max(0, figures.peak_bytes - self._memory)


def _most_trials(size: int, most: int) -> int:
    """The number of trials for a program of so much work."""
    return max(_MIN_TRIALS, min(most, _MAX_OPERATIONS // size))


def _remove_annotations(program: Op) -> None:
    """Removes the shardings of arguments and results, and the sharding constraints."""
    rewriter = Rewriter()
    for op in list(program.walk()):
        if isinstance(op, FuncOp):
            for index in range(len(op.argument_attributes)):
                rewriter.set_argument_attribute(op, index, SHARDING, None)
            for index in range(len(op.result_attributes)):
                rewriter.set_result_attribute(op, index, SHARDING, None)
        elif isinstance(op, ShardingConstraintOp):
            rewriter.replace(op, [op.input])
