"""The dialects. Each is a module or package named after its namespace, with its `DIALECT`.

Nothing lists them: a namespace in a program names its module, which is imported then.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sdyopt.ir.dialect import Dialect


def load_dialect(namespace: str) -> Dialect | None:
    """The dialect of a namespace; None if there is none."""
    if namespace not in dialect_names():
        return None
    dialect: Dialect = import_module(f"{__name__}.{namespace}").DIALECT
    return dialect


def dialect_names() -> list[str]:
    """The namespaces of all dialects that come with the program, sorted."""
    if not _names:
        _names.extend(sorted(module.name for module in iter_modules(__path__)))
    return _names


_names: list[str] = []
