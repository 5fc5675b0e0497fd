"""The sections of a report: sentences and tables, the same for a terminal, Markdown and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import PurePath

from sdyopt.analysis.figures.assumed_pipeline import PIPELINE
from sdyopt.analysis.figures.figures import (
    LIVE_KINDS,
    Collective,
    Compiled,
    LiveValue,
    Memory,
    Product,
    Report,
    RunTimes,
    TimedCollective,
    TimedProduct,
    TimeEstimate,
)
from sdyopt.analysis.figures.source_locations import Phase
from sdyopt.analysis.figures.totals import (
    Total,
    bound_of,
    flop_totals,
    recomputed_share,
    seconds_of_runs,
    time_range,
    time_totals,
    useful_share,
    wire_total,
)
from sdyopt.analysis.figures.units import (
    bytes_text,
    flops_text,
    left_text,
    seconds_text,
    share_text,
    times_text,
    total_text,
)
from sdyopt.analysis.interface.pages.section import Row, Section
from sdyopt.analysis.report.communication import (
    LEAST_DIFFERENCE,
    METHODS,
    PHASES,
    by_compiler_text,
    communication_section,
    overlap_texts,
)
from sdyopt.base.compilers import CPU, GPU, TPU
from sdyopt.base.diagnostics.text import counted
from sdyopt.shardy.notation.partition_spec import jax_type

# By compiler, from docs/calibration.md.
_OF_CPU = (
    "accuracy: of 76 programs that XLA compiled, peak memory is 0.7 to 1.5 times XLA's in 68, "
    "and wire bytes are within 10% in 68"
)
_ON_MACHINES = (
    "accuracy: of programs compiled for {}, wire bytes are within 10% of the compiler's in {} of {} "
    "above 1 MB, and peak memory is 0.8 to 1.25 times the compiler's in {} of {} above 16 MiB"
)
ACCURACY = {
    "": _OF_CPU,
    CPU: _OF_CPU,
    TPU: _ON_MACHINES.format("TPU", 108, 114, 82, 91),
    GPU: _ON_MACHINES.format("GPU", 106, 116, 94, 110),
}
# A kind of values is reported if it is at least this share of the peak.
_LEAST_KIND = 100


def sections_of(report: Report, has_details: bool = True) -> list[Section]:
    """Communication, memory, compute, time if it is estimated, and how near the figures are to XLA's.

    Details are the collectives one by one.
    """
    time = [] if report.time is None else [time_section(report, report.time)]
    accuracy = [Section(ACCURACY[report.compiler])] if PIPELINE in report.assumption else []
    compiled: list[Section] = []
    if report.compiled is not None:
        compiled = [compiled_section(report, report.compiled), *report.compiled.sections]
    estimated = [communication_section(report, has_details), _memory(report), _compute(report)]
    return [*compiled, *estimated, *time, *accuracy]


# --- What a compiler says -----------------------------------------------------------------------------


def compiled_section(report: Report, compiled: Compiled) -> Section:
    """The figures of the machine's compiler beside the estimates, and what it has in memory at the peak."""
    figures, memory = compiled.figures, compiled.figures.memory
    section = Section(f"compiled by {compiled.compiler} for {compiled.target}")
    sent, estimated = (total_text(wire_total(item)) for item in (figures, report))
    section.sentences += [
        f"{sent} on the wire per device, {estimated} estimated",
        f"{bytes_text(memory.peak)} of memory at the peak, {bytes_text(report.memory.peak)} estimated",
    ]
    if compiled.flops is not None:
        estimated = total_text(flop_totals(report)[0], flops_text)
        section.sentences.append(f"{flops_text(compiled.flops)} in products, {estimated} estimated")
    parts = {
        "arguments": memory.arguments,
        "results that take no argument's place": memory.results,
        "constants": memory.constants,
        "temporaries": memory.peak - memory.arguments - memory.results - memory.constants,
    }
    section.sentences.append(", ".join(f"{name} {bytes_text(size)}" for name, size in parts.items() if size))
    if report.device_memory is not None:
        section.sentences.append(_fit_text(memory.peak, report.device_memory))
    live = [(bytes_text(live.bytes), *_instruction_texts(live), live.type) for live in memory.live_at_peak]
    section.add_table("at the peak", ("bytes", "value", "where", "type"), 1, live)
    return section


def _instruction_texts(live: LiveValue) -> tuple[str, str]:
    """The name of an argument, or of an instruction with its operation of JAX; and the line."""
    op = live.location.name_stack.rpartition("/")[2]
    where = live.location.file_text if live.location.line else ""
    return live.name or (f"{op} ({live.value})" if op else live.value), where


