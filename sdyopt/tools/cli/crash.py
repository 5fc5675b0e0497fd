"""Reports an unexpected exception: the exception, the frame and the pass, and where to report the bug.

Imported on use. If frames of the stack are in plugins, the report names the innermost of these frames and its
plugin; otherwise it names the innermost frame of all, and sdy-opt. If that is about operations of a plugin,
such as one that gave a value of a wrong type, either may be wrong, and both are named.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, entry_points
from types import FrameType, TracebackType

from sdyopt import __version__
from sdyopt.analysis.interface import ANALYSIS_GROUP
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import INTERNAL_ERROR
from sdyopt.base.diagnostics.location import UnknownLoc, resolve_file_location
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.registry.discovery import PASS_GROUP
from sdyopt.mlir.registry.plugins import DIALECT_GROUP, FILE_MODULE
from sdyopt.shardy.sharding.op_sharding_rule_registry import is_of_plugin

STACK_TRACE_FLAG = "mlir-print-stacktrace-on-diagnostic"
# The labels of URLs in the metadata of a package, in lower case, in the order of preference.
_TRACKERS = ("issues", "bug tracker", "tracker", "bugs", "issue tracker", "homepage", "repository", "source")


@dataclass(frozen=True)
class _Frame:
    """The stack frame that a report names, and the plugin that it is in; None for sdy-opt.

    A plugin that is a file has no package: it is its name. `suspect` is the name of a plugin whose operations
    a frame of sdy-opt is about; empty if there is none.
    """

    file: str
    line: int
    function: str
    plugin: Distribution | str | None
    suspect: str = ""

    @classmethod
    def of(cls, error: Exception) -> _Frame:
        frames = list(_frames(error.__traceback__))
        plugins = _plugins()
        for frame, line in reversed(frames):
            module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            plugin: Distribution | str | None = plugins.get(module)
            if module.startswith(FILE_MODULE):
                plugin = frame.f_code.co_filename
            if plugin is not None:
                return cls(frame.f_code.co_filename, line, frame.f_code.co_name, plugin)
        frame, line = frames[-1]
        return cls(frame.f_code.co_filename, line, frame.f_code.co_name, None, _suspect(frames, plugins))

    def help(self, shows_stack: bool) -> str:
        """The address for a report of the bug, and what to send."""
        plugin = self.plugin
        if self.suspect or isinstance(plugin, str):
            where = f"{self.suspect} or in sdy-opt {__version__}" if self.suspect else plugin
            return f"this is a bug in the plugin {where}" + (
                "" if shows_stack else f"; --{STACK_TRACE_FLAG} prints the stack trace"
            )
        package = f"sdy-opt {__version__}" if plugin is None else f"the plugin {plugin.name} {plugin.version}"
        address = None if plugin is None else _address(plugin)
        where = f"at {address}" if address else "to its maintainers"
        more = "" if shows_stack else f"; --{STACK_TRACE_FLAG} prints that"
        return (
            f"this is a bug in {package}; report it {where} with the program, the command line and the stack "
            f"trace{more}"
        )


def crash_diagnostic(error: Exception, shows_stack: bool) -> Diagnostic:
    """The diagnostic of an unexpected exception."""
    frame = _Frame.of(error)
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    where = [
        f"raised at {frame.file}:{frame.line}, in {frame.function}",
        *_operation(error, frame.plugin),
        *getattr(error, "__notes__", ()),
    ]
    stack = "".join(traceback.format_exception(error)) if shows_stack else ""
    message = "\n".join([f"internal error: {reason}", ", ".join(where), *([stack] if stack else [])]).rstrip()
    return Diagnostic(Severity.ERROR, UnknownLoc(), message, help=frame.help(shows_stack), id=INTERNAL_ERROR)


def _address(plugin: Distribution) -> str | None:
    """The bug tracker or home page of a package, or the address of its author; None if it declares none."""
    urls = {}
    for entry in plugin.metadata.get_all("Project-URL") or ():
        label, _, url = str(entry).partition(",")
        urls[label.strip().lower()] = url.strip()
    links = [urls[label] for label in _TRACKERS if label in urls]
    others = [text for key in ("Home-page", "Author-email") for text in plugin.metadata.get_all(key) or ()]
    return next((str(text) for text in (*links, *others) if text), None)


def _suspect(frames: list[tuple[FrameType, int]], plugins: Mapping[str, Distribution]) -> str:
    """The plugin of the operations that the innermost frame with operations, or their classes, is about."""
    for frame, _ in reversed(frames):
        classes = [op_class for value in frame.f_locals.values() for op_class in _op_classes(value)]
        for module in [op_class.__module__ for op_class in classes]:
            plugin = plugins.get(module.partition(".")[0])
            if plugin is not None or module.startswith(FILE_MODULE):
                file = getattr(sys.modules.get(module), "__file__", None)
                return plugin.name if plugin is not None else str(file or module)
        if classes:
            break
    return ""


def _op_classes(value: object) -> Iterator[type[Op]]:
    """The class of an operation, of that with a value, or that itself."""
    if isinstance(value, Value):
        value = value.owner
    if isinstance(value, Op):
        yield type(value)
    elif isinstance(value, type) and issubclass(value, Op):
        yield value


def _operation(error: Exception, plugin: Distribution | str | None) -> Iterator[str]:
    """The innermost operation of a plugin that the frames are about, and its line."""
    if plugin is None:
        return
    for frame, _ in reversed(list(_frames(error.__traceback__))):
        for value in frame.f_locals.values():
            if isinstance(value, Op) and value.parent is not None and is_of_plugin(value):
                place = resolve_file_location(value.location)
                where = "" if place is None else f" at {place.file}:{place.line}:{place.column}"
                yield f"for '{value.signature.name}'{where}"
                return


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """The frames of a traceback with their lines, innermost last."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _plugins() -> dict[str, Distribution]:
    """The packages that declare plugins, by the name of their top-level module."""
    entries = [
        entry for group in (PASS_GROUP, DIALECT_GROUP, ANALYSIS_GROUP) for entry in entry_points(group=group)
    ]
    return {entry.module.partition(".")[0]: entry.dist for entry in entries if entry.dist is not None}
