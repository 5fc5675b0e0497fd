"""Writes a program to a file in the middle of a pipeline, for those who look for where something changed.

    03.after_propagation.mlir

Files are numbered by their place in the pipeline. Without a directory, nothing is written. Named
pipelines place this pass; help does not list it.
"""

from __future__ import annotations

from sdyopt.asm.printer.asm_printer import PrintOptions, print_for_note, print_op
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.diagnostics.native_text import from_native, native_path
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.verify import Verifier
from sdyopt.pipeline import Pass
from sdyopt.registry import all_dialects, find_dialect, register


@register("sdy-save-module", is_listed=False)
class SaveModuleOp(Pass):
    """sdy-save-module: write the program to a file, and change nothing.

    A part of pipelines with a dump directory. In their text it stands without its directory, as in C++; read
    from such a text it writes nothing.
    """

    # No options: where to write is for a pipeline to say.
    directory: str = ""
    file_name: str = ""
    index: int = 0

    @classmethod
    def label(cls) -> str:
        return "mlir::sdy::(anonymous namespace)::SaveModuleOpPass"

    def run(self, module: ModuleOp) -> bool:
        if not self.directory:
            return False
        path = native_path(f"{self.directory}/{self.index:02}.{self.file_name}.mlir")
        dialects = DialectTable(find_dialect, all_dialects)
        # In between, a program need not be valid. Then the short forms would not do.
        is_valid = Verifier(dialects, AttributePrinter().type, print_for_note).is_valid(module)
        text = print_op(module, PrintOptions(generic=not is_valid))
        try:
            path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")
        except OSError as problem:
            # The file is a help for people; what they asked for does not depend on it. Nor does it help them
            # to see all of the program here, as with other warnings.
            message = f"error when writing file {from_native(str(path))}: {problem.strerror}"
            emit(Diagnostic(Severity.WARNING, module.location, message))
        return False


class ModuleDumps:
    """Where a pipeline writes the program: places in one directory, numbered in order."""

    def __init__(self, directory: str = "", first: int = 0) -> None:
        self._directory = directory
        self.next_index = first

    def save(self, file_name: str) -> SaveModuleOp:
        """The pass for the next place."""
        index = self.next_index
        self.next_index += 1
        return SaveModuleOp(directory=self._directory, file_name=file_name, index=index)
