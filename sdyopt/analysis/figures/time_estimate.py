"""An estimate of the time of one run of a program on a topology, from the figures of its report.

A product takes the time of its FLOPs, or that of reading its operands and writing its result if that is
longer. An elementwise operation takes the time of its bytes: between those of a single pass over each fused
chain, and those of each operation alone. Other operations take no time. A time that depends on an unknown
figure, or on a speed that the topology does not have, is unknown.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from math import prod

from sdyopt.analysis.figures.collective_times import ONE_WAY_PERMUTE, PERMUTE, REDUCE_SCATTER
from sdyopt.analysis.figures.compiled_collectives import RING
from sdyopt.analysis.figures.figures import (
    Collective,
    KernelSize,
    Product,
    Report,
    TimedCollective,
    TimedProduct,
    TimeEstimate,
)
from sdyopt.analysis.figures.topology import Compute, Topology, error_text
from sdyopt.analysis.figures.totals import seconds_of_runs


def time_estimate(
    report: Report, topology: Topology, collectives: list[TimedCollective] | None = None
) -> TimeEstimate:
    """The time of each collective and of each product, in their order; `collectives` are given if known."""
    topology = topology.on(report.mesh)
    if collectives is None:
        collectives = [
            TimedCollective(collective.number, _seconds_of_collective(collective, topology))
            for collective in report.collectives
        ]
    runs = {
        collective.number: seconds_of_runs(timed.seconds, collective.times)
        for collective, timed in zip(report.collectives, collectives, strict=True)
    }
    # The time of a collective that several products need is divided equally among them.
    sharers = Counter(number for product in report.products for number in product.collectives)
    elementwise = _seconds_of_elementwise(report, topology)
    rings = {
        collective.number: collective for collective in report.collectives if collective.compiled == RING
    }
    return TimeEstimate(
        collectives,
        [
            _timed_product(
                product,
                topology,
                [(runs[number], sharers[number]) for number in product.collectives],
                _is_in_memory(report, product.bytes or 0, topology),
                not number,
                next((rings[number] for number in product.collectives if number in rings), None),
            )
            for number, product in enumerate(report.products)
        ],
        elementwise,
        error_text(topology),
        Fraction(1) if topology.compute is None else topology.compute.products / topology.compute.sustained,
    )


def _seconds_of_elementwise(report: Report, topology: Topology) -> tuple[Fraction, Fraction] | None:
    if topology.memory_bandwidth is None:
        return None
    if report.kernels is not None and topology.compute is not None:
        # Which operations the compiler of a machine fuses is known.
        speed, rate = topology.compute, topology.memory_bandwidth * topology.compute.memory
        seconds = Fraction(report.kernels.unsized * speed.kernel)
        outside = longer = beside = Fraction(0)
        for size, runs in report.kernels.sizes.items():
            alone = seconds_of_kernel(size, report, topology)
            seconds += runs * alone
            if size.outside and not size.is_of_product:
                outside += size.outside / rate
                longer += max(Fraction(0), size.outside / rate - (alone - speed.kernel))
                beside -= alone
        # What comes from memory, or goes there, does so beside other kernels and products, if these last.
        beside += seconds
        for product in report.products:
            if product.times is not None and topology.flops is not None:
                beside += (product.flops or 0) * product.times.high / topology.flops
        if outside > beside:
            seconds += longer * (1 - beside / outside)
        custom = report.kernels.custom_bytes / rate
        if report.kernels.custom_flops and topology.flops is not None:
            flops = topology.flops * topology.compute.custom
            custom = max(custom, report.kernels.custom_flops / flops)
        seconds += custom
        return seconds, seconds
    if report.elementwise is None:
        return None
    elementwise, rate = report.elementwise, topology.memory_bandwidth
    return Fraction(elementwise.fused) / rate, Fraction(elementwise.alone) / rate


def seconds_of_kernel(size: KernelSize, report: Report, topology: Topology) -> Fraction:
    """The seconds of a run of a kernel on a machine whose compiler is known, alone."""
    speed = topology.compute
    assert speed is not None
    moved = _seconds_of_moving(size, report, topology, speed)
    return moved * speed.fused if size.is_of_product else speed.kernel + moved


def _seconds_of_moving(size: KernelSize, report: Report, topology: Topology, speed: Compute) -> Fraction:
    """The seconds in which what a kernel reads and writes comes from memory, or passes through vectors."""
    is_in_memory = not speed.vector or _is_in_memory(report, size.bytes, topology)
    rate = (topology.memory_bandwidth or Fraction(1)) * speed.memory
    moved = size.bytes / rate if is_in_memory else Fraction(0)
    return max(moved, Fraction(size.elements, speed.vector)) if speed.vector else moved


def _seconds_of_collective(collective: Collective, topology: Topology) -> Fraction | None:
    """Seconds of one run."""
    if collective.wire_bytes is None:
        return None
    if not collective.wire_bytes:
        return Fraction(0)
    if collective.group_size is None:
        return None
    if collective.kind != PERMUTE:
        return topology.seconds(
            collective.kind, collective.axis_names, collective.group_size, collective.wire_bytes
        )
    # A device that a permute does not send from waits for those that it does.
    is_one_way = collective.bytes_in is not None and collective.wire_bytes < collective.bytes_in
    kind = ONE_WAY_PERMUTE if is_one_way else PERMUTE
    return topology.seconds(
        kind, collective.axis_names, collective.group_size, collective.wire_bytes, collective.bytes_in
    )


def _is_in_memory(report: Report, size: int, topology: Topology) -> bool:
    """Whether so many bytes come from memory and not from the cache beside the units."""
    if topology.compute is None or size > topology.compute.cache:
        return True
    return report.memory.peak > _LARGE * topology.compute.cache < _LARGE * _LARGE * size


def _seconds_of_writing(product: Product, topology: Topology, flops: Fraction) -> Fraction:
    """The seconds in which TPUs write the result of a product: to memory, and with 16 bits an element."""
    speed = topology.compute
    if speed is None or not speed.vector or product.sizes is None or topology.memory_bandwidth is None:
        return Fraction(0)
    elements = prod(product.sizes[:3])
    seconds = speed.narrow * elements / flops if product.kernel.is_narrow else Fraction(0)
    if product.kernel.is_returned:
        size = elements * (2 if product.kernel.is_narrow else 4)
        seconds += size / (topology.memory_bandwidth * speed.memory)
    return seconds


def _seconds_of_ring(
    product: Product, ring: Collective, speed: Compute, memory: Fraction, least: Fraction
) -> Fraction:
    """The seconds that a product takes longer because it goes around a ring, as on TPUs.

    A kernel multiplies what arrives from both sides. Every second one reads the other operand again. What a
    gather computes is put into the result; what is to be scattered is summed up, and selected before.
    """
    devices = ring.group_size or 1
    if product.sizes is None or not speed.vector or devices < _STEP:
        return Fraction(0)
    products, reads = devices // _SIDES, devices // _STEP
    seconds = (products - 1) * least + (reads - 1) * memory
    part = Fraction(prod(product.sizes[:3]), devices * speed.vector)
    if ring.kind == REDUCE_SCATTER:
        return seconds + products * (2 * speed.kernel + (_SIDES + 1) * part) + speed.kernel + part
    return seconds + devices * (speed.kernel + part) + speed.kernel + devices * part


# The sides from which parts arrive, and the parts of one step around a ring.
_SIDES, _STEP = 2, 4
# Of a product and of writing its result, the share of the faster that the slower does not hide.
_NOT_HIDDEN = Fraction(3, 20)
# The most rows, or columns, of a result that fill no whole vector.
_FEW_ROWS = 4
# Programs of so many times the cache have little of their operands in it.
_LARGE = 8


def _timed_product(
    product: Product,
    topology: Topology,
    collectives: list[tuple[Fraction | None, int]],
    is_in_memory: bool,
    is_first: bool,
    ring: Collective | None,
) -> TimedProduct:
    compute = _quotient(product.flops, topology.flops)
    memory = _quotient(product.bytes, topology.memory_bandwidth)
    least = Fraction(0)
    if (speed := topology.compute) is not None and compute is not None and memory is not None:
        rate = speed.rates.get(product.element, speed.rates.get(product.element[:2].lower(), 1.0))
        flops = (topology.flops or 1) * speed.products
        compute = _padded_flops(product, speed) / (flops * _exact(rate))
        if speed.vector and product.kernel.vector_elements:
            compute = Fraction(product.kernel.vector_elements, speed.vector)
        memory = memory / speed.memory * is_in_memory
        least = Fraction(0) if speed.vector and product.kernel.vector_elements else speed.product
        written = _seconds_of_writing(product, topology, flops)
        compute = max(compute, written) + _NOT_HIDDEN * min(compute, written)
        if (
            product.kernel.vector_elements
            or product.kernel.is_returned
            or (product.kernel.is_narrow and speed.narrow)
            or (speed.vector and product.sizes is not None and min(product.sizes[1:3]) <= _FEW_ROWS)
        ):
            least += speed.kernel
        is_once = product.times is not None and product.times.high == 1
        if speed.vector and is_first and is_once and (product.kernel.reads_arguments or ring is not None):
            # One after the other. Later products have theirs in the cache when they start.
            read = _quotient(product.kernel.argument_bytes, topology.memory_bandwidth)
            compute += read or Fraction(0)
            least += product.kernel.arguments * speed.kernel
        if speed.vector:
            # Nothing copies to the cache what a loop takes next.
            read = _quotient(product.kernel.slice_bytes, topology.memory_bandwidth)
            compute += (read or Fraction(0)) / speed.memory
            least += product.kernel.slices * speed.kernel
    seconds = None if compute is None or memory is None else max(compute, memory) + least
    # In whole steps, whose products are larger than the cache, rings take no longer than what was measured.
    if seconds is not None and ring is not None and speed is not None and not is_in_memory:
        seconds += _seconds_of_ring(product, ring, speed, memory or Fraction(0), least)
    known = sum((amount / sharers for amount, sharers in collectives if amount is not None), Fraction(0))
    total = seconds_of_runs(seconds, product.times)
    return TimedProduct(
        product.value,
        seconds,
        "" if compute is None or memory is None else "compute" if compute >= memory else "memory",
        known if all(amount is not None for amount, _ in collectives) else None,
        total is not None and known > total,
    )


@cache
def _exact(rate: float) -> Fraction:
    """A rate of a machine as it is written."""
    return Fraction(str(rate))


def _padded_flops(product: Product, speed: Compute) -> int:
    """The FLOPs of whole tiles: of what is contracted, and of rows or columns, whichever is less."""
    if product.sizes is None:
        return product.flops or 0
    batch, rows, columns, contracted = product.sizes
    tile = speed.tile
    if (features := product.kernel.features) and speed.vector:
        if batch > 1:
            # One feature in each group: those of a tile are one product, whose matrix is diagonal.
            groups = _padded(batch, tile)
            return 2 * groups * columns * contracted * tile * _padded(rows, _ROWS)
        # Each element of a window is a product of its own, unless it has few features.
        if features * _FEW > tile:
            contracted = contracted * _padded(features, tile) // features
        return 2 * batch * _padded(contracted, tile) * _padded(rows, _ROWS) * _padded(columns, tile)
    # One operand is loaded in tiles, which takes as long as some rows of the other.
    least_rows, least_columns = (max(speed.load, _padded(size, _ROWS)) for size in (rows, columns))
    area = min(_padded(rows, tile) * least_columns, least_rows * _padded(columns, tile))
    return 2 * batch * _padded(contracted, tile) * area


# Windows of fewer features than this part of a tile are contracted as a whole.
_FEW = 4
# The rows that a matrix unit takes at once.
_ROWS = 8


def _padded(size: int, tile: int) -> int:
    return -(-size // tile) * tile


def _quotient(size: int | None, rate: Fraction | None) -> Fraction | None:
    return None if size is None or rate is None else size / rate
