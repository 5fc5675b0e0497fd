"""The same is printed without `fork`, `resource` and `fcntl`, which only POSIX has: processes are spawned."""

from pathlib import Path

import pytest

from tests.harness.process import ROOT, sdy_opt

PROGRAM = "examples/mlp.mlir"
# The module is imported in place of sdyopt, and removes first what Windows does not have.
WITHOUT_POSIX = """
import os, signal, sys
for name in ("fcntl", "grp", "pwd", "pty", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "getuid", "killpg", "posix_spawn", "register_at_fork", "sched_getaffinity"):
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "alarm", "setitimer"):
    delattr(signal, name)
from sdyopt.tools.start import sdy_opt
if __name__ == "__main__":
    sdy_opt()
"""


@pytest.mark.parametrize(
    "flags",
    [
        ("-sdy-propagation-pipeline",),
        ("-sdy-close-shardings", "--mlir-print-ir-after-all"),
        ("--check",),
        ("--lint",),
        ("--report",),
        ("--explain=#1",),
        ("--advise", "--advise-jobs=2"),
        ("--mesh-sweep=data=1..2",),
    ],
    ids=lambda flags: flags[0].strip("-"),
)
def test_without_posix_the_same_is_printed(flags: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "opt.py").write_text(WITHOUT_POSIX, encoding="utf-8")
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    printed = sdy_opt(PROGRAM, *flags, module="opt", environment=environment)
    assert printed == sdy_opt(PROGRAM, *flags)
    assert printed.status == 0
