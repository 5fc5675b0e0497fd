"""The `{-# … #-}` section: blobs that attributes refer to by a key, and data of external tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.elements_attributes import DenseResource
from sdyopt.ir.operation import Op
from sdyopt.ir.sub_elements import nested_attributes
from sdyopt.syntax.cursor import STRING, Cursor
from sdyopt.syntax.strings import escape

# A repeated group would need memory for each repetition, so pairs are not counted here.
_HEX_BLOB = re.compile(r'"0x[0-9A-Fa-f]*+"')
_KEYWORD = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
_ALIGNMENT_DIGITS = 8
_NO_KEY = "expected identifier key for 'resource' entry"


@dataclass
class Resources:
    """What a resource section holds, as text: a blob of megabytes is never decoded.

    `blobs` are hex texts by key. `external` is what tools keep there: group → key → the value's text.
    """

    blobs: dict[str, str] = field(default_factory=dict)
    external: dict[str, dict[str, str]] = field(default_factory=dict)


def parse_resources(cursor: Cursor, resources: Resources, dialects: DialectTable) -> None:
    """Reads a resource section, the cursor being at `{-#`."""
    cursor.expect("{-#")
    _list(cursor, "#-}", lambda: _section(cursor, resources, dialects))


def _section(cursor: Cursor, resources: Resources, dialects: DialectTable) -> None:
    offset = cursor.skip()
    name = cursor.accept_word()
    if name is None:
        raise cursor.error("expected identifier key in file metadata dictionary")
    cursor.expect(":")
    if name == "dialect_resources":
        _groups(cursor, lambda group, place: _blobs(cursor, resources, dialects, group, place))
    elif name == "external_resources":
        _groups(cursor, lambda group, place: _external(cursor, resources, group))
    else:
        raise cursor.error(f"unknown key '{name}' in file metadata dictionary", offset)


def _groups(cursor: Cursor, read: Callable[[str, int], None]) -> None:
    """Reads `{name: {…}, …}`, `read` being given a name and its place behind the inner brace."""

    def group() -> None:
        place = cursor.skip()
        name = cursor.accept_word()
        if name is None:
            raise cursor.error(_NO_KEY)
        cursor.expect(":")
        cursor.expect("{")
        read(name, place)

    cursor.expect("{")
    _list(cursor, "}", group)


def _blobs(cursor: Cursor, resources: Resources, dialects: DialectTable, group: str, place: int) -> None:
    if dialects.find(group) is None:
        raise cursor.error(f"dialect '{group}' is unknown", place)
    if group != "builtin":
        raise cursor.error(f"unexpected 'resource' section for dialect '{group}'")
    _list(cursor, "}", lambda: _blob(cursor, resources))


def _blob(cursor: Cursor, resources: Resources) -> None:
    key = _key(cursor, _NO_KEY)
    cursor.expect(":")
    offset = cursor.skip()
    # Straight to the closing quote: a blob may be megabytes long.
    match = STRING.match(cursor.text, offset)
    if match is not None:
        cursor.position = match.end()
    if match is None or not _HEX_BLOB.fullmatch(match[1]) or len(match[1]) % 2:
        raise cursor.error(f"expected hex string blob for key '{key}'", offset)
    digits = match[1][3:-1]
    where = f"expected hex string blob for key '{key}' to encode alignment in first 4 bytes"
    if len(digits) < _ALIGNMENT_DIGITS:
        raise cursor.error(where, offset)
    alignment = int.from_bytes(bytes.fromhex(digits[:_ALIGNMENT_DIGITS]), "little")
    if alignment & (alignment - 1):
        raise cursor.error(f"{where}, but got non-power-of-2 value: {alignment}", offset)
    resources.blobs[key] = "0x" + digits.upper()


def _external(cursor: Cursor, resources: Resources, group: str) -> None:
    """Data of a tool, which is kept as it is."""
    held = resources.external.setdefault(group, {})

    def entry() -> None:
        key = _key(cursor, "expected identifier key for 'external_resources' entry")
        cursor.expect(":")
        start = cursor.skip()
        if cursor.accept_string() is None and cursor.accept_word() is None:
            cursor.integer()
        held[key] = cursor.text[start : cursor.position]

    _list(cursor, "}", entry)


def _list(cursor: Cursor, close: str, entry: Callable[[], None]) -> None:
    """Reads entries up to a closing token."""
    if cursor.accept(close):
        return
    cursor.comma_list(entry)
    if not cursor.accept(close):
        raise cursor.misplaced(f"expected ',' or '{close}'")


def _key(cursor: Cursor, problem: str) -> str:
    found = cursor.accept_word()
    if found is None:
        found = cursor.accept_string()
    if found is None:
        raise cursor.error(problem)
    return found


def resource_section(root: Op, resources: Resources, elide_larger_than: int | None = None) -> str:
    """The section with the blobs that a program refers to, a blank line before it; empty if none.

    Blobs of more hex digits than `elide_larger_than` are left out.
    """
    keys = [key for key in resource_keys(root) if key in resources.blobs] if resources.blobs else []
    if not keys:
        return ""
    shown = [(key, resources.blobs[key]) for key in keys]
    # The limit counts the quotes, as MLIR's does; a section without entries is MLIR's, too.
    limit = elide_larger_than
    entries = [
        f'      {_key_text(key)}: "{blob}"' for key, blob in shown if limit is None or len(blob) + 2 <= limit
    ]
    if not entries:
        return "\n{-#\n\n#-}\n"
    inside = ",\n".join(entries)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{inside}\n    }}\n  }}\n#-}}\n"


def resource_keys(root: Op) -> list[str]:
    """The keys that attributes in a program refer to, in order of first use."""
    found: dict[str, None] = {}
    seen = set()
    for op in root.walk():
        for attribute in (op.attributes, op.inherent_attributes()):
            if not attribute.entries or attribute in seen:
                continue
            seen.add(attribute)
            for inner in nested_attributes(attribute):
                if isinstance(inner, DenseResource):
                    found.setdefault(inner.key)
    return list(found)


def _key_text(key: str) -> str:
    return key if _KEYWORD.fullmatch(key) else f'"{escape(key)}"'
