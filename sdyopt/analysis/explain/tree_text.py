"""A tree of sentences as text, wrapped to a width.

    %0 of @main: tensor<8x32xf32> is sharded [{"data"}, {}]
    └─ "data" shards dimension 0
       ├─ from %x (dimension 0), forward along stablehlo.tanh
       └─ annotated: the input %x

Text of the input is escaped, so that it cannot control a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.text import printable_line

# The least number of columns of a sentence, however deep it is in the tree.
_MIN_COLUMNS = 30
# Columns between a sentence and its source line.
_GAP = 2


@dataclass
class Sentence:
    """A node: a sentence without a full stop, and the source line that it is about."""

    text: str
    source_line: str = ""
    children: list[Sentence] = field(default_factory=list)

    def add(self, text: str, source_line: str = "") -> Sentence:
        """Adds a child and returns it."""
        child = Sentence(text, source_line)
        self.children.append(child)
        return child


def tree_text(root: Sentence, width: int) -> str:
    """The tree, with a final newline."""
    return "".join(f"{line}\n" for line in _lines(root, "", "", width))


def _lines(node: Sentence, first: str, rest: str, width: int) -> Iterator[str]:
    yield from _sentence(node, first, rest, width)
    for number, child in enumerate(node.children):
        is_last = number == len(node.children) - 1
        branch, bar = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield from _lines(child, rest + branch, rest + bar, width)


def _sentence(node: Sentence, first: str, rest: str, width: int) -> Iterator[str]:
    text, source_line = printable_line(node.text), printable_line(node.source_line)
    columns = max(_MIN_COLUMNS, width - len(first))
    lines: Sequence[str] = wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]
    if source_line and len(lines[-1]) + _GAP + len(source_line) <= columns:
        lines = [*lines[:-1], f"{lines[-1]}{' ' * _GAP}{source_line}"]
    elif source_line:
        lines = [*lines, source_line]
    # Continued lines keep the bar of the children that follow.
    inner = rest + ("│  " if node.children else "  ")
    for number, line in enumerate(lines):
        yield (first if number == 0 else inner) + line
