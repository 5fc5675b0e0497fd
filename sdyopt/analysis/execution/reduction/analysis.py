"""The reduction of the program of a run: delta debugging, which drops what is not needed for a test to hold.

A kind of reduction is a function that lists the edits of a program, such as one that erases an operation. The
same edits are made on copies, first half of them at once, then quarters, and so on; a copy that is valid and
for which the test holds takes the place of the program. Each step is a valid program, and the result is the
same each time.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from sdyopt.analysis.execution.reduction import Options
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import REDUCED
from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.base.diagnostics.text import printable
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding_edits import (
    add_argument,
    calls_of,
    erase_arguments,
    erase_results,
    inline_call,
)
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.ir.builtin_attributes import dense, element_size
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.types import ComplexType, FloatType, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
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


T = TypeVar("T")

# An edit of a program; one that cannot be made any more does nothing.
Edit = Callable[[], None]
# The edits of a program of one kind. Those of a copy are the same ones in the same order.
Kind = Callable[[ModuleOp, Rewriter], list[Edit]]


def smallest(pieces: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """The pieces that a test needs to hold: drops halves, then quarters, and so on to single ones."""
    size = max(len(pieces) // 2, 1)
    while pieces:
        start = 0
        while start < len(pieces):
            candidate = [*pieces[:start], *pieces[start + size :]]
            if holds(candidate):
                pieces = candidate
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return pieces


def operation_count(op: Op) -> int:
    """The number of operations in a program, without the module and terminators."""
    return sum(1 for item in op.walk() if item is not op and not item.is_terminator)


class Reducer:
    """Reduces a program as long as a test of its text holds. `best` is the smallest program so far."""

    def __init__(
        self, op: ModuleOp, program: Program, verifier: Verifier, holds: Callable[[str], bool]
    ) -> None:
        self.best = op
        self.tests = 0
        self._program = program
        self._verifier = verifier
        self._holds = holds
        self._known: dict[str, bool] = {}

    def run(self) -> None:
        """Reduces the program until nothing changes it."""
        text = ""
        while text != (text := print_op(self.best)):
            for kind in (_operations, _only_calls, _results, _arguments, _attributes):
                self._reduce_ir(kind)
            for pattern in _PARTS:
                self._reduce_text(pattern)
            self._reduce_sizes()

    def _reduce_ir(self, kind: Kind) -> None:
        program = self.best
        count = len(kind(program, Rewriter()))

        def holds(kept: Sequence[int]) -> bool:
            copy, rewriter = Rewriter().clone(program), Rewriter()
            assert isinstance(copy, ModuleOp)
            edits = kind(copy, rewriter)
            for index in sorted(set(range(count)).difference(kept)):
                edits[index]()
            return rewriter.changed and self._try(copy)

        smallest(range(count), holds)

    def _reduce_text(self, pattern: re.Pattern[str]) -> None:
        text = print_op(self.best)
        matches = list(pattern.finditer(text))

        def holds(kept: Sequence[int]) -> bool:
            dropped = [matches[index] for index in sorted(set(range(len(matches))).difference(kept))]
            ends = [0, *(match.end() for match in dropped)]
            starts = [*(match.start() for match in dropped), len(text)]
            return self._try_text("".join(text[end:start] for end, start in zip(ends, starts, strict=True)))

        smallest(range(len(matches)), holds)

    def _reduce_sizes(self) -> None:
        """Makes sizes smaller, each everywhere at once, the largest first."""
        for size in sorted(map(int, set(_SIZE.findall(print_op(self.best)))), reverse=True):
            for smaller in dict.fromkeys((1, 2, size // 2)):
                number = (
                    rf"(?<![\w.%#@$-]){size}(?![\w.]|\"\))|(?<![\w.%#@$-]){size}(?=x)|(?<=[\d?]x){size}(?=x)"
                )
                if 0 < smaller < size and self._try_text(re.sub(number, str(smaller), print_op(self.best))):
                    break

    def _try_text(self, text: str) -> bool:
        program = self._program
        with suppress(DiagnosticError, RecursionError), handling(lambda _: None):
            op, _ = parse_module(Source("", text), program.dialects, program.parse_options)
            return isinstance(op, ModuleOp) and self._try(op)
        return False

    def _try(self, candidate: ModuleOp) -> bool:
        """Takes a program if it is valid, and the test holds."""
        if not self._verifier.is_valid(candidate):
            return False
        text = print_op(candidate)
        if text not in self._known:
            self.tests += 1
            self._known[text] = self._holds(text)
        if self._known[text]:
            self.best = candidate
        return self._known[text]


# --- Edits of the IR ------------------------------------------------------------------------------


def _operations(module: ModuleOp, rewriter: Rewriter) -> list[Edit]:
    """Erases operations, the last ones first, because nothing uses them."""
    erased: set[Op] = set()
    called = {call.callee for call in module.nested(CallOp)}

    def erase(op: Op) -> None:
        if op in erased:
            return
        values = [
            _substitute(result, called, rewriter) if result.has_uses else result for result in op.results
        ]
        if None in values:
            return
        erased.update(op.walk())
        for result, value in zip(op.results, values, strict=True):
            if value is not None and value is not result:
                rewriter.replace_all_uses(result, value)
        rewriter.erase(op)

    ops = [op for op in module.walk() if op is not module and not op.is_terminator]
    return [partial(erase, op) for op in reversed(ops)]


def _substitute(result: Value, called: Container[str], rewriter: Rewriter) -> Value | None:
    """A value that can take the place of a result: an operand, an argument of the function, or zero.

    Functions that are called get no arguments, because their calls have none for them.
    """
    op, type = result.defining_op, result.type
    assert op is not None
    for operand in op.operands:
        if operand.type is type and operand is not result:
            return operand
    scope = next((ancestor for ancestor in op.ancestors() if ISOLATED in ancestor.traits), None)
    if isinstance(scope, FuncOp) and scope.sym_name not in called:
        return _new_argument(scope, result, rewriter)
    if isinstance(type, RankedTensor) and isinstance(type.element, IntegerType | FloatType | ComplexType):
        zero = dense(type, bytes(element_size(type.element)))
        return rewriter.create(ConstantOp, (), [type], {"value": zero}, before=op).results[0]
    return None


def _new_argument(function: FuncOp, value: Value, rewriter: Rewriter) -> Value:
    """A new argument of a function, with the sharding of a value."""
    argument = add_argument(function, value.type, rewriter, value.lazy_location)
    sharding = sharding_of(value)
    if sharding is not None:
        rewriter.set_argument_attribute(function, argument.index, SHARDING, sharding)
    return argument


def _only_calls(module: ModuleOp, rewriter: Rewriter) -> list[Edit]:
    """Inlines the calls of functions that nothing else calls, and erases these functions."""

    def inline(function: FuncOp) -> None:
        calls = calls_of(function)
        if len(function.body.blocks) == len(calls) == 1 and not function.is_ancestor(calls[0]):
            inline_call(calls[0], function, rewriter)
            rewriter.erase(function)

    return [partial(inline, function) for function in module.nested(FuncOp)]


def _results(module: ModuleOp, rewriter: Rewriter) -> list[Edit]:
    """Erases results of functions, the last ones first, so that the others keep their numbers."""

    def erase(function: FuncOp, index: int) -> None:
        if not any(call.results[index].has_uses for call in calls_of(function)):
            erase_results(function, {index}, rewriter)

    return [
        partial(erase, function, index)
        for function in module.nested(FuncOp)
        for index in reversed(range(len(function.function_type.results)))
    ]


def _arguments(module: ModuleOp, rewriter: Rewriter) -> list[Edit]:
    """Erases unused arguments of functions, the last ones first."""

    def erase(function: FuncOp, index: int) -> None:
        if not function.entry.arguments[index].has_uses:
            erase_arguments(function, {index}, rewriter)

    return [
        partial(erase, function, index)
        for function in module.nested(FuncOp)
        if not function.is_declaration
        for index in reversed(range(len(function.entry.arguments)))
    ]


def _attributes(module: ModuleOp, rewriter: Rewriter) -> list[Edit]:
    """Removes discardable attributes, also those of arguments and results."""
    edits: list[Edit] = []
    for op in module.walk():
        edits += [partial(rewriter.remove_attribute, op, name) for name, _ in op.attributes.entries]
        if isinstance(op, FuncOp):
            for set_attribute, dictionaries in (
                (rewriter.set_argument_attribute, op.argument_attributes),
                (rewriter.set_result_attribute, op.result_attributes),
            ):
                for index, dictionary in enumerate(dictionaries):
                    edits += [partial(set_attribute, op, index, name, None) for name, _ in dictionary.entries]
    return edits


# --- Edits of the text ----------------------------------------------------------------------------

# Axes of meshes, and axes of dimensions and other lists.
_PARTS = tuple(
    map(
        re.compile,
        (
            r'"[^"\n]*"=\d+(?:, )?|, "[^"\n]*"=\d+',
            r'(?<=\{)"[^"\n]*"(?::\(\d+\)\d+)?(?:, )?|, "[^"\n]*"(?::\(\d+\)\d+)?',
        ),
    )
)
_SIZE = re.compile(r"(?<![\w.])\d+(?=x)|(?<=x)\d+(?=x)|(?<=\"=)\d+")
