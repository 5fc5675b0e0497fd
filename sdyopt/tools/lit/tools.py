"""Runs the commands of RUN lines: a subset of shell syntax, and the programs, in processes or in this one.

With `SDYOPT_LIT_SUBPROCESS=1` each tool runs in a new process, which is slower and shares nothing.

The subset is words, quotes, `|`, `&&`, redirections, `not` and `env`. Other syntax is an error, so that a
command means the same in LLVM's lit and when it is pasted into a shell. The stages of a pipeline run one
after the other.

In systems that cannot start processes, such as WebAssembly, tools run in this process. Runs share state such
as caches; each has its own streams, arguments, environment and dialects of plugins.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol
from unittest.mock import patch

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.registry import forgotten_dialects
from sdyopt.tools.lit.directives import MalformedCaseError
from sdyopt.tools.lit.forkserver import (
    SECONDS_PER_RUN,
    TOOLS,
    TRACEBACK_STATUS,
    ForkServerClient,
    exit_status,
)

# The tools as modules for `python -m`.
MODULES = {**TOOLS, "sdy-opt": "sdyopt"}
# The commands that packages install for tools.
COMMANDS = {
    "sdy-opt": "sdy-opt",
    "sdy-opt-verify": "sdy-opt-verify",
    "filecheck": "filecheck",
    "FileCheck": "filecheck",
}
# The drivers of C++ that sdy-opt stands for where they are not installed.
STANDS_FOR = ("sdy_opt", "mlir-opt")
# Makes sdy-opt raise internal errors; such a run ends as a crash, which `not` rejects.
SHOW_TRACEBACKS = {"SDY_OPT_DEBUG": "1"}


class Tools:
    """Runs programs for the shell, in a folder. There is one per process of pytest.

    A program that takes longer than `seconds` is ended. `filecheck` is a program to run for FileCheck instead
    of the package filecheck.
    """

    def __init__(self, folder: Path, seconds: int = SECONDS_PER_RUN, filecheck: str = "") -> None:
        self._folder = folder
        self._seconds = seconds
        self._filecheck = filecheck
        can_fork = hasattr(os, "fork") and "SDYOPT_LIT_SUBPROCESS" not in os.environ
        self._server = ForkServerClient(folder, seconds) if can_fork else None

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a program and returns its exit status, negative if a signal ended it."""
        words = (self._standing_for(words[0]), *words[1:])
        if is_other := self._is_replaced(words[0]):
            words = (self._filecheck, *words[1:])
        environment = {**SHOW_TRACEBACKS, **environment}
        # Python reads these variables at start-up only.
        needs_new_process = any(name.startswith("PYTHON") for name in environment)
        if words[0] in TOOLS and not is_other and self._server and not needs_new_process:
            return self._server.run(words, environment, stdin, stdout, stderr)
        module = None if is_other else MODULES.get(words[0])
        return self._run_process(words, module, environment, stdin, stdout, stderr)

    def close(self) -> None:
        """Stops the fork server."""
        if self._server:
            self._server.close()

    def command_of(self, program: str) -> str:
        """The command that runs a program from the folder; short if PATH has the command of this Python."""
        program = self._standing_for(program)
        if self._is_replaced(program):
            return self._filecheck
        python = Path(sys.executable)
        command = COMMANDS.get(program, "")
        if command and shutil.which(command) == str(python.parent / command):
            return command
        if python.is_relative_to(self._folder):
            python = python.relative_to(self._folder)
        if program == "python":
            return str(python)
        return f"{python} -m {MODULES[program]}" if program in MODULES else program

    def _standing_for(self, name: str) -> str:
        """`sdy-opt` for a driver of C++ that is not on PATH; any other name as it is."""
        return "sdy-opt" if name in STANDS_FOR and shutil.which(name) is None else name

    def _is_replaced(self, name: str) -> bool:
        """Whether another program runs for the package filecheck, which may have the name of a tool."""
        return bool(self._filecheck) and COMMANDS.get(name) == "filecheck"

    def _run_process(
        self,
        words: tuple[str, ...],
        module: str | None,
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        if module is not None:
            command = [sys.executable, "-m", "sdyopt.tools.lit.tool_process", module, *words[1:]]
        elif words[0] == "python":
            command = [sys.executable, *words[1:]]
        elif shutil.which(words[0]):
            command = list(words)
        else:
            raise MalformedCaseError(f"no such program: {words[0]}", "install it, or add its folder to PATH")
        try:
            done = subprocess.run(
                command,
                env={**os.environ, **environment},
                cwd=self._folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return TIMEOUT_STATUS
        except OSError as problem:
            raise MalformedCaseError(f"cannot run {words[0]}: {problem.strerror}") from None
        return done.returncode


TOKEN = re.compile(
    r"""
      (?P<redirect> 2>&1 | 1>&2 | >&2 | 2>> | 2> | >> | > (?!&) | < (?!<) )
    | (?P<operator> \|\| | && | \| | & | ; | << | >& | [(){}`] | \$ (?=[\w({]) | \# )
    | (?P<word> (?: '[^']*' | "(?:[^"\\]|\\.)*" | \\. | \$(?![\w({]) | [^\s|&;<>'"\\`(){}$] )+ )
    | (?P<rest> \S .* )
    """,
    re.VERBOSE,
)
# What to write instead of other syntax.
INSTEAD = {
    ";": "write a RUN line for each command, or join them with &&",
    "||": "write a RUN line for each command; prefix one that fails with `not`",
    "&": "write 2>&1 to redirect both streams",
    ">&": "write > FILE 2>&1 to redirect both streams",
    "<<": "put the text into a part of the file, and split it with split-file",
    "(": "write a RUN line for each command",
    "`": "write the output to a file with > %t",
    "$": "variables are not expanded; write a substitution, or quote the word",
    "#": "quote the word; RUN lines have no comments",
    "'": "the quote is not closed",
    '"': "the quote is not closed",
}
# Commands that LLVM's lit runs itself, and what to write instead.
BUILTINS = {
    "cd": "commands run in the root folder of pytest; write paths with %s, %S and %t",
    "export": "write env NAME=VALUE before the command",
}
TIMEOUT_STATUS = -14  # the status of a process that SIGALRM ends; Windows does not have this signal
QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)""", re.DOTALL)


@dataclass(frozen=True)
class Stage:
    """One command of a pipeline with its redirections and environment; `not` makes it `negated`."""

    words: tuple[str, ...]
    redirects: tuple[tuple[str, str], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    negated: bool = False

    @classmethod
    def of(cls, words: list[str], redirects: tuple[tuple[str, str], ...]) -> Stage:
        """Parses the prefixes `not`, `!` and `env NAME=VALUE …` of a command."""
        negated = False
        environment: dict[str, str] = {}
        rest = list(words)
        while rest and rest[0] in ("not", "!", "env"):
            prefix = rest.pop(0)
            if prefix != "env":
                negated = not negated
                continue
            while rest and re.match(r"\w+=", rest[0]):
                name, _, value = rest.pop(0).partition("=")
                environment[name] = value
        if rest[:1] == ["--crash"]:
            raise MalformedCaseError(
                "`not --crash` is not supported", "a crash fails a test, also after `not`"
            )
        if not rest or rest[0].startswith("-"):
            raise MalformedCaseError(f"no program in {' '.join(words)!r}")
        if help := BUILTINS.get(rest[0]):
            raise MalformedCaseError(f"cannot run {rest[0]!r} in a RUN line", help)
        return cls(tuple(rest), redirects, environment, negated)

    def render_stage(self, command_of: Callable[[str], str]) -> str:
        program, *arguments = self.words
        words = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        words += [command_of(program), *map(shlex.quote, arguments)]
        words += [f"{kind} {shlex.quote(target)}" if target else kind for kind, target in self.redirects]
        return f"(! {' '.join(words)})" if self.negated else " ".join(words)

    def run_stage(
        self, run: RunsProgram, folder: Path, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]
    ) -> int:
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        stdin.seek(0)
        with contextlib.ExitStack() as files:
            for kind, target in self.redirects:
                stream = "stdin" if kind == "<" else "stderr" if kind.startswith("2") else "stdout"
                if "&" in kind:
                    streams[stream] = streams["stdout" if kind.endswith("1") else "stderr"]
                else:
                    mode = "rb" if kind == "<" else "ab" if kind.endswith(">>") else "wb"
                    streams[stream] = files.enter_context(_open(folder / target, mode))
            return run(self.words, self.environment, streams["stdin"], streams["stdout"], streams["stderr"])


@dataclass(frozen=True)
class Result:
    """The result of a pipeline, which passed if all its stages did; `failures` describes the failed ones."""

    passed: bool
    output: str
    errors: str
    failures: str


class RunsProgram(Protocol):
    """Runs a program with open files as its streams and returns its exit status."""

    def __call__(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int: ...


def parse(command: str, replace: Callable[[str], str] = str) -> list[list[Stage]]:
    """Parses a command: `a | b && c` is [[a, b], [c]]. Raises MalformedCaseError for other syntax.

    `replace` makes the substitutions in a word.
    """
    if "\0" in command:
        raise MalformedCaseError("a RUN line has a NUL character")
    pipelines: list[list[Stage]] = [[]]
    words: list[str] = []
    redirects: list[tuple[str, str]] = []

    def finish_stage() -> None:
        if not words:
            raise MalformedCaseError("a command is missing")
        pipelines[-1].append(Stage.of(words, tuple(redirects)))
        words.clear()
        redirects.clear()

    tokens = list(TOKEN.finditer(command))
    position = 0
    while position < len(tokens):
        kind, text = tokens[position].lastgroup, tokens[position][0]
        position += 1
        if kind == "word":
            words.append(replace(_unquote(text)))
        elif kind == "redirect" and "&" in text:
            redirects.append((text, ""))
        elif kind == "redirect" and position < len(tokens) and tokens[position].lastgroup == "word":
            redirects.append((text, replace(_unquote(tokens[position][0]))))
            position += 1
        elif text == "|":
            finish_stage()
        elif text == "&&":
            finish_stage()
            pipelines.append([])
        else:
            help = INSTEAD.get(text, INSTEAD.get(text[0], "quote it if it is a word"))
            raise MalformedCaseError(f"cannot run {text!r} in a RUN line", help)
    finish_stage()
    return pipelines


def render(pipelines: list[list[Stage]], command_of: Callable[[str], str]) -> str:
    """The command for a shell, which has no `not`; `command_of` returns the command that runs a program."""
    return " && ".join(" | ".join(stage.render_stage(command_of) for stage in stages) for stages in pipelines)


def run_pipeline(stages: list[Stage], run: RunsProgram, folder: Path = Path()) -> Result:
    """Runs the stages in order; each reads the output of the previous one.

    Redirections to files are relative to the folder.
    """
    failures: list[str] = []
    with contextlib.ExitStack() as files:
        errors, previous = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        for stage in stages:
            output = files.enter_context(tempfile.TemporaryFile())
            status = stage.run_stage(run, folder, previous, output, errors)
            if (status == 0) if stage.negated else (status != 0):
                failures.append(f"`{stage.words[0]}` ended with {_describe(status)}")
            elif stage.negated and not 0 < status < 128:
                failures.append(f"`{stage.words[0]}` crashed with {_describe(status)}")
            previous = output
        return Result(not failures, _text(previous), _text(errors), ", ".join(failures))


def _open(path: Path, mode: str) -> IO[bytes]:
    try:
        return path.open(mode)
    except OSError as problem:
        raise MalformedCaseError(f"cannot open {str(path)!r}: {problem.strerror}") from None


def _unquote(word: str) -> str:
    if not any(mark in word for mark in "'\"\\"):
        return word
    parts = []
    for single, double, escaped, plain in QUOTED.findall(word):
        parts.append(single or re.sub(r'\\(["\\$`])', r"\1", double) or escaped or plain)
    return "".join(parts)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _describe(status: int) -> str:
    if status == TIMEOUT_STATUS:
        return "a timeout"
    return f"exit status {status}" if status >= 0 else f"signal {-status}"


def can_run(stage: Stage) -> bool:
    """Whether the program is one of `TOOLS`, and its environment does not change how Python starts."""
    return stage.words[0] in TOOLS and not any(name.startswith("PYTHON") for name in stage.environment)


class InProcess:
    """Runs programs for the shell; `record` receives the bytes that sdy-opt writes to stdout and stderr."""

    def __init__(self, record: Callable[[bytes], object]) -> None:
        self._record = record

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a program and returns its exit status."""
        with (
            forgotten_dialects(),
            self._streams(stdin, stdout, stderr, words[0] == "sdy-opt"),
            patch.object(sys, "argv", list(words)),
            patch.dict(os.environ, {**SHOW_TRACEBACKS, **environment}),
        ):
            try:
                return exit_status(import_module(TOOLS[words[0]]).main())
            except SystemExit as system_exit:
                return exit_status(system_exit.code)
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                return TRACEBACK_STATUS

    @contextlib.contextmanager
    def _streams(
        self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes], recorded: bool
    ) -> Iterator[None]:
        def stream_to(file: IO[bytes]) -> Any:
            return _Stream(file, self._record if recorded else None)

        output, errors = (
            io.TextIOWrapper(stream_to(file), "utf-8", "backslashreplace", write_through=True)
            for file in (stdout, stderr)
        )
        input = io.TextIOWrapper(io.BytesIO(stdin.read()), "utf-8")
        with patch.multiple(sys, stdin=input, stdout=output, stderr=errors):
            yield
        for file in (stdout, stderr):
            file.flush()


class _Stream(io.BufferedIOBase):
    """A stream that leaves its file open when the stream is closed."""

    def __init__(self, file: IO[bytes], record: Callable[[bytes], object] | None) -> None:
        self._file = file
        self._record = record

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        content = bytes(memoryview(data))  # type: ignore[arg-type]
        if self._record is not None:
            self._record(content)
        return self._file.write(content)

    def fileno(self) -> int:
        return self._file.fileno()
