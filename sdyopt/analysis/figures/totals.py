"""The totals of a report: the sums of its figures over all runs of operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from sdyopt.analysis.figures.figures import Collective, Product, Report, RunTimes, TimeEstimate
from sdyopt.analysis.figures.source_locations import Phase
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.dataclasses import dataclass


@dataclass(slots=True)
class Total:
    """The sum of figures (bytes, FLOPs or seconds) over all runs, which is between `low` and `high`.

    Of the `count` figures, `unknown` are unknown and not included. Of some of these, the sum in one iteration
    of the loops of unknown trip count is known: `per_iteration`, of `in_loops` figures.
    """

    count: int = 0
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    unknown: int = 0
    per_iteration: Fraction = Fraction(0)
    in_loops: int = 0

    def add(self, figure: Fraction | int | None, low: int | None, high: int | None) -> None:
        """Adds a figure that counts at least `low` and at most `high` times; None stands for unknown."""
        self.count += 1
        if figure is None or low is None or high is None:
            self.unknown += 1
        elif low == high and self.low == self.high:
            # Most totals are no ranges, and arithmetic of fractions is slow.
            self.low = self.high = self.high + (figure if high == 1 else figure * high)
        else:
            self.low += figure * low
            self.high += figure * high

    def add_runs(self, figure: Fraction | int | None, collective: Collective | Product) -> None:
        low, high = (
            (None, None) if collective.times is None else (collective.times.low, collective.times.high)
        )
        self.add(figure, low, high)
        if figure is not None and collective.times is None and collective.per_iteration is not None:
            self.per_iteration += figure * collective.per_iteration.high
            self.in_loops += 1


def phase_totals(report: Report) -> dict[Phase, Total]:
    """Wire bytes of one device over all runs, by the part of a training step, in the order of a step.

    Empty without gradients.
    """
    totals_by_name = wire_totals(report.collectives, lambda collective: collective.location.phase)
    return (
        {phase: totals_by_name[phase] for phase in Phase if phase in totals_by_name}
        if Phase.BACKWARD in totals_by_name
        else {}
    )


def wire_totals(collectives: Iterable[Collective], key: Callable[[Collective], str]) -> dict[str, Total]:
    """Wire bytes of one device over all runs, by a key of the collectives, the largest first."""
    totals_by_name: dict[str, Total] = {}
    for collective in collectives:
        totals_by_name.setdefault(key(collective), Total()).add_runs(collective.wire_bytes, collective)
    return dict(sorted(totals_by_name.items(), key=lambda entry: (-entry[1].high, -entry[1].count, entry[0])))


def wire_bytes_of_runs(collective: Collective) -> Fraction | None:
    """Wire bytes of one device over all runs of a collective, as often as it may run; None if unknown."""
    if collective.wire_bytes is None or collective.times is None:
        return None
    return collective.wire_bytes * collective.times.high


def wire_total(report: Report) -> Total:
    """Wire bytes of one device in one run of the program."""
    return wire_totals(report.collectives, lambda _: "").get("", Total())


def activation_total(report: Report) -> Total:
    """Wire bytes of the collectives that reshard activations."""
    collectives = [collective for collective in report.collectives if collective.is_activation]
    return wire_totals(collectives, lambda _: "").get("", Total())


def time_range(report: Report, estimate: TimeEstimate) -> tuple[Fraction, Fraction]:
    """The seconds of a run: if communication overlaps with all else, and if nothing overlaps.

    What the compiler runs alone never overlaps. At most, products are as slow as in whole steps.
    """
    communication, compute = time_totals(report, estimate)
    fused, alone = estimate.elementwise or (Fraction(0), Fraction(0))
    exposed = Total()
    for collective, timed in zip(report.collectives, estimate.collectives, strict=True):
        if not runs_beside(report, collective):
            exposed.add_runs(timed.seconds, collective)
    least = exposed.high + max(communication.high - exposed.high, compute.high + fused)
    return least, communication.high + compute.high * estimate.slower + alone


def runs_beside(report: Report, collective: Collective) -> bool:
    """Whether the compiler of the machine runs a collective of this kind beside products."""
    if not report.compiler or CompilerBehavior.ALL_KINDS_BESIDE.holds(report.compiler):
        return True
    return collective.kind in _BESIDE


# The kinds that all compilers run beside products.
_BESIDE = ("all_gather", "collective_permute")


def flop_totals(report: Report) -> tuple[Total, Total]:
    """FLOPs of one device, and of the global operations, in one run of the program."""
    local, whole = Total(), Total()
    for product in report.products:
        local.add_runs(product.flops, product)
        whole.add_runs(product.global_flops, product)
    return local, whole


def useful_share(report: Report) -> Fraction | None:
    """Global FLOPs over the FLOPs of all devices, below 1 if they repeat work or pad; None if unknown."""
    local, whole = flop_totals(report)
    if local.unknown or whole.unknown or not local.high or not report.is_sharded:
        return None
    return whole.high / (local.high * report.devices)


def repeated_flops(product: Product, devices: int) -> Fraction | None:
    """FLOPs of one device beyond an equal share of the global FLOPs; None if unknown.

    They are those of all runs, or of one run if the number of runs is unknown.
    """
    if product.flops is None or product.global_flops is None:
        return None
    runs = 1 if product.times is None else product.times.high
    return (product.flops - Fraction(product.global_flops, devices)) * runs


def recomputed_share(report: Report) -> Fraction | None:
    """The share of a device's FLOPs in recomputed operations; None if unknown."""
    local, _ = flop_totals(report)
    phases = {product.location.phase for product in report.products}
    if local.unknown or not local.high or phases == {Phase.UNKNOWN}:
        return None
    again = [product for product in report.products if product.location.phase is Phase.REMATERIALIZED]
    return flop_totals(Report(products=again))[0].high / local.high


def time_totals(report: Report, estimate: TimeEstimate) -> tuple[Total, Total]:
    """Seconds of all collectives, and of all products, in one run of the program."""
    communication, compute = Total(), Total()
    for item, collective in zip(report.collectives, estimate.collectives, strict=True):
        communication.add_runs(collective.seconds, item)
    for product, timed in zip(report.products, estimate.products, strict=True):
        compute.add_runs(timed.seconds, product)
    return communication, compute


def bound_of(report: Report, estimate: TimeEstimate) -> str:
    """What takes longer: "communication", "compute" with all else, or "either" by fusion; "" if unknown."""
    communication, compute = time_totals(report, estimate)
    if communication.unknown or compute.unknown or estimate.elementwise is None:
        return ""
    fused, alone = estimate.elementwise
    if communication.high > compute.high + alone:
        return "communication"
    return "compute" if communication.high < compute.high + fused else "either"


def seconds_of_runs(seconds: Fraction | None, times: RunTimes | None) -> Fraction | None:
    """Seconds of all runs of an operation, as often as it may run; None if they are unknown."""
    return None if seconds is None or times is None else seconds * times.high


def along(group: str) -> str:
    """`along "x", "y"` for `{"x", "y"}`, and `in groups of 4`."""
    return f"along {group.strip('{}')}" if group.startswith("{") else f"in {group}"
