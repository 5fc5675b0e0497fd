"""Declares how attributes and types are encoded, for reading and for writing.

    builtin = DialectEncodings("builtin")
    builtin.attribute(0, ArrayAttr, listed(ATTRIBUTE))

The attribute of code 0 is an `ArrayAttr`, whose only field is encoded as a list of attributes. A codec reads
and writes one value. The number of codecs is that of the fields, in their order, unless `make` and `take`
convert between the attribute and the encoded values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from sdyopt.base.diagnostics.location import Location
from sdyopt.base.interning import Interned, field_names, has_defaults
from sdyopt.mlir.bytecode.stream import ByteReader
from sdyopt.mlir.ir.attribute import Attribute, LocationAttr, Type

Class = type[Any]

T = TypeVar("T")
U = TypeVar("U")
A = TypeVar("A", bound=Attribute)


class EncodingTable(Protocol):
    """The attributes, types, strings and resources of a file by number."""

    def attribute(self, number: int, reader: ByteReader) -> Attribute: ...
    def type(self, number: int, reader: ByteReader) -> Type: ...
    def location(self, number: int, reader: ByteReader) -> Location: ...
    def string(self, number: int, reader: ByteReader) -> str: ...
    def resource(self, number: int, reader: ByteReader) -> str: ...
    def next_distinct_id(self) -> int: ...


class EntryReader(ByteReader):
    """Reads the encoding of an attribute, a type or properties."""

    __slots__ = ("dialect_version", "table", "version")

    def __init__(
        self,
        table: EncodingTable,
        data: bytes,
        position: int,
        end: int,
        section: str,
        version: int,
        dialect_version: tuple[int, ...] = (),
    ) -> None:
        super().__init__(data, position, end, section)
        self.table = table
        self.version = version
        self.dialect_version = dialect_version

    def attribute(self) -> Attribute:
        return self.table.attribute(self.varint(), self)

    def optional_attribute(self) -> Attribute | None:
        number, is_present = self.flagged()
        return self.table.attribute(number, self) if is_present else None

    def type(self) -> Type:
        return self.table.type(self.varint(), self)

    def string(self) -> str:
        return self.table.string(self.varint(), self)

    def read_location(self) -> Location:
        return self.table.location(self.varint(), self)


class EntryWriter(Protocol):
    """Writes the encoding of an attribute, a type or properties.

    Attributes are numbered before they are written. Then the same encodings run with a writer that only
    collects what they refer to.
    """

    version: int

    def byte(self, value: int) -> None: ...
    def bytes(self, value: bytes) -> None: ...
    def varint(self, value: int) -> None: ...
    def signed(self, value: int) -> None: ...
    def attribute(self, attribute: Attribute) -> None: ...
    def optional_attribute(self, attribute: Attribute | None) -> None: ...
    def type(self, type: Type) -> None: ...
    def string(self, text: str) -> None: ...
    def resource(self, key: str) -> None: ...


class Codec(Generic[T]):
    """Reads and writes one value."""

    __slots__ = ("read", "write")

    def __init__(self, read: Callable[[EntryReader], T], write: Callable[[EntryWriter, Any], None]) -> None:
        self.read = read
        self.write = write


VARINT = Codec(EntryReader.varint, lambda writer, value: writer.varint(value))
SIGNED = Codec(EntryReader.signed, lambda writer, value: writer.signed(value))
STRING = Codec(EntryReader.string, lambda writer, value: writer.string(value))
ATTRIBUTE = Codec(EntryReader.attribute, lambda writer, value: writer.attribute(value))
OPTIONAL_ATTRIBUTE = Codec(
    EntryReader.optional_attribute, lambda writer, value: writer.optional_attribute(value)
)
TYPE = Codec(EntryReader.type, lambda writer, value: writer.type(value))


BOOL = Codec(lambda reader: bool(reader.byte()), lambda writer, value: writer.byte(int(value)))


WIDE_BOOL = Codec(lambda reader: bool(reader.varint()), lambda writer, value: writer.varint(int(value)))
"""A boolean that is encoded as a number of any size, as VHLO does."""


def _write_blob(writer: EntryWriter, value: bytes) -> None:
    writer.varint(len(value))
    writer.bytes(value)


BLOB = Codec(lambda reader: reader.take(reader.varint()), _write_blob)


def listed(codec: Codec[T]) -> Codec[tuple[T, ...]]:
    """A list of values, as a tuple."""

    def read(reader: EntryReader) -> tuple[T, ...]:
        return tuple([codec.read(reader) for _ in range(reader.count())])

    def write(writer: EntryWriter, values: Sequence[T]) -> None:
        writer.varint(len(values))
        for value in values:
            codec.write(writer, value)

    return Codec(read, write)


SIGNED_LIST = listed(SIGNED)


def attribute_of(attribute_class: type[A]) -> Codec[A]:
    """An attribute of this class."""
    return _of_class(ATTRIBUTE, attribute_class)


def optional_attribute_of(attribute_class: type[A]) -> Codec[A | None]:
    """An attribute of this class, or none."""
    return _of_class(OPTIONAL_ATTRIBUTE, attribute_class, type(None))


def type_of(type_class: type[A]) -> Codec[A]:
    """A type of this class."""
    return _of_class(TYPE, type_class)


def _of_class(codec: Codec[Any], *classes: type[Any]) -> Codec[Any]:
    """A value of one of these classes; errors name the first one."""

    def read(reader: EntryReader) -> Any:
        start = reader.position
        value = codec.read(reader)
        if not isinstance(value, classes):
            reader.fail(f"expected {classes[0].__name__}, found {type(value).__name__}", start)
        return value

    return Codec(read, codec.write)


def paired(first: Codec[T], second: Codec[U]) -> Codec[tuple[T, U]]:
    """Two values, as a tuple."""

    def read(reader: EntryReader) -> tuple[T, U]:
        return first.read(reader), second.read(reader)

    def write(writer: EntryWriter, pair: tuple[T, U]) -> None:
        first.write(writer, pair[0])
        second.write(writer, pair[1])

    return Codec(read, write)


def optional(flag: Codec[bool], codec: Codec[T]) -> Codec[T | None]:
    """A flag, and a value if the flag is set."""

    def read(reader: EntryReader) -> T | None:
        return codec.read(reader) if flag.read(reader) else None

    def write(writer: EntryWriter, value: T | None) -> None:
        flag.write(writer, value is not None)
        if value is not None:
            codec.write(writer, value)

    return Codec(read, write)


def enumerated(cases: Sequence[T]) -> Codec[T]:
    """One of these values, encoded as its index."""

    def read(reader: EntryReader) -> T:
        start = reader.position
        number = reader.varint()
        if number >= len(cases):
            reader.fail(f"the number {number} of a case is not less than {len(cases)}", start)
        return cases[number]

    def write(writer: EntryWriter, value: T) -> None:
        writer.varint(cases.index(value))

    return Codec(read, write)


LOCATION = Codec(EntryReader.read_location, lambda writer, value: writer.attribute(LocationAttr(value)))


class Encoding:
    """The encoding of a class of attributes, types or locations."""

    __slots__ = ("applies", "code", "read", "write")

    def __init__(
        self,
        code: int,
        read: Callable[[EntryReader], Any],
        write: Callable[[EntryWriter, Any], None],
        applies: Callable[[Any], bool] | None,
    ) -> None:
        self.code = code
        self.read = read
        self.write = write
        self.applies = applies


class DialectEncodings:
    """The encodings of the attributes and types of a dialect by their codes, and by classes."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.attributes: dict[int, Encoding] = {}
        self.types: dict[int, Encoding] = {}
        self.by_class: dict[type, list[Encoding]] = {}
        # The version that the dialect writes of itself, if it has any.
        self.written_version: tuple[int, ...] = ()

    def attribute(
        self,
        code: int,
        attribute_class: Class,
        *codecs: Codec[Any],
        make: Callable[..., Any] | None = None,
        take: Callable[[Any], Sequence[Any]] | None = None,
        applies: Callable[[Any], bool] | None = None,
    ) -> None:
        """Declares the encoding of a class of attributes.

        `make` builds the attribute from the decoded values; it may return an error message instead. `take`
        returns the values of an attribute. Attributes for which `applies` is false are not written so.
        """
        self._add(self.attributes, code, attribute_class, codecs, make, take, applies)

    def type(
        self,
        code: int,
        type_class: Class,
        *codecs: Codec[Any],
        make: Callable[..., Any] | None = None,
        take: Callable[[Any], Sequence[Any]] | None = None,
        applies: Callable[[Any], bool] | None = None,
    ) -> None:
        """As `attribute`, for a class of types."""
        self._add(self.types, code, type_class, codecs, make, take, applies)

    def _add(
        self,
        table: dict[int, Encoding],
        code: int,
        attribute_class: Class,
        codecs: Sequence[Codec[Any]],
        make: Callable[..., Any] | None,
        take: Callable[[Any], Sequence[Any]] | None,
        applies: Callable[[Any], bool] | None,
    ) -> None:
        if any(not isinstance(codec, Codec) for codec in codecs):
            raise ValueError(f"{attribute_class.__name__} is encoded by what is no codec, such as STRING")
        namespace = getattr(attribute_class, "dialect", None)
        if namespace and namespace not in ("builtin", self.dialect):
            raise ValueError(
                f"{attribute_class.__name__} is of the dialect {namespace}, not of {self.dialect}"
            )
        if take is None and make is None and issubclass(attribute_class, Interned):
            names = field_names(attribute_class)
            if len(codecs) > len(names) or not has_defaults(attribute_class, names[len(codecs) :]):
                listed = ", ".join(names) or "no fields"
                raise ValueError(
                    f"{attribute_class.__name__} has {listed}, and {len(codecs)} codecs, not one for each"
                )
        reads = [codec.read for codec in codecs]
        writes = [codec.write for codec in codecs]
        build = attribute_class if make is None else make
        values_of = _taker(attribute_class, len(codecs)) if take is None else take

        def read(reader: EntryReader) -> Any:
            start = reader.position
            made = build(*[read(reader) for read in reads])
            if make is not None and isinstance(made, str):
                reader.fail(made, start)
            return made

        def write(writer: EntryWriter, attribute: Any) -> None:
            for write, value in zip(writes, values_of(attribute), strict=True):
                write(writer, value)

        self._declare(table, code, attribute_class, Codec(read, write), applies)

    def add(
        self,
        code: int,
        attribute_class: Class,
        codec: Codec[Any],
        applies: Callable[[Any], bool] | None = None,
    ) -> None:
        """Declares an encoding of attributes whose codec reads and writes the whole attribute."""
        self._declare(self.attributes, code, attribute_class, codec, applies)

    def enum(self, code: int, enum: Class, first: int = 0) -> None:
        """Declares the encoding of an enum attribute, whose first case has the number `first`."""
        cases: tuple[str, ...] = ("",) * first + enum.cases

        def make(case: str) -> Attribute | str:
            return enum(case) if case else "there is no case with the number 0"

        self.attribute(code, enum, enumerated(cases), make=make)

    def _declare(
        self,
        table: dict[int, Encoding],
        code: int,
        attribute_class: Class,
        codec: Codec[Any],
        applies: Callable[[Any], bool] | None,
    ) -> None:
        assert code not in table, f"{self.dialect} encodes {code} twice"
        encoding = table[code] = Encoding(code, codec.read, codec.write, applies)
        self.by_class.setdefault(attribute_class, []).append(encoding)

    def encoding_of(self, attribute: Attribute | Location) -> Encoding | None:
        """The encoding by which an attribute, type or location is written; None if it is written as text."""
        for encoding in self.by_class.get(type(attribute), ()):
            if encoding.applies is None or encoding.applies(attribute):
                return encoding
        return None


def _taker(attribute_class: type[Any], count: int) -> Callable[[Any], Sequence[Any]]:
    names = field_names(attribute_class)[:count]
    if not names:
        return lambda attribute: ()
    get = attrgetter(*names)
    return get if count > 1 else lambda attribute: (get(attribute),)
