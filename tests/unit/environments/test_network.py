"""Once installed, sdy-opt uses no network and starts no process."""

import subprocess
import sys

import pytest

from tests.harness.process import FIRST_EXAMPLE, ROOT, first_example

GUARDED = """
import sys
from sdyopt.tools.cli import main

FORBIDDEN = ("socket.", "urllib.", "http.", "subprocess.", "os.system", "os.exec", "os.fork")

def forbid(event, _arguments):
    if event.startswith(FORBIDDEN):
        raise SystemExit(f"sdy-opt does {event}")

sys.addaudithook(forbid)
sys.exit(main(sys.argv[1:]))
"""


def guarded(*arguments: str) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-c", GUARDED, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_first_example_needs_no_network() -> None:
    assert guarded(*FIRST_EXAMPLE) == first_example()


@pytest.mark.parametrize("arguments", [["--help"], ["--help-pass", "cse"], ["--version"]])
def test_help_needs_no_network(arguments: list[str]) -> None:
    assert guarded(*arguments)[::2] == (0, b"")
