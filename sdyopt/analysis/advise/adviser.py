"""Advice on a program: the changes that the search ranks, or several in turn, or from scratch.

    advice = Adviser(module, pipeline, topology, options).advice()
    for trial in advice.changes: ...

Several changes are made one after the other: each is the best one for the program with those before it.

A verification compiles the programs for virtual devices of the CPU, and its collectives are read as the
compilers for TPU and GPU go on with them; or the compiler of the machine compiles them ahead of time.

    verification = Verification(worker, topology, is_ahead=False)
    before, *after = verification.compiled([program, *changed_programs], mesh, devices)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from sdyopt.analysis.advise import SDY, Options
from sdyopt.analysis.advise.strategies import Strategies, Strategy, StrategySearch
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, written
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.layers import with_fewer_layers
from sdyopt.analysis.changes.outcome import work_of
from sdyopt.analysis.changes.proposals import proposals
from sdyopt.analysis.changes.roles import roles_of
from sdyopt.analysis.changes.search import SEQUENCE, Search, TrialBudget
from sdyopt.analysis.changes.trial import Annotation, CompiledCost, Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.execution.global_program import program_text
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.figures.figures import axis_names, axis_sizes
from sdyopt.analysis.figures.machines import ASSUMED_MACHINE
from sdyopt.analysis.figures.topology import Topology, assumed_topology, ring_steps
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, axes_of_groups
from sdyopt.analysis.hlo_comparison.comparison import wire_bytes
from sdyopt.analysis.hlo_comparison.compiled.analysis import Compiler, target_of, text_to_compile
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.record import FunctionResult

# What is shown as done.
TRIED, COMPILED = "changes tried", "programs compiled"
# From scratch, so many changes are made at most after a strategy is chosen.
_FROM_SCRATCH = SEQUENCE._replace(most=160, looked_at=160)
_MAX_STEPS = 16
# After a change, so many changes are tried that were not possible before it, and so many others at a time.
_MAX_NEW, _BATCH = 24, 8
# So many of the best changes are compiled, to choose one that XLA does not contradict.
_MAX_VERIFIED = 3
# The compiler of a machine takes long: changes are compiled in their order until so many hold.
_ENOUGH = 3
# The reason for which nothing is tried if a pass fails on the program as it is.
PIPELINE_FAILS = "its pipeline fails"


class Show(Protocol):
    """Shows how much is done, of how much."""

    def __call__(self, done: int, total: int, what: str = TRIED) -> None:
        """`what` is done, in words."""


class Adviser:
    """Advises on one program, which is not changed. `show` gets the number of trials, and of how many."""

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        topology: Topology | None,
        options: Options,
        show: Show = lambda done, total, what=TRIED: None,
    ) -> None:
        self._module = module
        self._pipeline = pipeline
        self._topology = topology or assumed_topology()
        self._machine = ASSUMED_MACHINE if topology is None else ""
        self._options = options
        self._show = show
        # What a change has saved when it was tried last.
        self._saved: dict[object, Fraction] = {}

    @cached_property
    def search(self) -> Search:
        """The search on the program as it is."""
        trials = trials_on(self._module, self._pipeline, self._topology, may_fork=self._options.may_fork)
        is_sequence = self._options.advise_changes > 1
        budget = _FROM_SCRATCH if self._options.advise_from_scratch else SEQUENCE if is_sequence else None
        search = self._search(trials, budget)
        if search.memory is None and not self._machine:
            search.memory = self._topology.hbm_bytes
        return search

    def _search(self, trials: Trials, budget: TrialBudget | None) -> Search:
        return Search(
            trials,
            budget,
            memory=self._options.memory,
            fills_memory=self._options.fills_memory,
            moves_whole=self._options.advise_partitioner != SDY,
            jobs=self._options.jobs,
            seconds=self._options.advise_seconds,
            keeps_unsure=self._options.advise_verify,
            show=self._show,
        )

    def advice(self) -> AdviceResult:
        """Tries changes, and ranks those that make the program cheaper."""
        search = self.search
        if search.mesh is None or not search.mesh.sizes:
            return AdviceResult(self._module, reason="it has no mesh of several devices")
        if not self._pipeline.elements:
            return AdviceResult(self._module, reason="it has its collectives already")
        trials = search.trials
        advice = AdviceResult(self._module, machine=self._machine, moves_whole=search.moves_whole)
        # That for the CPU sends otherwise than that of the machine.
        advice.compiler = "XLA" if self._options.is_compiled else "XLA for the CPU"
        if trials.figures is None:
            advice.reason = PIPELINE_FAILS
            return advice
        if self._options.advise_from_scratch:
            self._from_scratch(advice, search)
        elif self._options.advise_changes > 1:
            advice.is_sequence = True
            self._add_changes(advice, search, trials, self._options.advise_changes)
        else:
            advice.is_above_memory = search.is_above_memory
            # What lowers the peak most need not save time.
            ranked, memory = list(search.ranked), search.for_memory
            if memory is not None and all(trial.change != memory.change for trial in ranked):
                ranked.append(memory)
            advice.changes = self._verified(advice, search, trials, ranked)
            # What XLA contradicts is no part of it.
            advice.together = search.together if advice.changes == ranked else None
            best = advice.changes[0] if advice.together is None and advice.changes else None
            best = advice.together or best
            advice.program = self._module if best is None else trials.changed(best.change)
        self._count(advice, search)
        return advice

    def figures(self) -> Figures | None:
        """The figures of the program as it is; None if its pipeline fails."""
        return self.search.trials.figures

    def _count(self, advice: AdviceResult, search: Search) -> None:
        """Takes over what the search has counted."""
        advice.tried, advice.proposed, advice.failed = search.tried, search.proposed, search.failed
        advice.reduced, advice.prefers_less = search.reduced, search.prefers_less
        advice.seconds = search.seconds if search.is_out_of_time else 0

    def _verified(
        self, advice: AdviceResult, search: Search, trials: Trials, ranked: list[Trial]
    ) -> list[Trial]:
        """The changes that XLA does not contradict, of those that are to be shown. Raises NoJax."""
        if not self._options.advise_verify or self._options.advise_from_scratch or not ranked:
            return ranked
        assert trials.outcome is not None
        shown = ranked[: _MAX_VERIFIED if advice.is_sequence else self._options.rows or len(ranked)]
        report = trials.outcome.report
        programs = [trials.changed(), *(trials.changed(trial.change) for trial in shown)]
        costs = self._verification().compiled(programs, report.mesh, report.devices)
        self._show(0, len(programs), COMPILED)
        before = next(costs)
        if isinstance(before, str):
            advice.unverified = before
            return ranked
        kept: list[Trial] = []
        for number, trial in enumerate(shown, 1):
            self._show(number, len(programs), COMPILED)
            if self._options.is_compiled and sum(item.is_confirmed for item in kept) >= _ENOUGH:
                advice.uncompiled = len(ranked) - number + 1
                break
            compiled = next(costs)
            if isinstance(compiled, str):
                advice.contradicted.append(trial)
                continue
            trial = trial._replace(compiled=(before, compiled))
            is_left_out = trial.is_contradicted and not advice.is_above_memory
            (advice.contradicted if is_left_out else kept).append(trial)
        # What XLA confirms by its time only, or by its bytes only, comes last.
        return sorted(kept, key=_in_xla) if self._options.is_compiled else sorted(kept, key=_is_doubtful)

    def _verification(self) -> Verification:
        return Verification(Worker(*self._options.jax), self._topology, self._options.is_compiled)

    # --- Several changes ------------------------------------------------------------------------------

    def _add_changes(self, advice: AdviceResult, search: Search, trials: Trials, count: int) -> Trials:
        """Makes up to so many changes, each the best one after those before it."""
        for number in range(count):
            better = self._next(search, trials) if number else self._first(search, trials)
            if not (better := self._verified(advice, search, trials, better)):
                break
            advice.changes.append(better[0])
            trials = trials.after(better[0].change)
        assert trials.figures is not None
        advice.program, advice.excess = trials.changed(), search.excess(trials.figures)
        return trials

    def _first(self, search: Search, trials: Trials) -> list[Trial]:
        """The changes that make the program cheaper, the best first."""
        likely = search.likely(trials, list(proposals(search.proposed_on(trials))))
        return self._better(search, trials, self._tried(search, trials, likely))

    def _next(self, search: Search, trials: Trials) -> list[Trial]:
        """The changes that make the program cheaper, of those that did so before, and of new ones.

        What saved less before is not tried if something saves more now.
        """
        possible = list(proposals(search.proposed_on(trials)))
        new = [change for change in possible if change.key not in self._saved][:_MAX_NEW]
        tried = self._tried(search, trials, new)
        known = [change for change in possible if self._saved.get(change.key, 0) > 0 and change not in new]
        known.sort(key=lambda change: -self._saved[change.key])
        while known:
            better = (self._saved[trial.change.key] for trial in tried if search.pays(trial))
            if max(better, default=Fraction(0)) >= self._saved[known[0].key]:
                break
            batch, known = known[:_BATCH], known[_BATCH:]
            tried += self._tried(search, trials, batch)
        return self._better(search, trials, tried)

    def _tried(self, search: Search, trials: Trials, changes: Sequence[Change]) -> list[Trial]:
        """The trials of changes, of which is kept what they save."""
        tried = list(search.tries(trials, changes))
        for trial in tried:
            is_known = trial.figures is not None
            saved = search.cost(trial.before) - search.cost(trial.after) if is_known else Fraction(0)
            self._saved[trial.change.key] = saved
        return tried

    def _better(self, search: Search, trials: Trials, tried: Sequence[Trial]) -> list[Trial]:
        better = [search.names.worded(trial, trials) for trial in tried if search.pays(trial)]
        return sorted(better, key=search.rank)

    # --- From scratch ---------------------------------------------------------------------------------

    def _from_scratch(self, advice: AdviceResult, given: Search) -> None:
        """Leaves out all annotations. Then the axes get a strategy, and roles one change after the other."""
        assert given.trials.figures is not None and given.mesh is not None
        advice.is_sequence, advice.given = True, given.trials.figures
        program = given.trials.changed()
        # Removes the shardings of arguments and results, and the sharding constraints.
        rewriter = Rewriter()
        for op in list(program.walk()):
            if isinstance(op, FuncOp):
                for index in range(len(op.argument_attributes)):
                    rewriter.set_argument_attribute(op, index, SHARDING, None)
                for index in range(len(op.result_attributes)):
                    rewriter.set_result_attribute(op, index, SHARDING, None)
            elif isinstance(op, ShardingConstraintOp):
                rewriter.replace(op, [op.input])
        search = self._search(given.trials.on(program), _FROM_SCRATCH)
        if search.memory is None:
            # The program is to fit where it fitted before.
            search.memory = advice.given.peak_bytes
        search.fills_memory = True
        trials = search.trials
        if trials.figures is None:
            advice.reason = "its pipeline fails without annotations"
            return
        for part in self._strategy(given, search):
            after = trials.after(part)
            assert trials.figures is not None and after.figures is not None
            made = Trial(part, trials.figures, after.figures)
            advice.changes.append(search.names.worded(made, trials)._replace(results=()))
            trials = after
        trials = self._closed(search, self._add_changes(advice, search, trials, _MAX_STEPS))
        assert trials.figures is not None
        advice.program, advice.final = trials.changed(), trials.figures
        advice.excess = search.excess(advice.final)
        advice.annotations = self._annotations(search, trials)
        if self._options.advise_verify:
            self._verify_both(advice, given.trials, trials)
        given.tried, given.proposed, given.failed = search.tried, search.proposed, search.failed
        given.reduced, given.is_out_of_time = search.reduced, search.is_out_of_time

    def _annotations(self, search: Search, trials: Trials) -> list[Annotation]:
        """What is written, the annotations of inputs first. What is kept is returned as it is taken."""
        made = written(trials.made).items()
        known = {subject: edit for subject, edit in made if not isinstance(subject, FunctionResult)}
        inputs = [place.subject for role in search.roles if role.is_input for place in role.places]
        order = [
            *(value for value in inputs if value in known),
            *(value for value in known if value not in inputs),
        ]
        return [search.names.annotation(known[subject]) for subject in dict.fromkeys(order)]

    def _strategy(self, given: Search, search: Search) -> Iterator[Change]:
        """The changes of the best strategy, one axis after the other."""
        assert search.mesh is not None
        strategies = Strategies(search.trials.module, search.roles, search.mesh)
        reduced = self._on_fewer_layers(given, search, strategies)
        strategy_search = self._strategies(given.trials, search, search.trials)
        best = strategy_search.best_of(strategies, reduced) if reduced else strategy_search.best(strategies)
        return strategies.parts(best)

    def _strategies(self, given: Trials, search: Search, trials: Trials) -> StrategySearch:
        """The search among strategies for a program without annotations."""
        assert given.figures is not None and trials.figures is not None
        share = given.figures.seconds / max(search.memory or 1, 1)

        def soft_cost(figures: Figures) -> Fraction:
            excess = search.excess(figures)
            return search.cost(figures) - excess + excess * share

        def tries(new: Sequence[Change], limit: Fraction | None) -> Iterator[Trial]:
            yield from search.tries(trials, new, None if limit is None else EstimatedCost(limit))

        return StrategySearch(tries, search.cost, soft_cost, trials.figures)

    def _on_fewer_layers(self, given: Search, search: Search, strategies: Strategies) -> list[Strategy]:
        """The best strategies for the program with fewer layers; none if it has no equal layers."""
        annotated, reduced = with_fewer_layers(given.trials.module), with_fewer_layers(search.trials.module)
        if annotated is None or reduced is None:
            return []
        of_given, small = given.trials.on(annotated.module), search.trials.on(reduced.module)
        if of_given.figures is None or small.figures is None or given.trials.figures is None:
            return []
        memory, limit = search.memory, search.limit
        if memory is not None:
            search.memory = memory * of_given.figures.peak_bytes // given.trials.figures.peak_bytes
        search.limit = _FROM_SCRATCH.trials(work_of(reduced.module))
        of_small = Strategies(reduced.module, roles_of(reduced.module), strategies.mesh)
        strategy_search = self._strategies(of_given, search, small)
        strategy_search.best(of_small)
        search.memory, search.limit, search.reduced = memory, limit + search.tried, search.tried
        return [strategies.like(item, of_small, reduced.values) for item in strategy_search.kept()]

    def _closed(self, search: Search, trials: Trials) -> Trials:
        """The program with the shardings that propagation gives inputs written down, if it is not slower."""
        figures, outcome, mesh = trials.figures, trials.outcome, search.mesh
        assert figures is not None and outcome is not None and mesh is not None
        known = written(trials.made)
        places = [place.subject for role in search.roles if role.is_input for place in role.places]
        edits = [
            AnnotationEdit(place, sharding, mesh.mesh)
            for place in places
            if place not in known and (sharding := outcome.boundary(place)) is not None
        ]
        after = trials.after(Change(tuple(edits)))
        if after.figures is None or search.cost(after.figures) > search.cost(figures):
            return trials
        return after

    def _verify_both(self, advice: AdviceResult, given: Trials, trials: Trials) -> None:
        """Compiles the program with the given annotations, and with those that were found. Raises NoJax."""
        assert trials.outcome is not None
        report = trials.outcome.report
        verification = self._verification()
        before, after = verification.compiled(
            [given.changed(), trials.changed()], report.mesh, report.devices
        )
        if isinstance(before, str) or isinstance(after, str):
            advice.unverified = before if isinstance(before, str) else str(after)
        else:
            advice.compiled = before, after


def _is_doubtful(trial: Trial) -> bool:
    return not trial.is_confirmed


def _in_xla(trial: Trial) -> tuple[bool, Fraction]:
    """The order of compiled changes: what XLA confirms first, then the time with what XLA sends."""
    times = trial.seconds_in_xla
    return not trial.is_confirmed, times[1] if times is not None else Fraction(0)


class Verification:
    """Compiles programs: ahead of time for the machine, or for the CPU, all of one call in one process."""

    def __init__(self, worker: Worker, topology: Topology, is_ahead: bool) -> None:
        self._worker = worker
        self._topology = topology
        self._is_ahead = is_ahead

    def compiled(self, programs: Sequence[Op], mesh: str, devices: int) -> Iterator[CompiledCost | str]:
        """The costs of programs on a mesh; a text for one that XLA does not compile. Raises NoJax.

        The compiler of the machine compiles a program when its cost is asked for.
        """
        if self._is_ahead:
            compiler = Compiler(replace(self._worker, memory=0), target_of(self._topology, mesh))
            sizes = list(axis_sizes(mesh).values()) or [devices]
            yield from (self._compiled_ahead(compiler, op, sizes, mesh, devices) for op in programs)
            return
        texts = [program_for_xla(program, devices) for program in programs]
        compiled: list[CompiledCost | str] = []
        while len(compiled) < len(texts):
            # XLA may end the process at one of them.
            try:
                answers = self._worker.run("compile", {"devices": devices, "texts": texts[len(compiled) :]})
            except NotValidated as failure:
                answers = [{"cannot": str(failure)}]
            compiled += [
                answer.get("cannot") or self._on_cpu(answer["hlo"], mesh, devices) for answer in answers
            ]
        yield from compiled

    def _on_cpu(self, hlo: str, mesh: str, devices: int) -> CompiledCost:
        # As users of TPU and GPU will see it; XLA has compiled it for the CPU.
        return self._figures(on_accelerators(read_hlo("hlo", hlo, devices)).operands, mesh)

    def _compiled_ahead(
        self, compiler: Compiler, program: Op, sizes: list[int], mesh: str, devices: int
    ) -> CompiledCost | str:
        try:
            compiled = compiler.compile(text_to_compile(program), sizes, devices)
        except NotValidated as failure:
            return str(failure)
        return self._figures(read_hlo("hlo", compiled.hlo, devices).operands, mesh)

    def _figures(self, operands: Sequence[CollectiveOperand], mesh: str) -> CompiledCost:
        topology = self._topology.on(mesh)
        seconds = Fraction(0)
        combined: set[str] = set()
        for operand in operands:
            # Permutes, and groups that follow no axes, may need any link.
            axes = axes_of_groups(operand.groups, mesh) if operand.groups else ""
            link = topology.link(axis_names(axes or mesh))
            seconds += operand.wire_bytes_of_runs / link.bandwidth if link.bandwidth else 0
            if link.latency and operand.name not in combined:
                # The operands of a combined collective take the steps of a ring together.
                runs = 1 if operand.times is None else operand.times.high
                seconds += ring_steps(operand.kind, operand.group_size) * link.latency * runs
                combined.add(operand.name)
        return CompiledCost(wire_bytes(operands), seconds)


def program_for_xla(program: Op, devices: int) -> str:
    """The text of a program that XLA partitions for so many devices."""
    rewriter = Rewriter()
    copy = rewriter.clone(program)
    assert isinstance(copy, ModuleOp)
    rewriter.set_attribute(copy, "mhlo.num_partitions", integer(devices, I32))
    return program_text(copy)


@dataclass
class AdviceResult:
    """The findings. `program` is the program with the best change, or with all of several changes.

    `changes` are alternatives, the best first, or several changes in their order if `is_sequence`; `together`
    is the trial of the best ones that go together, which `program` then has. `tried` is the
    number of trials, `proposed` that of changes, `failed` that of trials whose pipeline fails.
    `reduced` is the number of trials on the program with fewer layers. `is_above_memory`: the program takes
    more memory than the limit, so changes lower its peak. `excess`: the bytes above the limit after all
    changes of a sequence. `contradicted` are the changes that are left out because they make the program
    that XLA compiles slower, or because XLA rejects it, and `unverified` why it compiles nothing.
    `uncompiled` is the number of others that are left, as enough hold. `compiler` compiles them. `reason`
    says why there were no trials. `moves_whole`: the times at most assume that whole tensors move where
    activations are resharded. `prefers_less`: some changes that send more, or may take longer, come after
    others that are nearly as fast.
    """

    program: Op
    changes: list[Trial] = field(default_factory=list)
    together: Trial | None = None
    is_sequence: bool = False
    is_above_memory: bool = False
    excess: int = 0
    reduced: int = 0
    tried: int = 0
    proposed: int = 0
    failed: int = 0
    limit: int = 0
    contradicted: list[Trial] = field(default_factory=list)
    unverified: str = ""
    uncompiled: int = 0
    compiler: str = "XLA"
    seconds: int = 0
    machine: str = ""
    moves_whole: bool = True
    prefers_less: bool = False
    assumption: str = ""
    reason: str = ""
    # From scratch: the figures with the given annotations, and at the end; all annotations that were found,
    # and what XLA sends before and after, if that is verified.
    given: Figures | None = None
    final: Figures | None = None
    annotations: list[Annotation] = field(default_factory=list)
    compiled: tuple[CompiledCost, CompiledCost] | None = None
