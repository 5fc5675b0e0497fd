"""The `{-# … #-}` section: blobs that attributes refer to by key, and data of external tools."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.parser.asm_parser import STRING_LITERAL, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import name_text
from sdyopt.mlir.ir.attribute import nested_attributes
from sdyopt.mlir.ir.builtin_attributes import DenseResource
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op

# Does not match pairs of digits: a repeated group needs memory for each repetition.
_HEX_BLOB = constant_pattern(r'"0x[0-9A-Fa-f]*+"')
_ALIGNMENT_DIGITS = 8
_NO_KEY = "expected identifier key for 'resource' entry"


class Blob:
    """The bytes of a resource, as they were read: in hexadecimal after their alignment, or as they are."""

    __slots__ = ("_alignment", "_bytes", "_hex")

    def __init__(self, alignment: int, content: bytes | str) -> None:
        # A text has the alignment in its first digits.
        self._alignment = alignment
        self._hex = content if isinstance(content, str) else None
        self._bytes = content if isinstance(content, bytes) else None

    @property
    def text(self) -> str:
        """The text without quotes: `0x`, the alignment as four bytes, and the bytes."""
        if self._hex is not None:
            return self._hex
        assert self._bytes is not None
        return f"0x{self._alignment.to_bytes(4, 'little').hex().upper()}{self._bytes.hex().upper()}"

    @property
    def text_length(self) -> int:
        """The length of `text`."""
        return len(self._hex) if self._hex is not None else 10 + 2 * len(self._bytes or b"")

    @property
    def alignment(self) -> int:
        return self._alignment

    @property
    def data(self) -> bytes:
        """The bytes."""
        if self._bytes is not None:
            return self._bytes
        assert self._hex is not None
        return bytes.fromhex(self._hex[2 + _ALIGNMENT_DIGITS :])


@dataclass
class Resources:
    """The contents of resource sections; blobs may be large and are not decoded.

    `blobs` are by key. `external` has the values of external tools, as text, by group and key.
    """

    blobs: dict[str, Blob] = field(default_factory=dict)
    external: dict[str, dict[str, str]] = field(default_factory=dict)


def parse_resources(parser: AsmParser, resources: Resources, dialects: DialectTable) -> None:
    """Parses a resource section that starts at `{-#`; raises DiagnosticError."""
    parser.expect("{-#")
    _list(parser, "#-}", lambda: _section(parser, resources, dialects))


def _section(parser: AsmParser, resources: Resources, dialects: DialectTable) -> None:
    offset = parser.skip_trivia()
    name = parser.accept_keyword()
    if name is None:
        raise parser.error("expected identifier key in file metadata dictionary")
    parser.expect(":")
    if name == "dialect_resources":
        _groups(parser, lambda group, offset: _blobs(parser, resources, dialects, group, offset))
    elif name == "external_resources":
        _groups(parser, lambda group, offset: _external(parser, resources, group))
    else:
        raise parser.error(f"unknown key '{name}' in file metadata dictionary", offset)


def _groups(parser: AsmParser, parse: Callable[[str, int], None]) -> None:
    """Parses `{name: {…}, …}`. `parse` takes a name and its offset, and parses what follows the inner `{`."""

    def group() -> None:
        offset = parser.skip_trivia()
        name = parser.accept_keyword()
        if name is None:
            raise parser.error(_NO_KEY)
        parser.expect(":")
        parser.expect("{")
        parse(name, offset)

    parser.expect("{")
    _list(parser, "}", group)


def _blobs(parser: AsmParser, resources: Resources, dialects: DialectTable, group: str, offset: int) -> None:
    if dialects.find(group) is None:
        raise parser.error(f"dialect '{group}' is unknown", offset)
    if group != "builtin":
        raise parser.error(f"unexpected 'resource' section for dialect '{group}'")
    _list(parser, "}", lambda: _blob(parser, resources))


def _blob(parser: AsmParser, resources: Resources) -> None:
    key = _key(parser, _NO_KEY)
    parser.expect(":")
    offset = parser.skip_trivia()
    # Without unescaping: a blob may be megabytes long.
    match = STRING_LITERAL.match(parser.text, offset)
    if match is not None:
        parser.position = match.end()
    if match is None or not _HEX_BLOB.fullmatch(match[1]) or len(match[1]) % 2:
        raise parser.error(f"expected hex string blob for key '{key}'", offset)
    digits = match[1][3:-1]
    message = f"expected hex string blob for key '{key}' to encode alignment in first 4 bytes"
    if len(digits) < _ALIGNMENT_DIGITS:
        raise parser.error(message, offset)
    alignment = int.from_bytes(bytes.fromhex(digits[:_ALIGNMENT_DIGITS]), "little")
    if alignment & (alignment - 1):
        raise parser.error(f"{message}, but got non-power-of-2 value: {alignment}", offset)
    resources.blobs[key] = Blob(alignment, "0x" + digits.upper())


def _external(parser: AsmParser, resources: Resources, group: str) -> None:
    """Parses the entries of an external tool, whose values are stored as text."""
    entries = resources.external.setdefault(group, {})

    def entry() -> None:
        key = _key(parser, "expected identifier key for 'external_resources' entry")
        parser.expect(":")
        start = parser.skip_trivia()
        if parser.accept_string() is None and parser.accept_keyword() is None:
            parser.integer()
        entries[key] = parser.text[start : parser.position]

    _list(parser, "}", entry)


def _list(parser: AsmParser, close: str, entry: Callable[[], None]) -> None:
    """Parses entries up to a closing token."""
    if parser.accept(close):
        return
    parser.comma_list(entry)
    if not parser.accept(close):
        raise parser.wrong_token_error(f"expected ',' or '{close}'")


def _key(parser: AsmParser, problem: str) -> str:
    key = parser.accept_keyword()
    if key is None:
        key = parser.accept_string()
    if key is None:
        raise parser.error(problem)
    return key


def resource_section(root: Op, resources: Resources, elide_larger_than: int | None = None) -> str:
    """The section of the blobs that attributes refer to, after a newline; empty if there are none.

    Blobs whose text is longer than `elide_larger_than` are not printed; None prints all.
    """
    keys = [key for key in _resource_keys(root) if key in resources.blobs] if resources.blobs else []
    if not keys:
        return ""
    shown = [(key, resources.blobs[key]) for key in keys]
    # As in MLIR, the limit includes the quotes, and a section may have no entries.
    limit = elide_larger_than
    entries = [
        f'      {name_text(key)}: "{blob.text}"'
        for key, blob in shown
        if limit is None or blob.text_length + 2 <= limit
    ]
    if not entries:
        return "\n{-#\n\n#-}\n"
    inside = ",\n".join(entries)
    return f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{inside}\n    }}\n  }}\n#-}}\n"


def _resource_keys(root: Op) -> list[str]:
    """The keys that attributes refer to, in order of first use."""
    keys: dict[str, None] = {}
    visited = set()
    for op in root.walk():
        for attribute in (op.attributes, op.inherent_attributes()):
            if not attribute.entries or attribute in visited:
                continue
            visited.add(attribute)
            for inner in nested_attributes(attribute):
                if isinstance(inner, DenseResource):
                    keys.setdefault(inner.key)
    return list(keys)
