"""A user id without a user name, which may read everything, and write to at most one folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.process import FIRST_EXAMPLE, ROOT, ProcessResult, first_example

# An id that no user of the system has.
USER = "54321"
# Every user may read the checkout and Python.
READS = "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"
BECOME = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *READS)

pytestmark = [
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user"
    ),
    pytest.mark.skipif(shutil.which("setpriv") is None, reason="requires setpriv, of util-linux"),
]


def run(*arguments: str, folder: Path, **environment: str) -> ProcessResult:
    command = [*BECOME, sys.executable, "-m", "sdyopt", *arguments]
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return ProcessResult(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    os.chown(folder, int(USER), int(USER))
    return folder


def test_no_home_and_nowhere_to_write(tmp_path: Path) -> None:
    assert run(*FIRST_EXAMPLE, folder=ROOT) == first_example()
    printed = run(*FIRST_EXAMPLE, "-o", str(tmp_path / "out"), folder=ROOT)
    message = f"sdy-opt: cannot open output file '{tmp_path / 'out'}': Permission denied\n"
    assert printed == (1, b"", message.encode())


def test_nothing_is_written_to_the_home_of_another_user(tmp_path: Path) -> None:
    (tmp_path / ".cache" / "sdyopt").mkdir(parents=True)
    assert run(*FIRST_EXAMPLE, folder=ROOT, HOME=str(tmp_path)) == first_example()
    assert list((tmp_path / ".cache" / "sdyopt").iterdir()) == []


def test_a_home_that_cannot_be_written_to_stays_empty(own_folder: Path) -> None:
    own_folder.chmod(0o500)
    assert run(*FIRST_EXAMPLE, folder=ROOT, HOME=str(own_folder)) == first_example()
    assert list(own_folder.iterdir()) == []


def test_output_and_parse_tables_are_written_to_a_home_of_their_own(own_folder: Path) -> None:
    example = ROOT / "examples" / "mlp.mlir"
    printed = run(str(example), "-o", "out.mlir", folder=own_folder, HOME=str(own_folder))
    assert printed == (0, b"", b"")
    assert b"sdy.mesh" in (own_folder / "out.mlir").read_bytes()
    kept = list((own_folder / ".cache" / "sdyopt").iterdir())
    assert {each.name.partition("-")[0] for each in kept} <= {"attribute", "patterns"} and kept
    assert {each.stat().st_uid for each in kept} == {int(USER)}
