"""The integers, strings and sections of a bytecode file, and the file that `jax.export` writes around one.

The file of `jax.export` is a FlatBuffer. A table of it starts with the distance back to its list of fields,
which starts with its own size, and that of the table. A field is a number, or the distance to a string, a
vector or another table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NoReturn, TypeVar

from sdyopt.base.dataclasses import NamedTuple

MAGIC: Final = b"ML\xefR"

# The versions of the format, by what each added.
DIALECT_VERSIONS, REGION_SECTIONS, USE_LIST_ORDERS = 1, 2, 3
ELIDED_ARGUMENT_LOCATIONS, PROPERTIES, SEGMENT_SIZES = 4, 5, 6
NEWEST_VERSION: Final = 6

SECTIONS: Final = (
    *("string", "dialect", "attribute and type", "attribute and type offset", "IR", "resource"),
    *("resource offset", "dialect version", "properties"),
)
STRINGS, DIALECTS, ATTRIBUTES, ATTRIBUTE_OFFSETS, IR = range(5)
RESOURCES, RESOURCE_OFFSETS, DIALECT_VERSION, PROPERTY_VALUES = range(5, 9)

# The bits of the mask of an operation: what follows its name.
HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS = 1, 2, 4, 8
HAS_REGIONS, HAS_USE_LIST_ORDERS, HAS_PROPERTIES = 16, 32, 64

_PADDING: Final = 0xCB
_WORD: Final = (1 << 64) - 1


class MalformedBytecode(Exception):
    """Bytecode that breaks the format: what is wrong, in which section, and at which byte of the file.

    `help` is what to do, if it is not to write the file again.
    """

    def __init__(self, problem: str, section: str, offset: int, help: str = "") -> None:
        super().__init__(problem)
        self.help = help
        self.problem = problem
        self.section = section
        self.offset = offset


class ByteReader:
    """Reads a range of the bytes of a file, which is (a part of) the section of this name."""

    __slots__ = ("data", "end", "position", "section")

    def __init__(self, data: bytes, position: int, end: int, section: str) -> None:
        self.data = data
        self.position = position
        self.end = end
        self.section = section

    @property
    def remaining(self) -> int:
        """The number of bytes that are not yet read."""
        return self.end - self.position

    def fail(self, problem: str, offset: int | None = None, help: str = "") -> NoReturn:
        """Raises MalformedBytecode at an offset, by default the next byte."""
        raise MalformedBytecode(problem, self.section, self.position if offset is None else offset, help)

    def byte(self) -> int:
        position = self.position
        if position >= self.end:
            self.fail("unexpected end")
        self.position = position + 1
        return self.data[position]

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        position = self.position
        if count > self.end - position:
            self.fail(f"unexpected end: {count} bytes are expected, and {self.end - position} are left")
        self.position = position + count
        return self.data[position : position + count]

    def varint(self) -> int:
        """A number of 64 bits, whose first byte has as many trailing zeros as further bytes follow."""
        position = self.position
        if position >= self.end:
            self.fail("unexpected end")
        first = self.data[position]
        if first & 1:
            self.position = position + 1
            return first >> 1
        if not first:
            self.position = position + 1
            return int.from_bytes(self.take(8), "little")
        size = (first & -first).bit_length()
        return int.from_bytes(self.take(size), "little") >> size

    def signed(self) -> int:
        """A number whose lowest bit is its sign."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """A number and the flag in its lowest bit."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self) -> int:
        """The number of entries that follow, each of at least one byte."""
        position = self.position
        value = self.varint()
        if value > self.end - self.position:
            self.fail(f"{value} entries are expected, and {self.remaining} bytes are left", position)
        return value

    def text(self) -> str:
        """A text that a NUL byte ends."""
        end = self.data.find(b"\0", self.position, self.end)
        if end < 0:
            self.fail("a text without its terminating NUL byte")
        text = self.data[self.position : end].decode("utf-8", "surrogateescape")
        self.position = end + 1
        return text

    def align(self, alignment: int) -> None:
        """Skips the padding up to an offset that is a multiple of `alignment`."""
        if alignment.bit_count() != 1:
            self.fail(f"the alignment {alignment} is not a power of two")
        while self.position % alignment:
            if self.byte() != _PADDING:
                self.fail("expected padding", self.position - 1)

    def subsection(self) -> tuple[int, ByteReader]:
        """The id of a section, and the reader of its bytes."""
        start = self.position
        code = self.byte()
        length = self.varint()
        if code & 0x80:
            self.align(self.varint())
        code &= 0x7F
        if code >= len(SECTIONS):
            self.fail(f"there is no section with the id {code}", start)
        if length > self.remaining:
            self.fail(
                f"the {SECTIONS[code]} section has {length} bytes, and {self.remaining} are left", start
            )
        reader = ByteReader(self.data, self.position, self.position + length, SECTIONS[code])
        self.position += length
        return code, reader

    def finish(self) -> None:
        """Fails unless all bytes are read."""
        if self.position != self.end:
            self.fail(f"{self.remaining} bytes too many")


