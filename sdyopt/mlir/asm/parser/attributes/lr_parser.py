"""A table-driven LR parser.

Its stacks are lists, so that deep nesting does not exhaust Python's stack.
"""

from __future__ import annotations

from typing import Any, Protocol

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.attributes.error_messages import AT_TOKEN, message_at_token
from sdyopt.mlir.asm.parser.attributes.lr_tables import Tables
from sdyopt.mlir.asm.parser.lexer import CONTEXTUAL_KINDS, END, LexError, Token, contextual_token, next_token

# The maximum nesting depth of brackets, which allows functions on the result to be recursive.
MAX_DEPTH = 256


class Builder(Protocol):
    """Runs semantic actions and creates errors."""

    next_offset: int

    def build(self, action: str, parts: list[Any], offsets: list[int]) -> Any: ...
    def error(self, message: str, offset: int) -> DiagnosticError: ...
    def token_error(self, message: str, offset: int) -> DiagnosticError: ...
    def wrong_token_error(self, message: str, offset: int) -> DiagnosticError: ...


def run(tables: Tables, start: str, text: str, position: int, end: int, builder: Builder) -> Any:
    """Parses the text from `position` to `end` as the start symbol `start`; raises DiagnosticError.

    The value of a token is its text. While an action runs, `builder.next_offset` is the offset of the next
    token.
    """
    keywords = frozenset(tables.keywords)
    states, parts, offsets = [tables.starts[start]], [], []
    # The nesting depth before each part. A reduction restores it, as `<` and `>` may also be comparisons.
    depths: list[int] = []
    depth = 0
    token: Token | None = None
    try:
        while True:
            state = states[-1]
            shifts = tables.shifts[state]
            if token is None:
                token = _token(shifts, text, position, end, keywords)
                builder.next_offset = token.start
            if token.kind in shifts:
                depths.append(depth)
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
                if depth > MAX_DEPTH:
                    raise builder.error("nesting is too deep", token.start)
                states.append(shifts[token.kind])
                parts.append(token.text)
                offsets.append(token.start)
                position = token.end
                token = None
                continue
            rule = tables.reductions[state]
            if rule < 0:
                if len(states) == 2 and tables.gotos[states[0]].get(start) == state:
                    return parts[0]
                if token.kind == END:  # the text may end before an invalid token
                    next_token(text, token.start, len(text), keywords)
                message = message_at_token(tables.messages[state], token.kind)
                error_at = builder.error if message in AT_TOKEN else builder.wrong_token_error
                raise error_at(message, token.start)
            origin, length, action = tables.rules[rule]
            rule_parts, rule_offsets, depth = parts[-length:], offsets[-length:], depths[-length]
            del states[-length:], parts[-length:], offsets[-length:], depths[-length:]
            parts.append(builder.build(action, rule_parts, rule_offsets) if action else rule_parts[0])
            offsets.append(rule_offsets[0])
            depths.append(depth)
            states.append(tables.gotos[states[-1]][origin])
    except LexError as error:
        raise builder.token_error(error.message, error.offset) from None


_OPENING = frozenset("([{<")
_CLOSING = frozenset(")]}>")


def _token(shifts: dict[str, int], text: str, position: int, end: int, keywords: frozenset[str]) -> Token:
    for kind in CONTEXTUAL_KINDS:
        if kind in shifts and (token := contextual_token(kind, text, position, end)) is not None:
            return token
    return next_token(text, position, end, keywords)
