"""Tools that the fork server runs behave like new processes."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdyopt.tools.lit import forkserver
from sdyopt.tools.lit.tools import MODULES, TIMEOUT_STATUS, Tools

PROBE = '''
"""A tool that performs the action named by its first argument."""
import os, sys, time

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
    if action == "folder":
        print(os.getcwd())
    if action == "wait":
        time.sleep(100)
'''


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.py").write_text(PROBE)
    source = Path(forkserver.__file__).read_text()
    (folder / "probing_forkserver.py").write_text(source.replace('"sdyopt.tools.cli"', '"probe"'))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(forkserver, "__name__", "probing_forkserver")
        tools = Tools(folder, seconds=3)
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


def test_a_tool_has_its_own_streams_and_environment(tools: Tools) -> None:
    assert run(tools, "pass", text="input", PROBE="set") == (0, "pass 1 set input\n", "message\n")


def test_runs_share_no_state(tools: Tools) -> None:
    assert run(tools, "pass", PROBE="set")[1] == run(tools, "pass", PROBE="set")[1]
    assert run(tools, "pass")[1] == "pass 1 None \n"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("exit", "0"), 0), (("exit", "2"), 2), (("exit-text",), 1), (("kill",), -9), (("raise",), 134)],
)
def test_the_exit_status_is_that_of_a_process(tools: Tools, arguments: tuple[str, ...], status: int) -> None:
    assert run(tools, *arguments)[0] == status


def test_a_traceback_is_a_crash_in_a_new_process_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would look like an invalid input, and `not` would accept it."""
    (tmp_path / "probe.py").write_text(PROBE + "\nmain()\n")
    monkeypatch.setitem(MODULES, "sdy-opt", "probe")
    monkeypatch.setenv("SDYOPT_LIT_SUBPROCESS", "1")
    tools = Tools(tmp_path)
    status, output, errors = run(tools, "raise")
    assert (status, output) == (forkserver.TRACEBACK_STATUS, "raise 1 None \n")
    assert "ValueError: unexpected" in errors
    assert [run(tools, "exit", code)[0] for code in "01"] == [0, 1]


def test_the_traceback_of_a_tool_is_shown(tools: Tools) -> None:
    assert "ValueError: unexpected" in run(tools, "raise")[2]


def test_python_variables_start_a_new_process(tools: Tools) -> None:
    code = "import os; print(os.environ['PYTHONHASHSEED'])"
    assert run_program(tools, "python", "-c", code, PYTHONHASHSEED="7") == (0, "7\n", "")


def test_tools_run_in_the_folder(tools: Tools, tmp_path: Path) -> None:
    folder = Path(run(tools, "folder")[1].splitlines()[-1])
    assert (folder / "probe.py").exists()
    other = Tools(tmp_path)
    assert run_program(other, "python", "-c", "import os; print(os.getcwd())")[1] == f"{tmp_path}\n"
    other.close()


def test_a_module_in_the_folder_hides_none_of_the_tools(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise ImportError('not this one')\n")
    tools = Tools(tmp_path)
    assert run_program(tools, "sdy-opt", "--help")[0] == 0
    tools.close()


def test_a_tool_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    tools = Tools(tmp_path, seconds=1)
    assert run_program(tools, "python", "-c", "import time; time.sleep(100)")[0] == TIMEOUT_STATUS
    tools.close()


def test_the_fork_server_ends_a_tool_that_takes_too_long(tools: Tools) -> None:
    assert run(tools, "wait")[0] == TIMEOUT_STATUS


def test_another_program_can_be_filecheck(tmp_path: Path) -> None:
    tools = Tools(tmp_path, filecheck="cat")
    assert run_program(tools, "FileCheck", text="input")[1] == "input"
    assert tools.command_of("filecheck") == "cat"
    tools.close()


def test_filecheck_without_a_file_is_an_error(tmp_path: Path) -> None:
    """The package prints its help and succeeds; then a test that lacks `%s` would pass whatever it prints."""
    tools = Tools(tmp_path)
    status, _, errors = run_program(tools, "FileCheck", text="input")
    assert (status, errors) == (2, "filecheck: no file with checks\nhelp: write FileCheck %s\n")
    tools.close()


def test_commands_are_short_if_path_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the module runs, so that the command uses this Python in any case."""
    tools = Tools(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert (tools.command_of("sdy-opt"), tools.command_of("FileCheck")) == ("sdy-opt", "filecheck")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("sdy-opt") is None
    assert tools.command_of("sdy-opt") == f"{sys.executable} -m sdyopt"
    assert tools.command_of("my-opt") == "my-opt"
    tools.close()
