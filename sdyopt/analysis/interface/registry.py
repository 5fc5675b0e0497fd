"""Finds analyses: each room and each folder of a room that has a module `analysis`, and plugins.

    [project.entry-points."sdyopt.analyses"]
    op-count = "my_package.op_count:Options"

declares the options of an analysis of another package, for `--load-analysis-plugin=op-count`. Without a
package, they are the `Options` of a file, for `--load-analysis-plugin=./op_count.py`.
"""

from __future__ import annotations

import os
from importlib import import_module

from sdyopt.analysis.interface import AnalysisOptions
from sdyopt.base.diagnostics.usage import UsageError

ANALYSIS_GROUP = "sdyopt.analyses"
_PACKAGE = "sdyopt.analysis"
_FOLDER = __file__.removesuffix("registry.py") + "../"


def all_analyses() -> list[type[AnalysisOptions]]:
    """The options of all analyses, in their order. The analyses themselves are not imported."""
    if not _analyses:
        # Not `pkgutil`, which imports `inspect`; and not `pathlib`, which takes longer.
        rooms = _folders("")
        folders = [*rooms, *(f"{room}/{name}" for room in rooms for name in _folders(room))]
        with_analysis = [name for name in folders if os.path.exists(f"{_FOLDER}{name}/analysis.py")]  # noqa: PTH110
        _analyses.extend(
            import_module(f"{_PACKAGE}.{name.replace('/', '.')}").Options for name in with_analysis
        )
        _analyses.sort(key=lambda options: options.order)
    return _analyses


def _folders(folder: str) -> list[str]:
    return [name for name in os.listdir(_FOLDER + folder) if "." not in name]  # noqa: PTH208


def load_analysis_plugin(name: str) -> type[AnalysisOptions]:
    """Adds the analysis of an entry point; raises UsageError if it cannot be loaded."""
    from sdyopt.mlir.registry.discovery import load_plugin  # noqa: PLC0415  few runs load a plugin

    failure = f"Failed to load an analysis from '{name}'"
    options = load_plugin(ANALYSIS_GROUP, name, failure, "Options")
    if not (isinstance(options, type) and issubclass(options, AnalysisOptions)):
        raise UsageError(f"{failure}: the entry point is not a subclass of AnalysisOptions")
    if options not in all_analyses():
        _analyses.append(options)
        _analyses.sort(key=lambda cls: cls.order)
    return options


_analyses: list[type[AnalysisOptions]] = []
