"""Runs each test in a child process of its own, and records the lines of the targets that it executes.

    python -m tests.mutants.recorder TESTS.jsonl FILE…

runs in the copy of the project. In a process of its own a test finds no caches filled by other tests. Lines
that run during the import of a module are not recorded.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from tests.fuzz.batch import preload
from tests.mutants import in_process_lit
from tests.mutants.targets import all_files


class Recorder:
    """The hook of pytest that replaces the loop over the tests."""

    def __init__(self, output: IO[str]) -> None:
        self._output = output
        self._root = Path.cwd()
        self._tracer = coverage.Coverage(data_file=None, config_file=False, include=all_files())
        self._tracer.set_option("run:disable_warnings", ["no-data-collected"])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        preload()
        # The first start is slow.
        self._tracer.start()
        self._tracer.stop()
        gc.freeze()  # children do not copy what the collector would visit
        for number, item in enumerate(session.items, start=1):
            if item.get_closest_marker("reference") is None:
                self._output.flush()
                self._run_in_child(item)
            if number % 100 == 0:
                print(f"{number} of {len(session.items)} tests", file=sys.stderr, flush=True)
        return True

    def _run_in_child(self, item: pytest.Item) -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        try:
            self._output.write(json.dumps(self._record(item)) + "\n")
            self._output.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    def _record(self, item: pytest.Item) -> dict[str, Any]:
        start = time.process_time()
        self._tracer.start()
        reports = runtestprotocol(item, log=False, nextitem=None)
        self._tracer.stop()
        seconds = time.process_time() - start
        data = self._tracer.get_data()
        lines = {
            str(Path(path).relative_to(self._root)): sorted(data.lines(path) or ())
            for path in data.measured_files()
        }
        return {
            "test": item.nodeid,
            "passed": all(report.outcome == "passed" for report in reports),
            "seconds": round(seconds, 3),
            "lines": {path: numbers for path, numbers in lines.items() if numbers},
        }


def main(arguments: Sequence[str]) -> int:
    output, *files = arguments
    in_process_lit.install()
    with Path(output).open("w", encoding="utf-8") as stream:
        status = pytest.main(["-q", "-p", "no:xdist", *files], plugins=[Recorder(stream)])
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
