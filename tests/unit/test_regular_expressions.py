"""Each regular expression takes linear time: four times the text takes about four times the time.

The texts start with the start of a match, and repeat what makes a pattern backtrack: examples of parts of the
pattern that follow each other, white space, quotes and brackets.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import groupby, product
from pathlib import Path
from time import process_time
from typing import Any

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("sdyopt", "passes") for path in sorted((ROOT / folder).rglob("*.py"))]
# These need the extra `run`.
WITHOUT = ("__main__", "sdyopt.analysis.execution.worker")

# A text of LENGTH that takes less time than this is not quadratic: that is less than 0.05 nanoseconds for
# each pair of its characters. For the others, twice the growth of linear time is too much. Other processes
# only make a measurement longer, so the shortest one of several counts. The patterns of explanations may be
# quadratic, because long messages are not explained.
LENGTH, SECONDS = 4000, 0.0008
GROWTH, TIMES = 8, 6

# Uses of a pattern that look for it, and do not only match it at one position.
ANYWHERE = r"\b(\w+)\.(?:search|finditer|findall|sub|split)\b"

# What is repeated besides parts of the pattern, and what makes a match fail after it.
REPEATED = (" ", "\n", "a", '"', "\\", "(", ",", "//")
AFTER = ("!", "\n\x01")
# Characters of the classes of characters; all others have an "a".
CATEGORIES = {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "0"}
# So many parts of a pattern are repeated together.
PARTS = 4


def patterns(folder: str) -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """The names and patterns of a folder, and whether they are looked for, not only matched at a position."""
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    used = {path: set(re.findall(ANYWHERE, text)) for path, text in texts.items()}
    shared = {name for names in used.values() for name in names if not name.startswith("_")}
    for path, text in texts.items():
        file = path.relative_to(ROOT).as_posix()
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if not file.startswith(folder) or any(each in module for each in WITHOUT):
            continue
        if not re.search(r"^import re$", text, re.M):
            continue
        names = vars(import_module(module))
        for name, value in names.items():
            if isinstance(value, re.Pattern):
                yield f"{module}.{name}", value, name in shared | used[path]
        for node in ast.walk(ast.parse(text)):
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


def texts(pattern: str, flags: int) -> Iterator[Callable[[int], str]]:
    """Functions that make a text of a length."""

    def text(before: str, word: str, after: str) -> Callable[[int], str]:
        return lambda length: before + word * (length // len(word)) + after

    parsed = import_module("re._parser").parse(pattern, flags)
    examples, inner_examples = _examples(parsed), _examples(_flat(parsed))
    words = [*_windows(examples), *_windows(inner_examples)]
    starts = ["".join(examples[:end]) for end in range(len(examples))]
    for before, word, after in product(
        dict.fromkeys(starts), dict.fromkeys([*filter(None, words), *REPEATED]), AFTER
    ):
        yield text(before, word, after)


def _examples(parts: Iterable[Any]) -> list[str]:
    """An example of each part, and one of characters that follow each other."""
    groups = groupby(parts, key=lambda part: str(part[0]) == "LITERAL")
    split = [[each] for is_literal, group in groups for each in ([list(group)] if is_literal else group)]
    return [_example(each[0] if isinstance(each[0], list) else each) for each in split]


def _windows(examples: list[str]) -> Iterator[str]:
    """Examples that follow each other."""
    for start in range(len(examples)):
        for end in range(start + 1, min(start + PARTS, len(examples)) + 1):
            yield "".join(examples[start:end])


def _flat(parts: Iterable[Any]) -> Iterator[Any]:
    """The parts of a parsed pattern, with those of groups in place of the groups."""
    for name, value in parts:
        match str(name):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield from _flat(value[2])
            case "SUBPATTERN":
                yield from _flat(value[3])
            case "ATOMIC_GROUP":
                yield from _flat(value)
            case "BRANCH":
                for branch in value[1]:
                    yield from _flat(branch)
            case _:
                yield name, value


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
                text += chr(first) if str(kind) in ("RANGE", "LITERAL") else CATEGORIES.get(str(first), "a")
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


def slow_text(pattern: "re.Pattern[Any]", is_anywhere: bool) -> str | None:
    """The text of a length for which a pattern takes more than linear time; None if there is none."""

    def seconds(text: str) -> float:
        """The time of the processor, which other processes do not take."""
        data = text.encode() if is_binary else text
        start = process_time()
        if is_anywhere:
            for _ in pattern.finditer(data):
                pass
        else:
            pattern.match(data)
        return process_time() - start

    def is_slow(make_text: Callable[[int], str]) -> bool:
        long, short = make_text(LENGTH), make_text(LENGTH // 4)
        if seconds(long) < SECONDS:
            return False
        pairs = [(seconds(long), seconds(short)) for _ in range(TIMES)]
        slow, fast = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
        return slow > max(SECONDS, GROWTH * fast)

    is_binary = isinstance(pattern.pattern, bytes)
    source = pattern.pattern.decode() if is_binary else pattern.pattern
    if not re.search("[*+{]", source):
        return None
    for make_text in texts(source, pattern.flags):
        if is_slow(make_text):
            return make_text(LENGTH)
    return None


FOLDERS = ("passes", *(f"sdyopt/{name}" for name in ("base", "mlir", "shardy", "analysis", "tools")))


@pytest.mark.parametrize("folder", FOLDERS)
def test_time_is_linear(folder: str) -> None:
    found = {(each.pattern, each.flags, where): (name, each) for name, each, where in patterns(folder + "/")}
    slow = []
    for (_, _, is_anywhere), (name, pattern) in found.items():
        text = slow_text(pattern, is_anywhere)
        if text is not None:
            slow.append((name, pattern.pattern, text[:40], text[-3:]))
    assert slow == []


def test_patterns_are_found() -> None:
    assert len({each.pattern for _, each, _ in patterns("")}) > 150


QUADRATIC = (
    *(r"^\s*#", r"RUN:(.*?)\s*$", r"error *(?:@\d)? *\{", '"(?:[^"\\\\]|\\\\.)*"'),
    *(r"(ENTRY\s+)?%?([\w.-]+)\s*\(.*\)\s*->.*\{\s*$", "tensor<((?:[0-9?]+x)*)([^<>]+)>"),
)


@pytest.mark.parametrize("pattern", QUADRATIC)
def test_quadratic_patterns_are_found(pattern: str) -> None:
    assert slow_text(re.compile(pattern, re.MULTILINE), True) is not None
