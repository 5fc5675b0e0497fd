"""Runs each test function in a child process of its own, and records which lines of the targets it executes.

    python -m tests.mutants.recorder TESTS.jsonl TARGET… TEST…

runs in the copy of the project; those in `tests` are files of tests. In a process of its own a test finds no
caches filled by other tests. All parameters of a test function share a process and its lines. Lines that run
during the import of a module are not recorded.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from tests.fuzz.batch import preload
from tests.mutants import in_process_lit
from tests.mutants.targets import function_of


class Recorder:
    """The hook of pytest that replaces the loop over the tests."""

    def __init__(self, output: IO[str], targets: list[str]) -> None:
        self._output = output
        self._root = Path.cwd()
        self._tracer = coverage.Coverage(data_file=None, config_file=False, include=targets)
        self._tracer.set_option("run:disable_warnings", ["no-data-collected"])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        preload()
        # The first start is slow.
        self._tracer.start()
        self._tracer.stop()
        gc.freeze()  # children do not copy what the collector would visit
        tests = [item for item in session.items if item.get_closest_marker("reference") is None]
        for _, items in groupby(tests, key=lambda item: function_of(item.nodeid)):
            self._output.flush()
            self._run_in_child(list(items))
        return True

    def _run_in_child(self, items: Sequence[pytest.Item]) -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        try:
            self._output.writelines(json.dumps(record) + "\n" for record in self._record(items))
            self._output.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    def _record(self, items: Sequence[pytest.Item]) -> list[dict[str, Any]]:
        runs = [self._run(item) for item in items]
        data = self._tracer.get_data()
        lines = {
            str(Path(path).relative_to(self._root)): sorted(data.lines(path) or ())
            for path in data.measured_files()
        }
        executed = {path: numbers for path, numbers in lines.items() if numbers}
        return [
            {"test": item.nodeid, "passed": passed, "seconds": round(seconds, 3), "lines": executed}
            for item, (passed, seconds) in zip(items, runs, strict=True)
        ]

    def _run(self, item: pytest.Item) -> tuple[bool, float]:
        """Whether a test passes, and the processor time that it takes."""
        start = time.process_time()
        self._tracer.start()
        reports = runtestprotocol(item, log=False, nextitem=None)
        self._tracer.stop()
        return all(report.outcome == "passed" for report in reports), time.process_time() - start


def main(arguments: Sequence[str]) -> int:
    output, *files = arguments
    in_process_lit.install()
    with Path(output).open("w", encoding="utf-8") as stream:
        tests = [path for path in files if path.startswith("tests/")]
        recorder = Recorder(stream, [path for path in files if not path.startswith("tests/")])
        status = pytest.main(["-q", "-p", "no:xdist", *tests], plugins=[recorder])
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
