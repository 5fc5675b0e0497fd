"""The `{-# … #-}` section: blobs that attributes refer to by a key, and data of external tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sdyopt.ir.elements import DenseResource
from sdyopt.ir.nested import nested_attributes
from sdyopt.ir.operation import Op
from sdyopt.syntax.cursor import STRING, Cursor
from sdyopt.syntax.strings import escape

_HEX_BLOB = re.compile(r"0x[0-9A-Fa-f]+")
_KEYWORD = re.compile(r"[A-Za-z_][\w$.]*")
_ALIGNMENT_DIGITS = 8


@dataclass
class Resources:
    """What a resource section holds, as text: a blob of megabytes is never decoded.

    `blobs` are hex texts by key. `external` is what tools keep there: group → key → the value's text.
    """

    blobs: dict[str, str] = field(default_factory=dict)
    external: dict[str, dict[str, str]] = field(default_factory=dict)


def parse_resources(cursor: Cursor, resources: Resources) -> None:
    """Reads a resource section, the cursor being at `{-#`."""
    cursor.expect("{-#")
    while not cursor.accept("#-}"):
        offset = cursor.skip()
        section = cursor.accept_word()
        if section is None:
            raise cursor.misplaced("expected identifier key in file metadata dictionary")
        cursor.expect(":")
        if section == "dialect_resources":
            cursor.comma_list(lambda: _dialect_group(cursor, resources), "{", "}")
        elif section == "external_resources":
            cursor.comma_list(lambda: _external_group(cursor, resources), "{", "}")
        else:
            raise cursor.error(f"unknown key '{section}' in file metadata dictionary", offset)
        cursor.accept(",")


def _dialect_group(cursor: Cursor, resources: Resources) -> None:
    name = _key(cursor)
    cursor.expect(":")
    end = cursor.position
    if name != "builtin":
        raise cursor.error(f"unexpected 'resource' section for dialect '{name}'", end)
    cursor.comma_list(lambda: _blob(cursor, resources), "{", "}")


def _blob(cursor: Cursor, resources: Resources) -> None:
    key = _key(cursor)
    cursor.expect(":")
    offset = cursor.skip()
    # Straight to the closing quote: a blob may be megabytes long.
    match = STRING.match(cursor.text, offset)
    if match is None or not _HEX_BLOB.fullmatch(match[1]) or len(match[1]) < 2 + _ALIGNMENT_DIGITS:
        raise cursor.error(f"expected hex string blob for key '{key}'", offset)
    cursor.position = match.end()
    resources.blobs[key] = "0x" + match[1][2:].upper()


def _external_group(cursor: Cursor, resources: Resources) -> None:
    """Data of a tool, which is kept as it is."""
    group = resources.external.setdefault(_key(cursor), {})
    cursor.expect(":")

    def entry() -> None:
        key = _key(cursor)
        cursor.expect(":")
        start = cursor.skip()
        if cursor.accept_string() is None and cursor.accept_word() is None:
            cursor.integer()
        group[key] = cursor.text[start : cursor.position]

    cursor.comma_list(entry, "{", "}")


def _key(cursor: Cursor) -> str:
    found = cursor.accept_string()
    if found is None:
        found = cursor.accept_word()
    if found is None:
        raise cursor.misplaced("expected identifier key for 'resource' entry")
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
