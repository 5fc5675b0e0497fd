"""Loads plugins: passes and dialects of other packages, found by entry points, and Python files.

    [project.entry-points."sdyopt.passes"]
    my-passes = "my_package.passes"

declares a module that registers passes when imported, for `--load-pass-plugin=my-passes`. An entry point in
the group `sdyopt.dialects` declares a `Dialect`, for `--load-dialect-plugin`. Those of analyses are loaded by
`analysis/interface/__init__.py`. A plugin may also be a Python file, as in `--load-pass-plugin=./my_pass.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Source
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.text import native_path, real_path
from sdyopt.base.diagnostics.usage import UsageError, nearest, nearest_or_all
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.mlir.asm.format.declaration_check import check_operation
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry.discovery import (
    PASS_GROUP,
    add_dialect,
    dialect_table,
    find_dialect,
    likely_modules,
    loaded_pass_plugins,
)
from sdyopt.mlir.registry.table import entries

if TYPE_CHECKING:
    from importlib.abc import Loader as _Loader
else:
    _Loader = object  # from Python 3.13 on, `importlib.abc` imports `inspect`, in every run

DIALECT_GROUP: Final = "sdyopt.dialects"
# That of `analysis/interface/__init__.py`.
_ANALYSIS_GROUP: Final = "sdyopt.analyses"


# How the plugins of this process were loaded, and their names, in the order of loading.
_plugins: dict[tuple[str, str], None] = {}


def _record(kind: str, name: str) -> None:
    _plugins[kind, str(real_path(native_path(name))) if name.endswith(".py") or kind == "irdl" else name] = (
        None
    )


def loaded_plugins() -> str:
    """The plugins of this process as text, for `load_plugins` in another one."""
    return "\n".join([f"{kind} {name}" for kind, name in _plugins])


def load_plugins(text: str) -> None:
    """Loads the plugins of another process. Raises UsageError."""
    loaders = {
        "any": load_any_plugin,
        "dialect": load_dialect_plugin,
        "irdl": load_irdl_file,
        "pass": load_pass_plugin,
    }
    for line in text.splitlines():
        kind, _, name = line.partition(" ")
        loaders[kind](name)


def load_pass_plugin(name: str) -> None:
    """Registers the passes of an entry point; raises UsageError if it cannot be loaded."""
    failure, before = f"Failed to load passes from '{name}'", set(entries)
    plugin = _Plugin(name, failure)
    is_new = plugin.is_new()
    module = load_plugin(PASS_GROUP, name, failure)
    plugin.check_new_passes(before)
    if is_new and isinstance(module, ModuleType) and before == set(entries):
        plugin.check_has_effect(module)
    loaded_pass_plugins.add(name)
    _record("pass", name)


def load_dialect_plugin(name: str) -> None:
    """Registers the dialect of an entry point; raises UsageError if it cannot be loaded."""
    failure = f"Failed to load dialect plugin from '{name}'"
    dialect = load_plugin(DIALECT_GROUP, name, failure, "DIALECT")
    if not isinstance(dialect, Dialect):
        raise UsageError(f"{failure}: the entry point is not a Dialect")
    _check_operations(dialect.ops.values())
    add_dialect(dialect)
    _record("dialect", name)


def load_irdl_file(path: str) -> None:
    """Registers the dialects that a file in the dialect irdl defines.

    Raises DiagnosticError if it is invalid, and UsageError.
    """
    module = import_module("sdyopt.mlir.dialects.irdl.loading")
    dialects: list[Dialect] = module.read_dialects(path, dialect_table())
    for dialect in dialects:
        if find_dialect(dialect.name) is not None:
            raise UsageError(f"{path}: the dialect '{dialect.name}' is registered already")
        add_dialect(dialect)
    _record("irdl", path)


def load_any_plugin(name: str) -> None:
    """Registers the passes and the dialect of a Python file, or those of the entry points of a name.

    A file `….toml` lists plugins, relative to its folder, as `sdyopt_plugins` of pytest's options. Raises
    UsageError.
    """
    failure = f"Failed to load plugin from '{name}'"
    plugin = _Plugin(name, failure)
    if name.endswith(".toml"):
        for listed_plugin in plugin.listed_plugins():
            load_any_plugin(listed_plugin)
    elif (is_path := os.sep in name or "/" in name) and (native_path(name) / "__init__.py").is_file():
        load_any_plugin(os.path.join(name, "__init__.py"))  # noqa: PTH118  a Path drops the leading ./
    elif name.endswith(".py"):
        is_new, before = plugin.is_new(), set(entries)
        module = plugin.module_of_file()
        plugin.check_new_passes(before)
        dialect = getattr(module, "DIALECT", None)
        # Those that the file adds to other dialects, too.
        own = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Op)]
        _check_operations([op_class for op_class in own if op_class.dialect is not None])
        missing = [cls.dialect.name for cls in own if cls.dialect and find_dialect(cls.dialect.name) is None]
        if missing and not isinstance(dialect, Dialect):
            raise UsageError(
                f"{failure}: the file defines no DIALECT", f"write DIALECT = the dialect '{missing[0]}'"
            )
        if isinstance(dialect, Dialect):
            _check_operations(dialect.ops.values())
            add_dialect(dialect)
        elif is_new and before == set(entries):
            plugin.check_has_effect(module)
        _record("any", name)
    else:
        from importlib.metadata import entry_points  # noqa: PLC0415  slow to import, and rarely used

        loaders = {PASS_GROUP: load_pass_plugin, DIALECT_GROUP: load_dialect_plugin}
        known = {group: entry_points(group=group).names for group in loaders}
        groups = [group for group in loaders if name in known[group]]
        if not groups:
            if name in entry_points(group=_ANALYSIS_GROUP).names:
                help = f"load it with --load-analysis-plugin={name}"
                raise UsageError(f"{failure}: it is an analysis", help)
            help = nearest_or_all(name, sorted(set().union(*known.values())))
            if not is_path and (native_path(name) / "__init__.py").is_file():
                help = f"write ./{name} for the package in this folder"
            message = f"{failure}: no installed package has this entry point"
            raise UsageError(message, help or "install the package of the plugin in this Python environment")
        for group in groups:
            loaders[group](name)


@dataclass(frozen=True)
class _Plugin:
    """A plugin that is loaded by a name, and how an error about it begins."""

    name: str
    failure: str

    def is_new(self) -> bool:
        """Whether it is a file that is not loaded yet."""
        return self.name.endswith(".py") and real_path(native_path(self.name)) not in _file_modules

    def check_new_passes(self, before: set[str]) -> None:
        """Raises UsageError if a plugin has registered a pass under the name of one that exists."""
        for flag in sorted(entries.keys() - before):
            entry = entries.pop(flag)
            # The passes of sdy-opt are imported when they are used. The file of most has their name.
            *named, _ = likely_modules(flag)
            for module in (module for modules in named for module in modules):
                import_module(module)
            if flag in entries:
                raise UsageError(
                    f"{self.failure}: the pass '{flag}' exists already", "give the pass another name"
                )
            entries[flag] = entry

    def check_has_effect(self, module: ModuleType) -> None:
        """Raises UsageError for a file that registers no pass, no dialect, and nothing by a decorator."""
        values = vars(module).values()
        if any(
            "AnalysisOptions" in (base.__name__ for base in getattr(value, "__mro__", ())) for value in values
        ):
            raise UsageError(
                f"{self.failure}: it is an analysis", f"load it with --load-analysis-plugin={self.name}"
            )
        owners = (getattr(value, "__module__", None) or "" for value in values)
        if not any(owner.startswith("sdyopt.") for owner in owners):
            message = f"{self.failure}: the file registers no pass, and defines no DIALECT"
            raise UsageError(message, 'write @sdyopt.register_pass("name") before the class of a pass')

    def listed_plugins(self) -> list[str]:
        """The plugins that a configuration of pytest lists; those that are files, relative to its folder."""
        import tomllib  # noqa: PLC0415  rarely used

        path = native_path(self.name)
        try:
            listed: Any = tomllib.loads(read_settings_file(path))
        except (OSError, ValueError, RecursionError) as problem:
            raise UsageError(f"{self.failure}: {getattr(problem, 'strerror', None) or problem}") from None
        for key in ("tool", "pytest", "ini_options", "sdyopt_plugins"):
            listed = listed.get(key) if isinstance(listed, dict) else None
        if not isinstance(listed, list) or not all(isinstance(plugin, str) for plugin in listed):
            help = 'write sdyopt_plugins = ["./my_pass.py"] in [tool.pytest.ini_options]'
            raise UsageError(f"{self.failure}: the file lists no plugins", help)
        for plugin in listed:
            if plugin.endswith(".toml"):
                raise UsageError(f"{self.failure}: '{plugin}' is another list", "list its plugins here")
            if "\0" in plugin:
                raise UsageError(f"{self.failure}: the name of a plugin has a NUL character")
        return [str(path.parent / plugin) if plugin.endswith(".py") else plugin for plugin in listed]

    def module_of_file(self) -> ModuleType:
        """The module of a file, which is executed once, for its passes and its dialect alike."""
        path = real_path(native_path(self.name))
        imported = sys.modules.get(path.parent.name if path.stem == "__init__" else path.stem)
        if path not in _file_modules and imported is not None and _file_of(imported) == path:
            _file_modules[path] = imported
        if path not in _file_modules:
            # It must hide no other module.
            spec = spec_from_file_location(f"{FILE_MODULE}{len(_file_modules)}_{path.stem}", path)
            assert spec is not None and spec.loader is not None
            module = module_from_spec(spec)
            sys.modules[module.__name__] = module
            try:
                spec.loader.exec_module(module)
            except UsageError:
                raise
            except OSError as problem:
                raise UsageError(f"{self.failure}: {problem.strerror or problem}") from problem
            except SystemExit as problem:
                # Else nothing is written, perhaps with exit status 0.
                line = _line_in(path, problem)
                help = 'end it only under `if __name__ == "__main__":`'
                raise UsageError(f"{self.failure}: the file ends the process{line}", help) from problem
            except Exception as problem:
                raise self._located_error(path, problem) from problem
            _file_modules[path] = module
            if not any(isinstance(finder, _LoadedFiles) for finder in sys.meta_path):
                sys.meta_path.insert(0, _LoadedFiles())
        return _file_modules[path]

    def _located_error(self, path: Path, problem: Exception) -> UsageError:
        """The error for an exception of a plugin, at the line in the file, with help for misspelled names."""
        help = ""
        if isinstance(problem, AttributeError) and problem.name and isinstance(problem.obj, ModuleType):
            help = nearest(problem.name, getattr(problem.obj, "__all__", dir(problem.obj)))
        message = f"{self.failure}: {type(problem).__name__}: {problem}"
        line = _innermost_line(path, problem)
        if isinstance(problem, SyntaxError) and problem.filename == str(path):
            line = problem.lineno or 0
            message = f"{self.failure}: {type(problem).__name__}: {problem.msg}"
        try:
            source = Source(str(path), path.read_text(encoding="utf-8"))
            text = source.text.splitlines()[line - 1] if line else ""
        except (OSError, UnicodeDecodeError, IndexError):
            text = ""
        if not text:
            return UsageError(message, help)
        column = len(text) - len(text.lstrip()) + 1
        diagnostic = DiagnosticError.at(FileLoc(str(path), line, column), message).within(source).diagnostic
        return UsageError(render(diagnostic).rstrip("\n"), help, diagnostic)


def _check_operations(op_classes: Iterable[type[Op]]) -> None:
    """Raises UsageError for an operation whose declaration has a mistake."""
    for op_class in op_classes:
        try:
            check_operation(op_class)
        except DiagnosticError as error:
            diagnostic = error.diagnostic
            help, diagnostic.help = diagnostic.help, ""
            raise UsageError(render(diagnostic).rstrip("\n"), help, diagnostic) from None


def load_plugin(group: str, name: str, failure: str, attribute: str = "") -> object:
    """The declaration of an entry point, or a Python file in an attribute, if one is given.

    Raises UsageError, whose message starts with `failure`.
    """
    if name.endswith(".py"):
        module = _Plugin(name, failure).module_of_file()
        if attribute and not hasattr(module, attribute):
            raise UsageError(f"{failure}: the file defines no {attribute}", f"write {attribute} = …")
        return getattr(module, attribute) if attribute else module
    from importlib.metadata import entry_points  # noqa: PLC0415  slow to import, and rarely used

    plugins = entry_points(group=group)
    if name not in plugins.names:
        message = f"{failure}: no installed package has this entry point in group '{group}'"
        help = nearest_or_all(name, sorted(plugins.names))
        raise UsageError(message, help or "install the package of the plugin in this Python environment")
    try:
        return plugins[name].load()
    except (ImportError, AttributeError, SyntaxError) as problem:
        raise UsageError(f"{failure}: {problem}") from problem


# The modules of plugins that are files, by path, and the start of their names.
FILE_MODULE: Final = "sdyopt_plugin_"
_file_modules: dict[Path, ModuleType] = {}


class _LoadedFiles(_Loader):
    """Finds a module whose file is a plugin already, as the same module: a file is executed once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = None if path is not None else PathFinder.find_spec(fullname)
        if spec is None or spec.origin is None or real_path(Path(spec.origin)) not in _file_modules:
            return None
        return spec_from_loader(fullname, self, origin=spec.origin)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _file_modules[real_path(Path(spec.origin or ""))]

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: the module is executed."""


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return real_path(Path(file)) if file else None


def _line_in(path: Path, problem: BaseException) -> str:
    """The innermost line of a file in the stack of an exception, in words."""
    line = _innermost_line(path, problem)
    return f" (line {line})" if line else ""


def _innermost_line(path: Path, problem: BaseException) -> int:
    """The innermost line of a file in the stack of an exception; 0 if there is none."""
    trace, line = problem.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
