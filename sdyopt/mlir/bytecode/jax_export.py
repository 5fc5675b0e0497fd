"""Files that `jax.export` writes: a FlatBuffer around the bytecode of a program."""

from __future__ import annotations

from typing import Final

from sdyopt.mlir.bytecode.stream import MAGIC

# The position of the program among the fields of an `Exported`.
_PROGRAM: Final = 13
_MIN_SIZE: Final = 32


def exported_program(data: bytes) -> bytes | None:
    """The bytecode in a serialized `jax.export.Exported`; None for other data."""
    if len(data) < _MIN_SIZE:
        return None
    table = _number(data, 0, 4)
    start = _field(data, table, _PROGRAM)
    if start is None:
        return None
    vector = start + _number(data, start, 4)
    size = _number(data, vector, 4)
    first = vector + 4
    if not data.startswith(MAGIC, first) or first + size > len(data):
        return None
    return data[first : first + size]


def _field(data: bytes, table: int, index: int) -> int | None:
    """Where a field of a table is; None if the data has none there.

    A table starts with the distance back to its list of fields, which starts with its own size, and that of
    the table.
    """
    fields = table - _number(data, table, 4, signed=True)
    entry = 4 + 2 * index
    if not 0 <= fields < len(data) or _number(data, fields, 2) < entry + 2:
        return None
    offset = _number(data, fields + entry, 2)
    return table + offset if offset else None


def _number(data: bytes, offset: int, size: int, signed: bool = False) -> int:
    """A number in the data; 0 outside it."""
    if not 0 <= offset <= len(data) - size:
        return 0
    return int.from_bytes(data[offset : offset + size], "little", signed=signed)
