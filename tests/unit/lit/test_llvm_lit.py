"""The configuration of LLVM's lit in the example loads the plugins that pytest loads."""

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CONFIGURATION = Path(__file__).parents[3] / "examples/ci/project/tests/lit/lit.cfg.py"


@pytest.fixture
def substitutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """The substitutions for a project whose pyproject.toml has this text."""
    (tmp_path / "pyproject.toml").write_text(request.param)
    folder = tmp_path / "tests" / "lit"
    folder.mkdir(parents=True)
    copy = folder / "lit.cfg.py"
    shutil.copy(CONFIGURATION, copy)
    formats = ModuleType("lit.formats")
    formats.ShTest = lambda **_: None  # type: ignore[attr-defined]
    lit = ModuleType("lit")
    lit.formats = formats  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lit", lit)
    monkeypatch.setitem(sys.modules, "lit.formats", formats)
    config = SimpleNamespace(environment={}, substitutions=[])
    exec(compile(copy.read_text(), str(copy), "exec"), {"config": config, "__file__": str(copy)})
    return [each for each in config.substitutions if "FileCheck" not in each[0]]


@pytest.mark.parametrize(
    "substitutions", ['[tool.pytest.ini_options]\nsdyopt_plugins = ["plugin.py"]\n'], indirect=True
)
def test_listed_plugins_are_loaded(substitutions: list[tuple[str, str]], tmp_path: Path) -> None:
    line = "sdy-opt %s -cse | sdy-opt-verify - && my-sdy-opt a/sdy-opt sdy-opt.mlir"
    for pattern, text in substitutions:
        # As lit does, which leaves no groups in the text.
        line = re.sub(pattern, text.replace("\\", "\\\\"), line)
    load = f"--load-plugin={tmp_path / 'pyproject.toml'}"
    assert line == f"sdy-opt {load} %s -cse | sdy-opt-verify {load} - && my-sdy-opt a/sdy-opt sdy-opt.mlir"


@pytest.mark.parametrize("substitutions", ["", "[tool.pytest.ini_options]\n"], indirect=True)
def test_nothing_is_loaded_without_a_list(substitutions: list[tuple[str, str]]) -> None:
    assert substitutions == []
