"""The propagation of shardings over a module, in rounds.

A round looks at every operation in order, and again at those that the reference's greedy driver would
look at again, in its order: what is told of a change goes on top of a stack, unless it waits there
already, or has not had its first turn in this round. Looking at an operation can only change something
if a sharding has changed that it reads, or its policy; so nearly all turns are skipped.

The driver also removes operations that are dead when it meets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.mesh_op import find_mesh
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.effects import is_trivially_dead
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import has_two_other_users
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import Value
from sdyopt.sharding.propagation.propagation_direction import Policy
from sdyopt.sharding.propagation.propagation_step import Changes, StepKind, Steps, Strategy

from ...common.support.main_function import main_function
from .debug_info import DebugInfoRecorder
from .dependent_ops import Uses
from .op_priorities import Flow, Round
from .propagation_sites import SITE_FLAGS, PropagationSite, PropagationSites
from .sharding_groups import ShardingGroups
from .sharding_map import NO_SHARDING, FunctionResult, ShardingMap


class PropagationDriver:
    """Everything that is known of a module while its shardings propagate."""

    def __init__(
        self,
        module: ModuleOp,
        groups: ShardingGroups,
        is_conservative: bool,
        recorder: DebugInfoRecorder | None = None,
    ) -> None:
        self.store = ShardingMap()
        self.changed = False
        self._module = module
        self._groups = groups
        self._uses = Uses(module)
        self._sites = PropagationSites(module, self.store, self._uses, is_conservative)
        self._steps = Steps(lambda mesh_or_ref: find_mesh(mesh_or_ref, module))
        self._recorder = recorder
        self._ops = [op for op in module.walk() if op is not module]
        self._index = {op: index for index, op in enumerate(self._ops)}
        # The site of each operation, once it has been met; None if it has none.
        self._site_at: list[PropagationSite | None] = [None] * len(self._ops)
        self._is_met = bytearray(len(self._ops))
        self._result_sites = self._sites_of_results()
        # Whether something that an operation reads has changed since it was last looked at.
        self._dirty = bytearray(b"\1") * len(self._ops)
        # The last operation that had its turn in this round, and those that wait for another one.
        self._turn = -1
        self._stack: list[int] = []
        self._is_waiting = bytearray(len(self._ops))
        # For each number in the store, whom to tell of a change.
        self._touched: dict[int, list[tuple[int, ...]]] = {}
        self._last: tuple[Round, Strategy] | None = None

    # --- Rounds -----------------------------------------------------------------------------------

    def run(self, round: Round, strategy: Strategy) -> None:
        """Propagates in one way until nothing changes, as far as the reference does."""
        kinds = [
            None if policy is None else StepKind(policy, strategy, *flags)
            for policy, flags in product(round.policies, SITE_FLAGS)
        ]
        self._revisit_changed_sites(round, strategy)
        self._propagate_results(strategy)
        self._turn = -1
        dirty, is_met, site_at = self._dirty, self._is_met, self._site_at
        while (index := self._next()) >= 0:
            site = site_at[index] if is_met[index] else self._visit(index)
            dirty[index] = 0
            while site is not None:
                kind = kinds[site.sort]
                if kind is None or (round.only_single_uses and site.flow <= Flow.SLICE and _shares(site.op)):
                    # There may be something to do in another round.
                    dirty[index] = 1
                    changes: Changes = ()
                else:
                    changes = self._changes(site, kind)
                for position, sharding in changes:
                    self._update(site, position, sharding, index)
                if changes and site.otherwise is not None:
                    self._dirty[index] = 1
                    self._push([index])
                site = None if changes else site.otherwise
        self._propagate_results(strategy)

    def _next(self) -> int:
        """The operation to look at next; negative if there is none left in this round."""
        stack, dirty = self._stack, self._dirty
        while stack:
            index = stack.pop()
            self._is_waiting[index] = 0
            if dirty[index]:
                return index
        index = dirty.find(1, self._turn + 1)
        self._turn = index if index >= 0 else len(dirty)
        return index

    def _revisit_changed_sites(self, round: Round, strategy: Strategy) -> None:
        """What was looked at in another way has to be looked at again."""
        last, self._last = self._last, (round, strategy)
        if last is None:
            return
        old_round, old_strategy = last
        differs = [
            strategy is not old_strategy or new is not old
            for new, old in zip(round.policies, old_round.policies, strict=True)
        ]
        for index, site in enumerate(self._site_at):
            if site is not None and differs[site.flow]:
                self._dirty[index] = 1

    def _changes(self, site: PropagationSite, kind: StepKind) -> Changes:
        shardings = self.store.shardings
        if site.to_view is not None or self._recorder is not None:
            return self._changes_in_full(site, kind)
        known = self._steps.known(kind)
        key = site.rule, site.read(shardings)
        found = known.get(key)
        if found is None:
            seen = [shardings[number] for number in site.numbers]
            found = known[key] = self._steps.changes(kind, site.rule, seen)
        return found

    def _changes_in_full(self, site: PropagationSite, kind: StepKind) -> Changes:
        seen = [self.store.shardings[number] for number in site.numbers]
        if site.to_view is not None and seen[-1] is not None:
            seen[-1] = site.to_view(seen[-1])
        step = self._steps.take(kind, site.rule, seen)
        if step is None or not step.changes:
            return ()
        if self._recorder is not None:
            self._recorder.record(site, step)
        return step.changes

    # --- Results of the main function -------------------------------------------------------------

    def _sites_of_results(self) -> list[PropagationSite]:
        function = main_function(self._module)
        if function.is_declaration:
            return []
        end = function.entry.last
        assert end is not None
        # A first block that ends with something else than a return may give more than there are results.
        returned = end.operands[: len(function.result_attributes)]
        sites = [self._sites.result(function, index, value) for index, value in enumerate(returned)]
        return [site for site in sites if site is not None]

    def _propagate_results(self, strategy: Strategy) -> None:
        """Lets shardings go between what the main function returns and its signature. Nobody is told."""
        kind = StepKind(Policy.BOTH, strategy)
        for site in self._result_sites:
            for position, sharding in self._changes(site, kind):
                if position == 1:
                    self.store.set(site.numbers[1], sharding)
                else:
                    self._update(site, position, sharding, None)

    # --- Changes ----------------------------------------------------------------------------------

    def set(self, number: int, sharding: TensorSharding) -> None:
        """Gives a value a sharding from outside. Who reads it will see that in the next round."""
        for changed in self.store.set(number, sharding):
            for reader in self.store.readers[changed]:
                self._dirty[reader] = 1

    def _update(self, site: PropagationSite, position: int, sharding: TensorSharding, by: int | None) -> None:
        """Changes the sharding of a value and its group for the operation `by`, and tells others of it."""
        number = site.numbers[position]
        if number == NO_SHARDING:
            return
        is_seen = site.from_view is not None and position == len(site.numbers) - 1
        self.set(number, site.from_view(sharding) if is_seen and site.from_view else sharding)
        if by is not None:
            self._push_dependent_ops(number, by)
        holder = self.store.holders[number]
        assert holder is not None and not isinstance(holder, FunctionResult)
        for member in self._groups.members(holder):
            if member is holder:
                continue
            other = self.store.number(member)
            self.set(other, sharding)
            if by is not None and other != NO_SHARDING:
                self._push_dependent_ops(other, by)

    def _push_dependent_ops(self, number: int, by: int) -> None:
        touched = self._touched.get(number)
        if touched is None:
            holder = self.store.holders[number]
            assert holder is not None and not isinstance(holder, FunctionResult)
            touched = self._touched[number] = [
                self._with_parents(op) for op in self._uses.ops_dependent_on(holder)
            ]
        for indices in touched:
            if indices and indices[0] != by:
                self._push(indices)

    def _push(self, indices: Sequence[int]) -> None:
        turn, waiting = self._turn, self._is_waiting
        for index in indices:
            if index <= turn and not waiting[index]:
                waiting[index] = 1
                self._stack.append(index)

    def _with_parents(self, op: Op) -> tuple[int, ...]:
        """The number of an operation, and of those around it over which shardings could propagate."""
        found = []
        here: Op | None = op
        while here is not None and here is not self._module:
            if here is op or not (isinstance(here, FuncOp) or here.data_flow is not None):
                found.append(self._index[here])
            here = here.parent_op
        return tuple(found)

    # --- First looks ------------------------------------------------------------------------------

    def _visit(self, index: int) -> PropagationSite | None:
        """Looks at an operation for the first time, and removes it if it is dead."""
        op = self._ops[index]
        if is_trivially_dead(op):
            Rewriter(self).erase(op)
            self.changed = True
            return None
        self._is_met[index] = 1
        site = self._site_at[index] = self._sites.site(op)
        if site is not None:
            more = () if site.otherwise is None else site.otherwise.numbers
            for number in dict.fromkeys((*site.numbers, *more)):
                self.store.readers[number].append(index)
        return site

    def erased(self, op: Op) -> None:
        """Forgets an operation, and looks again at those that made its operands: they may be dead now."""
        index = self._index[op]
        self._is_met[index], self._site_at[index] = 1, None
        for use in op.operand_uses:
            definition = use.value.defining_op
            if definition is not None and not has_two_other_users(use.value, op):
                self._revisit(definition)

    def _revisit(self, op: Op) -> None:
        index = self._index[op]
        self._push(self._with_parents(op))
        self._is_met[index], self._dirty[index] = 0, 1

    def inserted(self, op: Op) -> None:
        """Nothing is inserted."""

    def modified(self, op: Op) -> None:
        """What is modified is told to others as it happens."""

    def replaced(self, op: Op, values: Sequence[Value]) -> None:
        """Nothing is replaced."""

    # --- The end ----------------------------------------------------------------------------------

    def write(self, rewriter: Rewriter) -> None:
        """Gives the operations their shardings."""
        self.store.write(rewriter)

    def write_rules(self, rewriter: Rewriter) -> None:
        """Gives the operations the rules by which shardings went over them."""
        for op, rule in self._sites.rules:
            if op.parent is not None:
                rewriter.set_attribute(op, SHARDING_RULE, rule)


def _shares(op: Op) -> bool:
    """Whether some operand, scalars apart, has other uses."""
    return any(
        not value.has_one_use and not (isinstance(value.type, RankedShape) and value.type.rank == 0)
        for value in op.operands
    )
