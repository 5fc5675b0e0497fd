"""The workflows and hooks that users copy. `make wheel-check` runs their commands with an installed wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from sdyopt.mlir.registry import find_entry
from sdyopt.tools.cli.flags import FLAGS
from tests.ci_kit.workflows import EXAMPLES, ROOT, Workflow, github, gitlab, load

pytestmark = pytest.mark.sources


def test_the_workflow_of_github_has_these_steps() -> None:
    assert [step.name for step in github().steps] == [
        "Install sdy-opt",
        "Verify the programs",
        "Run the lit tests",
        "Check the budget of the model",
        "Check the shardings of the model",
        "Compare the model with that of the target branch",
        "Show the report",
    ]


def test_actions_of_github_are_pinned_by_commit() -> None:
    steps = load("examples/ci/github.yml")["jobs"]["sdy-opt"]["steps"]
    assert all("run" in step or re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in steps)


@pytest.mark.parametrize("workflow", [github(), gitlab()])
def test_flags_of_workflows_exist(workflow: Workflow) -> None:
    script = "\n".join(step.script for step in workflow.steps).replace(
        "$PIPELINE", workflow.variables["PIPELINE"]
    )
    commands = [line for line in script.replace("\\\n", " ").splitlines() if "sdy-opt" in line]
    flags = {flag for line in commands for flag in re.findall(r" \"?--?([a-z][\w-]*)", line)}
    assert flags >= {"diagnostics-format"} or flags >= {"diagnostics-output"}
    assert {flag for flag in flags if flag not in FLAGS and find_entry(flag) is None} == {"junitxml"} & flags


def test_files_that_workflows_name_exist() -> None:
    text = "\n".join(step.script for workflow in (github(), gitlab()) for step in workflow.steps)
    paths = set(re.findall(r"\b(?:models|tests|ci)/[\w./]+", text))
    assert len(paths) > 3
    assert [path for path in paths if not (EXAMPLES / "project" / path).exists()] == []


def test_the_program_of_the_project_is_the_example_that_jax_lowered() -> None:
    assert (EXAMPLES / "project/models/mlp.mlir").read_bytes() == (ROOT / "examples/mlp.mlir").read_bytes()


def test_lit_tests_of_the_project_pass() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/lit"]
    folder = EXAMPLES / "project"
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


def test_the_hook_runs_an_installed_script_on_mlir_files() -> None:
    [hook] = load(".pre-commit-hooks.yaml")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert hook["entry"] in scripts
    assert re.search(hook["files"], "models/mlp.mlir")
    assert not re.search(hook["files"], "models/mlp.mlir.md")
