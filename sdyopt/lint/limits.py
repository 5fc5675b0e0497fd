"""Limits that several rules have."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.lint.rule import Limit
from sdyopt.report.quantities import BYTES

MIN_WIRE_BYTES: Mapping[str, Limit] = {
    "min_bytes": Limit(BYTES, "64 KiB", "the fewest wire bytes of one device, over all runs")
}
