"""`--mlir-print-ir-*`: shows the program before and after passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sdyopt.ir.attribute import StringAttr
from sdyopt.ir.operation import Op
from sdyopt.pipeline.base import Pass
from sdyopt.pipeline.run import Instrument


@dataclass(frozen=True, slots=True)
class IRPrintingOptions:
    """When the program is shown, and how much of it. `None` for passes by flag means all of them."""

    before: frozenset[str] | None = frozenset()
    after: frozenset[str] | None = frozenset()
    only_on_change: bool = False
    only_on_failure: bool = False
    module_scope: bool = False
    # Files in this folder instead of stderr, if not empty.
    tree_directory: str = ""

    @property
    def is_needed(self) -> bool:
        return self.before != frozenset() or self.after != frozenset()


class IRPrinter(Instrument):
    """Prints by `spell`. A dump goes to `write`, or with its path to `write_file`."""

    def __init__(
        self,
        options: IRPrintingOptions,
        print: Callable[[Op], str],
        write: Callable[[str], None],
        write_file: Callable[[str, str], None],
    ) -> None:
        self._options = options
        self._print = print
        self._write = write
        self._write_file = write_file
        # How often each operation was shown, for the names of files.
        self._counters: dict[Op, int] = {}

    def before_pass(self, single: Pass, op: Op) -> None:
        if _is_selected(self._options.before, single):
            self._dump(f"Before {single.label()}", single, op)

    def after_pass(self, single: Pass, op: Op, changed: bool) -> None:
        if self._options.only_on_failure or (self._options.only_on_change and not changed):
            return
        if _is_selected(self._options.after, single):
            self._dump(f"After {single.label()}", single, op)

    def after_pass_failed(self, single: Pass, op: Op) -> None:
        if _is_selected(self._options.after, single):
            self._dump(f"After {single.label()} Failed", single, op)

    def _dump(self, title: str, single: Pass, op: Op) -> None:
        shown, about = op, ""
        if self._options.module_scope:
            shown = _outermost(op)
            about = f" ('{op.signature.name}' operation{_at_symbol(op)})"
        head = f"// -----// IR Dump {title}: {single}{about} //----- //\n"
        text = head + self._print(shown).rstrip("\n") + "\n\n"
        if self._options.tree_directory:
            self._write_file(self._path(single, op), text)
        else:
            self._write(text)

    def _path(self, single: Pass, op: Op) -> str:
        """`folder/builtin_module_no-symbol-name/func_func_main/1_0_cse.mlir`."""
        self._counters[op] = self._counters.get(op, -1) + 1
        path = [op, *op.ancestors()][::-1]
        folders = [
            f"{each.signature.name.replace('.', '_')}_{_sanitized(_symbol_name(each) or 'no-symbol-name')}"
            for each in path
        ]
        numbers = "_".join(str(self._counters.setdefault(each, 0)) for each in path)
        return "/".join([self._options.tree_directory, *folders, f"{numbers}_{single.flag}.mlir"])


def _is_selected(flags: frozenset[str] | None, single: Pass) -> bool:
    return flags is None or single.flag in flags


def _outermost(op: Op) -> Op:
    return [op, *op.ancestors()][-1]


def _symbol_name(op: Op) -> str:
    name = op.attribute("sym_name")
    return name.value if isinstance(name, StringAttr) else ""


def _at_symbol(op: Op) -> str:
    name = _symbol_name(op)
    return f": @{name}" if name else ""


def _sanitized(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_").replace("\0", "_")
