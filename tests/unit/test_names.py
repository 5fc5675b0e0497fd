"""Names say what something is: words that could name anything are no names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
