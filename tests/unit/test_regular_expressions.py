"""Each regular expression takes linear time: four times the text takes about four times the time.

The texts start with the start of a match, and repeat what makes a pattern backtrack: white space, quotes,
brackets, and the words of the pattern.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("sdyopt", "passes") for path in sorted((ROOT / folder).rglob("*.py"))]
# These need the extra `run`.
WITHOUT = ("__main__", "sdyopt.analysis.execution.worker")

SHORT, LONG = 750, 3000
# Twice the growth of linear time. Less than this many seconds are not measured: quadratic time is more.
GROWTH, SECONDS = 8, 0.002
ANYWHERE = ("search", "finditer", "findall", "sub", "split")

# What is repeated, what is before it, and what makes a match fail after it.
REPEATED = (
    *(
        " ",
        "\n",
        "\t",
        "a",
        "0",
        "_",
        '"',
        "\\",
        '\\"',
        "/",
        "//",
        "(",
        "[",
        "{",
        "<",
        "@",
        "%",
        ",",
        ".",
        ":",
    ),
    *(
        "-",
        " ,",
        "a,",
        "a, ",
        "%a,",
        "%a:1, ",
        "a.",
        "0//",
        "0\n",
        '"a"',
        "'",
        "'a' ",
        "<@a",
        "loc(",
        "[[",
        "/*",
    ),
)
BEFORE = ("", '"', "a", "%a ", "//", "{", "dense<", ",")
AFTER = ("", "!", "\n\x01")


def used_anywhere(tree: ast.Module) -> Iterator[str]:
    """The names of patterns that are not only matched at one position."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in ANYWHERE:
            yield node.value.id


def patterns() -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """The name, the pattern and whether it is looked for, not only matched at one position."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    shared = {name for tree in trees.values() for name in used_anywhere(tree) if not name.startswith("_")}
    for path, tree in trees.items():
        anywhere = shared | set(used_anywhere(tree))
        file = path.relative_to(ROOT).as_posix()
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if any(each in module for each in WITHOUT):
            continue
        names = vars(import_module(module))
        for name, value in names.items():
            if isinstance(value, re.Pattern):
                yield f"{module}.{name}", value, name in anywhere
        for pattern, _ in names.get("EXPLANATIONS", ()):
            yield f"{module}: {pattern.pattern}", pattern, True
        for node in ast.walk(tree):
            if (found := _constant(node, names)) is not None:
                assert isinstance(node, ast.Call)
                assert isinstance(node.func, ast.Attribute)
                yield f"{module}:{node.lineno}", found, node.func.attr in ANYWHERE


def _constant(node: ast.AST, names: dict[str, Any]) -> "re.Pattern[Any] | None":
    """The pattern of `re.search(r"…", text)`, None if it is not a constant of the module."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=attr), args=[pattern, *_]) if (
            attr != "escape"
        ):
            is_multiline = any("MULTILINE" in ast.unparse(each) for each in (*node.args, *node.keywords))
            try:
                text = eval(compile(ast.Expression(pattern), "", "eval"), dict(names))
            except NameError:
                return None
            return re.compile(text, re.MULTILINE * is_multiline)
    return None


def texts(pattern: str, flags: int, length: int) -> Iterator[str]:
    words = dict.fromkeys([*REPEATED, *re.findall(r"[A-Za-z]{3,}:?", pattern)[:20]])
    for before, word, after in product(BEFORE, words, AFTER):
        yield before + word * (length // len(word)) + after
    for start, word, after in product(starts(pattern, flags), REPEATED[:8], AFTER[:2]):
        yield start + word * (length // len(word)) + after
        yield (start + word) * (length // len(start + word)) + after


def starts(pattern: str, flags: int) -> list[str]:
    """Texts that match the start of a pattern, one for each of its parts, and a letter after each."""
    text = ""
    found: list[str] = []
    for part in import_module("re._parser").parse(pattern, flags):
        text += _example([part])
        found += [text, text + "a"]
    return [each for each in dict.fromkeys(found) if each]


def _example(parts: Iterable[Any]) -> str:
    """A text that matches the parts of a parsed pattern, nearly always."""
    text = ""
    for name, value in parts:
        match str(name):
            case "LITERAL":
                text += chr(value)
            case "IN":
                [(kind, first), *_] = value
                first = first[0] if str(kind) == "RANGE" else first
                text += chr(first) if str(kind) in ("RANGE", "LITERAL") else "a"
            case "ANY" | "NOT_LITERAL":
                text += "a"
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _example(value[2]) * max(1, value[0])
            case "SUBPATTERN":
                text += _example(value[3])
            case "ATOMIC_GROUP":
                text += _example(value)
            case "BRANCH":
                text += _example(value[1][0])
    return text


def seconds(run: Callable[[], object], times: int = 1) -> float:
    """The least time of some runs, of the processor, which other processes do not take."""
    measured = []
    for _ in range(times):
        start = process_time()
        run()
        measured.append(process_time() - start)
    return min(measured)


def is_linear(pattern: "re.Pattern[Any]", is_anywhere: bool, short: str, long: str) -> bool:
    def run(text: str) -> Callable[[], object]:
        data = text.encode() if isinstance(pattern.pattern, bytes) else text
        if is_anywhere:
            return lambda: sum(1 for _ in pattern.finditer(data))
        return lambda: pattern.match(data)

    if seconds(run(long)) < SECONDS or (slow := seconds(run(long), 3)) < SECONDS:
        return True
    return slow < GROWTH * seconds(run(short), 3)


def test_time_is_linear() -> None:
    found = {(each.pattern, each.flags, anywhere): name for name, each, anywhere in patterns()}
    assert len(found) > 150
    slow = []
    for (pattern, flags, is_anywhere), name in found.items():
        text = pattern.decode() if isinstance(pattern, bytes) else pattern
        compiled = re.compile(pattern, flags)
        for short, long in zip(texts(text, flags, SHORT), texts(text, flags, LONG), strict=True):
            if not is_linear(compiled, is_anywhere, short, long):
                slow.append((name, text, long[:40], long[-3:]))
                break
    assert slow == []


QUADRATIC = (r"^\s*#", r"RUN:(.*?)\s*$", r"error *(?:@\d)? *\{", '"(?:[^"\\\\]|\\\\.)*"')


@pytest.mark.parametrize("pattern", QUADRATIC)
def test_quadratic_patterns_are_found(pattern: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE)
    pairs = zip(texts(pattern, 0, SHORT), texts(pattern, 0, LONG), strict=True)
    assert not all(is_linear(compiled, True, short, long) for short, long in pairs)
