"""Runs selected tests on the copy of the project, each request in a forked child.

`serve` runs in the copy: it imports the libraries that tests use, and the code of the project that does not
import the file that is mutated, so each child imports the mutant. A request is a line of JSON with tests and
the processor time that each may take, and the response is one with the tests that failed.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from io import FileIO
from pathlib import Path
from select import select
from typing import IO

import pytest

from tests.mutants.tree import Tree

_LIBRARIES = (
    *("click", "filecheck.main", "filecheck.matcher", "hypothesis", "lark", "numpy", "rich.console", "yaml"),
)
# A test may take so many times its usual processor time, and the start of a child so many seconds.
_SLOWER, _START_SECONDS = 10, 60
_BYTES = 4 << 30
_START, _FAILED, _END = "start", "failed", "end"


@dataclass(frozen=True)
class Verdict:
    """The test that failed, or was running when the process of the tests ended or had to be ended."""

    failed: str = ""
    hangs: bool = False


class Worker:
    """A process that serves requests in a tree. Each test may take `grace` seconds more than its limit.

    `mutated` is the file that may differ between requests.

    With `forks`, each tool of a lit test is a process of its own, as in `make test`.
    """

    def __init__(self, tree: Tree, mutated: str, grace: float = 5, forks: bool = False) -> None:
        self._grace = grace
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, mutated, *(["--forks"] if forks else [])],
            cwd=tree.folder,
            env=tree.environment(forks),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, tests: Mapping[str, float]) -> Verdict:
        """Runs tests with their usual times, in this order, until one fails."""
        limits = {test: _SLOWER * seconds + self._grace for test, seconds in tests.items()}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(list(limits.items())) + "\n")
        self._process.stdin.flush()
        return Verdict(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


# --- The process ----------------------------------------------------------------------------------


class _Block:
    """Stops the imports of a module, and so those of the modules that import it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == self._module:
            raise ImportError(f"{name} may change")


def import_all_but(mutated: str) -> None:
    """Imports the modules of the project that do not import a file."""
    block = _Block(_module_of(Path(mutated)))
    sys.meta_path.insert(0, block)
    for path in sorted(path for folder in ("sdyopt", "passes") for path in Path(folder).rglob("*.py")):
        if path.stem != "__main__":
            with suppress(ImportError):
                import_module(_module_of(path))
    sys.meta_path.remove(block)


def _module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def serve(mutated: str) -> None:
    """Answers requests until stdin ends."""
    for library in _LIBRARIES:
        import_module(library)
    import_all_but(mutated)
    gc.freeze()  # children do not copy what the collector would visit
    for line in sys.stdin:
        print(json.dumps(asdict(_run_in_child(dict(json.loads(line))))), flush=True)


def _run_in_child(limits: dict[str, float]) -> Verdict:
    """The verdict of a child, which is ended at the first failure."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(limits, writing)
    os.close(writing)
    patience = _START_SECONDS + 2 * max(limits.values())
    running = kind = test = ""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        for kind, test in _events(pipe, patience):
            if kind == _START:
                running = test
            elif kind == _FAILED:
                break
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if kind in (_END, _FAILED):
        return Verdict(test)
    # The process of the tests ended, or it waits for something.
    hangs = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGKILL)
    return Verdict(running, hangs)


def _events(pipe: FileIO, seconds: float) -> Iterator[tuple[str, str]]:
    """The events that a child writes, until it ends or writes none for some time."""
    unread = b""
    while select([pipe], [], [], seconds)[0] and (data := pipe.read(1 << 16)):
        *lines, unread = (unread + data).split(b"\n")
        for line in lines:
            kind, _, test = line.decode().partition(" ")
            yield kind, test


def _child(limits: dict[str, float], writing: int) -> None:
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, resource.RLIM_INFINITY))
        if "--forks" not in sys.argv:
            import_module("tests.mutants.in_process_lit").install()
        files = dict.fromkeys(test.partition("::")[0] for test in limits)
        flags = ["-q", "-x", "--assert=plain", "-p", "no:xdist", "-p", "no:cacheprovider"]
        with os.fdopen(writing, "w", buffering=1, encoding="utf-8") as pipe:
            pytest.main([*flags, *files], plugins=[Selection(limits, pipe)])
            pipe.write(_END + "\n")
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


class Selection:
    """The hooks of pytest that run selected tests in their order, under limits, and report failures."""

    def __init__(self, limits: Mapping[str, float], pipe: IO[str]) -> None:
        self._limits = limits
        self._positions = {test: position for position, test in enumerate(limits)}
        self._pipe = pipe

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._positions),
            key=lambda item: self._positions[item.nodeid],
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._pipe.write(f"{_FAILED} {report.nodeid}\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._pipe.write(f"{_START} {item.nodeid}\n")
        # The default action of the signal ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, self._limits[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._pipe.write(f"{_FAILED} {report.nodeid}\n")


if __name__ == "__main__":
    assert Path("sdyopt").is_dir()
    serve(sys.argv[1])
