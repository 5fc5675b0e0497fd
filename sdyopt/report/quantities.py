"""Quantities as people write them in budgets: `"64 MiB"`, `"1.5 GFLOP"`, `1048576`."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

_UNITS = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(("k", "M", "G", "T", "P"), 1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T", "P"), 1)},
    "FLOP": 1,
    **{f"{prefix}FLOP": 1000**power for power, prefix in enumerate(("k", "M", "G", "T", "P"), 1)},
}
BYTE_UNITS = tuple(unit for unit in _UNITS if unit.endswith("B"))
FLOP_UNITS = tuple(unit for unit in _UNITS if unit.endswith("FLOP"))
_QUANTITY = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-z]*)\s*")


def parse_quantity(value: object, units: tuple[str, ...]) -> Fraction | None:
    """The number of bytes or FLOPs that a text or an integer says; None if it is neither."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Fraction(value)
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in ("", *units):
        return None
    scale: int = _UNITS.get(match[2], 1)
    return Fraction(Decimal(match[1])) * scale
