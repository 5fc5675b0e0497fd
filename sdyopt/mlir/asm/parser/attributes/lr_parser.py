"""A table-driven LR parser, its LALR tables, which Lark builds from the grammar, and its error messages.

Its stacks are lists, so that deep nesting does not exhaust Python's stack.

Building the tables takes a tenth of a second; no other code imports Lark. A wheel contains the tables. In a
checkout they are cached in the user's cache directory, as a checksum and a line of JSON, which is safe to
load, under a name that contains a checksum of the grammar.

Messages are MLIR's. An LR state is a set of rules with the number of symbols already parsed. A message is
looked up by (name of a rule, number of symbols), otherwise by the symbol that is expected next.
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
from sdyopt.mlir.asm.lexical import CONTEXTUAL_KINDS, END, LexError, Token, contextual_token, next_token

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


_EMPTY_LIST = "expected list element"
# The messages by expected symbol, for states that are not in the table below.
MESSAGES_BY_SYMBOL = {
    "type": "expected non-function type",
    "types": "expected non-function type",
    "results": "expected non-function type",
    "attribute": "expected attribute value",
    "attributes": "expected attribute value",
    "plain_attribute": "expected attribute value",
    "layouts": _EMPTY_LIST,
    "layout": "expected attribute value",
    "dense_type": "expected non-function type",
    "array_type": "expected non-function type",
    "elements": "expected element literal of primitive type",
    "sparse_elements": "expected element literal of primitive type",
    "array_values": "expected integer literal",
    "location": "expected location instance",
    "locations": "expected location instance",
    "word": "expected bare identifier",
    "dimension_list": "expected bare identifier",
    "symbol_list": "expected bare identifier",
    "key": "expected attribute name",
    "entry": "expected attribute name",
    "entries": "expected attribute name",
    "expression": "expected affine expression",
    "expressions": "expected affine expression",
    "product": "expected affine expression",
    "constraint": "expected affine expression",
    "constraints": "expected affine expression",
    "operand": "expected affine expression",
    "stride": "expected a 64-bit signed integer or '?'",
    "strides": "expected a 64-bit signed integer or '?'",
    "resource": "expected identifier key for 'resource' entry",
    "layout_offset": "expected ','",
    "INTEGER": "expected integer literal",
    "SYMBOL": "expected nested symbol reference identifier",
    "ELEMENTS": "expected element literal of primitive type",
}

MESSAGES = {
    ("tensor", 1): "expected '<' in tensor type",
    ("tensor", 4): "expected '>' in tensor type",
    ("tensor", 5): "expected '>' in tensor type",
    ("tensor", 6): "expected '>' in tensor type",
    ("vector", 1): "expected '<' in vector type",
    ("vector", 4): "expected '>' in vector type",
    ("memref", 1): "expected '<' in memref type",
    ("memref", 4): "expected ',' or '>' in memref type",
    ("memref", 6): "expected ',' or '>'",
    ("complex", 1): "expected '<' in complex type",
    ("complex", 3): "expected '>' in complex type",
    ("tuple", 1): "expected '<' in tuple type",
    ("tuple", 3): "expected '>' in tuple type",
    ("function", 1): "expected '->' in function type",
    ("array", 2): "expected ',' or ']'",
    ("negative_integer", 1): "expected constant integer or floating point value",
    ("dense", 1): "expected '<' after 'dense'",
    ("dense_by_type", 3): "expected ':' after type in dense attribute",
    ("dense_by_type", 5): "expected '>' to close dense attribute",
    ("sparse", 1): "Expected '<' after 'sparse'",
    ("dense_resource", 1): "expected '<' after 'dense_resource'",
    ("dense_array", 1): "expected '<' after 'array'",
    ("dense_array", 3): "expected ':' after dense array type",
    ("dense_array", 5): "expected '>' to close an array attribute",
    ("affine_map", 1): "expected '<' in affine map",
    ("affine_map", 2): "expected '(' in dimensional identifier list",
    ("affine_map", 3): "expected '>' in affine map",
    ("affine_set", 1): "expected '<' in integer set",
    ("affine_set", 2): "expected '(' in dimensional identifier list",
    ("affine_set", 3): "expected '>' in integer set",
    ("strided", 1): "expected '<' after 'strided'",
    ("offset", 1): "expected 'offset' after comma",
    ("offset", 2): "expected ':' after 'offset'",
    ("negative_stride", 1): "expected a 64-bit signed integer or '?'",
    ("distinct", 1): "expected '[' after 'distinct'",
    ("distinct", 2): "expected distinct ID",
    ("distinct", 3): "expected ']' to close distinct ID",
    ("distinct", 4): "expected '<' after distinct ID",
    ("distinct", 6): "expected '>' to close distinct attribute",
    ("symbols", 3): "expected nested symbol reference identifier",
    ("dictionary", 2): "expected '}' in attribute dictionary",
    ("map", 1): "expected '->' or ':'",
    ("map", 2): "expected '(' in affine map range",
    ("map", 4): "expected ')' in affine map range",
    ("set", 2): "expected '(' in integer set constraint list",
    ("set", 4): "expected ')' in integer set constraint list",
    ("location_attribute", 1): "expected '(' in inline location",
    ("location_attribute", 3): "expected ')' in inline location",
    ("located", 1): "expected '(' in location",
    ("located", 3): "expected ')' in location",
    ("name_location", 3): "expected ')' after child location of NameLoc",
    ("file_location", 2): "expected integer line number in FileLineColRange",
    ("file_location", 4): "expected integer column number in FileLineColRange",
    ("file_line_range", 6): "expected either integer or `:` post `to` in FileLineColRange",
    ("file_line_range", 7): "expected integer column number in FileLineColRange",
    ("file_range", 7): "expected either integer or `:` post `to` in FileLineColRange",
    ("file_range", 8): "expected integer column number in FileLineColRange",
    ("callsite", 1): "expected '(' in callsite location",
    ("callsite", 3): "expected 'at' in callsite location",
    ("callsite", 5): "expected ')' in callsite location",
    ("fused", 1): "expected '[' in fused location",
    ("fused", 3): "expected ']' in fused location",
    ("fused_with_metadata", 3): "expected '>' after fused location metadata",
    ("fused_with_metadata", 4): "expected '[' in fused location",
    ("fused_with_metadata", 6): "expected ']' in fused location",
    ("bracketed", 2): "expected ')'",
    ("dimension_names", 2): "expected ')' in dimensional identifier list",
    ("symbol_names", 2): "expected ']' in symbol list",
    # For any of the three kinds of constraints.
    ("at_least", 1): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("at_least", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("at_most", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("equal", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("add", 2): "missing right operand of binary operator",
    ("subtract", 2): "missing right operand of binary operator",
    ("multiply", 2): "missing right operand of binary operator",
    ("floor_divide", 2): "missing right operand of binary operator",
    ("ceil_divide", 2): "missing right operand of binary operator",
    ("modulo", 2): "missing right operand of binary operator",
    ("negate", 1): "missing operand of negation",
}

# (message, kind of the unexpected token) -> the message that replaces it.
_MESSAGES_AT_TOKENS = {
    ("expected affine expression", "+"): "missing left operand of binary operator",
    ("expected affine expression", "*"): "missing left operand of binary operator",
    ("expected affine expression", "VALUE"): "unexpected ssa identifier",
    ("missing right operand of binary operator", "VALUE"): "unexpected ssa identifier",
}


def message_at_token(message: str, kind: str) -> str:
    """The message, or what replaces it if the unexpected token is of this kind."""
    if message == _EMPTY_LIST and kind != ">":
        return "expected attribute value"
    return _MESSAGES_AT_TOKENS.get((message, kind), message)


# The messages located at the unexpected token; others are located at the end of the previous token.
AT_TOKEN = frozenset(
    {
        "expected a 64-bit signed integer or '?'",
        "expected affine expression",
        "expected element literal of primitive type",
        "missing right operand of binary operator",
        "missing left operand of binary operator",
        "missing operand of negation",
        "unexpected ssa identifier",
        "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
        "expected nested symbol reference identifier",
        "expected identifier key for 'resource' entry",
    }
)