# --- Memory -------------------------------------------------------------------------------------------


def _memory(report: Report) -> Section:
    memory = report.memory
    where = f" at {memory.peak_location.file_text}" if memory.peak_location.path_text else ""
    section = Section(f"memory per device: peak {bytes_text(memory.peak)}{where}")
    section.sentences.append(METHODS[1])
    if differing := peaks_text(memory):
        section.sentences.append(differing)
    if kinds := kinds_text(memory):
        section.sentences.append(f"at the peak: {kinds}")
    section.sentences.append(
        f"arguments {bytes_text(memory.arguments)}, results {bytes_text(memory.results)}, constants "
        f"{bytes_text(memory.constants)}"
    )
    if memory.unknown_values:
        section.sentences.append(f"{memory.unknown_values} values of unknown size are not counted")
    if memory.replicated:
        section.sentences.append(
            f"{bytes_text(memory.replicated)} of the peak are copies of what other devices have, too"
        )
    if report.device_memory is not None:
        section.verdict = _fit_text(memory.peak, report.device_memory)
        section.sentences.append(section.verdict)
    if report.carried:
        total = sum(carried.bytes or 0 for carried in report.carried)
        section.sentences.append(
            f"carried state: {bytes_text(total)} of donated arguments have another sharding as results: the "
            "next step reshards them"
        )
    section.add_table(
        "carried state with another sharding",
        ("bytes", "argument", "result", "sharding", "of the result"),
        1,
        [
            (
                bytes_text(carried.bytes),
                carried.argument,
                str(carried.result),
                carried.sharding_before,
                carried.sharding_after,
            )
            for carried in sorted(report.carried, key=lambda item: -(item.bytes or 0))
        ],
    )
    section.add_table(
        "live at the peak",
        ("bytes", "copies", "value", "where", "type"),
        2,
        _live_rows(memory.live_at_peak, report.devices),
    )
    return section


def kinds_text(memory: Memory, most: int | None = None) -> str:
    """`25% activations saved for the backward pass (24.0 MiB), …`: what is live at the peak."""
    total = sum(memory.kinds.values())
    return ", ".join(
        f"{share_text(Fraction(size, total))} {LIVE_KINDS[kind]} ({bytes_text(size)})"
        for kind, size in list(memory.kinds.items())[:most]
        if size * _LEAST_KIND >= total
    )


def peaks_text(memory: Memory) -> str:
    """The peaks on TPU and GPU, if one of them is another than that of what both compilers do."""
    if not differing_peaks(memory):
        return ""
    return by_compiler_text({name: bytes_text(peak) for name, peak in memory.by_compiler.items()})


def differing_peaks(memory: Memory) -> dict[str, int]:
    """The peaks on TPU and GPU that are more than a tenth off that of what both compilers do."""
    return {
        name: peak
        for name, peak in memory.by_compiler.items()
        if abs(peak - memory.peak) * LEAST_DIFFERENCE > memory.peak
    }


def _fit_text(needed: int, memory: int) -> str:
    """Whether a program fits into the memory of a device."""
    share = f", {share_text(Fraction(needed, memory))} of it" if memory else ""
    fits = "fits" if needed <= memory else "does not fit"
    return (
        f"{fits} in {bytes_text(memory)} of device memory: {bytes_text(needed)} with all arguments{share}, "
        f"{left_text(needed, memory)}"
    )


def _live_rows(values: Iterable[LiveValue], devices: int) -> list[Row]:
    """A row for each value; those of one line and type, such as of all layers, are one row with their sum."""
    alike: dict[Row, list[int]] = {}
    for live in values:
        copies = "" if live.replicas is None else f"{live.replicas} of {devices}"
        where = "" if live.location.file_text == live.name else live.location.file_text
        # Values without a line may be any.
        row = copies, live.described, where, jax_type(live.type), "" if where else str(len(alike))
        alike.setdefault(row, []).append(live.bytes)
    order = sorted(alike.items(), key=lambda item: -sum(item[1]))
    return [
        (bytes_text(sum(sizes)), copies, f"{len(sizes)} × {value}" if len(sizes) > 1 else value, where, type)
        for (copies, value, where, type, _), sizes in order
    ]


# --- Compute ------------------------------------------------------------------------------------------


