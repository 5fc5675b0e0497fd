"""Affine maps and integer sets in bytecode."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.bytecode.encodings import EntryReader, EntryWriter
from sdyopt.mlir.ir.affine import (
    MAX_DEPTH,
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineSymbol,
    IntegerSetAttr,
    add,
    ceil_divide,
    floor_divide,
    modulo,
    multiply,
)

_OPERATORS = {3: add, 4: multiply, 5: modulo, 6: floor_divide, 7: ceil_divide}


def _read_expression(reader: EntryReader, depth: int = 0) -> AffineExpr:
    start = reader.position
    kind = reader.varint()
    if depth > MAX_DEPTH:
        reader.fail(f"an affine expression is nested deeper than {MAX_DEPTH}", start)
    if kind in (0, 1):
        position = reader.varint()
        if position > _MAX_POSITION:
            reader.fail(f"an affine expression has the dimension or symbol {position}", start)
        return AffineSymbol(position) if kind else AffineDim(position)
    if kind == 2:
        return AffineConstant(reader.signed())
    if kind not in _OPERATORS:
        reader.fail(f"there are no affine expressions of the kind {kind}", start)
    lhs = _read_expression(reader, depth + 1)
    return _OPERATORS[kind](lhs, _read_expression(reader, depth + 1))


_MAX_POSITION = 1 << 16
_IDENTITY, _PERMUTATION, _PROJECTED_PERMUTATION, _GENERAL = range(4)


def _read_expressions(reader: EntryReader) -> tuple[AffineExpr, ...]:
    return tuple([_read_expression(reader) for _ in range(reader.count())])


def read_affine_map(reader: EntryReader) -> AffineMapAttr:
    """Reads an affine map: one of three short forms, or its expressions."""
    start = reader.position
    dimensions, kind = divmod(reader.varint(), 4)
    if dimensions > _MAX_POSITION:
        reader.fail(f"an affine map of {dimensions} dimensions", start)
    if kind == _IDENTITY:
        return AffineMapAttr(dimensions, 0, tuple(map(AffineDim, range(dimensions))))
    if kind in (_PERMUTATION, _PROJECTED_PERMUTATION):
        count = dimensions if kind == _PERMUTATION else reader.count()
        if count > reader.remaining:
            reader.fail("unexpected end")
        positions = [reader.varint() for _ in range(count)]
        if any(position >= dimensions for position in positions):
            reader.fail(f"an affine map has more than its {dimensions} dimensions", start)
        return AffineMapAttr(dimensions, 0, tuple(map(AffineDim, positions)))
    symbols = reader.varint()
    expressions = _read_expressions(reader)
    _check_positions(reader, start, expressions, dimensions, symbols)
    return AffineMapAttr(dimensions, symbols, expressions)


def read_integer_set(reader: EntryReader) -> IntegerSetAttr:
    """Reads an integer set: its expressions, and which are equal to zero."""
    start = reader.position
    dimensions, symbols = reader.varint(), reader.varint()
    if dimensions > _MAX_POSITION or symbols > _MAX_POSITION:
        reader.fail(f"an integer set of {dimensions} dimensions and {symbols} symbols", start)
    expressions = _read_expressions(reader)
    _check_positions(reader, start, expressions, dimensions, symbols)
    flags = [bool(reader.byte()) for _ in expressions]
    return IntegerSetAttr(dimensions, symbols, tuple(zip(expressions, flags, strict=True)))


def _check_positions(
    reader: EntryReader, start: int, expressions: Sequence[AffineExpr], dimensions: int, symbols: int
) -> None:
    if symbols > _MAX_POSITION:
        reader.fail(f"an affine map of {symbols} symbols", start)
    pending = list(expressions)
    visited = set()
    while pending:
        expression = pending.pop()
        if expression in visited:
            continue
        visited.add(expression)
        if isinstance(expression, AffineBinary):
            pending += (expression.lhs, expression.rhs)
        elif isinstance(expression, AffineDim | AffineSymbol):
            count = dimensions if isinstance(expression, AffineDim) else symbols
            if expression.position >= count:
                reader.fail("an affine expression has a dimension or symbol that its map has not", start)


def _write_expressions(writer: EntryWriter, expressions: Sequence[AffineExpr]) -> None:
    pending = list(reversed(expressions))
    while pending:
        expression = pending.pop()
        if isinstance(expression, AffineBinary):
            writer.varint(_KINDS[expression.operator.value])
            pending += (expression.rhs, expression.lhs)
        elif isinstance(expression, AffineConstant):
            writer.varint(2)
            writer.signed(expression.value)
        else:
            assert isinstance(expression, AffineDim | AffineSymbol)
            writer.varint(int(isinstance(expression, AffineSymbol)))
            writer.varint(expression.position)


_KINDS = {"+": 3, "*": 4, "mod": 5, "floordiv": 6, "ceildiv": 7}


def write_affine_map(writer: EntryWriter, attribute: AffineMapAttr) -> None:
    """Writes an affine map, in the shortest form that it has."""
    count, results = attribute.num_dims, attribute.results
    positions = [result.position for result in results if isinstance(result, AffineDim)]
    is_projection = not attribute.num_symbols and len(set(positions)) == len(positions) == len(results)
    if is_projection and positions == list(range(count)):
        writer.varint(count << 2 | _IDENTITY)
        return
    if not is_projection:
        writer.varint(count << 2 | _GENERAL)
        writer.varint(attribute.num_symbols)
        writer.varint(len(results))
        _write_expressions(writer, results)
        return
    is_permutation = len(positions) == count
    writer.varint(count << 2 | (_PERMUTATION if is_permutation else _PROJECTED_PERMUTATION))
    if not is_permutation:
        writer.varint(len(positions))
    for position in positions:
        writer.varint(position)


def write_integer_set(writer: EntryWriter, attribute: IntegerSetAttr) -> None:
    """Writes an integer set: its expressions, and which are equal to zero."""
    writer.varint(attribute.num_dims)
    writer.varint(attribute.num_symbols)
    writer.varint(len(attribute.constraints))
    _write_expressions(writer, [expression for expression, _ in attribute.constraints])
    for _, is_equality in attribute.constraints:
        writer.byte(int(is_equality))
