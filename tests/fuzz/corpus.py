"""The programs and command lines that inputs are made of: the lit cases and the examples."""

import re
from dataclasses import dataclass
from pathlib import Path

from sdyopt.lit.directives import parse_directives
from sdyopt.lit.malformed import MalformedCaseError
from sdyopt.lit.shell import parse

ROOT = Path(__file__).parents[2]
MOST_BYTES = 100_000
# Lines for lit and FileCheck; without them, the part of a case that sdy-opt reads is larger.
_DIRECTIVE = re.compile(
    rb"^[ \t]*// *(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|[A-Z][A-Z0-9_-]*):.*\n?", re.MULTILINE
)
# Flags that name files, start programs, or print what differs from run to run.
_EXCLUDED = re.compile(
    r"-+(?:o|load-.*|mlir-generate-reproducer|mlir-pass-pipeline-.*|mlir-print-ir-tree-dir|log-actions-to|"
    r"mlir-timing.*|run-reproducer|diagnostics-.*|topology|budget|baseline|compare-.*|snapshot.*|check-snapshot|"
    r"lint-config|validate.*|jax-python|bisect|reference-python|help.*|color|show-sharding|mesh|shape|"
    r"mlir-print-stacktrace-on-diagnostic)(?:=.*)?"
)


@dataclass(frozen=True)
class Seed:
    """A program, and the flags that its test runs it with."""

    text: bytes
    flags: tuple[str, ...]


def seeds() -> list[Seed]:
    """The seeds, in a fixed order."""
    paths = [path for folder in ("examples", "tests/lit") for path in sorted((ROOT / folder).rglob("*.mlir"))]
    found = dict.fromkeys(seed for path in paths for seed in _seeds_of(path))
    return [seed for seed in found if len(seed.text) < MOST_BYTES]


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
