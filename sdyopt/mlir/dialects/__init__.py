"""The dialects. Each is a module or package that is named after its namespace and defines `DIALECT`.

A dialect is imported when a program first uses its namespace.
"""

from __future__ import annotations

import os
from importlib import import_module

from sdyopt.mlir.ir.dialect import Dialect


def load_dialect(namespace: str) -> Dialect | None:
    """Imports the dialect of a namespace; None if this package has no such dialect."""
    if namespace not in dialect_names():
        return None
    dialect: Dialect = import_module(f"{__name__}.{namespace}").DIALECT
    return dialect


def dialect_names() -> list[str]:
    """The namespaces of the dialects in this package, sorted."""
    if not _names:
        # Not `pkgutil`, which imports `inspect`.
        files = [name for folder in __path__ for name in os.listdir(folder)]  # noqa: PTH208
        _names.extend(sorted(name.removesuffix(".py") for name in files if not name.startswith("__")))
    return _names


_names: list[str] = []
