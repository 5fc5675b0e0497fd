"""The reduction of the program of a run, by a command."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sdyopt.analysis.execution.reduction import Options
from sdyopt.analysis.execution.reduction.reducer import Reducer, operation_count
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.ids import REDUCED
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.diagnostics.text import printable
from sdyopt.mlir.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.verify import Verifier

# So many characters of the output of a command are shown.
_SHOWN = 1000


class ProgramReduction(Analysis[Options]):
    """The reduction of one run, whose program becomes the small one."""

    phase = "Reduction"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        run.check_is_one_chunk("--reduce reduces one program", "write the chunk to a file of its own")

    def on_result(self, program: Program) -> None:
        """Reduces the program. Raises DiagnosticError if the command fails for the program itself."""
        before = program.after_given_passes
        assert isinstance(before, ModuleOp) and self.options.reduce is not None
        verifier = Verifier(program.dialects, plain_type, print_for_note)
        with _writing(), TemporaryDirectory(prefix="sdyopt-reduce-") as folder:
            file = Path(folder) / "program.mlir"
            command = _Command(self.options.reduce, file, self.options.reduce_timeout)
            failure = command.failure(print_op(before))
            if failure:
                message = f"cannot reduce: the command fails for the whole program: {failure}"
                error = DiagnosticError.at(UnknownLoc(), message)
                error.diagnostic.id = REDUCED
                raise error.help(
                    "the command succeeds as long as a program has the problem, as in '! sdy-opt %s'"
                )
            reducer = Reducer(before, program, verifier, lambda text: not command.failure(text))
            end = ""
            try:
                reducer.run()
            except KeyboardInterrupt:
                end = ", interrupted"
        program.printed = reducer.best
        was, now = operation_count(before), operation_count(reducer.best)
        message = f"reduced from {was} to {now} operations by {reducer.tests} tests{end}"
        emit(Diagnostic(Severity.REMARK, UnknownLoc(), message, id=REDUCED))


@contextmanager
def _writing() -> Iterator[None]:
    """Turns the exceptions of a temporary folder that is full, or cannot be made, into an error."""
    try:
        yield
    except OSError as problem:
        message = f"cannot reduce: cannot write a temporary file: {problem.strerror or problem}"
        error = DiagnosticError.at(UnknownLoc(), message)
        error.diagnostic.id = REDUCED
        raise error.help("free space, or name another folder in the environment variable TMPDIR") from None


class _Command:
    """Runs a command on texts."""

    def __init__(self, command: str, file: Path, seconds: int) -> None:
        self._command = command.replace("%s", shlex.quote(str(file)))
        self._file = file
        self._seconds = seconds

    def failure(self, text: str) -> str:
        """The reason why the command fails for a program; empty if it succeeds."""
        self._file.write_text(text, encoding="utf-8", errors="surrogateescape")
        try:
            return self._run()
        except OSError as error:
            return f"no shell can run it: {error.strerror}"

    def _run(self) -> str:
        # A group of its own: SIGINT is for the reduction, and a command that takes too long ends as a whole.
        with subprocess.Popen(
            ["/bin/sh", "-c", self._command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                _, output = process.communicate(timeout=self._seconds)
            except subprocess.TimeoutExpired:
                return f"it takes more than {self._seconds} seconds"
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
        if not process.returncode:
            return ""
        shown = printable(output.decode("utf-8", "replace")).strip()[:_SHOWN]
        return f"exit status {process.returncode}" + (f"\n{shown}" if shown else "")
