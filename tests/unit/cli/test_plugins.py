"""Plugins that a configuration of pytest lists: loaded by the flag, and by nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PASS = """
import sdyopt

print("loaded")


@sdyopt.register_pass("rename")
class Rename(sdyopt.Pass):
    \"\"\"rename: name operations.\"\"\"

    def rewrite(self, rewriter: sdyopt.Rewriter) -> None:
        for op in rewriter.walk():
            if op.dialect == "toy":
                rewriter.set_attribute(op, "name", "renamed")
"""
DIALECT = """
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op

DIALECT = toy = Dialect("toy")


@toy.op("nothing")
class NothingOp(Op):
    \"\"\"Does nothing.\"\"\"
"""
PROGRAM = 'func.func @f() {\n  "toy.nothing"() : () -> ()\n  return\n}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/rename.py").write_text(PASS)
    (tmp_path / "plugins/toy.py").write_text(DIALECT)
    (tmp_path / "program.mlir").write_text(PROGRAM)
    listed = 'sdyopt_plugins = ["plugins/rename.py", "plugins/toy.py"]'
    (tmp_path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{listed}\n")
    return tmp_path


def run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in another folder than that of the project, relative to which plugins are not."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder.parent,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_listed_plugins_are_loaded_by_the_flag(project: Path) -> None:
    load = f"--load-plugin={project / 'pyproject.toml'}"
    done = run(project, "sdyopt", str(project / "program.mlir"), load, "-rename")
    assert done.returncode == 0, done.stderr
    assert 'toy.nothing"() {name = "renamed"}' in done.stdout
    done = run(project, "sdyopt.tools.cli.verify", str(project), load)
    assert done.stdout.endswith("1 program verified\n"), done.stderr


def test_no_plugin_is_loaded_without_the_flag(project: Path) -> None:
    for module in ("sdyopt", "sdyopt.tools.cli.verify"):
        done = subprocess.run(
            [sys.executable, "-m", module, "program.mlir"],
            cwd=project,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 1
        assert "loaded" not in done.stdout
        assert "Dialect `toy'" in done.stderr or "toy" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file lists no plugins\nhelp: write sdyopt_plugins = "),
        ("[tool.pytest.ini_options]\nsdyopt_plugins = 3\n", "the file lists no plugins"),
        ("tool = 3\n", "the file lists no plugins"),
        ("[tool.pytest]\nini_options = [1]\n", "the file lists no plugins"),
        (f"a = {'[' * 2000}", "maximum recursion depth exceeded"),
        ("[tool", "Expected ']'"),
        (
            '[tool.pytest.ini_options]\nsdyopt_plugins = ["none-such"]\n',
            "no installed package has this entry point",
        ),
        ('[tool.pytest.ini_options]\nsdyopt_plugins = ["none.py"]\n', "No such file or directory"),
        (
            '[tool.pytest.ini_options]\nsdyopt_plugins = ["pyproject.toml"]\n',
            "'pyproject.toml' is another list\nhelp: list its plugins here",
        ),
        (
            '[tool.pytest.ini_options]\nsdyopt_plugins = ["\\u0000.py"]\n',
            "the name of a plugin has a NUL character",
        ),
    ],
)
def test_lists_with_mistakes_are_usage_errors(project: Path, text: str, message: str) -> None:
    (project / "pyproject.toml").write_text(text)
    done = run(project, "sdyopt", "-", f"--load-plugin={project / 'pyproject.toml'}")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("flag", "text", "message"),
    [
        ("--load-plugin", PASS.replace('"rename"', '"cse"'), "the pass 'cse' exists already"),
        ("--load-plugin", "x = 1\n", "the file registers no pass, and defines no DIALECT"),
        ("--load-pass-plugin", "x = 1\n", "the file registers no pass, and defines no DIALECT"),
        (
            "--load-plugin",
            "import sys\nsys.exit(0)\n",
            "the file ends the process (line 2)\nhelp: end it only under",
        ),
        (
            "--load-plugin",
            "class AnalysisOptions: ...\nclass Options(AnalysisOptions): ...\n",
            "it is an analysis\nhelp: load it with --load-analysis-plugin=",
        ),
        (
            "--load-plugin",
            DIALECT.replace(
                "class NothingOp(Op):", "class NothingOp(Op):\n    assembly = assembly('attr-dict `:')"
            )
            + "",
            "plugin.py:11:36: error: the assembly of 'toy.nothing': a literal has no second `",
        ),
    ],
    ids=["taken name", "nothing", "no pass", "exit", "analysis", "assembly"],
)
def test_mistakes_in_a_plugin_are_usage_errors(tmp_path: Path, flag: str, text: str, message: str) -> None:
    header = "from sdyopt.mlir.asm.format.assembly_format import assembly\n" if "assembly(" in text else ""
    (tmp_path / "plugin.py").write_text(header + text)
    (tmp_path / "program.mlir").write_text("func.func private @f()\n")
    done = run(tmp_path, "sdyopt", str(tmp_path / "program.mlir"), f"{flag}={tmp_path / 'plugin.py'}")
    assert done.returncode == 2
    assert message in done.stderr
