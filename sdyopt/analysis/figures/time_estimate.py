"""An estimate of the time of one run of a program on a topology, from the figures of its report.

A collective takes its wire bytes divided by the bandwidth along its axes, plus a latency for each step of the
ring. A product takes the time of its FLOPs, or that of reading its operands and writing its result if that is
longer. Other operations take no time, as if fused. A time that depends on an unknown figure, or on a speed
that the topology does not have, is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

from sdyopt.analysis.figures.figures import (
    Collective,
    Product,
    Report,
    TimedCollective,
    TimedProduct,
    TimeEstimate,
)
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.figures.totals import seconds_of_runs

# The number of ring steps of a collective with groups of n devices, by kind; a permute is one step.
_STEPS: dict[str, Callable[[int], int]] = {
    "all_gather": lambda n: n - 1,
    "all_reduce": lambda n: 2 * (n - 1),
    "all_to_all": lambda n: n - 1,
    "collective_broadcast": lambda n: n - 1,
    "collective_permute": lambda n: 1,
    "collective_reduce": lambda n: n - 1,
    "cross-replica-sum": lambda n: 2 * (n - 1),
    "reduce_scatter": lambda n: n - 1,
}


def time_estimate(report: Report, topology: Topology) -> TimeEstimate:
    """The time of each collective and of each product, in their order."""
    collectives = [
        TimedCollective(each.number, _seconds_of_collective(each, topology)) for each in report.collectives
    ]
    runs = {
        each.number: seconds_of_runs(timed.seconds, each.times)
        for each, timed in zip(report.collectives, collectives, strict=True)
    }
    # The time of a collective that several products need is divided equally among them.
    sharers = Counter(number for product in report.products for number in product.collectives)
    return TimeEstimate(
        collectives,
        [
            _timed_product(
                product, topology, [(runs[number], sharers[number]) for number in product.collectives]
            )
            for product in report.products
        ],
    )


def _seconds_of_collective(each: Collective, topology: Topology) -> Fraction | None:
    """Seconds of one run."""
    if each.wire_bytes is None:
        return None
    if not each.wire_bytes:
        return Fraction(0)
    link = topology.link(each.axis_names)
    steps = _STEPS.get(each.kind)
    if link.bandwidth is None or link.latency is None or steps is None or each.group_size is None:
        return None
    return each.wire_bytes / link.bandwidth + steps(each.group_size) * link.latency


def _timed_product(
    product: Product, topology: Topology, collectives: list[tuple[Fraction | None, int]]
) -> TimedProduct:
    compute = _quotient(product.flops, topology.flops)
    memory = _quotient(product.bytes, topology.memory_bandwidth)
    seconds = None if compute is None or memory is None else max(compute, memory)
    known = sum((each / sharers for each, sharers in collectives if each is not None), Fraction(0))
    total = seconds_of_runs(seconds, product.times)
    return TimedProduct(
        product.value,
        seconds,
        "" if compute is None or memory is None else "compute" if compute >= memory else "memory",
        known if all(each is not None for each, _ in collectives) else None,
        total is not None and known > total,
    )


def _quotient(size: int | None, rate: Fraction | None) -> Fraction | None:
    return None if size is None or rate is None else size / rate
