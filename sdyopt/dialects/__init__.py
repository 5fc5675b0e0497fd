"""The dialects. Each is a module or package that is named after its namespace and defines `DIALECT`.

A dialect is imported when a program first uses its namespace.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sdyopt.ir.dialect import Dialect


def load_dialect(namespace: str) -> Dialect | None:
    """Imports the dialect of a namespace; None if this package has no such dialect."""
    if namespace not in dialect_names():
        return None
    dialect: Dialect = import_module(f"{__name__}.{namespace}").DIALECT
    return dialect


def dialect_names() -> list[str]:
    """The namespaces of the dialects in this package, sorted."""
    if not _names:
        _names.extend(sorted(module.name for module in iter_modules(__path__)))
    return _names


_names: list[str] = []
