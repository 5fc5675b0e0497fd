"""The process that runs programs: whatever it does is a reason, and never an exception of another kind."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sdyopt.analysis.execution import process
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.execution.validation import ValidationOptions, compare
from sdyopt.tools.api.parsing import parse


def worker(folder: Path, script: str, timeout: int = 20) -> Worker:
    """A worker whose Python is a shell script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\ncat > /dev/null\necho sdyopt:\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    return Worker(str(python), timeout)


def test_answers_are_lines_of_json(tmp_path: Path) -> None:
    answers = worker(tmp_path, """echo 'sdyopt:{"a": 1}'; echo 'sdyopt:{}'""").run("validate", {})
    assert answers == [{"a": 1}, {}]


@pytest.mark.parametrize("line", ["a banner", "{}", "[]", "\\0377", ""])
def test_lines_of_others_are_no_answers(tmp_path: Path, line: str) -> None:
    """A site may print when any Python starts."""
    python = worker(tmp_path, f"printf '{line}\\n'; echo 'sdyopt:{{}}'")
    assert python.run("validate", {}) == [{}]


@pytest.mark.parametrize("script", ["echo '{}'", "echo '[]'", "printf '\\377'", "true", "exit 3"])
def test_a_program_that_is_no_python_is_an_error(tmp_path: Path, script: str) -> None:
    """Nothing would have been validated."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(NoJax, match=r"does not run programs: it ends with exit code [03] and no answer"):
        Worker(str(python)).run("validate", {"text": "x" * 1_000_000})


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo oh no >&2; exit 3", "XLA ends with exit code 3: oh no"),
        ("kill -ABRT $$", "XLA ends with SIGABRT"),
        ("""printf 'sdyopt:{"a": '; kill -KILL $$""", "XLA ends with SIGKILL"),
        ("echo 'RAW: mmap error: 12' >&2; kill -ABRT $$", "it needs more than 8 GiB of memory"),
    ],
)
def test_a_process_that_ends_without_an_answer(script: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(NotValidated) as raised:
        worker(tmp_path, script).run("validate", {})
    assert str(raised.value) == reason


def test_a_process_that_takes_too_long(tmp_path: Path) -> None:
    with pytest.raises(NotValidated, match="it runs for more than 1 seconds"):
        worker(tmp_path, "exec sleep 30", timeout=1).run("validate", {})


@pytest.mark.parametrize("redirection", ["", ">&2"])
def test_a_process_that_prints_without_end(
    redirection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what it prints would fill the memory until the time is over."""
    monkeypatch.setattr(process, "_MOST_OUTPUT", 1 << 20)
    with pytest.raises(NotValidated, match="prints more than 1 MiB"):
        worker(tmp_path, f"exec yes {redirection}", timeout=60).run("validate", {})


def test_a_process_that_leaves_another_one_which_keeps_its_output(tmp_path: Path) -> None:
    with pytest.raises(NotValidated, match="it runs for more than 1 seconds"):
        worker(tmp_path, "sleep 3 &", timeout=1).run("validate", {})


def test_the_longest_time_is_longer_than_any_run(tmp_path: Path) -> None:
    assert worker(tmp_path, "echo 'sdyopt:{}'", timeout=2**40).run("validate", {}) == [{}]


def test_the_number_of_inputs_is_no_list() -> None:
    """Else the greatest number of --validate would fill the memory."""
    program = parse("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }").ir
    requests: list[Mapping[str, Any]] = []

    class Recorder(Worker):
        def run(self, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
            requests.append(request)
            return [{"results": []}]

    compare(program, program, "main", ValidationOptions(2**32 - 1, "replicas", Recorder()))
    assert requests[0]["seeds"] == 2**32 - 1


def test_a_python_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(NoJax, match="cannot run"):
        Worker(str(tmp_path / "nothing")).run("validate", {})


def test_a_python_without_jax(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A module that cannot be imported hides any that is installed.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['jax'] = None\n", encoding="utf-8")
    script = f'PYTHONPATH={tmp_path} exec {sys.executable} "$@"'
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(NoJax, match="cannot import jax") as raised:
        Worker(str(python)).run("validate", {"devices": 1})
    assert raised.value.help == "install jax there, or name another Python"


def test_a_failed_check_of_xla_is_the_reason_and_not_its_stack_trace() -> None:
    stderr = (
        "W0000 00:00:00.000000 1 a.cc:1] something slow\n"
        "F0000 00:00:00.000000 1 b.cc:60] Check failed: sharding is OK\n"
        "*** Check failure stack trace: ***\n    @     0x7f4dec0701b4  (unknown)\n"
    )
    assert Worker()._reason(-6, stderr) == "XLA ends with SIGABRT: Check failed: sharding is OK"
    assert Worker()._reason(-6, "one\ntwo\n") == "XLA ends with SIGABRT: two"
