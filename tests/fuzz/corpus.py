"""The programs and command lines that inputs are made of: the lit cases and the examples."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sdyopt.tools.driver.split import BYTECODE_MAGIC
from sdyopt.tools.lit.directives import MalformedCaseError, parse_directives
from sdyopt.tools.lit.tools import parse

ROOT = Path(__file__).parents[2]
MOST_BYTES = 100_000
# Lines for lit and FileCheck; without them, the part of a case that sdy-opt reads is larger.
_DIRECTIVE = re.compile(
    rb"^[ \t]*// *(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|[A-Z][A-Z0-9_-]*):.*\n?", re.MULTILINE
)
# The separator of --split-input-file.
_SEPARATOR = re.compile(rb"^// -----.*\n", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*//(?! expected-).*\n", re.MULTILINE)
# The first lines of operations at the top level, and the name of a function.
_TOP_LEVEL = re.compile(rb"^(?=[^\s})])", re.MULTILINE)
_FUNCTION = re.compile(rb"func\.func (?:[a-z]+ )?@([\w$.-]+)")
_SYMBOL = re.compile(rb"@([\w$.-]+)")
# Flags that name files, start programs, or print what differs from run to run.
_EXCLUDED = re.compile(
    r"-+(?:o|load-.*|mlir-generate-reproducer|mlir-pass-pipeline-.*|mlir-print-ir-tree-dir|log-actions-to|"
    r"mlir-timing.*|run-reproducer|diagnostics-.*|topology|budget|baseline|compare-.*|snapshot.*|check-snapshot|"
    r"lint-config|validate.*|jax-python|bisect|reference-python|help.*|color|show-sharding|mesh|shape|"
    r"mlir-print-stacktrace-on-diagnostic)(?:=.*)?"
)


@dataclass(frozen=True)
class Seed:
    """A program, perhaps bytecode or an export, and the flags that its test runs it with."""

    text: bytes
    flags: tuple[str, ...] = ()

    @property
    def is_binary(self) -> bool:
        """Whether the program is bytecode, or contains it."""
        return BYTECODE_MAGIC in self.text

    @cached_property
    def parts(self) -> tuple[bytes, ...]:
        """The functions of the program or of its chunks, each with those that it uses, without comments."""
        if self.is_binary:
            return (self.text,)
        is_split = any(flag.lstrip("-") == "split-input-file" for flag in self.flags)
        chunks = _SEPARATOR.split(self.text) if is_split else [self.text]
        parts = [part for chunk in chunks for part in _parts_of(_COMMENT.sub(b"", chunk)) if part.strip()]
        return tuple(parts) or (self.text,)


def seeds() -> list[Seed]:
    """The seeds, in a fixed order."""
    paths = [path for folder in ("examples", "tests/lit") for path in sorted((ROOT / folder).rglob("*.mlir"))]
    found = dict.fromkeys(seed for path in paths for seed in _seeds_of(path))
    return [seed for seed in found if len(seed.text) < MOST_BYTES]


def seeds_in(paths: Sequence[Path]) -> list[Seed]:
    """The seeds that are other files, and the files below folders, in a fixed order."""
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    texts = dict.fromkeys(file.read_bytes() for file in files if file.is_file())
    return [Seed(text) for text in texts if 0 < len(text) < MOST_BYTES]


def _parts_of(text: bytes) -> Sequence[bytes]:
    """A program for each function, with those that it uses and all that is not a function."""
    operations = _TOP_LEVEL.split(text)
    functions = {match[1]: each for each in operations if (match := _FUNCTION.match(each))}
    parts = []
    for name in functions:
        used = [name]
        for each in used:  # grows
            used += functions.keys() & set(_SYMBOL.findall(functions[each])) - set(used)
        erased = {function for each, function in functions.items() if each not in used}
        parts.append(b"".join(each for each in operations if each not in erased))
    return parts or [text]


def _seeds_of(path: Path) -> list[Seed]:
    data = path.read_bytes()
    text = _DIRECTIVE.sub(b"", data)
    try:
        commands = parse_directives(data.decode("utf-8", "replace")).commands
        stages = [stages[0] for line in commands for stages in parse(line.command, lambda word: word)]
    except MalformedCaseError:
        return [Seed(text, ())]
    command_lines = [stage.words[1:] for stage in stages if stage.words[0] == "sdy-opt"]
    return [Seed(text, tuple(filter(_is_kept, words))) for words in command_lines] or [Seed(text, ())]


def _is_kept(word: str) -> bool:
    """Whether a word of a command line is a flag that every input may have."""
    return word.startswith("-") and not _EXCLUDED.fullmatch(word) and "%" not in word and "/" not in word
