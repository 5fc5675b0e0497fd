"""Passes and dialects of other packages, found by their entry points.

    [project.entry-points."sdyopt.passes"]
    my-passes = "my_package.passes"

offers a module whose import registers passes, for `--load-pass-plugin=my-passes`; an entry point in
the group `sdyopt.dialects` offers a `Dialect`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from sdyopt.diagnostics.usage import UsageError, nearest
from sdyopt.ir.dialect import Dialect
from sdyopt.registry.discovery import add_dialect

PASS_GROUP, DIALECT_GROUP = "sdyopt.passes", "sdyopt.dialects"


def load_pass_plugin(name: str) -> None:
    """Registers the passes that an installed package offers under this name."""
    _load(PASS_GROUP, name, f"Failed to load passes from '{name}'")


def load_dialect_plugin(name: str) -> None:
    """Makes the dialect known that an installed package offers under this name."""
    failure = f"Failed to load dialect plugin from '{name}'"
    dialect = _load(DIALECT_GROUP, name, failure)
    if not isinstance(dialect, Dialect):
        raise UsageError(f"{failure}: it is not a Dialect")
    add_dialect(dialect)


def _load(group: str, name: str, failure: str) -> Any:
    found = entry_points(group=group)
    if name not in found.names:
        raise UsageError(f"{failure}: no installed package offers it", nearest(name, found.names))
    try:
        return found[name].load()
    except (ImportError, AttributeError) as problem:
        raise UsageError(f"{failure}: {problem}") from problem
