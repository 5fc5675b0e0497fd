"""Tools that the fork server runs behave like new processes."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import forkserver
from tests.harness.tools import Tools

PROBE = '''
"""A tool that performs the action named by its first argument."""
import os, sys

state = []

def main():
    action = sys.argv[1]
    state.append(action)
    print(action, len(state), os.environ.get("PROBE"), sys.stdin.read())
    print("message", file=sys.stderr)
    if action == "raise":
        raise ValueError("unexpected")
    if action == "exit":
        sys.exit(int(sys.argv[2]))
    if action == "exit-text":
        sys.exit("a message")
    if action == "kill":
        os.kill(os.getpid(), 9)
'''


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.py").write_text(PROBE)
    source = Path(forkserver.__file__).read_text()
    (folder / "probing_forkserver.py").write_text(source.replace('"sdyopt.cli"', '"probe"'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{Path.cwd()}")
        patch.setattr(forkserver, "__name__", "probing_forkserver")
        tools = Tools()
    yield tools
    tools.close()


def run(tools: Tools, *arguments: str, text: str = "", **environment: str) -> tuple[int, str, str]:
    return run_program(tools, "sdy-opt", *arguments, text=text, **environment)


def run_program(tools: Tools, *words: str, text: str = "", **environment: str) -> tuple[int, str, str]:
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        stdin.write(text.encode())
        stdin.seek(0)
        status = tools.run(words, environment, stdin, out, err)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode(), err.read().decode()


def test_streams_and_environment(tools: Tools) -> None:
    assert run(tools, "pass", text="input", PROBE="set") == (0, "pass 1 set input\n", "message\n")


def test_runs_share_no_state(tools: Tools) -> None:
    assert run(tools, "pass", PROBE="set")[1] == run(tools, "pass", PROBE="set")[1]
    assert run(tools, "pass")[1] == "pass 1 None \n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("exit", "0"), 0), (("exit", "2"), 2), (("exit-text",), 1), (("kill",), -9), (("raise",), 134)],
)
def test_exit_status(tools: Tools, arguments: tuple[str, ...], status: int) -> None:
    assert run(tools, *arguments)[0] == status


def test_traceback_is_shown(tools: Tools) -> None:
    assert "ValueError: unexpected" in run(tools, "raise")[2]


def test_python_variables_start_a_new_process(tools: Tools) -> None:
    code = "import os; print(os.environ['PYTHONHASHSEED'])"
    assert run_program(tools, "python", "-c", code, PYTHONHASHSEED="7") == (0, "7\n", "")
