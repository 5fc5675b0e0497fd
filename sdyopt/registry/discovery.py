"""How a name finds the file that defines it, without a list of files.

A pass's flag names its file: `sdy-close-shardings` is `passes/exporting/close_shardings.py`; and so does
that of a pipeline. So one pass is one import, and only help and unknown names import everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from sdyopt.diagnostics.usage import UsageError, nearest
from sdyopt.dialects import dialect_names, load_dialect
from sdyopt.ir.dialect import Dialect
from sdyopt.registry.missing import missing_pass
from sdyopt.registry.table import PassEntry, PipelineEntry, entries

# Dialects of other packages, by namespace.
_added_dialects: dict[str, Dialect] = {}


def find_entry(flag: str) -> PassEntry | PipelineEntry | None:
    """What is registered under a flag. Imports no more than is needed to find it."""
    for modules in _likely_modules(flag):
        if flag in entries:
            break
        for module in modules:
            import_module(module)
    return entries.get(flag)


def lookup(flag: str) -> PassEntry | PipelineEntry:
    """What is registered under a flag; UsageError, with the nearest name, if nothing is."""
    entry = find_entry(flag)
    if entry is None:
        if (error := missing_pass(flag)) is not None:
            raise error
        message = f"'{flag}' does not refer to a registered pass or pass pipeline"
        raise UsageError(message, nearest(flag, entries))
    return entry


def all_passes() -> list[PassEntry | PipelineEntry]:
    """Every pass and pipeline that help tells of, by name."""
    import_passes()
    return [entries[flag] for flag in sorted(entries) if entries[flag].is_listed]


def import_passes() -> None:
    """Imports every pass, from inside this package (a wheel) or beside it (a checkout)."""
    for module in _pass_modules():
        import_module(module)


def _likely_modules(flag: str) -> Iterator[list[str]]:
    """The modules to import until a flag is known: its own, or all."""
    yield []
    by_name: dict[str, list[str]] = {}
    for module in _pass_modules():
        by_name.setdefault(module.rpartition(".")[2], []).append(module)
    name = flag.replace("-", "_")
    yield by_name.get(name, [])
    yield by_name.get(name.partition("_")[2], [])
    yield list(_pass_modules())


@cache
def _home() -> str:
    return "sdyopt.passes" if find_spec("sdyopt.passes") else "passes"


@cache
def _pass_modules() -> tuple[str, ...]:
    """The modules below the package of passes by full name, in a fixed order. None is imported."""
    spec = find_spec(_home())
    folders = spec.submodule_search_locations if spec is not None else None
    return tuple(module for folder in folders or () for module in _modules_in(folder, _home()))


def _modules_in(folder: str, package: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        name = entry.name.removesuffix(".py")
        if name != entry.name and name != "__init__":
            yield f"{package}.{name}"
        elif name.isidentifier() and name != "__pycache__" and entry.is_dir():
            yield from _modules_in(entry.path, f"{package}.{name}")


def find_dialect(namespace: str) -> Dialect | None:
    """The dialect of a namespace, imported when first asked for; None if there is none."""
    return _added_dialects.get(namespace) or load_dialect(namespace)


def add_dialect(dialect: Dialect) -> None:
    """Makes a dialect known that is not part of this package."""
    known = find_dialect(dialect.name)
    if known is not None and known is not dialect:
        raise UsageError(f"dialect '{dialect.name}' is defined twice")
    _added_dialects[dialect.name] = dialect


def all_dialects() -> list[str]:
    """The namespaces of the dialects there are."""
    return sorted({*dialect_names(), *_added_dialects})
