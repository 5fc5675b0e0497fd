"""Quantities as people write them: `"64 MiB"`, `"1.5 GFLOP"`, `"45 GB/s"`, `1048576`."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

_DECIMAL = {prefix: 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P"))}
_BINARY = {f"{prefix}i": 1024**power for power, prefix in enumerate(("K", "M", "G", "T", "P"), 1)}
_QUANTITY = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-z/µ]*)\s*")


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
