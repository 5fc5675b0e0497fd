"""Shardy passes that are not implemented. The error for one says so, and suggests no similar name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sdyopt.diagnostics.usage import UsageError

# Help for the name of a pass that resembles no other.
LIST_PASSES: Final = "--list-passes lists the passes"

# Flag -> what the pass does in Shardy, in the third person.
MISSING: Mapping[str, str] = MappingProxyType(
    {
        "sdy-resolve-single-device-sharding": "runs operations with a maximal sharding on that single device",
    }
)


def missing_pass(flag: str) -> UsageError | None:
    """The error for a pass that is not implemented; None for other names."""
    action = MISSING.get(flag)
    if action is None:
        return None
    return UsageError(
        f"pass '{flag}' is not implemented",
        f"in Shardy, it {action}; --list-passes lists the available passes",
    )
