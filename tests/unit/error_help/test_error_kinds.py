"""Every error of a kind is raised with the values that its wording, steps and help insert."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[3]
# The values that explanations add, and those that say which value a message is about.
ADDED = {"symbol", "side"}


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for folder in ("sdyopt", "passes"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "ErrorKind" in text or "WRONG_" in text or "_REQUIRED" in text or "THE_SAME" in text:
                yield path, ast.parse(text)


def inserted(declaration: ast.Call) -> set[str]:
    """The names in the templates of a declared error."""
    values = [*declaration.args, *(word.value for word in declaration.keywords)]
    texts = [str(value.value) for value in values if isinstance(value, ast.Constant)]
    return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}


def test_errors_are_raised_with_all_their_values() -> None:
    trees = list(sources())
    kinds: dict[tuple[str, Path | None], set[str]] = {}
    for path, tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("ErrorKind")) as declaration):
                    kinds[name, path] = kinds[name, None] = inserted(declaration)
    checked = 0
    for path, tree in trees:
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            names = kinds.get((node.func.id, path), kinds.get((node.func.id, None)))
            given = {word.arg for word in node.keywords}
            if names is not None and None not in given:
                assert names - ADDED <= given, f"{path}:{node.lineno}: {node.func.id}"
                checked += 1
    assert checked > 50
