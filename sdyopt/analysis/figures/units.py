"""Figures as people read them: bytes in powers of 1024, FLOPs in powers of 1000."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.totals import Total
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.patterns import constant_pattern

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_FLOP_UNITS = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP")


def bytes_text(size: Fraction | int | None) -> str:
    """`1.5 MiB`; "unknown" for None."""
    return "unknown" if size is None else _scaled(Fraction(size), 1024, _BYTE_UNITS)


def flops_text(flops: Fraction | int | None) -> str:
    """`11.7 GFLOP`; "unknown" for None."""
    return "unknown" if flops is None else _scaled(Fraction(flops), 1000, _FLOP_UNITS)


def seconds_text(seconds: Fraction | None) -> str:
    """`1.25 ms`; "unknown" for None."""
    if seconds is None:
        return "unknown"
    if seconds >= 1 or not seconds:
        return f"{_decimal(seconds, 2 if seconds < 10 else 1)} s"
    for unit in ("ms", "us"):
        seconds *= 1000
        if seconds >= 1:
            return f"{_decimal(seconds, 2 if seconds < 10 else 1)} {unit}"
    return f"{_decimal(seconds * 1000, 2)} ns"


def total_text(total: Total, unit: Callable[[Fraction], str] = bytes_text) -> str:
    """The bytes or FLOPs of a total: a range where branches differ, with what is unknown."""
    text = unit(total.high)
    if total.low != total.high:
        text = f"{unit(total.low)} to {text}"
    unknown = total.unknown - total.in_loops
    has_known = total.unknown < total.count and (total.high or not total.in_loops)
    parts = [text] if has_known or not total.count else []
    if total.in_loops:
        parts.append(f"{unit(total.per_iteration)} × n")
    if not parts:
        return "unknown"
    return " + ".join([*parts, *([f"{unknown} unknown"] if unknown else [])])


HOISTED = "moved out of the loop by XLA"


def times_text(times: RunTimes | None, per_iteration: RunTimes | None = None) -> str:
    """`24`, `0 to 24` in a branch, `3 × n` in a loop of unknown trip count, or "?" if unknown."""
    if times is None:
        return "?" if per_iteration is None else f"{times_text(per_iteration)} × n"
    return str(times.high) if times.low == times.high else f"{times.low} to {times.high}"


def rate_text(rate: Fraction | None, unit: str) -> str:
    """`197 TFLOP/s`, `unknown` for None."""
    if rate is None:
        return f"unknown {unit}"
    text = _scaled(rate, 1000, tuple(f"{prefix}{unit}" for prefix in ("", "k", "M", "G", "T", "P")))
    number, _, shown = text.partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {shown}"


def share_text(share: Fraction) -> str:
    """A fraction as a percentage, `<1%` for a small one that is not 0."""
    return "<1%" if 0 < share < Fraction(1, 200) else f"{round(share * 100)}%"


def _scaled(size: Fraction, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while power + 1 < len(units) and size >= base ** (power + 1):
        power += 1
    if power == 0:
        return f"{round(size)} {units[0]}"
    scaled = size / base**power
    return f"{_decimal(scaled, 2 if scaled < 10 else 1)} {units[power]}"


def _decimal(value: Fraction, digits: int) -> str:
    """A non-negative value, rounded to a number of decimal places, without floats, which might overflow."""
    whole, decimals = divmod(round(value * 10**digits), 10**digits)
    return f"{whole}.{decimals:0{digits}d}"


_DECIMAL = {prefix: 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P"))}
_BINARY = {f"{prefix}i": 1024**power for power, prefix in enumerate(("K", "M", "G", "T", "P"), 1)}
_QUANTITY = constant_pattern(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-z/µ]*)\s*")


class Dimension(NamedTuple):
    """A physical dimension: its units, each as a multiple of the base unit, and a quantity as an example."""

    units: dict[str, Fraction]
    example: str


def _prefixed(unit: str, *prefixes: dict[str, int]) -> dict[str, Fraction]:
    return {prefix + unit: Fraction(factor) for table in prefixes for prefix, factor in table.items()}


COUNT = Dimension({}, "40")
BYTES = Dimension(_prefixed("B", _DECIMAL, _BINARY), '"64 MiB"')
FLOPS = Dimension(_prefixed("FLOP", _DECIMAL), '"1 GFLOP"')
BYTES_PER_SECOND = Dimension(_prefixed("B/s", _DECIMAL, _BINARY), '"45 GB/s"')
FLOPS_PER_SECOND = Dimension(_prefixed("FLOP/s", _DECIMAL), '"197 TFLOP/s"')
SECONDS = Dimension(
    {"s": Fraction(1)}
    | {unit: Fraction(1, 1000**power) for power, unit in enumerate(("ms", "us", "ns"), 1)}
    | {"µs": Fraction(1, 1000**2)},
    '"1 us"',
)


def parse_quantity(value: object, dimension: Dimension) -> Fraction | None:
    """The quantity in base units, from a text or a non-negative integer; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Fraction(value)
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or (match[2] and match[2] not in dimension.units):
        return None
    return Fraction(Decimal(match[1])) * dimension.units.get(match[2], 1)


def left_text(needed: int, memory: int) -> str:
    """`14.9 GiB left`, or what is too much."""
    return f"{bytes_text(abs(memory - needed))} {'left' if needed <= memory else 'too much'}"
