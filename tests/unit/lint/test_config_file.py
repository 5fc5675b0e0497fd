"""The configuration of --lint is the next one in the folder of the input and those around it."""

import os
from pathlib import Path

import pytest

from sdyopt.analysis.lint.rule import find_config


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with programs in models/large, in which the command runs."""
    (tmp_path / "models" / "large").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_may_be_none(project: Path) -> None:
    (project / "pyproject.toml").write_text("[project]\nname = 'model'\n")
    found = find_config("models/large/train.mlir")
    assert found is None or not Path(found).absolute().is_relative_to(project.resolve())


def test_the_next_file_counts(project: Path) -> None:
    (project / "sdy-lint.toml").write_text("")
    assert find_config("models/large/train.mlir") == "sdy-lint.toml"
    (project / "models" / "sdy-lint.toml").write_text("")
    assert find_config("models/large/train.mlir") == "models/sdy-lint.toml"
    assert find_config("train.mlir") == "sdy-lint.toml"


def test_pyproject_counts_if_it_has_the_table(project: Path) -> None:
    (project / "sdy-lint.toml").write_text("")
    nearer = project / "models" / "pyproject.toml"
    nearer.write_text("[tool.ruff]\n")
    assert find_config("models/large/train.mlir") == "sdy-lint.toml"
    nearer.write_text('[tool.sdy-lint]\nselect = ["all"]\n')
    assert find_config("models/large/train.mlir") == "models/pyproject.toml"
    (project / "models" / "sdy-lint.toml").write_text("")
    assert find_config("models/large/train.mlir") == "models/sdy-lint.toml"


def test_what_is_no_regular_file_does_not_count(project: Path) -> None:
    """Nobody named the file, so reading it must neither wait nor fill the memory."""
    (project / "sdy-lint.toml").write_text("")
    os.mkfifo(project / "models" / "pyproject.toml")
    (project / "models" / "large" / "pyproject.toml").symlink_to("/dev/zero")
    assert find_config("models/large/train.mlir") == "sdy-lint.toml"
    (project / "models" / "pyproject.toml").unlink()
    with (project / "models" / "pyproject.toml").open("wb") as file:
        file.write(b"[tool.sdy-lint]\n")
        file.truncate(2**30)
    assert find_config("models/large/train.mlir") == "sdy-lint.toml"


def test_standard_input_is_in_the_current_folder(project: Path) -> None:
    (project / "sdy-lint.toml").write_text("")
    assert find_config("-") == "sdy-lint.toml"


def test_an_input_elsewhere_is_named_in_full(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "sdy-lint.toml").write_text("")
    monkeypatch.chdir(project / "models")
    assert find_config("../train.mlir") == str(project.resolve() / "sdy-lint.toml")
