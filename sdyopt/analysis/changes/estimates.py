"""An estimate of the seconds of a program after changes, from the prices of its operations.

    estimate = Estimate(program, prices, outcome)
    estimate.costs([change])       # of the program after each; None if it is not known

Shardings propagate as in a trial, but what operations send is looked up by their shardings. So an estimate
takes a twentieth of the time of a trial, and says whether it is worth one; the figures that are shown are
those of a trial.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress
from operator import is_not

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.outcome import PipelineOutcome
from sdyopt.analysis.changes.prices import Key, Price, Priced, Prices
from sdyopt.analysis.changes.propagated import Propagated
from sdyopt.analysis.figures.boundary import carried_results, is_of_argument, sent_between_steps
from sdyopt.analysis.figures.execution_counts import (
    CONTROL_FLOW,
    ExecutionCounts,
    entry_functions,
    functions_in,
    is_constant,
)
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.loop_invariants import is_invariant, loop_around, sum_over_iterations
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, sources_of_edge
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import FunctionResult
from sdyopt.shardy.repropagation import Shardings
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# Collectives of the program are the same after a change; what goes into and out of regions is resharded.
_UNPRICED: tuple[type[Op], ...] = (*CONTROL_FLOW, FuncOp, MeshOp, ModuleOp, *COLLECTIVES)


# So much is sure to be paid for what has no price yet.
_UNPRICED_YET = Price()
# So many products of a change are priced before the others.
_COSTLIEST = 3


# Shardings by slot, each equal to all that shard alike.
_Normal = list[TensorSharding | None]
# (sharding of a result, that of the donated argument that it becomes) -> bytes.
_SentBetweenSteps = Callable[[TensorSharding | None, TensorSharding | None], int]


class EstimatedCost(NamedTuple):
    """The seconds of a program, and those with whole tensors moved where activations are resharded.

    Both are with those between steps, for which `carried` bytes are sent; `flops` are those of a device. As a
    limit, it holds for all of these; 0 is no limit. `wire_bytes` are those that a device sends, and
    `adds_reshards` is whether activations are resharded that were not before.
    """

    seconds: Fraction
    at_most: Fraction = Fraction(0)
    carried: Fraction = Fraction(0)
    flops: Fraction = Fraction(0)
    wire_bytes: Fraction = Fraction(0)
    adds_reshards: bool = False

    def is_above(self, limit: EstimatedCost) -> bool:
        """Whether the seconds are not less than those of a limit, or the others are more."""
        is_slower = self.seconds >= limit.seconds or 0 < limit.at_most <= self.at_most
        return is_slower or 0 < limit.carried < self.carried or 0 < limit.flops < self.flops


class _Stage(Enum):
    """When items are priced: products, others that take time without a change, and what takes none.

    Before all of them, what a change may save at most is known, and then that of its costliest products.
    """

    NONE = auto()
    COSTLIEST = auto()
    PRODUCTS = auto()
    OTHERS = auto()
    LAST = auto()


class _Item(NamedTuple):
    """An operation, or a reshard of a value on its way into or out of a region or the program.

    What a loop computes or reshards may be done once, before or after it: `least_runs` is 1 if the operation
    may, and `once` has the operands whose reshard may. `is_returned`: it is a reshard of a result.
    `is_activation`: what it computes is no result, and is not computed in a region. `is_elementwise`: it
    computes each element from one of each operand.
    """

    priced: Priced
    kind: Hashable
    operands: tuple[Value, ...]
    slots: tuple[int, ...]
    runs: int
    is_predicted: bool
    least_runs: int
    once: frozenset[Value]
    is_activation: bool
    is_returned: bool = False
    is_elementwise: bool = False


class _Changed(NamedTuple):
    """The new keys of the items that have other shardings after a change.

    `costly` are those of them that are priced before the last stage, `fused` the seconds by which
    elementwise operations take longer, and `carried` the bytes that are sent more between steps.
    """

    keys: Mapping[int, Key]
    costly: Sequence[int]
    fused: float
    carried: int


class _More(NamedTuple):
    """What a changed program takes more: seconds, those to move whole tensors, FLOPs, and bytes to send."""

    seconds: float
    moving: float
    flops: float
    wire_bytes: float
    adds_reshards: bool


class _Reshards(NamedTuple):
    """What the reshards of a value take. `of_activations` has the shardings of those of an activation."""

    seconds: float
    whole: float
    wire_bytes: float
    of_activations: frozenset[object]


class Estimate:
    """Estimates of the seconds of a program after changes, beyond those made, with the shardings `before`."""

    def __init__(
        self,
        program: Propagated,
        prices: Prices,
        outcome: PipelineOutcome,
        counts: ExecutionCounts,
        made: Sequence[Change],
        before: Shardings,
    ) -> None:
        self._program = program
        self._made = made
        self._before = before
        self._outcome = outcome
        self._prices = prices
        self._closed: dict[TensorSharding, TensorSharding | None] = {}
        self._counts = counts
        self._shapes = LocalShapes(program.module)
        self._normal_before = list(map(self._normal, before))
        self._items = list(self._all_items())
        self._items_of: dict[int, list[int]] = {}
        self._users: dict[Value, list[int]] = {}
        self._activations: dict[Value, bool] = {}
        for number, item in enumerate(self._items):
            for slot in dict.fromkeys(item.slots):
                self._items_of.setdefault(slot, []).append(number)
            for value in dict.fromkeys(item.operands):
                self._users.setdefault(value, []).append(number)

    @cached_property
    def _keys_before(self) -> list[Key]:
        keys = [_key(item, self._normal_before) for item in self._items]
        self._prices.find({key: item.priced for key, item in zip(keys, self._items, strict=True)})
        return keys

    def costs(
        self, changes: Sequence[Change], limit: EstimatedCost | None = None
    ) -> list[EstimatedCost | None]:
        """The cost of the program after each of several changes; None if it is not known.

        If it is above `limit`, it may be what the program costs at least.
        """
        before, figures = self._keys_before, self._outcome.figures
        results: list[EstimatedCost | None] = [None] * len(changes)
        left = {
            number: changed
            for number, change in enumerate(changes)
            if (changed := self._after(change)) is not None
        }
        # What costs most is priced first: then most changes take too long, whatever the others cost.
        for stage in _Stage:
            asked: dict[Key, Priced] = {}
            for changed in left.values():
                items = self._asked(stage, changed)
                asked.update((changed.keys[item], self._items[item].priced) for item in items)
            self._prices.find(asked)
            for number, changed in list(left.items()):
                more = self._more(before, changed, stage)
                cost = None
                if more is not None:
                    carried = Fraction(changed.carried)
                    carrying = carried * self._prices.seconds_between_steps(self._outcome.report.mesh)
                    seconds = figures.of_step + Fraction(more.seconds) + carrying
                    cost = EstimatedCost(
                        seconds,
                        seconds + figures.penalty + Fraction(more.moving),
                        figures.carried + carried,
                        figures.flops + Fraction(more.flops),
                        figures.wire_bytes + Fraction(more.wire_bytes),
                        more.adds_reshards,
                    )
                if stage is _Stage.LAST or (limit is not None and cost is not None and cost.is_above(limit)):
                    results[number] = cost
                    del left[number]
        return results

    def _asked(self, stage: _Stage, changed: _Changed) -> Iterable[int]:
        """The items of a change that are priced at a stage."""
        stages, seconds = self._stages
        if stage is _Stage.LAST:
            return changed.keys
        if stage is not _Stage.COSTLIEST:
            return [number for number in changed.costly if stages[number] is stage]
        products = [number for number in changed.costly if stages[number] is _Stage.PRODUCTS]
        return sorted(products, key=lambda number: -seconds[number])[:_COSTLIEST]

    @cached_property
    def _stages(self) -> tuple[list[_Stage], list[float]]:
        """The stage of each item, and the seconds that it takes without a change."""
        stages: list[_Stage] = []
        seconds: list[float] = []
        for item, key in zip(self._items, self._keys_before, strict=True):
            price = self._prices.of[key]
            is_priced = price.own or price.reshards
            is_product = type(item.priced.op) in FLOPS
            stages.append(_Stage.PRODUCTS if is_product else _Stage.OTHERS if is_priced else _Stage.LAST)
            seconds.append(item.runs * price.own)
        return stages, seconds

    def _after(self, change: Change) -> _Changed | None:
        """What has other shardings after a change; None if the shardings do not say what it costs."""
        if change.of_sharding is not None and not self._made:
            after = self._program.with_each(change.of_sharding)
        else:
            after = None if is_unpredicted(change) else self._program.shardings([*self._made, change])
        if after is None:
            return None
        items: dict[int, None] = {}
        normal = self._normal_before.copy()
        different = bytes(map(is_not, self._before, after))
        for slot in compress(range(len(different)), different):
            new = self._normal(after[slot])
            if new is not normal[slot]:
                normal[slot] = new
                items.update(dict.fromkeys(self._items_of.get(slot, ())))
        if not items and not all(self._program.is_equal(edit, after) for edit in change.edits):
            return None
        size, keys = 0, {}
        for number in items:
            item = self._items[number]
            keys[number] = _key(item, normal)
            if item.is_elementwise:
                size += item.runs * (self._bytes(item, normal) - self._bytes(item, self._normal_before))
        costly = [number for number in keys if self._stages[0][number] is not _Stage.LAST]
        more_carried = sum(
            sent(after[result], after[argument]) - sent(self._before[result], self._before[argument])
            for sent, result, argument in self._donated
            if different[result] or different[argument]
        )
        return _Changed(keys, costly, size * self._seconds_of_byte, more_carried)

    def _more(self, before: Sequence[Key], changed: _Changed, stage: _Stage) -> _More | None:
        """What the program takes more after a change, items without a price left out.

        It takes at least that: what may be done once in place of in each iteration of a loop counts once.
        None if items send otherwise where more than an operation decides: in a manual computation, for
        partial sums, and for custom calls.
        """
        more, moving, flops, sent, keys = changed.fused, 0.0, 0.0, 0.0, changed.keys
        adds_reshards = False
        values: dict[Value, None] = {}
        for number in keys if stage is _Stage.LAST else changed.costly:
            key = keys[number]
            item, old, new = self._items[number], self._prices.of[before[number]], self._price(key)
            if old != new and not (item.is_predicted and _are_reduced(before[number]) and _are_reduced(key)):
                return None
            more += item.least_runs * new.own - item.runs * old.own
            moving += item.is_activation * new.whole - item.runs * old.whole
            flops += item.least_runs * new.flops - item.runs * old.flops
            sent += item.least_runs * new.wire_bytes - item.runs * old.wire_bytes
            adds_reshards |= item.is_activation and new.whole > 0 and new != old
            for reshard in (*old.reshards, *new.reshards):
                values[item.operands[reshard.position]] = None
        for value in values:
            was = self._of_reshards(value, before, {}, at_least=False)
            now = self._of_reshards(value, before, keys, at_least=True)
            more += now.seconds - was.seconds
            moving += now.whole - was.whole
            sent += now.wire_bytes - was.wire_bytes
            adds_reshards |= not now.of_activations <= was.of_activations
        return _More(more, moving, flops, sent, adds_reshards)

    def _price(self, key: Key) -> Price:
        return self._prices.of.get(key, _UNPRICED_YET)

    def _of_reshards(
        self, value: Value, before: Sequence[Key], keys: Mapping[int, Key], *, at_least: bool
    ) -> _Reshards:
        """What the reshards of a value take, those that are equal once.

        A reshard moves no whole tensor if the value is an argument, or if its result is one of the program.
        """
        seconds: defaultdict[TensorSharding, float] = defaultdict(float)
        whole: defaultdict[TensorSharding, float] = defaultdict(float)
        sent: defaultdict[TensorSharding, float] = defaultdict(float)
        pairs: set[object] = set()
        returned: list[TensorSharding] = []
        for number in self._users[value]:
            item, key = self._items[number], keys.get(number, before[number])
            runs = 1 if at_least and value in item.once else item.runs
            is_moved = item.is_activation or not at_least
            for position, target, of_reshard, moving, size in self._price(key).reshards:
                if item.operands[position] is value:
                    seconds[target] = max(seconds[target], runs * of_reshard)
                    whole[target] = max(whole[target], is_moved * runs * moving)
                    sent[target] = max(sent[target], runs * size)
                    pairs.add((key[1][position], target))
                    returned += [target] * item.is_returned
        moved = sum(size for target, size in whole.items() if target not in returned)
        if not moved or not self._is_activation(value):
            moved = 0.0
            pairs.clear()
        return _Reshards(sum(seconds.values()), moved, sum(sent.values()), frozenset(pairs))

    def _is_activation(self, value: Value) -> bool:
        if value not in self._activations:
            self._activations[value] = not is_of_argument(value)
        return self._activations[value]

    @cached_property
    def _seconds_of_byte(self) -> float:
        """The seconds of elementwise operations, by a byte of their results."""
        time = self._outcome.report.time
        fused = None if time is None or time.elementwise is None else time.elementwise[0]
        written = sum(
            item.runs * self._bytes(item, self._normal_before) for item in self._items if item.is_elementwise
        )
        if not fused or not written:
            return 0.0
        # What takes longer than to read and write a result, as the start of a kernel, does not grow with it.
        return min(float(fused) / written, self._prices.seconds_of_byte)

    @cached_property
    def _donated(self) -> list[tuple[_SentBetweenSteps, int, int]]:
        """The slots of results and of the donated arguments that they become, and what is sent for each."""
        slot = self._program.again.slot
        donated: list[tuple[_SentBetweenSteps, int, int]] = []
        for function in entry_functions(functions_in(self._program.module)):
            carried = {} if function.is_declaration else carried_results(function)
            for index, number in carried.items():
                argument = function.entry.arguments[index]
                sent = partial(sent_between_steps, self._shapes, argument.type)
                donated.append((sent, slot(FunctionResult(function, number)), slot(argument)))
        return donated

    def _bytes(self, item: _Item, normal: _Normal) -> int:
        return self._shapes.bytes_of(item.priced.type, normal[item.slots[-1]]) or 0

    # --- Items --------------------------------------------------------------------------------------

    def _all_items(self) -> Iterator[_Item]:
        slot = self._program.again.slot
        # Manual computations, and what has regions in them.
        manual: set[Op | None] = set()
        for op in self._program.module.walk():
            times = self._counts.times(op)
            runs = 1 if times is None else times.high
            if op.regions and (isinstance(op, ManualComputationOp) or op.parent_op in manual):
                manual.add(op)
            # Whether the operation alone decides what is sent for it.
            is_predicted = not isinstance(op, CustomCallOp | FftOp) and op.parent_op not in manual
            if isinstance(op, DataFlowEdgeOp):
                for use in sources_of_edge(op) or ():
                    yield self._reshard(op, use.value, slot(op.result), runs, is_predicted, is_once=True)
            elif isinstance(op, ReturnOp):
                yield from self._returned(op)
            elif isinstance(op, _UNPRICED) or not (_is_of_program(op) and op.operands):
                continue
            elif isinstance(op, ShardingConstraintOp):
                is_once = op.input in self._done_once(op)
                yield self._reshard(op, op.input, slot(op.results[0]), runs, is_predicted, is_once=is_once)
            else:
                yield self._item(op, runs, is_predicted)

    def _item(self, op: Op, runs: int, is_predicted: bool) -> _Item:
        constants = tuple(
            [value.defining_op if _is_constant(value.defining_op) else None for value in op.operands]
        )
        values = (*op.operands, *op.results)
        slots = tuple(map(self._program.again.slot, values))
        priced = Priced(op, self._program.again.rule(op), constants, values[-1].type)
        operands, once = tuple(op.operands), self._done_once(op)
        least_runs = 1 if all(value in once for value in operands) else runs
        return _Item(
            priced,
            priced.kind(),
            operands,
            slots,
            runs,
            is_predicted,
            least_runs,
            once,
            _is_activation(op),
            is_elementwise=is_elementwise(op.signature),
        )

    def _reshard(
        self, op: Op, value: Value, target: int, runs: int, is_predicted: bool, *, is_once: bool
    ) -> _Item:
        slots = self._program.again.slot(value), target
        priced = Priced(None, None, (None,), value.type)
        once, least_runs = (frozenset((value,)), 1) if is_once else (frozenset[Value](), runs)
        is_returned, is_activation = isinstance(op, ReturnOp), _is_activation(op)
        return _Item(
            priced,
            priced.kind(),
            (value,),
            slots,
            runs,
            is_predicted,
            least_runs,
            once,
            is_activation,
            is_returned,
        )

    def _done_once(self, op: Op) -> frozenset[Value]:
        """The operands whose reshard may leave a loop: those that do not change, or all for a sum."""
        loop = loop_around(op, self._counts)
        if loop is None:
            return frozenset()
        if any(sum_over_iterations(result, loop) is not None for result in op.results):
            return frozenset(op.operands)
        return frozenset(value for value in op.operands if is_invariant(value, loop, self._counts))

    def _returned(self, op: ReturnOp) -> Iterator[_Item]:
        function = op.parent_op
        if not isinstance(function, FuncOp):
            return
        for index, value in enumerate(op.operands):
            if target := self._program.again.slot(FunctionResult(function, index)):
                yield self._reshard(op, value, target, 1, True, is_once=True)

    def _normal(self, sharding: TensorSharding | None) -> TensorSharding | None:
        """A sharding that is equal for all that shard alike."""
        if sharding is None:
            return None
        if sharding not in self._closed:
            is_none = sharding.is_fully_replicated and not sharding.unreduced_axes
            self._closed[sharding] = None if is_none else sharding.closed()
        return self._closed[sharding]


def _key(item: _Item, normal: _Normal) -> Key:
    return item.kind, tuple([normal[slot] for slot in item.slots])


def _are_reduced(key: Key) -> bool:
    """Whether no sharding has partial sums."""
    return not any(sharding and sharding.unreduced_axes for sharding in key[1])


def is_unpredicted(change: Change) -> bool:
    """Whether a change does more than edit annotations."""
    return change.rewrite is not None or change.passes is not None


def _is_of_program(op: Op) -> bool:
    """Whether an operation is not of the computation of another, such as a reduction."""
    return isinstance(op.parent_op, (*CONTROL_FLOW, FuncOp))


def _is_activation(op: Op) -> bool:
    """Whether what an operation computes is no result of its function, and is not computed in a region."""
    return isinstance(op.parent_op, FuncOp) and not any(
        isinstance(user, ReturnOp) for result in op.results for user in result.users
    )


def _is_constant(op: Op | None) -> bool:
    """Whether an operation is a constant, or a broadcast of one: each device makes what it needs of it."""
    if isinstance(op, BroadcastInDimOp):
        op = op.operand_at(0).defining_op
    return op is not None and is_constant(type(op))
