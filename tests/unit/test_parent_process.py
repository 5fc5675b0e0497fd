"""No process is left when sdy-opt is killed by a signal that it cannot handle."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "transformer_train.mlir"
# A process that starts another one, which prints that it runs.
STARTS = """
import os, subprocess, sys, time
command = "import os, time; from sdyopt.base.parent_process import end_with; end_with(os.getppid()); "
subprocess.Popen([sys.executable, "-c", command + "time.sleep(60)"])
time.sleep(60)
"""


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat[1]) == process and stat[0] != "Z":
            found += [int(folder.name), *children(int(folder.name))]
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds: Callable[[], bool]) -> None:
    end = monotonic() + 60
    while not holds():
        assert monotonic() < end
        sleep(0.1)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", STARTS],
        # With too little memory, no estimate decides, so that workers try the changes.
        ["-m", "sdyopt", str(PROGRAM), "--advise", "--advise-jobs=2", "--device-memory=16MiB"],
        ["-m", "sdyopt", str(PROGRAM), "--mesh-sweep=data=1..64 x model=1..64"],
    ],
    ids=["process", "advise", "sweep"],
)
def test_processes_end_with_the_one_that_started_them(arguments: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: bool(children(process.pid)))
        sleep(1)
        workers = children(process.pid)
        assert workers
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not any(map(is_running, workers)))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_fork_server_ends_with_its_client(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from sdyopt.tools.lit.forkserver import ForkServerClient\n"
        f"server = ForkServerClient(Path({str(tmp_path)!r}))\n"
        "files = open('/dev/null', 'rb'), open('/dev/null', 'wb'), open('/dev/null', 'wb')\n"
        f"server.run(['sdy-opt', {str(PROGRAM)!r}, '--advise', '--advise-jobs=1'], {{}}, *files)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(children(process.pid)) >= 2)
        workers = children(process.pid)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    wait_until(lambda: not any(map(is_running, workers)))
