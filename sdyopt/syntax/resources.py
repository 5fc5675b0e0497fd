"""The `{-# … #-}` section: blobs that attributes refer to by a key, and data of external tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
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
    """Blobs by key, as the hex text that a program holds: a blob of megabytes is never decoded."""

    blobs: dict[str, str] = field(default_factory=dict)


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
            cursor.comma_list(lambda: _external_group(cursor), "{", "}")
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


def _external_group(cursor: Cursor) -> None:
    """Data of tools that this program does not know: named in a warning, and skipped."""
    offset = cursor.skip()
    name = _key(cursor)
    if name != "mlir_reproducer":
        place = cursor.source.location(offset)
        emit(Diagnostic(Severity.WARNING, place, f"ignoring unknown external resources for '{name}'"))
    cursor.expect(":")

    def entry() -> None:
        _key(cursor)
        cursor.expect(":")
        if cursor.accept_string() is None and cursor.accept_word() is None:
            cursor.integer()

    cursor.comma_list(entry, "{", "}")


def _key(cursor: Cursor) -> str:
    found = cursor.accept_string()
    if found is None:
        found = cursor.accept_word()
    if found is None:
        raise cursor.misplaced("expected identifier key for 'resource' entry")
    return found


def resource_section(keys: Iterable[str], resources: Resources, is_elided: Callable[[str], bool]) -> str:
    """The section with the blobs of these keys, a blank line before it; empty if there are none."""
    shown = [(key, resources.blobs[key]) for key in keys if key in resources.blobs]
    entries = [f'      {_key_text(key)}: "{blob}"' for key, blob in shown if not is_elided(blob)]
    if not entries:
        return ""
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
