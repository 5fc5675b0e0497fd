"""Collects each .mlir file of the configured files and folders as a pytest test, and runs its RUN lines.

    // RUN: sdy-opt %s -canonicalize | filecheck %s

Commands run in order in the root folder of pytest until one fails. Files in folders named `Inputs` are not
tests.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.text import printable, real_path
from sdyopt.tools.lit.directives import (
    Features,
    MalformedCaseError,
    RunLine,
    Substitutions,
    parse_directives,
    temporary_path,
)
from sdyopt.tools.lit.hooks import FILECHECK, PATHS, PLUGINS, TIMEOUT
from sdyopt.tools.lit.tools import Result, Stage, Tools, parse, render, run_pipeline

# The programs that load plugins.
_WITH_PLUGINS = ("sdy-opt", "sdy-opt-verify")


class LitPlugin:
    """The hooks of pytest, and the configuration and tools of all lit tests of a run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.root = config.rootpath
        self._paths = [real_path(path) for path in config.getini(PATHS)]
        if missing := [path for path in self._paths if not path.exists()]:
            raise pytest.UsageError(f"{PATHS}: no such file or folder: {missing[0]}")
        self._seconds = _seconds(config.getini(TIMEOUT))
        self._plugin_flags = [f"--load-plugin={name}" for name in config.getini(PLUGINS)]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> LitFile | None:
        if file_path.suffix != ".mlir" or not self._is_test(real_path(file_path)):
            return None
        file: LitFile = LitFile.from_parent(parent, path=file_path)
        file.plugin = self
        return file

    def _is_test(self, path: Path) -> bool:
        folders = [folder for folder in self._paths if path.is_relative_to(folder)]
        return any("Inputs" not in path.relative_to(folder).parts for folder in folders)

    @cached_property
    def features(self) -> Features:
        declared = self._config.hook.pytest_sdyopt_lit_features(config=self._config)
        return Features({name: value for mapping in reversed(declared) for name, value in mapping.items()})

    @cached_property
    def substitutions(self) -> dict[str, str]:
        declared = self._config.hook.pytest_sdyopt_lit_substitutions(config=self._config)
        return {name: value for mapping in reversed(declared) for name, value in mapping.items()}

    def with_plugins(self, stage: Stage) -> Stage:
        """A command of a RUN line, with the flags that load the plugins of the project."""
        program, *words = stage.words
        if program not in _WITH_PLUGINS:
            return stage
        return replace(stage, words=(program, *self._plugin_flags, *words))

    @cached_property
    def tools(self) -> Tools:
        tools = Tools(self.root, self._seconds, self._config.getini(FILECHECK))
        self._config.add_cleanup(tools.close)
        return tools

    @cached_property
    def temporary_folder(self) -> Path:
        """A folder in the cache of pytest, or a temporary folder of the system if the cache is disabled."""
        cache: pytest.Cache | None = getattr(self._config, "cache", None)
        if cache is not None:
            return self.relative(cache.mkdir("sdyopt-lit"))
        folder = tempfile.TemporaryDirectory(prefix="sdyopt-lit-")
        self._config.add_cleanup(folder.cleanup)
        return Path(folder.name)

    @cached_property
    def elsewhere(self) -> str:
        """The folder that commands run in; empty if pytest was started in it."""
        return "" if self._config.invocation_params.dir == self.root else str(self.root)

    def relative(self, path: Path) -> Path:
        """The path, relative to the root folder if inside: shorter, and without the home directory."""
        return path.relative_to(self.root) if path.is_relative_to(self.root) else path


class LitFile(pytest.File):
    plugin: LitPlugin

    def collect(self) -> Iterator[pytest.Item]:
        case: LitCase = LitCase.from_parent(self, name=self.path.stem)
        case.plugin = self.plugin
        yield case


class LitCase(pytest.Item):
    plugin: LitPlugin

    @property
    def source(self) -> Path:
        return self.plugin.relative(self.path)

    def runtest(self) -> None:
        plugin = self.plugin
        test = parse_directives(self.path.read_text(encoding="utf-8", errors="replace"))
        if reason := test.reason_to_skip(plugin.features):
            pytest.skip(reason)
        temporary = temporary_path(plugin.temporary_folder, self.source)
        # Removes what is at the path, and creates its parent folder.
        path = plugin.root / temporary
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        substitutions = Substitutions(self.source, temporary, plugin.substitutions)
        why = test.reason_to_fail(plugin.features)
        try:
            for line in test.commands:
                self._run(line, substitutions)
        except CaseFailedError:
            if why is not None:
                pytest.xfail(why)
            raise
        if why is not None:
            raise MalformedCaseError(f"the test passes, but is {why}", "remove the XFAIL line")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailedError):
            return str(excinfo.value)
        if isinstance(excinfo.value, MalformedCaseError):
            return excinfo.value.report(str(self.source))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, None, str(self.source)

    def _run(self, line: RunLine, substitutions: Substitutions) -> None:
        plugin = self.plugin
        try:
            pipelines = parse(substitutions.expand(line.command), substitutions.replace)
            pipelines = [[plugin.with_plugins(stage) for stage in stages] for stages in pipelines]
            for stages in pipelines:
                result = run_pipeline(stages, plugin.tools.run, plugin.root)
                if not result.passed:
                    raise failure(self.source, line, result, pipelines, plugin.tools, plugin.elsewhere)
        except MalformedCaseError as error:
            error.line = line.line
            raise


def _seconds(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise pytest.UsageError(f"{TIMEOUT}: '{text}' is not a number of seconds")


SHOWN_CHARACTERS = 4000


class CaseFailedError(Exception):
    """A command of a test failed; the message is the report."""


def failure(
    source: Path, line: RunLine, result: Result, pipelines: list[list[Stage]], tools: Tools, folder: str
) -> CaseFailedError:
    """The error that reports a failed command; `folder` is where it ran, "" for the working directory."""
    parts = [f"{source}:{line.line}: RUN: {line.command}", result.failures]
    for name, text in (("stderr", result.errors), ("stdout", result.output)):
        if text.strip():
            parts += ["", f"--- {name}", _shortened(text)]
    where = f" in {folder}" if folder else ""
    parts += ["", f"--- reproduce{where}", render(pipelines, tools.command_of)]
    # Terminals must not obey a test, nor what it prints.
    return CaseFailedError(printable("\n".join(parts)))


def _shortened(text: str) -> str:
    rest = len(text) - SHOWN_CHARACTERS
    return text.rstrip("\n") if rest <= 0 else f"{text[:SHOWN_CHARACTERS]}\n… {rest} more characters"
