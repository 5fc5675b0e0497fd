"""Plugins: passes and dialects of other packages, found by entry points.

    [project.entry-points."sdyopt.passes"]
    my-passes = "my_package.passes"

declares a module that registers passes when imported, for `--load-pass-plugin=my-passes`. An entry point in
the group `sdyopt.dialects` declares a `Dialect`, for `--load-dialect-plugin`.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.registry.discovery import add_dialect

PASS_GROUP, DIALECT_GROUP = "sdyopt.passes", "sdyopt.dialects"


def load_pass_plugin(name: str) -> None:
    """Registers the passes of an entry point; raises UsageError if it cannot be loaded."""
    _load(PASS_GROUP, name, f"Failed to load passes from '{name}'")


def load_dialect_plugin(name: str) -> None:
    """Registers the dialect of an entry point; raises UsageError if it cannot be loaded."""
    failure = f"Failed to load dialect plugin from '{name}'"
    dialect = _load(DIALECT_GROUP, name, failure)
    if not isinstance(dialect, Dialect):
        raise UsageError(f"{failure}: the entry point is not a Dialect")
    add_dialect(dialect)


def _load(group: str, name: str, failure: str) -> object:
    plugins = entry_points(group=group)
    if name not in plugins.names:
        message = f"{failure}: no installed package has this entry point in group '{group}'"
        help = nearest_or_all(name, sorted(plugins.names))
        raise UsageError(message, help or "install the package of the plugin in this Python environment")
    try:
        return plugins[name].load()
    except (ImportError, AttributeError, SyntaxError) as problem:
        raise UsageError(f"{failure}: {problem}") from problem
