"""No environment variables, home directories that do not exist, and relative ones."""

import os
from pathlib import Path

import pytest

from tests.harness.process import FIRST_EXAMPLE, ROOT, environment_with, first_example, sdy_opt

ARGUMENTS = (str(ROOT / FIRST_EXAMPLE[0]), FIRST_EXAMPLE[1])


def test_the_first_example_runs_in_an_empty_environment() -> None:
    assert sdy_opt(*FIRST_EXAMPLE, environment={}) == first_example()


@pytest.mark.parametrize("home", ["/nonexistent/home", "/dev/null", "", "relative", "~no-such-user"])
def test_without_a_home_nothing_is_written_to_the_current_folder(home: str, tmp_path: Path) -> None:
    """Nothing is written to the current folder, such as a cache of parse tables."""
    environment = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    assert sdy_opt(*ARGUMENTS, environment=environment, folder=tmp_path) == first_example()
    assert list(tmp_path.iterdir()) == []


def test_cache_with_a_relative_path_is_ignored(tmp_path: Path) -> None:
    environment = environment_with(XDG_CACHE_HOME="relative", PYTHONPATH=str(ROOT))
    assert sdy_opt(*ARGUMENTS, environment=environment, folder=tmp_path) == first_example()
    assert list(tmp_path.iterdir()) == []
