"""The integers, strings and sections of a bytecode file."""

from __future__ import annotations

from typing import Final, NoReturn

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