def _compute(report: Report) -> Section:
    local, _ = flop_totals(report)
    share = useful_share(report)
    useful = "" if share is None else f", {share_text(share)} of them useful"
    if recomputed := recomputed_share(report):
        useful += f", {share_text(recomputed)} recomputed"
    if local.count and not report.is_sharded:
        useful = ", useful share unknown: no shardings"
    products = counted(local.count, "product")
    heading = f"compute per device: {total_text(local, flops_text)} in {products}{useful}"
    section = Section(heading)
    # The products with such work, those of one line that are alike as one.
    alike: dict[Row, int] = {}
    for product, part in _wasteful(report):
        axes = ", ".join(f'"{axis}"' for axis in product.spare_axes)
        row = share_text(part), product_text(product), product.location.file_text, axes
        alike[row] = alike.get(row, 0) + (product.flops or 0)
    order = sorted(alike.items(), key=lambda item: -item[1])
    wasteful_rows = [(flops_text(flops), *row) for row, flops in order]
    section.add_table(
        "repeated or padded work",
        ("FLOPs", "useful", "product", "where", "not sharded along"),
        2,
        wasteful_rows,
    )
    return section


def _wasteful(report: Report) -> Iterator[tuple[Product, Fraction]]:
    """The products that devices partly repeat or compute on padding, and the useful share of each."""
    for product in report.products if report.is_sharded else ():
        if product.flops and product.global_flops is not None:
            share = Fraction(product.global_flops, product.flops * report.devices)
            if share < 1:
                yield product, share


def most_repeated(report: Report) -> str:
    """`most is repeated along "data" at model.py:12`: where most FLOPs are not useful, or nothing."""
    wasted: dict[tuple[str, str], Fraction] = {}
    for product, share in _wasteful(report):
        axes = ", ".join(f'"{axis}"' for axis in product.spare_axes)
        # In a shard_map, all axes may be manual. What is padded is no whole number of times.
        is_repeated = bool(axes) or share.numerator == 1
        how = f"repeated along {axes}" if axes else f"repeated on {share.denominator} devices"
        key = how if is_repeated else "padding", product.location.file_text
        assert product.flops is not None
        wasted[key] = wasted.get(key, Fraction(0)) + product.flops * (1 - share)
    if not wasted:
        return ""
    how, line = max(wasted, key=lambda key: wasted[key])
    return f"most is {how}{f' at {line}' if line else ''}"


# The seconds of all runs, their number, and the line, the kind and the limit.
_Timed = tuple[Fraction, RunTimes | None, Row]

# Added to the limit of such a product in the table.
COMMUNICATION_BOUND = "communication-bound"
BOUND_PRODUCTS = "communication-bound products"


def time_section(report: Report, estimate: TimeEstimate) -> Section:
    """The time of a run, the operations by time, and the communication-bound products."""
    communication, compute = time_totals(report, estimate)
    others = estimate.elementwise[0] if report.kernels is not None and estimate.elementwise else Fraction(0)
    total = communication.high + compute.high + others
    least, most = time_range(report, estimate)
    spent = range_text(least, most)
    section = Section(f"estimated time: {spent}{_unknown(communication, compute)}")
    elementwise = "" if estimate.elementwise is None else range_text(*estimate.elementwise)
    is_unfused = report.kernels is None
    section.sentences.append(
        f"communication {seconds_text(communication.high)}, products {seconds_text(compute.high)}"
        + (f", {'elementwise' if is_unfused else 'other'} operations {elementwise}" if elementwise else "")
    )
    section.sentences.append(
        "the least if communication overlaps with all else and elementwise operations are fused, the most if "
        "nothing overlaps and each runs alone"
        if is_unfused
        else "the least if communication overlaps with all else, the most if nothing overlaps and products "
        "are as slow as in measured steps"
    )
    if bound := bound_text(report, estimate):
        section.sentences.append(bound)
    if not is_unfused:
        section.sentences += dict.fromkeys(overlap_texts(report, estimate))
    machine = f" for {PurePath(report.topology).name}" if report.topology else ""
    speeds = f": {report.speeds}" if report.speeds else ""
    section.sentences.append(f"an estimate from FLOPs, bytes and wire bytes{machine}{speeds}")
    if estimate.error:
        section.sentences.append(estimate.error)
    rows = _alike(
        [*_collectives(report, estimate), *_timed_products(report, estimate), *_timed_kernels(report)]
    )
    section.add_table(
        "operations by time",
        ("time", "share", "times", "where", "kind", "limit"),
        3,
        [
            (seconds_text(seconds), share_text(seconds / total) if total else "", times_text(times), *row)
            for seconds, times, row in sorted(rows, key=lambda timed: -timed[0])
            if seconds
        ],
    )
    section.add_table(
        BOUND_PRODUCTS,
        ("communication", "compute", "where", "product", "its collectives"),
        2,
        [
            (
                seconds_text(timed.communication),
                seconds_text(seconds_of_runs(timed.seconds, product.times)),
                product.location.file_text,
                product_text(product),
                _shares_of(product, report),
            )
            for product, timed in bound_products(report, estimate)
        ],
    )
    return section


