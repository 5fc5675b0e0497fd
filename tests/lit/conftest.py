"""Collects each .mlir file as a test and runs its RUN lines as LLVM's lit does.

    // RUN: sdy-opt %s -canonicalize | filecheck %s

Commands run in order at the root of the checkout until one fails. `%s` is the path of the file, `%S` its
folder and `%t` a path for temporary files. Files in folders named `Inputs` are not tests. A failing test
prints its command, which can be pasted into a shell.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.directives import MalformedCaseError, parse_directives, substitute
from tests.harness.features import has_feature
from tests.harness.shell import Result, parse, render, run_pipeline
from tests.harness.tools import Tools, command_of

TOOLS = pytest.StashKey[Tools]()
SHOWN_CHARACTERS = 4000


class CaseFailedError(Exception):
    """A command of a test failed; the message is the report."""


class LitFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield LitCase.from_parent(self, name=self.path.stem)


class LitCase(pytest.Item):
    def runtest(self) -> None:
        test = parse_directives(self.path.read_text(encoding="utf-8", errors="replace"))
        if reason := test.reason_to_skip(has_feature):
            pytest.skip(reason)
        with contextlib.chdir(self.config.rootpath):
            source = self.path.relative_to(Path.cwd())
            temporary = _clean_path(Path("build") / source.with_name(source.name + ".tmp"))
            for command in test.commands:
                _run(substitute(command, source, temporary), self._tools())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailedError | MalformedCaseError):
            return f"{self.path.relative_to(self.config.rootpath)}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, None, str(self.path.relative_to(self.config.rootpath))

    def _tools(self) -> Tools:
        stash = self.config.stash
        if TOOLS not in stash:
            stash[TOOLS] = tools = Tools()
            self.config.add_cleanup(tools.close)
        return stash[TOOLS]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    if file_path.suffix != ".mlir" or "Inputs" in file_path.parts:
        return None
    return LitFile.from_parent(parent, path=file_path)


def _run(command: str, tools: Tools) -> None:
    pipelines = parse(command)
    for stages in pipelines:
        result = run_pipeline(stages, tools.run)
        if not result.passed:
            raise CaseFailedError(_report(result, render(pipelines, command_of)))


def _report(result: Result, command: str) -> str:
    parts = [f"{result.failures}; the command was\n", command]
    for name, text in (("stderr", result.errors), ("stdout", result.output)):
        if text:
            cut = "\n[…]" if len(text) > SHOWN_CHARACTERS else ""
            parts += ["", f"--- {name}", text[:SHOWN_CHARACTERS].rstrip("\n") + cut]
    return "\n".join(parts)


def _clean_path(path: Path) -> Path:
    """Removes what is at the path, and creates its parent folder."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
