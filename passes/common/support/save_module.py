"""Writes the module to a numbered file in the middle of a pipeline, for debugging.

    03.after_propagation.mlir

Files are numbered in the order in which a pipeline writes them. The named pipelines contain this pass; help
does not list it.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.base.diagnostics.ids import DUMP_FAILED
from sdyopt.base.diagnostics.text import from_native, native_path
from sdyopt.base.diagnostics.whole_files import replace_file
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import dialects_of_run, register


@register("sdy-save-module", is_listed=False)
class SaveModule(Pass):
    """sdy-save-module: write the module to a file.

    Writes nothing without a dump directory. As in Shardy, pipeline text does not include the directory, so a
    pass that is parsed from text writes nothing.
    """

    # Not options: the pipeline sets them.
    directory: str = ""
    file_name: str = ""
    index: int = 0

    @classmethod
    def label(cls) -> str:
        return "mlir::sdy::(anonymous namespace)::SaveModuleOpPass"

    @property
    def writes_files(self) -> bool:
        return bool(self.directory)

    def run(self, module: ModuleOp) -> bool:
        if not self.directory:
            return False
        path = native_path(f"{self.directory}/{self.index:02}.{self.file_name}.mlir")
        dialects = dialects_of_run()
        # Between passes the program need not be valid; the custom assembly formats require that.
        is_valid = Verifier(dialects, plain_type, print_for_note).is_valid(module)
        text = print_op(module, PrintOptions(generic=not is_valid))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, text)
        except OSError as error:
            # A warning, because the output does not depend on the file. It has no note, which would print the
            # whole module.
            message = f"error when writing file {from_native(str(path))}: {error.strerror}"
            emit(Diagnostic(Severity.WARNING, module.location, message, id=DUMP_FAILED))
        return False


class ModuleDumps:
    """The module files of a pipeline: in one directory, numbered in order."""

    def __init__(self, directory: str = "", first: int = 0) -> None:
        self._directory = directory
        self.next_index = first

    def save(self, file_name: str) -> SaveModule:
        """The pass that writes the next file."""
        index = self.next_index
        self.next_index += 1
        return SaveModule(directory=self._directory, file_name=file_name, index=index)
