"""Instruments that write what passes do: IR dumps (`--mlir-print-ir-*`), and the log of actions.

`--log-actions-to` logs begin and end of each pass, greedy rewrite iteration and pattern attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import Instrument


@dataclass(frozen=True, slots=True)
class IRPrintingOptions:
    """The passes that dump the IR, and the form of the dumps.

    `before` and `after` are flags of passes; None means all passes. `only_on_change` and `only_on_failure`
    restrict the dumps after passes.
    """

    before: frozenset[str] | None = frozenset()
    after: frozenset[str] | None = frozenset()
    only_on_change: bool = False
    only_on_failure: bool = False
    module_scope: bool = False
    # If not empty, dumps are files in this directory instead of text on stderr.
    tree_directory: str = ""
    # Whether headers are those of mlir-opt, `CSE (cse)`, and not those of jaxlib's LLVM, `CSEPass: cse`.
    are_headers_of_mlir_opt: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether any pass dumps the IR."""
        return self.before != frozenset() or self.after != frozenset()


class IRPrinter(Instrument):
    """Dumps the IR around passes, to `write` or, as (path, text), to `write_file`."""

    def __init__(
        self,
        options: IRPrintingOptions,
        print: Callable[[Op], str],
        write: Callable[[str], None],
        write_file: Callable[[str, str], None],
        ran: set[str],
    ) -> None:
        self._options = options
        self._print = print
        self._write = write
        self._write_file = write_file
        # Receives the flags of the passes that run.
        self._ran = ran
        # The number of dumps of each operation, for file names.
        self._counters: dict[Op, int] = {}

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self._ran.add(pass_.flag)
        if _is_selected(self._options.before, pass_):
            self._dump("Before", "", pass_, op)

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        if self._options.only_on_failure or (self._options.only_on_change and not changed):
            return
        if _is_selected(self._options.after, pass_):
            self._dump("After", "", pass_, op)

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        if _is_selected(self._options.after, pass_):
            self._dump("After", " Failed", pass_, op)

    def _dump(self, moment: str, outcome: str, pass_: Pass, op: Op) -> None:
        dumped, suffix = op, ""
        if self._options.module_scope:
            dumped = [op, *op.ancestors()][-1]
            suffix = f" ('{op.signature.name}' operation{_at_symbol(op)})"
        name = f"{pass_.label()}{outcome}: {pass_}"
        if self._options.are_headers_of_mlir_opt:
            name = f"{pass_.label().removesuffix('Pass')}{outcome} ({pass_.flag})"
        head = f"// -----// IR Dump {moment} {name}{suffix} //----- //\n"
        text = head + self._print(dumped).rstrip("\n") + "\n\n"
        if self._options.tree_directory:
            self._write_file(self._path(pass_, op), text)
        else:
            self._write(text)

    def _path(self, pass_: Pass, op: Op) -> str:
        """`folder/builtin_module_no-symbol-name/func_func_main/1_0_cse.mlir`."""
        self._counters[op] = self._counters.get(op, -1) + 1
        path = [op, *op.ancestors()][::-1]
        folders = [
            f"{part.signature.name.replace('.', '_')}_{_sanitized(_symbol_name(part) or 'no-symbol-name')}"
            for part in path
        ]
        numbers = "_".join(str(self._counters.setdefault(part, 0)) for part in path)
        return "/".join([self._options.tree_directory, *folders, f"{numbers}_{pass_.flag}.mlir"])


def _is_selected(flags: frozenset[str] | None, pass_: Pass) -> bool:
    return flags is None or pass_.flag in flags


def _symbol_name(op: Op) -> str:
    name = op.attribute("sym_name")
    return name.value if isinstance(name, StringAttr) else ""


def _at_symbol(op: Op) -> str:
    name = _symbol_name(op)
    return f": @{name}" if name else ""


def _sanitized(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_").replace("\0", "_")


_THREAD = "[thread sdy-opt]"


class ActionLog(Instrument):
    """Writes the log. `show` prints an operation without its regions."""

    def __init__(self, write: Callable[[str], None], show: Callable[[Op], str]) -> None:
        self._write = write
        self._show = show

    def before_pass(self, pass_: Pass, op: Op) -> None:
        shown = f"running `{pass_.label()}` on Operation `{op.signature.name}` ({self._show(op)})`"
        self._write(f"{_THREAD} begins (no breakpoint) Action `pass-execution` {shown}\n")

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    @contextmanager
    def observe(self, tag: str, description: str, op: Op) -> Iterator[None]:
        """Logs an action inside a pass. `%s` in the description stands for the operation."""
        self._write(f"{_THREAD} begins (no breakpoint) Action {description.replace('%s', self._show(op))}`\n")
        try:
            yield
        finally:
            self._write(f"{_THREAD} completed `{tag}`\n")
