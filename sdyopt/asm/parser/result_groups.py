"""The result names of a statement: `%a, %b:2 = …`."""

from __future__ import annotations

import re
from typing import NamedTuple

from sdyopt.asm.lexical import INTEGER, SSA_ID, TRIVIA
from sdyopt.asm.parser.asm_parser import AsmParser

_NAME = re.compile(SSA_ID)
_COUNT = re.compile(f"{TRIVIA}({INTEGER})")


class ResultGroup(NamedTuple):
    """A name, the number of results that it stands for, and its offset."""

    name: str
    size: int
    offset: int


def parse_result_groups(parser: AsmParser) -> list[ResultGroup]:
    """Parses `%a, %b:2 =`, empty if no name is next; raises DiagnosticError."""
    groups: list[ResultGroup] = []
    if not parser.text.startswith("%", parser.skip_trivia()):
        return groups
    while True:
        match = _NAME.match(parser.text, parser.skip_trivia())
        if match is None:
            raise parser.wrong_token_error("expected valid ssa identifier")
        parser.position = match.end()
        size = _parse_count(parser) if parser.accept(":") else 1
        groups.append(ResultGroup(match[0], size, match.start()))
        if not parser.accept(","):
            break
    parser.expect("=", " after SSA name")
    return groups


def _parse_count(parser: AsmParser) -> int:
    match = _COUNT.match(parser.text, parser.position)
    if match is None:
        raise parser.wrong_token_error("expected integer number of results")
    count = int(match[1][:20], 0) if match[1][1:2] == "x" else int(match[1][:20])
    if not 1 <= count < 1 << 64:
        raise parser.error("expected named operation to have at least 1 result")
    parser.position = match.end()
    return count
