"""Decodes the input, splits it into chunks and parses these."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.ids import SPLIT_MARKER
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.asm.resources import Resources, resource_section
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.verify import Verifier

BYTECODE_MAGIC = b"ML\xefR"
BYTE_ORDER_MARK = "\ufeff"
# Binary files have a NUL byte near their start.
_START = 4096


def decode(name: str, data: bytes) -> Source:
    """The text of an input, or its bytes if it is bytecode; raises DiagnosticError for invalid UTF-8.

    What `jax.export` serializes contains bytecode.
    """
    if data.startswith(BYTECODE_MAGIC):
        return Source(name, "", data=data)
    if BYTECODE_MAGIC in data:
        from sdyopt.mlir.bytecode.stream import exported_program

        program = exported_program(data)
        if program is not None:
            return Source(name, "", data=program)
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        source = Source(name, data[: problem.start].decode())
        message = f"invalid UTF-8: byte 0x{data[problem.start]:02x}"
        error = DiagnosticError.at(source.location(len(source.text)), message)
        is_utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        if is_utf16:
            help = "the file is UTF-16; save it as UTF-8"
        elif b"\0" in data[:_START]:
            help = "the file is binary, and not complete bytecode; for a dump of XLA, name its folder"
        else:
            help = "save the file as UTF-8"
        raise error.help(help) from None
    return Source(name, text)


def parse_source(
    source: Source,
    dialects: DialectTable,
    options: ParseOptions,
    upgrades: bool = True,
    record: ParseRecord | None = None,
) -> tuple[Op, Resources]:
    """The module of a text or of bytecode, and its resources. Raises DiagnosticError.

    If `upgrades`, VHLO of any version becomes StableHLO. The record, if any, is filled from a text.
    """
    if source.data is None:
        op, resources = parse_module(source, dialects, options, record)
    else:
        from sdyopt.mlir.bytecode.reader import read_bytecode

        op, resources = read_bytecode(source.name, source.data, dialects, options)
    if upgrades and dialects.is_used("vhlo"):
        from sdyopt.mlir.dialects.vhlo.from_vhlo import legalize_to_stablehlo
        from sdyopt.mlir.dialects.vhlo.to_vhlo import convert_to_version
        from sdyopt.mlir.dialects.vhlo.types import CURRENT

        convert_to_version(op, CURRENT)
        legalize_to_stablehlo(op)
    return op, resources


def as_text(source: Source, dialects: DialectTable, options: ParseOptions) -> Source:
    """The same program as text, with its locations. Raises DiagnosticError for invalid bytecode."""
    if source.data is None:
        return source
    op, resources = parse_source(source, dialects, options)
    # Some invalid operations can only be printed in generic form.
    is_valid = Verifier(dialects, plain_type, print_for_note).is_valid(op)
    text = print_op(op, PrintOptions(debuginfo=True, generic=not is_valid)) + resource_section(op, resources)
    return Source(source.name, text)


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

    Bytecode is a single chunk. As in mlir-opt, emits a warning for text that equals the marker but
    for its last two characters.
    """
    if not marker or source.data is not None:
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
