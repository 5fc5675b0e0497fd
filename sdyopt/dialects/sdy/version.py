"""The version of Shardy that is followed where versions differ for the same program.

2026-06, the version in jaxlib 0.10.2, is the default. 2026-08 adds, among others,

- verification of unreduced axes before reshards are inserted, and an error if an all-reduce or reduce-scatter
  of a sum adds unreduced axes,
- reshards around operations with a sharding on a single device,
- inlined meshes at the end of the export pipeline,
- unreduced axes as part of the equivalence of shardings, and
- in canonicalization, reuse of a reshard of a reshaped value also if one of the shardings has sub-axes.

`docs/differences.md` lists all differences in results.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum


class SdyVersion(StrEnum):
    """The month of a version of Shardy. Earlier versions are less than later ones."""

    JUNE_2026 = "2026-06"
    AUGUST_2026 = "2026-08"


_versions = [SdyVersion.JUNE_2026]


def is_at_least(version: SdyVersion) -> bool:
    """Whether this version, or a later one, is followed."""
    return _versions[-1] >= version


@contextmanager
def sdy_version(version: str) -> Iterator[None]:
    """Follows a version within the `with` block."""
    _versions.append(SdyVersion(version))
    try:
        yield
    finally:
        _versions.pop()
