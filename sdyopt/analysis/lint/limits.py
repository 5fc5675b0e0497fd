"""The limits of rules."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.analysis.figures.units import BYTES, FLOPS
from sdyopt.analysis.lint.rule import Limit

MIN_WIRE_BYTES: Mapping[str, Limit] = {
    "min_bytes": Limit(BYTES, "64 KiB", "the fewest wire bytes of one device, over all runs")
}
MIN_VALUE_BYTES: Mapping[str, Limit] = {
    "min_bytes": Limit(BYTES, "16 MiB", "the fewest bytes of the value on one device")
}
MIN_FLOPS: Mapping[str, Limit] = {
    "min_flops": Limit(FLOPS, "1 GFLOP", "the fewest FLOPs that a device repeats, over all runs")
}
