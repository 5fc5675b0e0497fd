"""Passes of Shardy that are known by name, but cannot be run yet.

Who asks for one has made no mistake in spelling, and should not be offered another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sdyopt.diagnostics.usage import UsageError

# What each would do.
MISSING: Mapping[str, str] = MappingProxyType(
    {
        "sdy-convert-global-to-local": "gives each device its part of every tensor",
        "sdy-pad-for-divisibility": "pads dimensions that their sharding does not divide",
        "sdy-per-instruction-partitioning": "partitions chosen operations alone, to find a wrong one",
        "sdy-resolve-permutation-factors": "makes operations local that shift data along a sharded dimension",
        "sdy-resolve-single-device-sharding": "runs what is bound to one device on that device only",
        "sdy-verify-unreduced-axes": "checks that no sum over devices is forgotten",
    }
)


def missing_pass(flag: str) -> UsageError | None:
    """What to say of a pass that is known, but not available; None for other names."""
    purpose = MISSING.get(flag)
    if purpose is None:
        return None
    return UsageError(
        f"'{flag}' is a known pass that is not available yet",
        f"in Shardy, it {purpose}; --list-passes shows what there is here",
    )
