"""Propagates the shardings of a module, in rounds.

A round visits operations in the order of MLIR's greedy pattern driver, until the worklist is empty.
Dead operations are erased when they are visited.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from operator import itemgetter
from typing import Literal

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.interfaces import is_trivially_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import has_two_other_users
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import FunctionResult, StepRecorder, active_recorder
from sdyopt.shardy.sharding.propagation.propagation_step import (
    Shardings,
    StepKind,
    StepRunner,
    Strategy,
    Updates,
)
from sdyopt.shardy.sharding.propagation.step_input import DirectionPolicy

from ...common.support.function_shardings import main_function
from .propagation_sites import SITE_KINDS, PropagationSite, PropagationSites, SiteKind
from .sharding_map import UNSHARDABLE, RecordedShardingMap, ShardingGroups, ShardingMap
from .worklist import DependentOps, OpCategory, Round, Worklist


class _Unvisited(Enum):
    UNVISITED = auto()


_UNVISITED: Literal[_Unvisited.UNVISITED] = _Unvisited.UNVISITED


# From other shardings than passes leave, propagation visits each edge of a manual computation a few times.
_MOST_CONVERSIONS = 10


class EndlessPropagationError(Exception):
    """Propagation does not end, from shardings that the passes before it leave in no program."""


# The runners of the steps of a round by the kind of their site; None for those that do not propagate in it.
Runners = Mapping[SiteKind, StepRunner | None]


class _Step(NamedTuple):
    """What propagates along an operation in a round: its site, what reads its shardings, known updates."""

    site: PropagationSite
    runner: StepRunner
    read: Callable[[Sequence[TensorSharding | None]], Shardings]
    known: dict[Shardings, Updates]


class _RoundAgain(NamedTuple):
    """A round of a propagation that was restarted. Masks have a byte for each operation in the worklist.

    `steps` has the step of each operation that has only one of them; UNVISITED if an operand has other uses,
    so that a later round may propagate along it. `dirty` are those that the round makes dirty, `inert` those
    along which nothing propagates in it, and `later` those that stay dirty.
    """

    steps: list[_Step | Literal[_Unvisited.UNVISITED] | None]
    runners: Runners
    dirty: int
    inert: int
    later: int


class PropagationDriver:
    """The propagation state of a module: shardings, sites and the worklist.

    Operations are identified by their index in program order, which the results of the main function follow.
    The module has index 0.
    """

    def __init__(
        self,
        module: ModuleOp,
        groups: ShardingGroups,
        is_conservative: bool,
        recorder: StepRecorder | None = None,
    ) -> None:
        # Caches of bound methods would make the driver part of a cycle, and keep it after propagation.
        mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, module))
        active = active_recorder()
        self._run_recorder = None if active is None else active.start_run(mesh_of)
        self._recorders = [active for active in (recorder, self._run_recorder) if active is not None]
        run = self._run_recorder
        self.ops = list(module.walk())
        # The index of an operation is its `order`, which suits its block as well.
        for index in range(1, len(self.ops)):
            self.ops[index].order = index
        self.sharding_map = ShardingMap(self.ops) if run is None else RecordedShardingMap(self.ops, run)
        self.changed = False
        self._module = module
        self._groups = groups
        self._dependent_ops = DependentOps(module)
        self._site_factory = PropagationSites(
            *(len(self.ops), self.sharding_map, self._dependent_ops, is_conservative),
            keeps_inert_sites=active is not None,
        )
        self._runner_of = cache(lambda kind: StepRunner(kind, mesh_of))
        self._parents = self._parents_by_block()
        # The site of each operation, then of each result of the main function; None if nothing propagates
        # along it or it is erased.
        self._sites: list[PropagationSite | Literal[_Unvisited.UNVISITED] | None]
        self._sites = [None, *([_UNVISITED] * (len(self.ops) - 1))]
        # The sites of operations that may be dead since their last visit.
        self._former_sites: dict[int, PropagationSite | None] = {}
        # The operations with a site, by the category of the site.
        self._indices_by_category = {category: array("i") for category in OpCategory}
        self._result_sites = self._function_result_sites()
        self._worklist = Worklist(len(self.ops), len(self._result_sites))
        self._last_run: tuple[Round, Strategy] | None = None
        # Once nothing is erased any more, what depends on a slot is kept.
        self._is_restarted = False
        # The number of shardings that were converted at edges of manual computations since.
        self._conversions = 0
        # By number of the round and strategy; and the steps of the results of the main function.
        self._rounds_again: dict[tuple[int, Strategy], _RoundAgain] = {}
        self._result_steps: dict[Strategy, list[_Step]] = {}
        # The mask of the operations without a site.
        self._without_site: int | None = None
        # For a slot alone in its group and its attribute: its readers, and what depends on it.
        self._effects: dict[int, tuple[list[int], list[tuple[int, ...]]]] = {}
        self._dependents: dict[int, list[tuple[int, ...]]] = {}

    # --- Rounds -----------------------------------------------------------------------------------

    def run(self, round: Round, strategy: Strategy) -> None:
        """Runs one round."""
        if self._run_recorder is not None:
            self._run_recorder.start_round(round.number, strategy)
        if self._is_restarted and not self._recorders:
            self._run_again(round, strategy)
            return
        last, self._last_run = self._last_run, (round, strategy)
        self._worklist.mark(self._with_new_policy(last, round, strategy))
        runners = self._runners(round, strategy)
        self._propagate_function_results(strategy)
        for index in self._worklist.visits():
            self._propagate_along(index, round, runners)
        self._propagate_function_results(strategy)

    def _propagate_along(self, index: int, round: Round, runners: Runners) -> None:
        """Propagates along an operation by its first site that propagates something."""
        visited = self._sites[index]
        site = self._visit(index) if visited is _UNVISITED else visited
        while site is not None:
            runner = runners[site.kind]
            if runner is None:
                # It becomes dirty in the first round with a policy for its category.
                site = site.fallback
                continue
            if site.kind.category in round.single_use_categories and _has_operand_with_other_uses(site.op):
                # A later round may propagate along this operation.
                self._worklist.mark_dirty(index)
                site = site.fallback
                continue
            updates = self._updates(site, runner)
            if not updates:
                site = site.fallback
                continue
            for position, sharding in updates:
                self._update(site, position, sharding, index)
            if site.fallback is not None:
                self._worklist.mark_dirty(index)
                self._worklist.push([index])
            break

    # --- Rounds of a propagation that was restarted -------------------------------------------------

    def _run_again(self, round: Round, strategy: Strategy) -> None:
        """Runs a round of a propagation that was restarted: its sites and most updates are known."""
        key, worklist = (round.number, strategy), self._worklist
        again = self._rounds_again.get(key)
        if again is None:
            again = self._rounds_again[key] = self._round_again(round, strategy)
        self._last_run = round, strategy
        worklist.mark(again.dirty)
        self._propagate_results_again(strategy)
        later = worklist.take_out(again.later)
        worklist.take_out(again.inert)
        shardings, effects, steps = self.sharding_map.shardings, self._effects, again.steps
        for index in worklist.visits():
            step = steps[index]
            if step is None:
                self._propagate_along(index, round, again.runners)
                continue
            if step is _UNVISITED:
                worklist.mark_dirty(index)
                continue
            before = step.read(shardings)
            updates = step.known.get(before)
            if updates is None:
                updates = step.known[before] = step.runner.updates(step.site.rule, before)
            for position, sharding in updates:
                slot = step.site.slots[position]
                effect = effects.get(slot)
                if effect is None:
                    self._update(step.site, position, sharding, index)
                else:
                    shardings[slot] = sharding
                    worklist.take(index, *effect)
        worklist.mark(later)
        self._propagate_results_again(strategy)

    def _round_again(self, round: Round, strategy: Strategy) -> _RoundAgain:
        runners = self._runners(round, strategy)
        inert, later = (bytearray(len(self.ops) + len(self._result_sites)) for _ in range(2))
        steps: list[_Step | Literal[_Unvisited.UNVISITED] | None] = []
        for index, site in enumerate(self._sites):
            step: _Step | Literal[_Unvisited.UNVISITED] | None = None
            if site is None:
                inert[index] = 1
            elif site is not _UNVISITED and site.is_plain:
                runner = runners[site.kind]
                if runner is None:
                    # It becomes dirty in the first round with a policy for its category.
                    inert[index] = 1
                elif site.kind.category in round.single_use_categories and _has_operand_with_other_uses(
                    site.op
                ):
                    step = _UNVISITED
                    later[index] = 1
                else:
                    step = _Step(site, runner, itemgetter(*site.slots), runner.known(site.rule))
            steps.append(step)
        dirty = self._with_new_policy(self._last_run, round, strategy)
        masks = (int.from_bytes(mask, "little") for mask in (inert, later))
        return _RoundAgain(steps, runners, dirty, *masks)

    def _propagate_results_again(self, strategy: Strategy) -> None:
        """The same as `_propagate_function_results`, with known updates."""
        steps = self._result_steps.get(strategy)
        if steps is None:
            runner = self._runner_of(StepKind(DirectionPolicy.BOTH, strategy))
            steps = self._result_steps[strategy] = [
                _Step(site, runner, itemgetter(*site.slots), runner.known(site.rule))
                for site in self._result_sites
            ]
        shardings = self.sharding_map.shardings
        for index in self._worklist.dirty_results():
            step = steps[index - len(self.ops)]
            before = step.read(shardings)
            updates = step.known.get(before)
            if updates is None:
                updates = step.known[before] = step.runner.updates(step.site.rule, before)
            self._update_result(step.site, updates)

    # --- Steps --------------------------------------------------------------------------------------

    def _runners(self, round: Round, strategy: Strategy) -> Runners:
        return {kind: self._runner_for(kind, round, strategy) for kind in SITE_KINDS}

    def _runner_for(self, kind: SiteKind, round: Round, strategy: Strategy) -> StepRunner | None:
        policy = round.policies[kind.category]
        if policy is None:
            return None
        return self._runner_of(StepKind(policy, strategy, kind.is_elementwise, kind.is_conservative))

    def _with_new_policy(self, last: tuple[Round, Strategy] | None, round: Round, strategy: Strategy) -> int:
        """The mask of the operations that propagate otherwise than in the last round."""
        mask = bytearray(len(self.ops) + len(self._result_sites))
        if last is None:
            return 0
        last_round, last_strategy = last
        for category, policy in round.policies.items():
            if strategy is not last_strategy or policy is not last_round.policies[category]:
                for index in self._indices_by_category[category]:
                    mask[index] = 1
        if strategy is not last_strategy:
            mask[len(self.ops) :] = b"\1" * len(self._result_sites)
        return int.from_bytes(mask, "little")

    def _updates(self, site: PropagationSite, runner: StepRunner) -> Updates:
        shardings = site.read(self.sharding_map.shardings)
        if site.conversion is not None:
            shardings = self._shardings(site)
            self._conversions += self._is_restarted
            if self._conversions > _MOST_CONVERSIONS * len(self.ops):
                raise EndlessPropagationError
        updates = runner.updates(site.rule, shardings)
        if updates and self._recorders:
            for recorder in self._recorders:
                recorder.record(site, runner, shardings)
        return updates

    def restart(self, shardings: Sequence[TensorSharding | None]) -> None:
        """Starts again from other shardings, by slot, at the sites that all rounds have visited."""
        self.sharding_map.restart(shardings)
        if self._without_site is None:
            mask = bytes([site is None for site in self._sites])
            self._without_site = int.from_bytes(mask, "little")
        self._worklist = Worklist(len(self.ops), len(self._result_sites))
        self._worklist.take_out(self._without_site)
        self._last_run = None
        self._is_restarted = True
        self._conversions = 0

    def rule(self, op: Op) -> OpShardingRule | None:
        """The rule by which an operation propagates."""
        return self._site_factory.rules[op.order]

    # --- Results of the main function -------------------------------------------------------------

    def _function_result_sites(self) -> list[PropagationSite]:
        function = main_function(self._module)
        if function.is_declaration:
            return []
        terminator = function.entry.last
        assert terminator is not None
        # A terminator other than a return may have more operands than the function has results.
        returned = terminator.operands[: len(function.result_attributes)]
        sites = [
            self._site_factory.function_result(function, index, value) for index, value in enumerate(returned)
        ]
        known = [site for site in sites if site is not None]
        for index, site in enumerate(known, len(self.ops)):
            self.sharding_map.add_reader(index, site.slots)
        return known

    def _propagate_function_results(self, strategy: Strategy) -> None:
        """Propagates between the returned values and the results of the main function; pushes nothing."""
        runner = self._runner_of(StepKind(DirectionPolicy.BOTH, strategy))
        for index in self._worklist.dirty_results():
            site = self._result_sites[index - len(self.ops)]
            self._update_result(site, self._updates(site, runner))

    def _update_result(self, site: PropagationSite, updates: Updates) -> None:
        for position, sharding in updates:
            if position == 1:
                self.set_sharding(site.slots[1], sharding)
            else:
                self._update(site, position, sharding, None)

    # --- Updates ----------------------------------------------------------------------------------

    def set_sharding(self, slot: int, sharding: TensorSharding) -> None:
        """Sets a sharding and marks the operations that read it dirty."""
        for changed in self.sharding_map.set(slot, sharding):
            for reader in self.sharding_map.readers(changed):
                self._worklist.mark_dirty(reader)

    def _update(
        self, site: PropagationSite, position: int, sharding: TensorSharding, visited: int | None
    ) -> None:
        """Sets the sharding of a value and of its sharding group.

        Pushes the operations that depend on them, except the visited one; none if no operation is visited.
        """
        slot = site.slots[position]
        converted = sharding
        if site.conversion is not None and position == len(site.slots) - 1:
            converted = site.conversion.from_source_side(sharding)
        if visited is not None and (effect := self._effects.get(slot)) is not None:
            self.sharding_map.shardings[slot] = converted
            self._worklist.take(visited, *effect)
            return
        if slot == UNSHARDABLE:
            return
        self.set_sharding(slot, converted)
        if visited is not None:
            self._push_dependents(slot, visited)
        value = self.sharding_map.subject(slot)
        assert not isinstance(value, FunctionResult)
        members = self._groups.members(value)
        is_alone = self.sharding_map.is_alone(slot) and all(member is value for member in members)
        if self._is_restarted and is_alone and visited is not None:
            self._effects[slot] = self.sharding_map.readers(slot), self._dependents[slot]
        for member in members:
            if member is value:
                continue
            other = self.sharding_map.slot(member)
            self.set_sharding(other, sharding)
            if visited is not None and other != UNSHARDABLE:
                self._push_dependents(other, visited)

    def _push_dependents(self, slot: int, visited: int) -> None:
        push = self._worklist.push
        dependents = self._dependents.get(slot)
        if dependents is None:
            dependents = self._dependents_of(slot)
            if self._is_restarted:
                self._dependents[slot] = dependents
        for indices in dependents:
            if indices[0] != visited:
                push(indices)

    def _dependents_of(self, slot: int) -> list[tuple[int, ...]]:
        """The indices of the operations that depend on a slot, and with it those of their parents."""
        value = self.sharding_map.subject(slot)
        assert not isinstance(value, FunctionResult)
        ops = self._dependent_ops.of_value(value)
        return [(op.order, *self._parents[op.parent]) for op in ops]

    def _parents_by_block(self) -> dict[Block | None, tuple[int, ...]]:
        """For each block, the indices of the parents to push with the operations in it.

        These are all parents except functions and operations with data-flow edges.
        """
        parents: dict[Block | None, tuple[int, ...]] = {self._module.block: ()}
        self._module.block.is_ordered = True
        for op in self.ops[1:]:
            if op.regions:
                outer = parents[op.parent]
                is_skipped = isinstance(op, FuncOp) or op.data_flow is not None
                for region in op.regions:
                    for block in region.blocks:
                        block.is_ordered = True
                        parents[block] = outer if is_skipped else (op.order, *outer)
        return parents

    # --- First visits, and erased operations ------------------------------------------------------

    def _visit(self, index: int) -> PropagationSite | None:
        """Creates the site of an operation, or erases the operation if it is dead."""
        op = self.ops[index]
        if is_trivially_dead(op):
            Rewriter(self).erase(op)
            self.changed = True
            return None
        if index in self._former_sites:
            former = self._sites[index] = self._former_sites.pop(index)
            return former
        site = self._sites[index] = self._site_factory.site(op)
        current = site
        while current is not None:
            self._indices_by_category[current.kind.category].append(index)
            self.sharding_map.add_reader(index, current.slots)
            current = current.fallback
        return site

    def erased(self, op: Op) -> None:
        """Pushes the operations that define its operands, because they may be dead now."""
        self._sites[op.order] = None
        for use in op.operand_uses:
            definition = use.value.defining_op
            if definition is not None and not has_two_other_users(use.value, op):
                self._revisit(definition)

    def _revisit(self, op: Op) -> None:
        index = op.order
        self._worklist.push((index, *self._parents[op.parent]))
        self._worklist.mark_dirty(index)
        site = self._sites[index]
        if site is not _UNVISITED:
            # A rule stays the same when users that it depends on are erased.
            self._former_sites[index] = site
            self._sites[index] = _UNVISITED

    def inserted(self, op: Op) -> None:
        """Nothing is inserted."""

    def modified(self, op: Op) -> None:
        """Only erased operations are reported; updates push their dependents themselves."""

    def replaced(self, op: Op, values: Sequence[Value]) -> None:
        """Nothing is replaced."""

    # --- Recording --------------------------------------------------------------------------------

    def start_priority(self, priority: int) -> None:
        """Records that the dimension shardings of a user priority are restored next."""
        if self._run_recorder is not None:
            self._run_recorder.start_priority(priority)

    def finish_recording(self) -> None:
        """Records how each operation propagates at the fixed point."""
        if self._run_recorder is None or self._last_run is None:
            return
        sites: list[tuple[PropagationSite, StepRunner | None, Shardings]] = []
        without_site = []
        for op, site in zip(self.ops, self._sites, strict=True):
            if op.parent is None or site is _UNVISITED:
                continue
            if site is None:
                without_site.append(op)
            while site is not None:
                runner = self._runner_for(site.kind, *self._last_run)
                sites.append((site, runner, self._shardings(site)))
                site = site.fallback
        runner = self._runner_of(StepKind(DirectionPolicy.BOTH, self._last_run[1]))
        sites += [(site, runner, self._shardings(site)) for site in self._result_sites]
        self._run_recorder.finish(sites, without_site, self.sharding_map.slots)

    def _shardings(self, site: PropagationSite) -> Shardings:
        """The input of a step at a site now."""
        shardings = site.read(self.sharding_map.shardings)
        conversion = site.conversion
        if conversion is not None and shardings[-1] is not None:
            shardings = (*shardings[:-1], conversion.to_source_side(shardings[-1]))
        return shardings

    # --- Writing ----------------------------------------------------------------------------------

    def write(self, rewriter: Rewriter, with_rules: bool) -> None:
        """Writes the shardings to the operations and, optionally, the rules by which they propagated."""
        rules = self._site_factory.rules
        self.sharding_map.write(rewriter, rules if with_rules else ())
        if not with_rules:
            return
        for op, rule in zip(self.ops, rules, strict=True):
            if rule is not None and op.parent is not None:
                rewriter.set_attributes(op, op.attributes.with_entry(SHARDING_RULE, rule))

    def copy(self, shardings: Sequence[TensorSharding | None], values: dict[Value, Value]) -> ModuleOp:
        """A copy of the module as `write` makes it, with shardings by slot. `values` gets the copies."""
        rewriter = Rewriter()
        copy = rewriter.clone(self._module, values)
        assert isinstance(copy, ModuleOp)
        copies = dict(zip(self._module.walk(), copy.walk(), strict=True))
        rules = self._site_factory.rules
        self.sharding_map.on_copy(copies, values, shardings).write(rewriter, rules)
        for op, rule in zip(self.ops, rules, strict=True):
            # What is in the region of an operation that is erased has no copy either.
            if rule is not None and (copied := copies.get(op)) is not None:
                rewriter.set_attributes(copied, copied.attributes.with_entry(SHARDING_RULE, rule))
        return copy


def _has_operand_with_other_uses(op: Op) -> bool:
    """Whether an operand that is not a scalar has more than one use."""
    for use in op.operand_uses:
        if use.prev_use is not None or use.next_use is not None:
            type = use.value.type
            if not (isinstance(type, RankedShapedType) and type.rank == 0):
                return True
    return False
