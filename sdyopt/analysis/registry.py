"""Finds analyses: each folder beside this file that has a module `analysis`."""

from __future__ import annotations

import os
from importlib import import_module

from sdyopt.analysis.interface import AnalysisOptions

_PACKAGE = __name__.rpartition(".")[0]
_FOLDER = __file__.removesuffix("registry.py")


def all_analyses() -> list[type[AnalysisOptions]]:
    """The options of all analyses, in their order. The analyses themselves are not imported."""
    if not _found:
        # Not `pkgutil`, which imports `inspect`; and not `pathlib`, which takes longer.
        folders = [name for name in os.listdir(_FOLDER) if os.path.exists(f"{_FOLDER}{name}/analysis.py")]  # noqa: PTH110, PTH208
        _found.extend(import_module(f"{_PACKAGE}.{name}").Options for name in folders)
        _found.sort(key=lambda options: options.order)
    return _found


_found: list[type[AnalysisOptions]] = []
