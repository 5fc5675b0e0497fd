"""Parse tables: what Lark makes of the grammar, kept for the next run.

Lark is only imported to build the tables, which takes a tenth of a second; running them (driver.py)
takes no part of it. They come with the wheel. In a checkout they are kept in a folder of the user's
own: as JSON, which can do no harm when read, and under a name that says which grammar they are for.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sdyopt.asm.parser.attributes.error_messages import NEXT_PART, WORDINGS

GRAMMAR = Path(__file__).with_name("grammar.lark")
SHIPPED = Path(__file__).with_name("tables.json")
STARTS = ("type", "attribute", "attribute_of_type", "dictionary", "located")
# Part of the tables' name, so it has to change when their form does.
_FORM = 1


@dataclass(frozen=True, slots=True)
class Tables:
    """A pushdown automaton. States and rules are numbers; tokens and what they build are names.

    In no state of this grammar is there more than one rule to reduce, so it is reduced without a look at
    the next token. That is what a parser by recursive descent would do, and makes the messages those of
    MLIR's: an optional part is passed over before the one after it is missed.
    """

    key: str
    starts: dict[str, int]
    shifts: list[dict[str, int]]  # state -> token -> next state
    reductions: list[int]  # state -> the rule to reduce if the token cannot be shifted, or -1
    gotos: list[dict[str, int]]  # state -> what was built -> next state
    rules: list[tuple[str, int, str]]  # what is built, of how many parts, by which action
    messages: list[str]  # state -> what to say if it cannot go on
    keywords: list[str]


@cache
def load_tables() -> Tables:
    """The tables of the grammar, from the nearest place that has them."""
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
    """Has Lark build the tables."""
    from lark import Lark  # noqa: PLC0415  users wait for the start, and most runs do without
    from lark.lexer import Lexer  # noqa: PLC0415

    class NoLexer(Lexer):
        """Stands where Lark wants a lexer. Ours works with the driver."""

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
    """Keeps the tables in a file, all or nothing. Where that cannot be, nothing is kept."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        draft.write_text(json.dumps(asdict(tables), separators=(",", ":")), encoding="utf-8")
        draft.replace(path)


def _exported(table: Any, literals: dict[str, str], key: str) -> Tables:
    """Lark's table with numbers for its states and rules, and punctuation by what it looks like."""
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
        assert len(reducible) <= 1, f"the next token would have to decide: {sorted(state, key=repr)}"
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
    """What to say when the text cannot go on in a state, given as the rules under way in it."""
    pointers = [pointer for pointer in state if not pointer.is_satisfied]
    under_way = [pointer for pointer in pointers if pointer.index] or pointers
    under_way.sort(key=lambda pointer: (repr(pointer.rule), pointer.index))
    for pointer in under_way:
        for name in (pointer.rule.origin.name, pointer.rule.alias):
            if (name, pointer.index) in WORDINGS:
                return WORDINGS[name, pointer.index]
    following = [pointer.next.name for pointer in [*under_way, *sorted(pointers, key=repr)]]
    for name in following:
        if name in NEXT_PART:
            return NEXT_PART[name]
    for name in following:
        if literals.get(name, ",") != ",":
            return f"expected '{literals[name]}'"
    return "expected end of text"


def _key() -> str:
    """What the tables are for. Lark's version has no part in it, as it has none in running them."""
    parts = (_FORM, sorted(WORDINGS.items()), sorted(NEXT_PART.items()), STARTS)
    content = GRAMMAR.read_text(encoding="utf-8") + repr(parts)
    return f"{len(content)}-{zlib.crc32(content.encode()):08x}"


def _read(path: Path, key: str) -> Tables | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["key"] != key:
            return None
        content["rules"] = [(origin, length, action) for origin, length, action in content["rules"]]
        return Tables(**content)
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _user_file(key: str) -> Path | None:
    """The user's file for these tables, if there is a folder that only the user can write to."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if not os.path.isabs(home):  # noqa: PTH117
        # There is no home, or a path that XDG tells programs to ignore.
        return None
    folder = Path(home, "sdyopt")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except (OSError, RuntimeError):
        return None
    is_own = hasattr(os, "getuid") and state.st_uid == os.getuid()
    is_private = stat.S_ISDIR(state.st_mode) and not state.st_mode & 0o022
    return folder / f"pieces-{key}.json" if is_own and is_private else None
