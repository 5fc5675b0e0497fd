"""The figures of a program, and the effect of a change that was tried: its two verdicts.

effect = Effect(before, after)     # figures of the program without and with the change
effect.is_worse                    # a figure becomes worse, so that help says what it costs
effect.is_conflict_free            # no activation is resharded then, so that partitioners send the same
effect.holds                       # or in no new way; or it sends less even if XLA moves whole tensors
effect.text                        # -16 B sent, +2 B memory
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from sdyopt.analysis.figures.boundary import is_of_argument, is_result_reshard
from sdyopt.analysis.figures.causes import consumers, producer
from sdyopt.analysis.figures.execution_counts import NONE_ASSUMED, AssumedTrips
from sdyopt.analysis.figures.figures import Collective, Report, TimeEstimate, axis_sizes
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.local_shapes import LocalShapes, bytes_of
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import Topology, assumed_topology
from sdyopt.analysis.figures.totals import flop_totals, time_totals, useful_share
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp, CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult

# A change of a figure by a smaller share is noise.
NOISE = Fraction(1, 100)
# A gain that XLA may turn into a loss is worth the risk if it is this share of what is sent, and one with
# which activations are resharded, if it is the other.
_LEAST_RISKY, LEAST_UNSURE = Fraction(1, 4), Fraction(1, 10)


T = TypeVar("T")


class Measure(Enum):
    """A figure that a change is meant to reduce, in the words after its amount."""

    WIRE = "on the wire"
    MEMORY = "of peak memory"
    FLOPS = "of compute"


class ActivationReshard(NamedTuple):
    """A reshard of an activation: the bytes that a device sends in all runs, and of the whole tensor."""

    kind: str
    axes: str
    operands: tuple[str, ...]
    sent: Fraction
    whole: Fraction


class Figures(NamedTuple):
    """The figures that advice compares. Bytes are those of one device.

    `seconds` are those of collectives, products and elementwise operations, which are fused and do not
    overlap; `compute` are those without collectives. `penalty` are the seconds that reshards of activations
    may take if a partitioner moves whole tensors instead, and `of_results` the wire bytes of results that are
    resharded. `sliced` are the bytes of arguments of which a
    product takes a slice, where a partitioner may rather gather the other operand. `carried` are the bytes
    that are sent between two steps at most, because results are sharded otherwise than the donated arguments
    that they become, and `carrying` the seconds for them. `reshards` are those of activations. `latency`
    are those of the seconds that pass whatever is sent.
    """

    seconds: Fraction
    compute: Fraction
    flops: Fraction
    wire_bytes: Fraction
    peak_bytes: int
    useful_share: Fraction | None
    penalty: Fraction
    of_results: Fraction
    sliced: int
    carried: int
    carrying: Fraction
    reshards: tuple[ActivationReshard, ...] = ()
    latency: Fraction = Fraction(0)

    @property
    def conflicts(self) -> Fraction:
        """The wire bytes of activations that are resharded."""
        return sum((reshard.sent for reshard in self.reshards), Fraction(0))

    @property
    def of_step(self) -> Fraction:
        """The seconds with those between steps."""
        return self.seconds + self.carrying

    def at_most(self, moves_whole: bool) -> Fraction:
        """The seconds with those between steps; if a partitioner may move whole tensors, with the penalty."""
        return self.of_step + (self.penalty if moves_whole else 0)

    def measured(self, measure: Measure) -> Fraction:
        """One of the figures."""
        if measure is Measure.WIRE:
            return self.wire_bytes
        return Fraction(self.peak_bytes) if measure is Measure.MEMORY else self.flops


class Effect(NamedTuple):
    """The figures of a program before and after a change that was tried."""

    before: Figures
    after: Figures

    @property
    def is_conflict_free(self) -> bool:
        """Whether partitioners send the same after the change.

        Then it reshards no activation, no more of results, and slices no more of arguments for a product.
        """
        before, after = self.before, self.after
        return not after.conflicts and after.of_results <= before.of_results and after.sliced <= before.sliced

    @property
    def adds_no_reshards(self) -> bool:
        """Whether no activation is resharded that was not before, and no more of results and for products."""
        before, after = self.before, self.after
        is_new = Counter(after.reshards) - Counter(before.reshards)
        return not is_new and after.of_results <= before.of_results and after.sliced <= before.sliced

    @property
    def wire_bytes_at_most(self) -> Fraction | None:
        """The bytes that a device sends if whole tensors of new reshards are moved; None if none are new.

        A partitioner does the reshards of activations that were there before as it did them before.
        """
        old, new = Counter(self.before.reshards), Counter(self.after.reshards)
        if old == new:
            return None
        more = sum((element.whole - element.sent for element in (new - old).elements()), Fraction(0))
        return self.after.wire_bytes + more

    @property
    def is_of_reshards(self) -> bool:
        """Whether most of a gain on the wire is of reshards of activations, which may not be done."""
        fewer = self.before.conflicts - self.after.conflicts
        return 2 * fewer > self.saved(Measure.WIRE) > 0

    @property
    def holds(self) -> bool:
        """Whether no partitioner can turn a gain into a loss, not even by moving whole tensors."""
        before, after = self.before, self.after
        if (at_most := self.wire_bytes_at_most) is not None:
            return at_most < before.wire_bytes
        return after.of_results <= before.of_results and after.sliced <= before.sliced

    def is_worth_it(self, is_indexed: bool = False, frees: bool = False, is_new: bool = False) -> bool:
        """Whether a gain on the wire, if there is one, is larger than what estimates may be wrong by.

        `is_indexed`: the change is of what a gather or scatter takes or gives, which XLA does in other ways.
        `frees`: a partitioner chooses what was constrained, which is not what propagation chooses for it.
        `is_new`: nothing is constrained there, and a partitioner may choose so without a constraint.
        """
        saved, sent = self.saved(Measure.WIRE), self.before.wire_bytes
        may_be_chosen = frees or (is_new and self.is_of_reshards)
        if saved <= NOISE * sent or (self.adds_no_reshards and not is_indexed and not may_be_chosen):
            return True
        return saved >= (LEAST_UNSURE if self.holds and not is_indexed else _LEAST_RISKY) * sent

    @property
    def text(self) -> str:
        """`-1.00 GiB sent, +2.00 GiB memory`, and what that depends on if partitioners may differ."""
        return self.figures_text if self.holds else f"{self.figures_text}; XLA may send more"

    @property
    def figures_text(self) -> str:
        """`-1.00 GiB sent, +2.00 GiB memory`: what changes by more than noise, without the risk."""
        before, after, saved = self.before, self.after, self.saved(Measure.WIRE)
        text = f"{_difference(-saved)} sent" if saved else "as much sent"
        if (memory := -self.saved(Measure.MEMORY)) and abs(memory) >= NOISE * before.peak_bytes:
            text += f", {_difference(memory)} memory"
        carried = Fraction(after.carried - before.carried)
        if carried and abs(carried) >= NOISE * before.wire_bytes:
            text += f", {_difference(carried)} between steps"
        if saved <= 0 and (faster := self.faster) > 0:
            # Why it pays although no less is sent.
            text += f", -{faster}% time"
        if before.flops and (flops := round(100 * (after.flops / before.flops - 1))):
            text += f", {flops:+}% FLOPs"
        return text

    @property
    def faster(self) -> int:
        """The percentage of the time that the change saves."""
        return round(100 * (1 - self.after.seconds / self.before.seconds)) if self.before.seconds else 0

    @property
    def is_worse(self) -> bool:
        """Whether the changed program sends more, also between steps, takes more memory or computes more."""
        return self.cost[0] > 0 or self.after.carried > self.before.carried

    @property
    def cost(self) -> tuple[int, Fraction, int]:
        """The sort key of changes: how many figures become worse, the bytes sent, the peak memory."""
        after = self.after
        worse = sum(self.saved(measure) < 0 for measure in Measure)
        return worse, after.wire_bytes + after.carried, after.peak_bytes

    def saved(self, measure: Measure) -> Fraction:
        """By how much less one device sends, stores or computes; negative if it is more."""
        return self.before.measured(measure) - self.after.measured(measure)


def best_of(pairs: Sequence[tuple[T, Effect]], measure: Measure) -> tuple[T, Effect]:
    """What saves most; first, what holds and saves half as much or more."""
    most = max(effect.saved(measure) for _, effect in pairs)

    def preference(pair: tuple[T, Effect]) -> tuple[bool, Fraction]:
        saved = pair[1].saved(measure)
        return pair[1].holds and 2 * saved >= most, saved

    return max(pairs, key=preference)


def _difference(size: Fraction) -> str:
    return f"{'+' if size > 0 else '-'}{bytes_text(abs(size))}"


class CostedProgram:
    """A module that no longer changes, and its figures. `machine` is the one that times are for."""

    def __init__(
        self, module: Op, machine: Topology | None = None, assumed: AssumedTrips = NONE_ASSUMED
    ) -> None:
        self.module = module
        self._assumed = assumed
        self._machine = machine or assumed_topology()

    @cached_property
    def report(self) -> Report:
        """The report on the program, which has all figures."""
        return report_on(self.module, self._machine, self._assumed)

    @cached_property
    def figures(self) -> Figures:
        """The figures that changes are compared by."""
        return figures_of(self.report, self.module, self._machine)

    @property
    def wire_bytes(self) -> Fraction:
        """The wire bytes of one device in one run of the program, as far as they are known."""
        return bytes_of_report(self.report)

    @cached_property
    def shapes(self) -> LocalShapes:
        return LocalShapes(self.module)

    @cached_property
    def text(self) -> str:
        """The program as text, without locations."""
        return print_op(self.module)


def bytes_of_runs(collective: Collective) -> Fraction:
    """Wire bytes of one device in all runs of a collective, in one run if their number is unknown."""
    runs = 1 if collective.times is None else collective.times.high
    return (collective.wire_bytes or Fraction(0)) * runs


def bytes_of_report(report: Report) -> Fraction:
    """Wire bytes of one device, those of loops that run an unknown number of times for one iteration."""
    return sum(map(bytes_of_runs, report.collectives), Fraction(0))


def figures_of(report: Report, module: Op, machine: Topology) -> Figures:
    """The figures of a program after the passes."""
    time = report.time or time_estimate(report, machine)
    communication, products = time_totals(report, time)
    fused, _ = time.elementwise or (Fraction(0), Fraction(0))
    penalty = of_results = latency = Fraction(0)
    sliced, reshards = 0, []
    topology = machine.on(report.mesh)
    collectives = zip(counted_collectives(module), report.collectives, time.collectives, strict=True)
    for op, collective, timed in collectives:
        runs = 1 if collective.times is None else collective.times.high
        bandwidth = topology.link(collective.axis_names).bandwidth
        if timed.seconds and collective.wire_bytes and bandwidth is not None:
            latency += (timed.seconds - collective.wire_bytes / bandwidth) * runs
        if isinstance(op, CollectiveOp) and is_result_reshard(op):
            of_results += bytes_of_runs(collective)
        if isinstance(op, AllSliceOp) and is_of_argument(producer(op)) and _is_for_product(op):
            sliced += collective.bytes_in or 0
        if collective.wire_bytes and collective.is_activation:
            sent, whole = bytes_of_runs(collective), Fraction(_global_bytes(op) * runs)
            reshards.append(
                ActivationReshard(collective.kind, collective.axes, collective.local_operands, sent, whole)
            )
            if bandwidth is not None:
                penalty += whole / bandwidth
    carried = sum(carried.wire_bytes or 0 for carried in report.carried)
    sending, computing = seconds_of_unknown_loops(report, time)
    compute = products.high + computing + fused
    return Figures(
        communication.high + sending + compute,
        compute,
        flop_totals(report)[0].high,
        bytes_of_report(report),
        report.memory.peak,
        useful_share(report),
        penalty,
        of_results,
        sliced,
        carried,
        carried * seconds_between_steps(topology, report.mesh),
        tuple(reshards),
        latency,
    )


def seconds_between_steps(topology: Topology, mesh: str) -> Fraction:
    """The seconds of a byte that is sent between steps, along the slowest link; 0 if that is not known."""
    slowest = topology.link(topology.links or axis_sizes(mesh)).bandwidth
    return 1 / slowest if slowest else Fraction(0)


def seconds_of_unknown_loops(report: Report, time: TimeEstimate) -> tuple[Fraction, Fraction]:
    """The seconds of one run of collectives and products that run an unknown number of times."""
    collectives = zip(report.collectives, time.collectives, strict=True)
    products = zip(report.products, time.products, strict=True)
    sending = (timed.seconds or Fraction(0) for collective, timed in collectives if collective.times is None)
    computing = (timed.seconds or Fraction(0) for product, timed in products if product.times is None)
    return sum(sending, Fraction(0)), sum(computing, Fraction(0))


def _is_for_product(op: Op) -> bool:
    return any(type(user) in FLOPS for user in consumers(op))


def _global_bytes(op: Op) -> int:
    return bytes_of(op.result_types[0]) or 0


def is_indexed(subject: object) -> bool:
    """Whether a value is what a gather or scatter takes or gives, other than one in each batch.

    Compilers do one in each batch, such as `jnp.take_along_axis`, as it is estimated.
    """
    if not isinstance(subject, OpResult):
        return False
    made = [subject.op, *(value.op for value in subject.op.operands if isinstance(value, OpResult))]
    near = made if isinstance(subject.op, ShardingConstraintOp) else made[:1]
    return any(map(_has_no_batches, (*near, *subject.users)))


def _has_no_batches(op: Op) -> bool:
    """Whether an operation is a gather or scatter without dimensions of batches."""
    if isinstance(op, GatherOp):
        return not op.dimension_numbers.operand_batching_dims
    return isinstance(op, ScatterOp) and not op.scatter_dimension_numbers.input_batching_dims
