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

# A text of LENGTH that takes less time than this is not quadratic: that is less than a nanosecond per pair of
# its characters. For the others, twice the growth of linear time is too much. Other processes only make a
# measurement longer, so the shortest one of several counts.
LENGTH, SECONDS = 2000, 0.001
GROWTH, TIMES = 8, 6

# Uses of a pattern that look for it, and do not only match it at one position.
ANYWHERE = r"\b(\w+)\.(?:search|finditer|findall|sub|split)\b"

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
AFTER = ("!", "\n\x01")


def patterns() -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """The name, the pattern and whether it is looked for, not only matched at one position."""
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    used = {path: set(re.findall(ANYWHERE, text)) for path, text in texts.items()}
    shared = {name for names in used.values() for name in names if not name.startswith("_")}
    for path, text in texts.items():
        file = path.relative_to(ROOT).as_posix()
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if any(each in module for each in WITHOUT) or not re.search(r"^import re$|EXPLANATIONS", text, re.M):
            continue
        names = vars(import_module(module))
        for name, value in names.items():
            if isinstance(value, re.Pattern):
                yield f"{module}.{name}", value, name in shared | used[path]
        for pattern, _ in names.get("EXPLANATIONS", ()):
            yield f"{module}: {pattern.pattern}", pattern, True
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

    words = dict.fromkeys([*REPEATED, *re.findall(r"[A-Za-z]{3,}:?", pattern)[:20]])
    for before, word, after in product(BEFORE, words, AFTER):
        yield text(before, word, after)
    for start, word, after in product(starts(pattern, flags), REPEATED[:8], AFTER):
        yield text(start, word, after)
        yield text("", start + word, after)


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


def test_time_is_linear() -> None:
    found = {(each.pattern, each.flags, anywhere): (name, each) for name, each, anywhere in patterns()}
    assert len(found) > 150
    slow = []
    for (_, _, is_anywhere), (name, pattern) in found.items():
        text = slow_text(pattern, is_anywhere)
        if text is not None:
            slow.append((name, pattern.pattern, text[:40], text[-3:]))
    assert slow == []


QUADRATIC = (r"^\s*#", r"RUN:(.*?)\s*$", r"error *(?:@\d)? *\{", '"(?:[^"\\\\]|\\\\.)*"')


@pytest.mark.parametrize("pattern", QUADRATIC)
def test_quadratic_patterns_are_found(pattern: str) -> None:
    assert slow_text(re.compile(pattern, re.MULTILINE), True) is not None
