"""A table-driven LR parser, and its LALR tables, which Lark builds from the grammar.

Its stacks are lists, so that deep nesting does not exhaust Python's stack.

Building the tables takes a tenth of a second; no other code imports Lark. A wheel contains the tables. In a
checkout they are cached in the user's cache directory, as a checksum and a line of JSON, which is safe to
load, under a name that contains a checksum of the grammar.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from sdyopt.base.dataclasses import dataclass, fields
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.whole_files import read_regular_file, replace_cached_file, user_cache
from sdyopt.mlir.asm.parser.attributes.error_messages import (
    AT_TOKEN,
    MESSAGES,
    MESSAGES_BY_SYMBOL,
    message_at_token,
)
from sdyopt.mlir.asm.parser.lexer import CONTEXTUAL_KINDS, END, LexError, Token, contextual_token, next_token

GRAMMAR = Path(__file__).with_name("grammar.lark")
SHIPPED = Path(__file__).with_name("tables.json")
STARTS = ("type", "attribute", "attribute_of_type", "dictionary", "located")
# Increment it when the format of the tables changes.
_FORMAT_VERSION = 2
# The tables take 40 KB.
_MAX_BYTES = 2**22


@dataclass(frozen=True, slots=True)
class Tables:
    """An LR automaton. States and rules are numbers; tokens, symbols and actions are names.

    No state of this grammar reduces more than one rule, so that rule is reduced at any token that cannot be
    shifted, as in a recursive descent parser. This yields MLIR's error messages: if an optional part is
    missing, the error is that the part after it is.
    """

    key: str
    starts: dict[str, int]
    shifts: list[dict[str, int]]  # state -> token -> next state
    reductions: list[int]  # state -> the rule to reduce if it cannot shift the token, or -1
    gotos: list[dict[str, int]]  # state -> symbol -> next state
    rules: list[tuple[str, int, str]]  # symbol, number of parts, action
    messages: list[str]  # state -> message of a syntax error
    keywords: list[str]


@cache
def load_tables() -> Tables:
    """The tables of the grammar: from the wheel, from the user's cache, or newly built."""
    key = _key()
    for path in (SHIPPED, _user_file(key)):
        tables = None if path is None else _read(path, key)
        if tables is not None:
            return tables
    tables = build_tables(key)
    if (path := _user_file(key)) is not None:
        write_tables(tables, path)
    return tables


def build_tables(key: str = "") -> Tables:
    """Builds the tables with Lark."""
    from lark import Lark  # noqa: PLC0415  slow to import, and rarely used
    from lark.lexer import Lexer  # noqa: PLC0415

    class NoLexer(Lexer):
        """Lark requires a lexer to build tables, though `lr_parser` has its own."""

        def __init__(self, _configuration: Any) -> None:
            pass

        def lex(self, *_arguments: Any) -> Any:
            return iter(())

    lark = Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer=NoLexer,
        start=list(STARTS),
        debug=True,
        strict=False,
    )
    literals = {terminal.name: terminal.pattern.value for terminal in lark.terminals if terminal.pattern}
    return _exported(lark.parser.parser._parse_table, literals, key or _key())


def write_tables(tables: Tables, path: Path) -> None:
    """Writes the tables to a file atomically; failure is ignored."""
    import json  # noqa: PLC0415  slow to import; most programs need no tables

    parts = {name: getattr(tables, name) for name in fields(tables)}
    text = json.dumps(parts, separators=(",", ":"))
    with suppress(OSError):
        replace_cached_file(path, f"{_checksum(text)}\n{text}\n")


def _exported(table: Any, literals: dict[str, str], key: str) -> Tables:
    """Lark's table, with states and rules numbered and the names of literals replaced with their text."""
    numbers = {state: number for number, state in enumerate(sorted(table.states, key=_state_order))}
    rules: dict[Any, int] = {}
    shifts: list[dict[str, int]] = []
    reductions: list[int] = []
    gotos: list[dict[str, int]] = []
    for state in numbers:
        shift: dict[str, int] = {}
        goto: dict[str, int] = {}
        reducible: set[int] = set()
        for name, (action, target) in sorted(table.states[state].items()):
            if str(action) == "Reduce":
                reducible.add(rules.setdefault(target, len(rules)))
            elif name.islower():
                goto[name] = numbers[target]
            else:
                shift[literals.get(name, name)] = numbers[target]
        assert len(reducible) <= 1, f"reduce/reduce conflict: {sorted(state, key=repr)}"
        shifts.append(shift)
        reductions.append(min(reducible, default=-1))
        gotos.append(goto)
    return Tables(
        key,
        {start: numbers[state] for start, state in table.start_states.items()},
        shifts,
        reductions,
        gotos,
        [(rule.origin.name, len(rule.expansion), rule.alias or "") for rule in rules],
        [_message(state, literals) for state in numbers],
        sorted(literal for literal in literals.values() if literal[0].isalpha()),
    )


def _state_order(state: Any) -> list[str]:
    return sorted(map(repr, state))


def _message(state: Any, literals: dict[str, str]) -> str:
    """The message of a syntax error in a state, which is a set of Lark's rule pointers."""
    pointers = [pointer for pointer in state if not pointer.is_satisfied]
    started = [pointer for pointer in pointers if pointer.index] or pointers
    started.sort(key=lambda pointer: (repr(pointer.rule), pointer.index))
    for pointer in started:
        for name in (pointer.rule.origin.name, pointer.rule.alias):
            if (name, pointer.index) in MESSAGES:
                return MESSAGES[name, pointer.index]
    following = [pointer.next.name for pointer in [*started, *sorted(pointers, key=repr)]]
    for name in following:
        if name in MESSAGES_BY_SYMBOL:
            return MESSAGES_BY_SYMBOL[name]
    for name in following:
        if literals.get(name, ",") != ",":
            return f"expected '{literals[name]}'"
    return "expected end of text"


def _key() -> str:
    """Identifies the grammar and messages. Lark's version is not part of it: the tables do not need Lark."""
    content = GRAMMAR.read_text(encoding="utf-8") + repr(
        (_FORMAT_VERSION, sorted(MESSAGES.items()), sorted(MESSAGES_BY_SYMBOL.items()), STARTS)
    )
    return f"{len(content)}-{_checksum(content)}"


def _read(path: Path, key: str) -> Tables | None:
    import json  # noqa: PLC0415

    try:
        data = read_regular_file(path, _MAX_BYTES)
        checksum, _, text = (data or b"").decode().rstrip("\n").partition("\n")
        if checksum != _checksum(text):
            return None
        content = json.loads(text)
        if content["key"] != key:
            return None
        content["rules"] = [(origin, length, action) for origin, length, action in content["rules"]]
        tables = Tables(**content)
        # Another program may have written the file, and left something out.
        is_complete = set(tables.starts) == set(STARTS) and len(tables.shifts) == len(tables.gotos) > 0
        return tables if is_complete else None
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _checksum(text: str) -> str:
    """Changes with the text: of the grammar, or of a file that was damaged and is still JSON."""
    return f"{zlib.crc32(text.encode()):08x}"


def _user_file(key: str) -> Path | None:
    """The cache file of these tables, None without a cache."""
    folder = user_cache()
    return None if folder is None else folder / f"attribute-tables-{key}.json"


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
