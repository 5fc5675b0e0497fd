"""Actions are pinned by commit, and the wheel has an SBOM with all that it depends on."""

import json
import re
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = [
    *(ROOT / ".github/workflows").glob("*.yml"),
    ROOT / "examples/ci/github.yml",
    ROOT / "docs/fuzzing.md",
]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text())
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each)] == []


def test_sbom_has_each_dependency() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        hatch_build = pytest.importorskip("hatch_build", reason="the build needs hatchling")
    finally:
        sys.path.remove(str(ROOT))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = SimpleNamespace(
        name=project["name"],
        dependencies=project["dependencies"],
        optional_dependencies=project["optional-dependencies"],
        license_expression=project["license"],
    )
    sbom = json.loads(hatch_build.sbom_text(SimpleNamespace(core=core, version="1.2.3")))
    assert sbom["metadata"]["component"]["purl"] == "pkg:pypi/sdy-opt@1.2.3"
    assert sbom["dependencies"][0]["dependsOn"] == [
        f"pkg:pypi/{each}" for each in ("click", "htpy", "lark", "rich")
    ]
    names = {each["name"]: each.get("scope") for each in sbom["components"]}
    assert (names["click"], names["jax"], names["pytest"]) == (None, "optional", "optional")
