"""Tools run in this process print, read and end as they do in a process of their own."""

import os
import sys
from pathlib import Path

import pytest

from sdyopt.tools.lit.tools import InProcess, Result, Tools, can_run, parse, run_pipeline

COMMANDS = [
    "sdy-opt {program} -cse | filecheck {program}",
    "sdy-opt {program} -cse | filecheck {program} --check-prefix=MISSING",
    "sdy-opt {program} --no-such-flag 2>&1",
    "not sdy-opt {program} -sdy-no-such-pass",
    "sdy-opt < {program} -",
    "sdy-opt {program} --color=always --mlir-print-ir-after-all",
    "env FORCE_COLOR=1 not sdy-opt missing.mlir",
    "env _SDY_OPT_COMPLETE=bash_complete COMP_CWORD=1 COMP_WORDS='sdy-opt --can' sdy-opt",
    "split-file {program} {folder}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_results_are_those_of_processes(command: str, tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("// CHECK: module\nmodule {}\n", encoding="utf-8")
    [stages] = parse(command.format(program=program, folder=tmp_path))
    recorded: list[bytes] = []
    found = run_pipeline(stages, InProcess(recorded.append).run)
    tools = Tools(Path.cwd())
    expected = run_pipeline(stages, tools.run)
    tools.close()
    assert found == expected
    if "sdy-opt" in stages[-1].words:
        assert found.output.encode() in b"".join(recorded)


def test_arguments_and_environment_stay_as_they_are() -> None:
    before, streams = dict(os.environ), (sys.argv, sys.stdin, sys.stdout, sys.stderr)
    [stages] = parse("env FORCE_COLOR=1 sdy-opt --version")
    assert isinstance(run_pipeline(stages, InProcess(len).run), Result)
    assert dict(os.environ) == before
    assert (sys.argv, sys.stdin, sys.stdout, sys.stderr) == streams


@pytest.mark.parametrize(
    ("command", "expected"),
    [("not sdy-opt x", True), ("printf x", False), ("env PYTHONHASHSEED=1 sdy-opt x", False)],
)
def test_which_commands_can_run_in_this_process(command: str, expected: bool) -> None:
    [[stage]] = parse(command)
    assert can_run(stage) is expected
