"""Names say what something is: words that could name anything are no names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]

# A variable of a loop is what it walks over, a result what it is.
EMPTY_WORDS = frozenset(("each", "found", "told", "thing", "things", "stuff", "remedy", "remedies", "blamed"))


def empty_names(source: str) -> Iterator[str]:
    """The names that a module gives and that say nothing, with their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case _:
                continue
        if name.strip("_").lower() in EMPTY_WORDS:
            yield f"{node.lineno}: {name}"


@pytest.mark.parametrize(
    "folder", ["sdyopt/base", "sdyopt/mlir", "sdyopt/shardy", "sdyopt/tools", "passes", "sdyopt/analysis"]
)
def test_names_say_something(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    names = [
        f"{file.relative_to(ROOT)}:{name}"
        for file in files
        for name in empty_names(file.read_text(encoding="utf-8"))
    ]
    assert names == []


def test_empty_names_are_seen() -> None:
    source = "def f(found): pass\ntexts = [each for each in ops]\nfor each in ops: pass\nclass Found: pass\n"
    assert sorted(empty_names(source)) == ["1: found", "2: each", "3: each", "4: Found"]


def public_classes(folders: Sequence[str]) -> dict[str, list[str]]:
    """The files that define each public class at the top level, by its name."""
    files_by_name: dict[str, list[str]] = {}
    for file in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files_by_name.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    return files_by_name


def test_a_class_has_a_name_of_its_own() -> None:
    """MLIR names operations and attributes by dialect, and the API shows views of the IR."""
    named = {
        name: [file for file in files if not file.startswith(("sdyopt/mlir/dialects/", "sdyopt/tools/api/"))]
        for name, files in public_classes(["sdyopt", "passes"]).items()
    }
    # An analysis is found by the `Options` of its package.
    assert {name: files for name, files in named.items() if len(files) > 1 and name != "Options"} == {}
