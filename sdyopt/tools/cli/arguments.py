"""Parses argv without click, whose parser does not keep the order of pass flags."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from types import MappingProxyType
from typing import Any

from sdyopt.analysis.interface.flag import Flag
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all, read_long, read_uint
from sdyopt.tools.cli.flags import ALIASES, FLAGS, LOAD_ANALYSIS, load_analyses

STDIN = "-"

# En dash, em dash and minus sign. Names of characters would import a module at start-up.
LONG_DASHES = ("\u2013", "\u2014", "\u2212")
TRUE, FALSE = ("", "true", "TRUE", "True", "1"), ("false", "FALSE", "False", "0")

# The values of flags.
Value = bool | int | str | tuple[str, ...]


@dataclass(slots=True)
class Arguments:
    """The parsed command line: the input, the passes in order, and the values of flags by name."""

    input: str = STDIN
    passes: list[PassFlag] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """The value of a flag, or its default."""
        flag = FLAGS[name]
        return self.values.get(name, () if flag.is_list or flag.repeats else flag.default)

    def flag_as_value(self) -> str:
        """Help if a flag without a value has taken the next flag for it, as in `--budget -o FILE`."""
        for name, value in self.values.items():
            if isinstance(value, str) and value.startswith("-") and value.lstrip("-") in FLAGS:
                return f"--{name} takes '{value}' for its value; write --{name}={FLAGS[name].placeholder}"
        return ""


@dataclass(frozen=True, slots=True)
class PassFlag:
    """`-name=options` on the command line. `spelling` is the name with its dashes."""

    name: str
    options: str
    spelling: str


# Files may name each other twice, so that the arguments double with each.
_MOST_FILES = 500
_MOST_CHARACTERS = 10_000_000


def with_files(argv: Sequence[str]) -> list[str]:
    """The arguments, with those in FILE in place of each `@FILE`, as C++ tools read them.

    An argument whose file does not exist is left as it is. Raises UsageError for a file that names itself or
    cannot be read, for a quote without an end, and for more than 500 files.
    """
    return list(_with_files(argv, (), count(1)))


def _with_files(argv: Sequence[str], enclosing: tuple[str, ...], numbers: Iterator[int]) -> Iterator[str]:
    """The arguments; `enclosing` are the files that are being read, `numbers` count all files."""
    for argument in argv:
        path = argument[1:]
        if not argument.startswith("@") or not os.path.isfile(path):  # noqa: PTH113  pathlib is slow to import
            yield argument
            continue
        if path in enclosing:
            raise UsageError(f"the arguments in '{path}' contain '{argument}'", f"remove '{argument}'")
        if next(numbers) > _MOST_FILES:
            raise UsageError(f"there are more than {_MOST_FILES} files of arguments", f"remove '{argument}'")
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123  as above
                text = file.read(_MOST_CHARACTERS + 1)
            if len(text) > _MOST_CHARACTERS:
                raise UsageError(f"'{path}' has more than {_MOST_CHARACTERS:,} characters of arguments")
            words = shlex.split(text)
        except OSError as problem:
            raise UsageError(f"cannot open '{path}': {problem.strerror}") from None
        except ValueError as problem:
            raise UsageError(f"the arguments in '{path}': {problem}") from None
        yield from _with_files(words, (*enclosing, path), numbers)


def read_arguments(argv: Sequence[str]) -> Arguments:
    """Parses the arguments of a command with at most one input. Raises UsageError."""
    arguments, inputs = read_arguments_and_inputs(argv)
    if len(inputs) > 1:
        raise UsageError(
            "Too many positional arguments specified!\nCan specify at most 1 positional arguments",
            arguments.flag_as_value()
            or _flag_as_input(argv, inputs)
            or f"remove the second input '{inputs[1]}'",
        )
    if inputs:
        arguments.input = inputs[0]
    return arguments


def read_arguments_and_inputs(argv: Sequence[str]) -> tuple[Arguments, list[str]]:
    """Parses the arguments; a flag that is not in FLAGS counts as a pass. Raises UsageError."""
    arguments = Arguments()
    inputs: list[str] = []
    pending = list(reversed(argv))
    while pending:
        argument = pending.pop()
        if argument == "--":
            inputs.extend(reversed(pending))
            break
        if not argument.startswith("-") or argument == STDIN:
            inputs.append(argument)
            continue
        spelling, equals, value = argument.partition("=")
        name = spelling.lstrip("-")
        flag = FLAGS.get(ALIASES.get(name, name))
        if flag is None:
            arguments.passes.append(PassFlag(name, value, spelling))
            continue
        if not equals and flag.implied is None:
            if not pending:
                message = f"for the {spelling} option: requires a value!"
                raise UsageError(message, f"write {spelling} {flag.placeholder}")
            value = pending.pop()
        elif not equals:
            value = flag.implied or ""
        _set(arguments.values, flag, spelling, value)
    # Flags of plugins have been taken for passes.
    if arguments[LOAD_ANALYSIS] and load_analyses(arguments[LOAD_ANALYSIS]):
        return read_arguments_and_inputs(argv)
    return arguments, inputs


def _flag_as_input(argv: Sequence[str], inputs: Sequence[str]) -> str:
    """Help if one of several inputs looks like part of a flag: its options, or its name without dashes."""
    if inputs[0] in FLAGS:
        return f"write --{inputs[0]}, with hyphens"
    inputs = inputs[1:]
    for before, input in pairwise(argv):
        if input in inputs and before.startswith("-") and re.match(r"[\w-]+=", input):
            return f"write {before}='{input}'"
    long = next((input for input in inputs if input[:1] in LONG_DASHES), None)
    return "" if long is None else f"write '-{long[1:]}', with a hyphen"


def _set(values: dict[str, Value], flag: Flag, spelling: str, text: str) -> None:
    if flag.is_list or flag.repeats:
        previous = values.get(flag.name, ())
        assert isinstance(previous, tuple)
        values[flag.name] = (*previous, *(text.split(",") if flag.is_list else (text,)))
    elif flag.choices and text not in flag.choices:
        message = f"for the {spelling} option: Cannot find option named '{text}'!"
        raise UsageError(message, nearest_or_all(text, flag.choices))
    else:
        value = _read(flag, spelling, text)
        previous = values.get(flag.name, value)
        if previous != value:
            message = f"for the {spelling} option: may only occur zero or one times!"
            raise UsageError(message, f"remove '{_text(previous)}' or '{_text(value)}'")
        values[flag.name] = value


def _read(flag: Flag, spelling: str, text: str) -> bool | int | str:
    if flag.kind is bool:
        if text in TRUE or text in FALSE:
            return text in TRUE
        raise UsageError(
            f"for the {spelling} option: '{text}' is invalid value for boolean argument! Try 0 or 1"
        )
    if flag.kind is int:
        try:
            return read_long(text) if flag.is_signed else read_uint(text)
        except ValueError as problem:
            raise UsageError(f"for the {spelling} option: {problem}") from None
    return text


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Rows of flags for one purpose: names, and what to use instead.
ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("debug-counter", "print-debug-counter"),
        "`--mlir-debug-counter`, `--mlir-print-debug-counter`",
    ),
    (
        ("log-mlir-actions-filter", "profile-actions-to", "mlir-enable-debugger-hook"),
        "`--log-actions-to`, `--mlir-timing`",
    ),
    (
        ("debug", "debug-only", "debug-pass", "debug-buffer-size"),
        "`--log-actions-to`, `--mlir-print-ir-after-change`",
    ),
    (("stats", "stats-json", "info-output-file"), "`--mlir-pass-statistics`"),
    (
        ("time-passes", "time-passes-per-run", "time-trace", "sort-timers", "track-memory"),
        "`--mlir-timing`, or with `--mlir-output-format=json`",
    ),
    (
        ("print-after", "print-after-all", "print-before", "print-before-all", "print-changed"),
        "`--mlir-print-ir-after`, `--mlir-print-ir-after-all` and so on",
    ),
    (
        ("print-module-scope", "print-on-crash", "print-on-crash-path", "ir-dump-directory"),
        "`--mlir-print-ir-module-scope`, `--mlir-print-ir-after-failure`, `--mlir-print-ir-tree-dir`",
    ),
    (("print-pipeline-passes", "print-passes"), "`--dump-pass-pipeline`, `--list-passes`"),
    (("print-options", "print-all-options"), "`--dump-pass-pipeline`, which prints the options of passes"),
    (("crash-diagnostics-dir", "disable-symbolication"), "`--mlir-pass-pipeline-crash-reproducer`"),
    (("filter-print-funcs", "filter-passes"), "`--mlir-print-ir-before`, `--mlir-print-ir-tree-dir`"),
    (
        ("pass-remarks", "pass-remarks-analysis", "pass-remarks-missed"),
        "`--remarks-filter`, `--remarks-filter-analyse` and so on",
    ),
    (("print-ir", "snapshot-op-locations"), "`--mlir-print-ir-tree-dir`, `--mlir-print-debuginfo`"),
    (("view-op-graph", "print-op-stats"), "the printed program, or `--report`"),
    (("threads",), "not needed: there is one thread"),
)

_INSTEAD = MappingProxyType({name: instead for names, instead in ROWS for name in names})


def missing_flag(name: str, spelling: str) -> UsageError | None:
    """The error for a flag that only the C++ tools have; None for any other name."""
    instead = _INSTEAD.get(name)
    if instead is None:
        return None
    message = f"Unknown command line argument '{spelling}': a flag of mlir-opt that sdy-opt does not have"
    return UsageError(
        message, instead if instead.startswith("not needed") else f"use {instead}".replace("`", "'")
    )
