"""The workflows of examples/ci/, read as YAML, and the commands in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ci"


@dataclass(frozen=True)
class Step:
    """A shell script of a workflow, and the name of its step."""

    name: str
    script: str


@dataclass(frozen=True)
class Workflow:
    """The scripts of a workflow in order, and its variables."""

    steps: tuple[Step, ...]
    variables: Mapping[str, str]


def load(name: str) -> Any:
    """A YAML file of the checkout."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def github() -> Workflow:
    """The workflow for GitHub, whose steps each run in a shell of their own."""
    workflow = load("examples/ci/github.yml")
    steps = workflow["jobs"]["sdy-opt"]["steps"]
    return Workflow(
        tuple(Step(step["name"], step["run"]) for step in steps if "run" in step), workflow["env"]
    )


def gitlab() -> Workflow:
    """The workflow for GitLab as one step, because all lines of a job run in one shell."""
    workflow = load("examples/ci/gitlab.yml")
    job = workflow["sdy-opt"]
    script = "\n".join([*job["before_script"], *job["script"]])
    return Workflow((Step("script", script),), workflow["variables"])
