"""The dialect sdy: meshes, shardings, and operations that say how a program is to be partitioned."""

from sdyopt.dialects.sdy import (
    attribute_checks,
    collectives,
    computation_ops,
    ops,
    propagation_debug_attrs,
    rule,
)
from sdyopt.dialects.sdy.dialect import sdy as DIALECT  # noqa: N812

__all__ = [
    "DIALECT",
    "attribute_checks",
    "collectives",
    "computation_ops",
    "ops",
    "propagation_debug_attrs",
    "rule",
]
