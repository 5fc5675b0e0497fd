"""Decodes the input and splits it into chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.ids import SPLIT_MARKER
from sdyopt.base.diagnostics.location import Source

BYTECODE_MAGIC = b"ML\xefR"
BYTE_ORDER_MARK = "\ufeff"


def decode(name: str, data: bytes) -> Source:
    """The text of an input; raises DiagnosticError for bytecode and invalid UTF-8."""
    if data.startswith(BYTECODE_MAGIC):
        error = DiagnosticError.at(Source(name, "").location(0), "this is MLIR bytecode, not text")
        raise error.help("convert it to text with mlir-opt, or with `print(module)` in Python")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        source = Source(name, data[: problem.start].decode())
        message = f"invalid UTF-8: byte 0x{data[problem.start]:02x}"
        error = DiagnosticError.at(source.location(len(source.text)), message)
        is_utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        raise error.help(
            "the file is UTF-16; save it as UTF-8" if is_utf16 else "save the file as UTF-8"
        ) from None
    return Source(name, text)


def check_text(source: Source) -> None:
    """Raises DiagnosticError for a byte order mark or a NUL character."""
    text = source.text
    if text.startswith(BYTE_ORDER_MARK):
        error = DiagnosticError.at(source.location(0), "unexpected character")
        raise error.help("the file starts with a byte order mark; save it as UTF-8 without one")
    if "\0" in text:
        raise DiagnosticError.at(source.location(text.index("\0")), "unexpected NUL character")


def split(source: Source, marker: str) -> Iterator[Source]:
    """The chunks of a source between markers; the whole source if the marker is empty.

    As in mlir-opt, emits a warning for text that equals the marker but for its last two characters.
    """
    if not marker:
        yield source
        return
    start = 0
    stem = marker[:-2] or marker
    for match in re.finditer(re.escape(stem), source.text):
        if match.start() < start:
            continue
        if source.text.startswith(marker, match.start()):
            yield source.chunk(start, match.start())
            start = match.start() + len(marker)
        else:
            location = source.location(match.end())
            message = "near miss with file split marker"
            emit(Diagnostic(Severity.WARNING, location, message, id=SPLIT_MARKER))
    yield source.chunk(start, len(source.text))
