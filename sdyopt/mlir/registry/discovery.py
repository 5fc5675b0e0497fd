"""Finds the module of a pass, pipeline or dialect by name, without a list of files.

A pass or pipeline is in the file that its flag names: `sdy-close-shardings` is in
`passes/exporting/close_shardings.py`. So running a pass imports only its module. Help imports all modules,
and so does the search for a flag without such a file. Passes that show an analysis are beside the analyses.
Those of other packages are plugins (`plugins.py`).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from sdyopt.base.context import ContextPart
from sdyopt.base.diagnostics.usage import UsageError, nearest
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.dialects import dialect_names, load_dialect
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.pipeline.base import MODULE
from sdyopt.mlir.pipeline.tree import Pipeline, add_entry, parse_passes, parse_pipeline
from sdyopt.mlir.registry.table import PassEntry, PipelineEntry, entries

# Help for the name of a pass that resembles no other.
LIST_PASSES: Final = "--list-passes lists the passes"

# The package of the passes that show an analysis, such as a report. It is above the registry, so a name.
_ANALYSIS_PASSES: Final = "sdyopt.analysis.report.passes"
# Dialects of other packages, by namespace.
_added_dialects: dict[str, Dialect] = {}


def find_entry(flag: str) -> PassEntry | PipelineEntry | None:
    """The entry of a flag; None if there is none. Imports as few modules as possible."""
    for modules in likely_modules(flag):
        if flag in entries:
            break
        for module in modules:
            import_module(module)
    return entries.get(flag)


def lookup(flag: str) -> PassEntry | PipelineEntry:
    """The entry of a flag. Without one, raises UsageError with the most similar name, if any, as help."""
    entry = find_entry(flag)
    if entry is None:
        message = f"'{flag}' does not refer to a registered pass or pass pipeline"
        raise UsageError(
            message, of_other_tool(flag) or nearest(flag, entries) or plugins_not_loaded() or LIST_PASSES
        )
    return entry


# The passes of the C++ tools that sdy-opt does not have, by tool. Those of a dialect have its name in front.
# They are text, because compiling them is slow, and rarely needed.
_FOREIGN: Final = MappingProxyType(
    {
        "stablehlo-opt": (
            r"stablehlo-("
            r"(compatibility|complex-math)-expander|convert-to-signless|"
            r"legalize-(deprecated-ops|qdq-to-quantized-op|quant-to-math|quantized-op-to-qdq|to-linalg|to-tosa)|"
            r"wrap-in-composite)|shape-legalize-to-stablehlo"
        ),
        "mlir-opt": (
            r"(affine|amdgpu|arith|arm|async|bufferization|emitc|func|gpu|linalg|llvm|math|memref|ml-program|nvgpu|"
            r"nvvm|rocdl|scf|shape|sparse|spirv|tensor|tosa|transform|vector|x86vector|xegpu)-[\w-]+"
            r"|(convert|lower|fold|expand|finalize|lift|raise|promote|map)-[\w-]+-(to|into|from|in)-[\w-]+"
            r"|(decorate|launch|map|outline|resolve|set|stage)-[\w-]*(spirv|func|shape|shaped|llvm|sparse)-[\w-]+"
            r"|(ownership-based-)?buffer-[\w-]+|composite-fixed-point-pass|control-flow-sink|convert-shape-constraints"
            r"|convert-to-(llvm|spirv)|drop-equivalent-buffer-results|duplicate-function-elimination"
            r"|(eliminate-)?empty-tensors?(-[\w-]+)?|enable-arm-streaming|ensure-debug-info-scope-on-llvm-func"
            r"|expand-(realloc|strided-metadata)|finalizing-bufferize|fold-(memref|tensor)-[\w-]+|form-expressions"
            r"|generate-runtime-verification|int-range-optimizations|(location-snapshot|snapshot-op-locations)"
            r"|loop-invariant-[\w-]+|lower-(affine|vector-[\w-]+)|mem2reg|mlprogram-[\w-]+|normalize-memrefs"
            r"|one-shot-bufferize|openacc-[\w-]+|(pre-)?sparsif(ier|ication)(-[\w-]+)?|reconcile-unrealized-casts"
            r"|remove-shape-constraints|slice-analysis-test|sroa|strip-func-quant-types|topological-sort"
            r"|trivial-dce|view-op-graph"
        ),
    }
)


def of_other_tool(flag: str) -> str:
    """Help for the name of a pass of another C++ tool; empty for other names."""
    tool = next((tool for tool, names in _FOREIGN.items() if re.fullmatch(names, flag)), "")
    return tool and f"this is a pass of {tool}, which sdy-opt does not have"


PASS_GROUP: Final = "sdyopt.passes"
# The names of the entry points in this group that are loaded.
loaded_pass_plugins: set[str] = set()


def plugins_not_loaded() -> str:
    """Help for an unknown pass: the flags that load the passes of installed plugins; empty without these."""
    from importlib.metadata import entry_points  # noqa: PLC0415  slow to import, and rarely used

    names = entry_points(group=PASS_GROUP).names - loaded_pass_plugins
    flags = [f"--load-pass-plugin={name}" for name in sorted(names)]
    return f"a pass of an installed plugin needs {' or '.join(flags)}" if flags else ""


def all_passes() -> list[PassEntry | PipelineEntry]:
    """All listed passes and pipelines, sorted by name."""
    import_passes()
    return [entries[flag] for flag in sorted(entries) if entries[flag].is_listed]


def import_passes() -> None:
    """Imports all passes, from `sdyopt.passes` in an installed wheel or `passes` in a checkout."""
    for module in _pass_modules():
        import_module(module)


# XLA's passes have names of two words in front.
_DIALECT = constant_pattern("^(xla_sdy|stablehlo_ext|[a-z]+)_")


def likely_modules(flag: str) -> Iterator[list[str]]:
    """Groups of modules to import, in turn, until a flag is registered; the last group is all modules."""
    yield []
    by_name: dict[str, list[str]] = {}
    for module in _pass_modules():
        by_name.setdefault(module.rpartition(".")[2], []).append(module)
    name = flag.replace("-", "_")
    yield by_name.get(name, [])
    short = _DIALECT.sub("", name, count=1)
    yield by_name.get(short, [])
    yield list(_pass_modules())


@cache
def _pass_modules() -> tuple[str, ...]:
    """The full names of all modules in packages of passes, in a fixed order, without importing them."""
    passes = "sdyopt.passes" if find_spec("sdyopt.passes") else "passes"
    return tuple(module for package in (passes, _ANALYSIS_PASSES) for module in _modules_of(package))


def _modules_of(package: str) -> Iterator[str]:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        yield from _modules_in(folder, package)


def _modules_in(folder: str, package: str) -> Iterator[str]:
    with os.scandir(folder) as iterator:
        files = sorted(iterator, key=lambda file: file.name)
    for file in files:
        name = file.name.removesuffix(".py")
        if name != file.name and name != "__init__":
            yield f"{package}.{name}"
        elif name.isidentifier() and name != "__pycache__" and file.is_dir():
            yield from _modules_in(file.path, f"{package}.{name}")


def find_dialect(namespace: str) -> Dialect | None:
    """The dialect of a namespace, imported on first use; None if there is none."""
    return _added_dialects.get(namespace) or load_dialect(namespace)


def add_dialect(dialect: Dialect) -> None:
    """Registers a dialect of another package; raises UsageError if the namespace is taken."""
    existing = find_dialect(dialect.name)
    if existing is not None and existing is not dialect:
        raise UsageError(f"dialect '{dialect.name}' is defined twice")
    _added_dialects[dialect.name] = dialect


@contextmanager
def forgotten_dialects() -> Iterator[None]:
    """Forgets the dialects that are added within, as at the end of a process."""
    before = dict(_added_dialects)
    try:
        yield
    finally:
        _added_dialects.clear()
        _added_dialects.update(before)


def all_dialects() -> list[str]:
    """The namespaces of all available dialects, sorted."""
    return sorted({*dialect_names(), *_added_dialects})


# The releases of LLVM whose mesh dialects there are.
MESH_VERSIONS: Final = (19, 21, 22)

_DIALECTS = ContextPart[DialectTable | None](None)


def dialect_table(mesh_version: int = 19) -> DialectTable:
    """All dialects, each loaded on first use. Those of meshes are of this LLVM release."""
    if mesh_version not in _LATER_DIALECTS:
        return DialectTable(find_dialect, all_dialects)
    later = _LATER_DIALECTS[mesh_version]

    def find(namespace: str) -> Dialect | None:
        path = later.get(namespace)
        return find_dialect(namespace) if path is None else _dialect_at(path)

    def names() -> list[str]:
        return sorted({*all_dialects(), *later} - {name for name, path in later.items() if not path})

    return DialectTable(find, names)


def dialects_of_run() -> DialectTable:
    """The dialects of the run."""
    return _DIALECTS.value or dialect_table()


def using_dialects(dialects: DialectTable) -> AbstractContextManager[None]:
    """Makes these the dialects of the run in the `with` block."""
    return _DIALECTS.set_to(dialects)


def _dialect_at(path: str) -> Dialect | None:
    """The dialect `module:variable`; None for an empty path."""
    if not path:
        return None
    module, _, variable = path.partition(":")
    dialect: Dialect = getattr(import_module(module), variable)
    return dialect


_LLVM21: Final = {
    "affine": "sdyopt.mlir.dialects.affine:affine21",
    "tosa": "sdyopt.mlir.dialects.tosa:tosa21",
}
# The dialects that later releases of LLVM have otherwise; those with an empty path they do not have.
_LATER_DIALECTS: Final = MappingProxyType(
    {
        21: {**_LLVM21, "mesh": "sdyopt.mlir.dialects.mesh.mesh_llvm21:mesh21"},
        22: {**_LLVM21, "mesh": "", "shard": "sdyopt.mlir.dialects.mesh.mesh_llvm21:shard"},
    }
)


# The flag whose value is a whole pipeline.
_PIPELINE_FLAG: Final = "pass-pipeline"


def read_pipeline(text: str) -> Pipeline:
    """The pipeline of `-cse -sdy-close-shardings`, of `builtin.module(cse)` or of `cse,canonicalize`.

    Raises UsageError.
    """
    text = text.strip()
    if text.startswith("-"):
        pipeline = Pipeline()
        for flag in _split_flags(text):
            name, _, value = flag.lstrip("-").partition("=")
            if name == _PIPELINE_FLAG:
                pipeline.add_nested(parse_pipeline(value, lookup).elements)
            else:
                add_entry(pipeline, lookup(name), name, value, nests=True)
        return pipeline
    is_whole = text.startswith(f"{MODULE}(")
    return parse_pipeline(text, lookup) if is_whole else parse_passes(text, lookup)


def _split_flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise UsageError(f"{text}: {problem}") from None
