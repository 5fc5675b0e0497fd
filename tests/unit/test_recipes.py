"""The guides and recipes work as written: their files are tested in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
PASS, OPERATION = "docs/writing-a-pass.md", "docs/writing-an-operation.md"
ANALYSIS, RECIPE = "docs/writing-an-analysis.md", "docs/recipes.md"
# Each recipe is a section of a page.
RECIPES = {
    "Write a pass in a file": (PASS, "In a file of your own"),
    "Add a pass": (PASS, "In this repository"),
    "Write a plugin": (PASS, "In a package of your own"),
    "Add an operation": (OPERATION, "An operation"),
    "Add a dialect": (OPERATION, "A dialect of its own"),
    "Add an analysis": (ANALYSIS, "In this repository"),
    "Write a plugin of an analysis": (ANALYSIS, "In a package of your own"),
    "Add a lint rule": (RECIPE, "A lint rule"),
    "Add a help hint": (RECIPE, "A help hint"),
}
# What a recipe may add to or run.
COPIED = ("sdyopt", "passes", "tests", "docs", "pyproject.toml", "README.md")


def recipe(title: str) -> str:
    """The text of the section of a recipe."""
    page, section = RECIPES[title]
    text = (ROOT / page).read_text(encoding="utf-8")
    found: str
    [found] = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found


def files(title: str) -> dict[str, str]:
    """The code blocks of a recipe by their path, which is the last name in backticks before each."""
    text = re.sub(r"^```console\n.*?^```\n", "", recipe(title), flags=re.MULTILINE | re.DOTALL)
    *parts, _ = re.split(r"^```\w*\n", text, flags=re.MULTILINE)
    paths = [re.findall(r"`([\w/-]+\.\w+)`", prose)[-1] for prose in parts[::2]]
    assert len(set(paths)) == len(paths) > 0
    return dict(zip(paths, parts[1::2], strict=True))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("*.tmp"))
        else:
            shutil.copy(source, tmp_path)
    return tmp_path


def add(checkout: Path, path: str, text: str) -> None:
    """Creates a file, or adds text to the end of one."""
    file = checkout / path
    before = file.read_text(encoding="utf-8") + "\n\n" if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(before + text, encoding="utf-8")


def run(folder: Path, module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def follow(checkout: Path, title: str) -> list[str]:
    """Writes the files of a recipe, runs its tests and the linter, and returns the paths."""
    recipe_files = files(title)
    for path, text in recipe_files.items():
        add(checkout, path, text)
    tests = [path for path in recipe_files if path.startswith("tests/lit/")]
    assert tests
    report = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", *tests).stdout
    assert f"{len(tests)} passed" in report
    sources = [path for path in recipe_files if path.endswith(".py")]
    run(checkout, "ruff", "check", "--no-cache", *sources)
    run(checkout, "ruff", "format", "--check", "--no-cache", *sources)
    return list(recipe_files)


def test_write_a_pass_in_a_file(tmp_path: Path) -> None:
    for path, text in files("Write a pass in a file").items():
        add(tmp_path, path, text)
    report = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", PYTHONPATH=str(ROOT)).stdout
    assert "1 passed" in report
    run(tmp_path, "ruff", "format", "--check", "--no-cache", "--line-length=110", "simplify.py")
    # With the options and the cache of `make types`, which are strict.
    run(ROOT, "mypy", str(tmp_path / "simplify.py"))
    load = "--load-plugin=pyproject.toml"
    manual = run(tmp_path, "sdyopt", load, "--help-pass", "drop-names", PYTHONPATH=str(ROOT)).stdout
    assert manual.startswith("drop-names: remove the names of operations.")


def test_add_a_pass(checkout: Path) -> None:
    follow(checkout, "Add a pass")
    manual = run(checkout, "sdyopt", "--help-pass", "sdy-drop-names").stdout
    assert manual.startswith("sdy-drop-names: remove the names of operations.")
    run(checkout, "docs.passes")
    page = (checkout / "docs/passes.md").read_text(encoding="utf-8")
    assert "| [`-sdy-drop-names`](#-sdy-drop-names) |" in page
    assert "## -sdy-drop-names\n" in page


def test_add_an_operation(checkout: Path) -> None:
    *_, random_modules = follow(checkout, "Add an operation")
    test = "tests/random_modules/rules/test_operations.py"
    with pytest.raises(AssertionError, match="outer_product"):
        run(checkout, "pytest", "-q", "-p", "no:cacheprovider", test)
    add(checkout, random_modules, "OPERATIONS[outer_product] = 1\n")
    run(checkout, "pytest", "-q", "-p", "no:cacheprovider", test)


def test_add_a_dialect(checkout: Path) -> None:
    follow(checkout, "Add a dialect")


def test_add_an_analysis(checkout: Path) -> None:
    assert len(follow(checkout, "Add an analysis")) == 3
    assert "--count-rows=N" in run(checkout, "sdyopt", "--help-hidden").stdout
    run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "-k", "op_count", "tests/unit/test_layering.py")


def test_add_a_lint_rule(checkout: Path) -> None:
    assert len(follow(checkout, "Add a lint rule")) == 3
    run(checkout, "docs.lint_pages")
    run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/lint/test_lint_pages.py")
    assert "unused-argument" in run(checkout, "sdyopt", "--help-lint").stdout


def test_add_a_help_hint(checkout: Path) -> None:
    message = re.search(r"raise `(.+?)` in place of\n`(.+?)`", recipe("Add a help hint"))
    assert message is not None
    module = checkout / "sdyopt/mlir/dialects/stablehlo/shapes.py"
    before = module.read_text(encoding="utf-8")
    assert before.count(message[2]) == 1
    module.write_text(before.replace(message[2], message[1]), encoding="utf-8")
    assert len(follow(checkout, "Add a help hint")) == 2


def test_write_a_plugin_of_an_analysis(tmp_path: Path) -> None:
    for path, text in files("Add an analysis").items():
        name = path.replace("sdyopt/analysis", "my_package").replace("tests/lit/report/", "")
        add(tmp_path, name, text.replace("sdyopt.analysis.op_count", "my_package.op_count"))
    add(tmp_path, "my_package/__init__.py", "")
    add_entry_points(tmp_path, files("Write a plugin of an analysis")["pyproject.toml"])

    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    load = "--load-analysis-plugin=op-count"
    done = run(tmp_path, "sdyopt", "op_count.mlir", "--count-ops", load, PYTHONPATH=path)
    assert done.stdout.splitlines()[0] == "2 stablehlo.add"
    assert "--count-rows=N" in run(tmp_path, "sdyopt", load, "--help-hidden", PYTHONPATH=path).stdout


def add_entry_points(folder: Path, pyproject: str) -> None:
    """Adds the entry points of a package, as an installer writes them."""
    groups = tomllib.loads(pyproject)["project"]["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    add(folder, "my_package-1.dist-info/entry_points.txt", "\n".join(lines))


def test_write_a_plugin(tmp_path: Path) -> None:
    [drop_names] = [text for path, text in files("Add a pass").items() if path.startswith("passes/")]
    dialect = files("Add a dialect")
    plugin = files("Write a plugin")
    assert set(plugin) == {"my_package/toy.py", "pyproject.toml"}
    add(tmp_path, "my_package/__init__.py", "")
    add(tmp_path, "my_package/passes.py", drop_names)
    add(tmp_path, "my_package/toy.py", dialect["sdyopt/mlir/dialects/toy.py"])
    add(tmp_path, "my_package/toy.py", plugin["my_package/toy.py"])
    add(tmp_path, "relu.mlir", dialect["tests/lit/dialects/toy/relu.mlir"])
    add_entry_points(tmp_path, plugin["pyproject.toml"])

    [command] = re.findall(r"^\$ sdy-opt (.*)$", recipe("Write a plugin"), re.MULTILINE)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    done = run(tmp_path, "sdyopt", *command.split(), PYTHONPATH=path)
    assert done.stderr == ""
    # The name is gone, and the sharding has propagated.
    assert re.search(r'toy\.relu %arg0 {sdy\.sharding = .*<@mesh, \[{"x", \?}\]>.*} : tensor', done.stdout)
    assert "activation" not in done.stdout
