"""Runs the workflows in a copy of examples/ci/project: python -m tests.ci_kit VENV WHEEL FOLDER

VENV has the wheel and nothing else of this project. Each workflow runs on the project as it is, where it must
pass, and with mistakes, which it must report. The plugin of pytest and LLVM's lit are checked, too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.ci_kit.workflows import EXAMPLES, Step, github, gitlab

BROKEN = 'func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) { return }\n'
# Python imports sdyopt for a test, not pytest, whose rewriting of assertions would take long.
IMPORTS = """
import sdyopt.tools.driver.run

def test_assertions_are_not_rewritten():
    assert type(sdyopt.tools.driver.run.__loader__).__name__ == "SourceFileLoader"
"""


class Project:
    """A repository with the example project and a remote, and the environment of its CI."""

    def __init__(self, folder: Path, venv: Path, variables: Mapping[str, str]) -> None:
        self.folder = folder
        shutil.copytree(EXAMPLES / "project", folder)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = os.pathsep.join([str(venv / "bin"), os.environ["PATH"]])
        identity = {
            f"GIT_{who}_{what}": "ci" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self._environment = {**kept, **identity, **variables, "PATH": path}
        self.check("git init -q -b main && git add -A && git commit -qm 'Add a model'")
        self.check(f"git clone -q --bare . '{folder}.git' && git remote add origin '{folder}.git'")

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )

    def check(self, script: str) -> str:
        """Runs a script that must succeed, and returns what it prints."""
        done = self.run(script)
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        return done.stdout

    def check_failure(self, script: str, expected: str) -> None:
        """Runs a script that must fail with this text."""
        done = self.run(script)
        assert done.returncode == 1, f"{script}\nexit status {done.returncode}\n{done.stdout}"
        assert expected in done.stdout, f"{script}\nlacks {expected}\n{done.stdout}"

    def make_mistakes(self) -> None:
        """Adds an invalid program, breaks a lit test, and lowers the budget below what the model needs."""
        (self.folder / "models" / "broken.mlir").write_text(BROKEN)
        self._replace(
            "tests/lit/layer.mlir", "CHECK-LABEL: func.func @layer", "CHECK-LABEL: func.func @model"
        )
        self._replace("models/budget.toml", "2 MiB", "1 KiB")

    def _replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        (self.folder / name).write_text(text.replace(old, new), encoding="utf-8")


def check_github(folder: Path, venv: Path, wheel: Path) -> None:
    workflow = github()
    variables = {
        **workflow.variables,
        "SDYOPT": f"{wheel}[lit]",
        "GITHUB_ACTIONS": "true",
        "GITHUB_BASE_REF": "main",
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    project = Project(folder, venv, variables)
    for step in workflow.steps:
        project.check(step.script)
    assert "3 collectives" in (folder / "summary.md").read_text(encoding="utf-8")
    project.make_mistakes()
    expected = {
        "Verify the programs": "::error file=models/broken.mlir,line=1",
        "Run the lit tests": "::error file=tests/lit/layer.mlir",
        "Check the budget of the model": "::error file=",
    }
    steps = {step.name: step for step in workflow.steps}
    for name, text in expected.items():
        project.check_failure(steps[name].script, text)
    _check_change(
        project,
        steps["Compare the model with that of the target branch"],
        steps["Check the shardings of the model"],
    )
    comparison = (folder / "comparison.md").read_text(encoding="utf-8")
    assert "1 annotation changed in the input" in comparison


def _check_change(project: Project, *steps: Step) -> None:
    """Shards weights along another axis, so that comparisons with earlier shardings must fail."""
    text = (project.folder / "models" / "mlp.mlir").read_text(encoding="utf-8")
    changed = text.replace('[{}, {"model"}]>} loc("weights[0]")', '[{}, {"data"}]>} loc("weights[0]")')
    assert changed != text
    (project.folder / "models" / "mlp.mlir").write_text(changed, encoding="utf-8")
    for step in steps:
        project.check_failure(step.script, "::error ")


def check_gitlab(folder: Path, venv: Path, wheel: Path) -> None:
    workflow = gitlab()
    project = Project(folder, venv, {**workflow.variables, "SDYOPT": f"{wheel}[lit]"})
    [step] = workflow.steps
    project.check(step.script)
    assert json.loads((folder / "codequality.json").read_text(encoding="utf-8")) == []
    assert 'tests="2"' in (folder / "lit.xml").read_text(encoding="utf-8")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    project.make_mistakes()
    project.check_failure(step.script, "models/broken.mlir:1:")
    findings = json.loads((folder / "codequality.json").read_text(encoding="utf-8"))
    assert {finding["location"]["path"] for finding in findings} >= {"models/broken.mlir"}
    assert len({finding["fingerprint"] for finding in findings}) == len(findings) > 1


def check_lit(folder: Path, venv: Path) -> None:
    """Checks that the lit tests run in LLVM's lit, too."""
    project = Project(folder, venv, {})
    project.check("pip install --quiet --disable-pip-version-check lit")
    assert "Passed: 2" in project.check("lit tests/lit")
    project.make_mistakes()
    project.check_failure("lit -v tests/lit", "layer.mlir")


def check_other_tests(folder: Path, venv: Path) -> None:
    """Checks that the plugin of pytest does not affect other tests."""
    project = Project(folder, venv, {})
    (folder / "test_imports.py").write_text(IMPORTS)
    assert "1 passed" in project.check("pytest test_imports.py")


def main() -> None:
    venv, wheel, scratch = (Path(argument).absolute() for argument in sys.argv[1:])
    check_github(scratch / "github", venv, wheel)
    check_gitlab(scratch / "gitlab", venv, wheel)
    check_other_tests(scratch / "other", venv)
    check_lit(scratch / "lit", venv)
    print("the workflows of examples/ci: passed")


if __name__ == "__main__":
    main()