def bound_products(report: Report, estimate: TimeEstimate) -> list[tuple[Product, TimedProduct]]:
    """The products whose collectives take longer, the longest first."""
    pairs = zip(report.products, estimate.products, strict=True)
    bound = [(product, timed) for product, timed in pairs if timed.is_communication_bound]
    return sorted(bound, key=lambda pair: -(pair[1].communication or 0))


def product_text(product: Product) -> str:
    """`dot_general, backward`; `%3 (dot_general)` for one without a line of JAX."""
    if not product.location.name_stack:
        return f"{product.value} ({product.kind})"
    phase = product.location.phase
    return product.kind if phase in (Phase.FORWARD, Phase.UNKNOWN) else f"{product.kind}, {PHASES[phase]}"


def _shares_of(product: Product, report: Report) -> str:
    """`#6 all_gather, 1/2 of #31 all_reduce`: its collectives, and its share of those that others need."""
    sharers = sharers_of(report)
    texts = {
        number: f"#{number} {report.collectives[number].kind}"
        for number in product.collectives
        if number < len(report.collectives)
    }
    alone = [text for number, text in texts.items() if sharers[number] == 1]
    shares = [f"1/{sharers[number]} of {text}" for number, text in texts.items() if sharers[number] > 1]
    return ", ".join([*alone, *shares])


def sharers_of(report: Report) -> Counter[int]:
    """The number of products that each collective is needed for."""
    return Counter(number for product in report.products for number in product.collectives)


def bound_text(report: Report, estimate: TimeEstimate) -> str:
    """What the estimated time is bound by, as far as its range tells; "" with unknown times."""
    bound, (_, compute) = bound_of(report, estimate), time_totals(report, estimate)
    if estimate.elementwise is None or not bound:
        return ""
    others = range_text(*(compute.high + amount for amount in estimate.elementwise))
    if bound == "communication":
        return f"bound by communication: all else takes {others}"
    if bound == "compute":
        return f"bound by compute and memory traffic, which take {others}"
    either = "bound by communication or by compute and memory traffic"
    return f"{either}, which take {others}, depending on fusion"


def range_text(least: Fraction, most: Fraction) -> str:
    """`1.00 s to 2.00 s`."""
    low, high = seconds_text(least), seconds_text(most)
    return low if low == high else f"{low} to {high}"


def _unknown(communication: Total, compute: Total) -> str:
    parts = [
        counted(total.unknown, what)
        for total, what in ((communication, "collective"), (compute, "product"))
        if total.unknown
    ]
    return f" + {' and '.join(parts)} of unknown time" if parts else ""


def _collectives(report: Report, estimate: TimeEstimate) -> Iterator[_Timed]:
    for collective, timed in zip(report.collectives, estimate.collectives, strict=True):
        yield from _row(collective, timed, f"{collective.kind} {collective.axes}", "communication")


def _timed_products(report: Report, estimate: TimeEstimate) -> Iterator[_Timed]:
    for product, timed in zip(report.products, estimate.products, strict=True):
        limit = f"{timed.limit}, {COMMUNICATION_BOUND}" if timed.is_communication_bound else timed.limit
        yield from _row(product, timed, product.kind, limit)


def _timed_kernels(report: Report) -> Iterator[_Timed]:
    for timed in report.timed_kernels():
        yield timed.seconds, RunTimes(timed.runs, timed.runs), (timed.location.file_text, timed.kind, "")


def _row(
    collective: Collective | Product, timed: TimedCollective | TimedProduct, kind: str, limit: str
) -> Iterator[_Timed]:
    seconds = seconds_of_runs(timed.seconds, collective.times)
    if seconds is not None:
        yield seconds, collective.times, (collective.location.file_text, kind, limit)


def _alike(timed: Iterable[_Timed]) -> list[_Timed]:
    """The operations, those of one line, kind and limit as one: a line has one for each layer."""
    alike: dict[object, _Timed] = {}
    for seconds, times, row in timed:
        key = row if times is not None and row[0] else len(alike)
        earlier, runs, _ = alike.get(key, (Fraction(0), RunTimes(0, 0), row))
        added = (
            times if runs is None or times is None else RunTimes(runs.low + times.low, runs.high + times.high)
        )
        alike[key] = earlier + seconds, added, row
    return list(alike.values())
