"""The `{-# … #-}` section: blobs that attributes refer to by a key, and data of external tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from sdyopt.syntax.cursor import Cursor


@dataclass
class Resources:
    """Section (`dialect_resources`, `external_resources`) → group → key → the value's text.

    Values stay as they are written, so a blob of megabytes is never decoded.
    """

    sections: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)


def parse_resources(cursor: Cursor, resources: Resources) -> None:
    """Reads a resource section, the cursor being at `{-#`."""
    raise NotImplementedError
