"""Names say what something is: words that could name anything are no names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]

# A variable of a loop is what it walks over, a result what it is.
BUILTINS = frozenset(dir(builtins))
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


def hidden_builtins(source: str) -> Iterator[str]:
    """The comprehensions with a variable of the name of a builtin that their function calls.

    Python 3.12.0 and 3.12.1 raise an UnboundLocalError there if the call is in a generator expression.
    """
    nodes = list(ast.walk(ast.parse(source)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    for node in nodes:
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
            targets = [name for generator in node.generators for name in ast.walk(generator.target)]
            names = {name.id for name in targets if isinstance(name, ast.Name)} & BUILTINS
            around = [function for function in functions if function.lineno <= node.lineno <= last(function)]
            for name in sorted(names) if around else ():
                called = (item.func for item in ast.walk(around[-1]) if isinstance(item, ast.Call))
                if any(isinstance(function, ast.Name) and function.id == name for function in called):
                    yield f"{node.lineno}: {name}"


def last(function: ast.FunctionDef) -> int:
    """The last line of a function."""
    return function.end_lineno or function.lineno


@pytest.mark.parametrize(
    "folder", ["sdyopt/base", "sdyopt/mlir", "sdyopt/shardy", "sdyopt/tools", "passes", "sdyopt/analysis"]
)
def test_names_say_something(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    names = [
        f"{file.relative_to(ROOT)}:{name}"
        for file in files
        for source in (file.read_text(encoding="utf-8"),)
        for name in (*empty_names(source), *hidden_builtins(source))
    ]
    assert names == []


def test_hidden_builtins_are_seen() -> None:
    source = "def f(ops):\n  types = {type for type in ops}\n  return (type(op) in types for op in ops)\n"
    assert list(hidden_builtins(source)) == ["2: type"]


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
