"""The dialects. Each is a module or package named after its namespace, which defines `DIALECT`.

A module is imported when a program first uses its namespace.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sdyopt.ir.dialect import Dialect


def load_dialect(namespace: str) -> Dialect | None:
    """Imports the dialect of a namespace; None if there is none."""
    if namespace not in dialect_names():
        return None
    dialect: Dialect = import_module(f"{__name__}.{namespace}").DIALECT
    return dialect


def dialect_names() -> list[str]:
    """The namespaces of all built-in dialects, sorted."""
    if not _names:
        _names.extend(sorted(module.name for module in iter_modules(__path__)))
    return _names


_names: list[str] = []