class ByteWriter:
    """Collects the bytes of a section. `alignment` is that which its start must have."""

    __slots__ = ("alignment", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self.alignment = 1

    def byte(self, value: int) -> None:
        self.data.append(value)

    def bytes(self, value: bytes) -> None:
        self.data += value

    def varint(self, value: int) -> None:
        """Writes a number of at most 64 bits."""
        if value < 128:
            self.data.append(value << 1 | 1)
            return
        size = (value.bit_length() + 6) // 7
        if size > 8:
            self.data.append(0)
            self.data += value.to_bytes(8, "little")
        else:
            self.data += ((value << 1 | 1) << (size - 1)).to_bytes(size, "little")

    def signed(self, value: int) -> None:
        """Writes a number of 64 bits with its sign in the lowest bit."""
        self.varint((value << 1 ^ value >> 63) & _WORD)

    def flagged(self, value: int, flag: bool) -> None:
        """Writes a number with a flag in its lowest bit."""
        self.varint(value << 1 | flag)

    def align(self, alignment: int) -> None:
        """Adds padding up to an offset that is a multiple of `alignment`, a power of two."""
        while len(self.data) % alignment:
            self.data.append(_PADDING)
        self.alignment = max(self.alignment, alignment)

    def section(self, code: int, section: ByteWriter) -> None:
        """Adds a section."""
        start = len(self.data)
        self.byte(code)
        self.varint(len(section.data))
        alignment = section.alignment
        if len(self.data) % alignment:
            self.data[start] |= 0x80
            self.varint(alignment)
            self.align(alignment)
        else:
            self.alignment = max(self.alignment, alignment)
        self.data += section.data


T = TypeVar("T")

# The position of the program among the fields of an `Exported`.
_PROGRAM: Final = 13
_MIN_SIZE: Final = 32
# The maximum nesting of a tree of arguments.
_MAX_DEPTH: Final = 200


class ExportedFunction(NamedTuple):
    """How a function that JAX has exported is called, and where it runs.

    `in_tree` and `out_tree` are the structures of arguments and results, with `*` for an array. Avals and
    shardings are texts such as `float32[8,16]` and `P('x', None) on ['x'=4]`; a sharding is None if it is
    unspecified. `module_kept_var_idx` are the arguments that the program has, the others are unused.
    """

    name: str
    in_tree: str
    out_tree: str
    in_avals: tuple[str, ...]
    out_avals: tuple[str, ...]
    in_shardings: tuple[str | None, ...]
    out_shardings: tuple[str | None, ...]
    nr_devices: int
    platforms: tuple[str, ...]
    calling_convention_version: int
    disabled_checks: tuple[str, ...]
    ordered_effects: tuple[str, ...]
    unordered_effects: tuple[str, ...]
    module_kept_var_idx: tuple[int, ...]
    uses_global_constants: bool
    jax_version: str
    program: bytes

    def __str__(self) -> str:
        """The fields but for the program, one a line."""
        values = zip(self._fields[:-1], self, strict=False)
        return "\n".join(f"{name}: {_shown(value)}" for name, value in values)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join("unspecified" if item is None else str(item) for item in value) or "none"
    return str(value)


def exported_program(data: bytes) -> bytes | None:
    """The bytecode in a serialized `jax.export.Exported`; None for other data."""
    if len(data) < _MIN_SIZE:
        return None
    program = _Table(data, _number(data, 0, 4)).blob(_PROGRAM)
    return program if program.startswith(MAGIC) else None


def exported_function(data: bytes) -> ExportedFunction | None:
    """What a serialized `jax.export.Exported` says of its function; None for other data.

    Raises ValueError if the data is damaged.
    """
    program = exported_program(data)
    if program is None:
        return None
    table = _Table(data, _number(data, 0, 4))
    shardings = table.tables(21)
    avals = table.tables(19)
    return ExportedFunction(
        name=table.string(1),
        in_tree=_tree(table.table(2)),
        out_tree=_tree(table.table(4)),
        in_avals=table.avals(3, 22, avals),
        out_avals=table.avals(5, 23, avals),
        in_shardings=_shardings(table, 7, 24, shardings),
        out_shardings=_shardings(table, 8, 25, shardings),
        nr_devices=table.number(18, 4) or table.number(6, 2),
        platforms=table.strings(9),
        calling_convention_version=table.number(14, 2),
        disabled_checks=tuple(map(_check, table.tables(12))),
        ordered_effects=tuple(effect.string(0) for effect in table.tables(10)),
        unordered_effects=tuple(effect.string(0) for effect in table.tables(11)),
        module_kept_var_idx=table.numbers(15, 2),
        uses_global_constants=bool(table.number(16, 1)),
        jax_version=table.string(26),
        program=program,
    )


# --- Parts of an `Exported` ---------------------------------------------------------------------

_DTYPES: Final = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16"),
    *("float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4", "float8_e4m3b11fnuz"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float0", "float8_e4m3"),
    *("float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", "key<fry>", "key<rbg>", "key<unsafe_rbg>"),
)
_LEAF, _NONE, _TUPLE, _LIST, _DICT = range(5)


def _tree(table: _Table | None, depth: int = 0) -> str:
    """The text of a `PyTreeDef`, `…` if it is nested too deeply."""
    if table is None:
        return ""
    kind = table.number(0, 1)
    if kind in (_LEAF, _NONE):
        return "None" if kind else "*"
    if depth > _MAX_DEPTH:
        return "…"
    children = [_tree(child, depth + 1) for child in table.tables(1)]
    if kind == _TUPLE:
        return f"({', '.join(children)}{',' * (len(children) == 1)})"
    if kind == _LIST:
        return f"[{', '.join(children)}]"
    if kind == _DICT:
        return f"{{{', '.join(map('{!r}: {}'.format, table.strings(2), children))}}}"
    return f"{table.string(3)}({', '.join(children)})"


def _shardings(table: _Table, field: int, numbers: int, unique: Sequence[_Table]) -> tuple[str | None, ...]:
    """The shardings of arguments or results, in newer files numbers of those in `unique`, from 1."""
    known = [number for number in table.numbers(numbers, 4) if number <= len(unique)]
    if known:
        return tuple(_sharding(unique[number - 1]) if number else None for number in known)
    return tuple(map(_Table.sharding_of_older_file, table.tables(field)))


def _sharding(table: _Table) -> str:
    mesh, spec = table.table(0), table.table(1)
    parts = [_axes(table) for table in (() if spec is None else spec.tables(0))]
    if spec is not None:
        parts += [f"reduced={set(spec.strings(1))}"] if spec.strings(1) else []
        parts += [f"unreduced={set(spec.strings(2))}"] if spec.strings(2) else []
    names, sizes = ((), ()) if mesh is None else (mesh.strings(1), mesh.numbers(0, 4))
    axes = ", ".join(f"{name!r}={size}" for name, size in zip(names, sizes, strict=False))
    memory = f", memory {table.string(2)}" if table.string(2) else ""
    return f"P({', '.join(parts)}) on [{axes}]{memory}"


def _axes(table: _Table) -> str:
    axes = table.strings(0)
    return "None" if not axes else repr(axes[0]) if len(axes) == 1 else repr(axes)


def _check(table: _Table) -> str:
    kinds = ("platform", f"custom_call:{table.string(1)}", "shape_assertions")
    kind = table.number(0, 1)
    return kinds[kind] if kind < len(kinds) else f"check {kind}"


# --- FlatBuffers --------------------------------------------------------------------------------


class _Table:
    """A table of a FlatBuffer. A field that is missing, or outside the data, reads as empty."""

    def __init__(self, data: bytes, start: int, budget: list[int] | None = None) -> None:
        self._data = data
        self._start = start
        # How many elements may still be read. Tables of a damaged file may contain each other.
        self._budget = [4 * len(data)] if budget is None else budget

    def _field(self, index: int) -> int | None:
        data, start = self._data, self._start
        fields = start - _number(data, start, 4, signed=True)
        entry = 4 + 2 * index
        if not 0 <= fields < len(data) or _number(data, fields, 2) < entry + 2:
            return None
        offset = _number(data, fields + entry, 2)
        return start + offset if offset else None

    def number(self, index: int, size: int) -> int:
        """A number of `size` bytes."""
        start = self._field(index)
        return 0 if start is None else _number(self._data, start, size)

    def table(self, index: int) -> _Table | None:
        """Another table."""
        start = self._field(index)
        return None if start is None else self._table_at(start)

    def _table_at(self, start: int) -> _Table:
        return _Table(self._data, start + _number(self._data, start, 4), self._budget)

    def blob(self, index: int) -> bytes:
        """A vector of bytes."""
        return self._blob(self._field(index))

    def string(self, index: int) -> str:
        """A string."""
        return self._blob(self._field(index)).decode("utf-8", "replace")

    def strings(self, index: int) -> tuple[str, ...]:
        """A vector of strings."""
        return self._vector(index, 4, lambda start: self._blob(start).decode("utf-8", "replace"))

    def tables(self, index: int) -> tuple[_Table, ...]:
        """A vector of tables."""
        return self._vector(index, 4, self._table_at)

    def numbers(self, index: int, size: int) -> tuple[int, ...]:
        """A vector of numbers of `size` bytes."""
        return self._vector(index, size, lambda start: _number(self._data, start, size))

    def _vector(self, index: int, size: int, read: Callable[[int], T]) -> tuple[T, ...]:
        field = self._field(index)
        if field is None:
            return ()
        vector = field + _number(self._data, field, 4)
        count = _number(self._data, vector, 4)
        if vector + 4 + count * size > len(self._data):
            return ()
        self._budget[0] -= count + 1
        if self._budget[0] < 0:
            raise ValueError("the tables of a file of jax.export contain each other")
        return tuple([read(vector + 4 + size * number) for number in range(count)])

    def _blob(self, field: int | None) -> bytes:
        if field is None:
            return b""
        vector = field + _number(self._data, field, 4)
        size = _number(self._data, vector, 4)
        return self._data[vector + 4 : vector + 4 + size] if vector + 4 + size <= len(self._data) else b""

    def avals(self, field: int, numbers: int, unique: Sequence[_Table]) -> tuple[str, ...]:
        """The types of arguments or results, in newer files numbers of those in `unique`."""
        items = [unique[number] for number in self.numbers(numbers, 4) if number < len(unique)]
        return tuple(map(_Table._aval, items or self.tables(field)))

    def _aval(self) -> str:
        dtype = self.number(2, 1)
        name = _DTYPES[dtype] if dtype < len(_DTYPES) else f"dtype {dtype}"
        return f"{name}[{','.join(self.strings(1))}]"

    def sharding_of_older_file(self) -> str | None:
        named = self.table(2)
        if named is not None:
            return _sharding(named)
        # An OpSharding of HLO, which has no text here.
        return "a sharding of HLO" if self.blob(1) else None


def _number(data: bytes, offset: int, size: int, signed: bool = False) -> int:
    """A number in the data; 0 outside it."""
    if not 0 <= offset <= len(data) - size:
        return 0
    return int.from_bytes(data[offset : offset + size], "little", signed=signed)
