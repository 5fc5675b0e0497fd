"""The target of a question: a value, a line of the user's program, or a collective.

params['w'], result[0]['w']            arguments and results, by the names that JAX gives them
%14, @main %arg3, @main result 0       values, by their names in the source
output %14, @main output %14           a value, by its name in the program after the passes
train.py:120                           the values that a line computes, a handful of them explained
train.py:120 all                       the same, all of them listed
#3, collective 3                       a collective, by its number in the report
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import PurePath

from sdyopt.analysis.explain.names import InputNames, function_of
from sdyopt.analysis.figures.assumed_pipeline import LINES_HELP
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import FileLoc, FileRange, Source
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.diagnostics.usage import nearest, nearest_or_all
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import is_private, symbol_name
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.value_names import NamedResult, all_names, find_named, last_key, similar_names
from sdyopt.shardy.notation.mesh_text import TextParser, error_at_range

HELP = (
    "such as \"params['w']\", '%0', '@main %arg0', '@main result 0', 'output %0' after the passes, "
    "'train.py:12' or '#3' for a collective of the report"
)
_SSA_NAME = re.compile(r"%[A-Za-z0-9_$.-]+(?:#\d+)?")
# The files of lines.
_FILES = (".py", ".ipynb", ".mlir")
_LINE = re.compile(r"(?P<file>[^%#].*?):(?P<line>[0-9]{1,9})(?::[0-9]{1,9})?(?P<all> +all)?\Z")
_COLLECTIVE = re.compile(r"(?:#|collective +)(?P<number>[0-9]{1,9})\Z")

_PYTHON_NAME = re.compile(r"[A-Za-z_]\w*(?:\[[^\[\]]*\]|\.\w+)*")
# The number of names that a help line lists.
_LISTED = 8


class ValueTarget(NamedTuple):
    """Values with one name, of which there are several if regions reuse it, or the values of a line.

    `called` are those of them that functions compute which the line calls. `line` is how the question is
    written for values of a line, or of a pattern of names, and `is_list` asks only for a list.
    """

    values: Sequence[Value]
    called: Set[Value] = frozenset()
    line: str = ""
    is_list: bool = False


class ResultTarget(NamedTuple):
    """A result of a function. `others` are those with a name of the same `pattern`."""

    function: str
    number: int
    others: Sequence[tuple[str, int]] = ()
    pattern: str = ""


class OutputTarget(NamedTuple):
    """A value, by its name in the program after the passes, and the function if that is given."""

    name: str
    function: str | None
    source: Source
    start: int


class CollectiveTarget(NamedTuple):
    """A collective, by its number in the report."""

    number: int
    source: Source


Target = ValueTarget | ResultTarget | OutputTarget | CollectiveTarget


def find_target(text: str, inputs: InputNames) -> Target:
    """The target that a text names. Raises DiagnosticError, located in the text, with similar names."""
    source = Source("--explain", text)
    stripped = text.strip()
    if named := find_named(inputs.module, stripped):
        pattern = stripped if "[*]" in stripped else ""
        chosen = named if pattern else named[:1]
        arguments = [value for value in chosen if not isinstance(value, NamedResult)]
        if arguments:
            return ValueTarget(arguments, line=pattern)
        results = [value for value in chosen if isinstance(value, NamedResult)]
        (function, number), *others = [
            (symbol_name(result.function) or "", result.result_index) for result in results
        ]
        return ResultTarget(function, number, others, pattern)
    if (match := _COLLECTIVE.fullmatch(stripped)) is not None:
        return CollectiveTarget(int(match["number"]), source)
    if not stripped.startswith(("%", "@")) and (match := _LINE.fullmatch(stripped)) is not None:
        values = _values_of_line(source, match["file"], int(match["line"]), inputs)
        return values._replace(line=f"{match['file']}:{match['line']}", is_list=match["all"] is not None)
    if PurePath(stripped).suffix in _FILES and not stripped.startswith(("%", "@")):
        error = error_at_range(source, 0, len(text), "the line of this file is missing")
        raise about(error.help(f"write {stripped}:LINE, such as {stripped}:12"), source)
    if _PYTHON_NAME.fullmatch(stripped) and (names := all_names(inputs.module)):
        error = error_at_range(source, 0, len(text), "no argument or result of this name in the program")
        similar = similar_names(inputs.module, stripped)
        more = f" and {len(similar) - _LISTED} more" if len(similar) > _LISTED else ""
        listed = f"choose from {', '.join(similar[:_LISTED])}{more}"
        has_key = any(last_key(stripped) in name for name in similar)
        raise about(error.help(listed if has_key else nearest(stripped, names) or listed), source)
    return _ValueParser(source, inputs).parse()


# --- Values -----------------------------------------------------------------------------------------


class _FunctionName(NamedTuple):
    """The name of a function, and its offsets in the question."""

    name: str
    start: int
    end: int


class _ValueParser:
    def __init__(self, source: Source, inputs: InputNames) -> None:
        self._parser = TextParser(source)
        self._inputs = inputs

    def parse(self) -> Target:
        parser = self._parser
        function = self._function()
        is_output = parser.accept("output")
        start = parser.skip_space()
        if not is_output and parser.accept("result"):
            index = parser.number("the number of a result")
            self._finish()
            return self._result(self._known(function), index, start)
        match = _SSA_NAME.match(parser.source.text, start)
        if match is None:
            raise self._error(parser.error("expected the name of a value", HELP))
        parser.position = match.end()
        # MLIR's notes write `%3 of @main`.
        if function is None and parser.accept("of"):
            function = self._function()
        self._finish()
        if is_output:
            return OutputTarget(match[0], None if function is None else function.name, parser.source, start)
        return ValueTarget(self._values(match[0], self._known(function), start))

    def _finish(self) -> None:
        try:
            self._parser.finish(HELP)
        except DiagnosticError as error:
            raise self._error(error) from None

    def _error(self, error: DiagnosticError) -> DiagnosticError:
        return about(error, self._parser.source)

    def _function(self) -> _FunctionName | None:
        parser = self._parser
        start = parser.skip_space()
        return (
            _FunctionName(parser.accept_name() or "", start, parser.position) if parser.accept("@") else None
        )

    def _known(self, function: _FunctionName | None) -> str | None:
        """The name of a function of the source."""
        if function is not None and function.name not in self._inputs.functions:
            names = [f"@{known}" for known in self._inputs.functions]
            help = nearest_or_all(f"@{function.name}", names[:_LISTED])
            source = self._parser.source
            error = error_at_range(source, function.start, function.end, "no function of this name")
            raise self._error(error.help(help))
        return None if function is None else function.name

    def _result(self, function: str | None, index: int, start: int) -> ResultTarget:
        functions = self._inputs.functions
        public = [name for name, op in functions.items() if not is_private(op)]
        if function is None and len(public) == 1:
            function = public[0]
        if function is None and len(functions) != 1:
            raise self._error(
                self._parser.error_since(start, f"the program has {len(functions)} functions", HELP)
            )
        name = function or next(iter(functions))
        count = len(functions[name].result_attributes)
        if index >= count:
            message = f"the function has {counted(count, 'result')}"
            raise self._error(self._parser.error_since(start, message))
        return ResultTarget(name, index)

    def _values(self, name: str, function: str | None, start: int) -> Sequence[Value]:
        named = self._inputs.of_value
        candidates = {
            value: known for value, known in named.items() if function is None or known.function == function
        }
        input_names_by_value = {
            value: known for value, known in candidates.items() if known.name in (name, f"{name}#0")
        }
        functions = list(dict.fromkeys(known.function for known in input_names_by_value.values()))
        if len(functions) > 1:
            choices = ", ".join(f"'@{function} {name}'" for function in functions[:_LISTED])
            message = f"{len(functions)} functions have a value of this name"
            raise self._error(self._parser.error_since(start, message, f"choose from {choices}"))
        if not input_names_by_value:
            names = list(dict.fromkeys(known.name for known in candidates.values()))
            where = "the source" if function is None else f"@{function}"
            similar = _similar_names(name, names)
            after = f"'output {name}' is the value with this name after the passes"
            help = f"{similar}; {after}" if similar else after
            raise self._error(self._parser.error_since(start, f"no value of this name in {where}", help))
        return list(input_names_by_value)


def _similar_names(name: str, names: Sequence[str]) -> str:
    """A help line with the nearest numbers or the nearest name, else the first names."""
    if name[1:].isdecimal():
        numbered = [name for name in names if name[1:].isdecimal()]
        numbered.sort(key=lambda item: (abs(int(item[1:]) - int(name[1:])), int(item[1:])))
        if numbered:
            nearby = ", ".join(numbered[:3])
            return f"write the name that the value has in the source; the nearest are {nearby}"
    if not names:
        return ""
    return nearest(name, names) or f"the first names are {', '.join(names[:_LISTED])}"


# --- Lines ------------------------------------------------------------------------------------------


def _values_of_line(source: Source, file: str, line: int, inputs: InputNames) -> ValueTarget:
    parts = PurePath(file).parts
    values: dict[Value, None] = {}
    own: set[Value] = set()
    lines: dict[str, set[int]] = {}
    for op, offset in inputs.offset_of_op.items():
        written = inputs.source.location(offset)
        stack = [part for part in op.location.walk() if isinstance(part, FileLoc | FileRange)]
        for part in (written, *stack):
            lines.setdefault(part.file, set()).add(part.line)
            if part.line == line and PurePath(part.file).parts[-len(parts) :] == parts:
                values |= dict.fromkeys(op.results)
                # What a helper computes is of the line that calls it.
                chosen = inputs.lines.chosen(source_location(op.location))
                if part in (written, *stack[:1]) or (chosen.file, chosen.line) == (part.file, line):
                    own.update(op.results)
    if values:
        return ValueTarget(list(values), values.keys() - own)
    known = {name: numbers for name, numbers in lines.items() if PurePath(name).parts[-len(parts) :] == parts}
    end = len(source.text)
    if not known:
        names = list(dict.fromkeys(PurePath(name).name for name in lines))
        error = error_at_range(source, 0, end, "no operation is from this file")
        is_python = PurePath(file).suffix == ".py" and not any(name.endswith(".py") for name in names)
        help = LINES_HELP if is_python else nearest_or_all(PurePath(file).name, names[:_LISTED])
        raise about(error.help(help), source)
    all_lines = {number for numbers in known.values() for number in numbers}
    numbers = sorted(all_lines, key=lambda number: (abs(number - line), number))
    error = error_at_range(source, 0, end, "no value is computed on this line")
    help = f"the nearest lines are {', '.join(map(str, sorted(numbers[:3])))}"
    raise about(error.help(help), source)


def about(error: DiagnosticError, source: Source) -> DiagnosticError:
    """The error with the text that it is located in."""
    error.diagnostic.id = USAGE_ERROR
    error.diagnostic.source = source
    return error


def unknown_collective(target: CollectiveTarget, count: int) -> DiagnosticError:
    """The error for a number that no collective of the report has."""
    message = "the program has no collectives"
    if count:
        message = f"the report has the collectives #0 to #{count - 1}"
    error = DiagnosticError(Diagnostic(Severity.ERROR, target.source.location(0), message))
    if not count:
        help = "add -sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
        return about(error.help(help), target.source)
    return about(error.help("--report --report-rows=0 lists them all"), target.source)


def output_values(module: Op, target: OutputTarget) -> Sequence[Value]:
    """The values that are printed with a name, several if regions reuse it. Raises DiagnosticError."""
    names: dict[Value, tuple[str, str]] = {
        value: (function_of(owning_op(block_or_result(value))), name)
        for value, name in SsaNames(module).names.items()
    }
    functions = list(dict.fromkeys(function for function, _ in names.values()))
    if target.function is not None and target.function not in functions:
        help = nearest_or_all(f"@{target.function}", [f"@{function}" for function in functions], _LISTED)
        raise _error(target, "the program after the passes has no values in a function of this name", help)
    candidates = {value: known for value, known in names.items() if target.function in (None, known[0])}
    # The name of a group of results, such as %3 for %3#0 and %3#1, stands for the first one.
    pairs_by_value = {
        value: known for value, known in candidates.items() if known[1] in (target.name, f"{target.name}#0")
    }
    if not pairs_by_value:
        choices = list(dict.fromkeys(name for _, name in candidates.values()))
        help = nearest_or_all(target.name, choices, _LISTED)
        raise _error(target, "no value of this name in the program after the passes", help)
    in_functions = list(dict.fromkeys(function for function, _ in pairs_by_value.values()))
    if len(in_functions) > 1:
        choices = [f"'@{name} output {target.name}'" for name in in_functions[:_LISTED]]
        message = f"{len(in_functions)} functions have a value of this name"
        raise _error(target, message, f"choose from {', '.join(choices)}")
    return list(pairs_by_value)


def _error(target: OutputTarget, message: str, help: str) -> DiagnosticError:
    end = len(target.source.text.rstrip())
    return about(error_at_range(target.source, target.start, end, message).help(help), target.source)
