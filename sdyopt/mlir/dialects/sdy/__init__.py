"""The sdy dialect: meshes, shardings, and operations that constrain or describe partitioning."""

from sdyopt.mlir.dialects.sdy import (
    attribute_checks,
    canonicalization,
    collectives,
    ops,
    reshard_canonicalization,
    rule,
)
from sdyopt.mlir.dialects.sdy.mesh import sdy as DIALECT  # noqa: N812

__all__ = [
    "DIALECT",
    "attribute_checks",
    "canonicalization",
    "collectives",
    "ops",
    "reshard_canonicalization",
    "rule",
]
