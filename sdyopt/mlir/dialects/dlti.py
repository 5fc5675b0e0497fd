"""The dlti dialect of LLVM 22: attributes that describe targets and data layouts.

Layouts of nested operations are not compared with those of the operations around them.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from sdyopt.mlir.asm.format.attribute_format import quote
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_type
from sdyopt.mlir.ir.attribute import Attribute, StringAttr, Type, TypeAttr, string
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FunctionType, NoneType, ShapedType, TupleType

dlti = DIALECT = Dialect("dlti")

Key = StringAttr | Type
Entry = tuple[Key, Attribute]


class DataLayoutEntry(Attribute):
    """`#dlti.dl_entry<"key", value>`."""

    key: Key
    value: Attribute

    dialect = "dlti"


class Entries(Attribute):
    """Base of the attributes that map keys to values."""

    entries: tuple[Entry, ...]

    dialect = "dlti"
    mnemonic: ClassVar[str]
    # Whether there must be an entry.
    is_filled: ClassVar[bool] = False


class DataLayoutMap(Entries):
    """`#dlti.map<"key" = value, i32 = value>`."""

    mnemonic = "map"


class DataLayoutSpec(Entries):
    """`#dlti.dl_spec<"dlti.endianness" = "little">`: a data layout."""

    mnemonic = "dl_spec"

    def verify(self, op: Op) -> None:
        for key, value in self.entries:
            if isinstance(key, StringAttr):
                if key.value.startswith("dlti.") and key.value not in _LAYOUT_KEYS:
                    raise op.error(f"unknown data layout entry name: {key.value}")
                is_order = isinstance(value, StringAttr) and value.value in ("big", "little")
                if key.value == _ENDIANNESS and not is_order:
                    raise op.error(
                        f"'{_ENDIANNESS}' data layout entry is expected to be either 'big' or 'little'"
                    )
            elif isinstance(key, ShapedType | FunctionType | TupleType | NoneType):
                raise op.error("unexpected data layout for a built-in type")


class TargetDeviceSpec(Entries):
    """`#dlti.target_device_spec<"L1_cache_size_in_bytes" = 4096 : i32>`."""

    mnemonic = "target_device_spec"
    is_filled = True


class TargetSystemSpec(Entries):
    """`#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<…>>`."""

    mnemonic = "target_system_spec"
    is_filled = True


def _key_text(key: Key) -> str:
    return quote(key.value) if isinstance(key, StringAttr) else plain_type(key)


def _parse_key(parser: AsmParser, message: str) -> Key:
    offset = parser.skip_trivia()
    if (text := parser.accept_string()) is not None:
        return string(text)
    attribute = parser.attribute()
    if not isinstance(attribute, TypeAttr):
        raise parser.error(message, offset)
    return attribute.type


@dlti.attribute("dl_entry")
def parse_entry(parser: AsmParser) -> DataLayoutEntry:
    parser.expect("<")
    key = _parse_key(parser, "expected a type or a quoted string")
    parser.expect(",")
    value = parser.attribute()
    parser.expect(">")
    return DataLayoutEntry(key, value)


def _parse_pair(parser: AsmParser) -> Entry:
    """Parses `key = value` or `#dlti.dl_entry<key, value>`."""
    if parser.looking_at("#"):
        offset = parser.skip_trivia()
        entry = parser.attribute()
        if not isinstance(entry, DataLayoutEntry):
            raise parser.error("expected a DLTI entry", offset)
        return entry.key, entry.value
    key = _parse_key(parser, "invalid kind of attribute specified")
    parser.expect("=")
    return key, parser.attribute()


def _parse_entries(cls: type[Entries], parser: AsmParser) -> Entries:
    start = parser.position - len(cls.mnemonic)
    parser.expect("<")
    entries: list[Entry] = []
    if not parser.accept(">"):
        entries = parser.comma_list(partial(_parse_pair, parser))
        parser.expect(">")
    if cls.is_filled and not entries:
        raise parser.error("no DLTI entries provided", start)
    keys: set[Key] = set()
    for key, value in entries:
        if isinstance(key, StringAttr) and not key.value:
            raise parser.error("empty string as DLTI key is not allowed", start)
        if key in keys:
            is_device = cls is TargetSystemSpec
            what = "repeated device ID in dlti.target_system_spec" if is_device else "repeated DLTI key"
            raise parser.error(f"{what}: {_key_text(key)}", start)
        keys.add(key)
        if cls is TargetSystemSpec and not isinstance(value, TargetDeviceSpec):
            message = f"value associated with key {_key_text(key)} is not a DLTI device spec"
            raise parser.error(message, start)
    return cls(tuple(entries))


for _class in (DataLayoutMap, DataLayoutSpec, TargetDeviceSpec, TargetSystemSpec):
    dlti.attribute(_class.mnemonic)(partial(_parse_entries, _class))


@dlti.printer(DataLayoutEntry)
def print_entry(entry: DataLayoutEntry, attribute_printer: AttributePrinter) -> str:
    return f"dl_entry<{_print_key(entry.key, attribute_printer)}, {attribute_printer.attribute(entry.value)}>"


def _print_key(key: Key, attribute_printer: AttributePrinter) -> str:
    return quote(key.value) if isinstance(key, StringAttr) else attribute_printer.type(key)


@dlti.printer(DataLayoutMap)
@dlti.printer(DataLayoutSpec)
@dlti.printer(TargetDeviceSpec)
@dlti.printer(TargetSystemSpec)
def print_entries(attribute: Entries, attribute_printer: AttributePrinter) -> str:
    entries = [
        f"{_print_key(key, attribute_printer)} = {attribute_printer.attribute(value)}"
        for key, value in attribute.entries
    ]
    return f"{attribute.mnemonic}<{', '.join(entries)}>"


_ENDIANNESS = "dlti.endianness"
_LAYOUT_KEYS = frozenset(
    {
        _ENDIANNESS,
        "dlti.default_memory_space",
        "dlti.alloca_memory_space",
        "dlti.program_memory_space",
        "dlti.global_memory_space",
        "dlti.mangling_mode",
        "dlti.stack_alignment",
        "dlti.function_pointer_alignment",
        "dlti.legal_int_widths",
    }
)


_OP_ATTRIBUTES: dict[str, type[Entries]] = {
    f"dlti.{cls.mnemonic}": cls for cls in (DataLayoutMap, DataLayoutSpec, TargetSystemSpec)
}


def _verify(op: Op, name: str, attribute: Attribute) -> None:
    expected = _OP_ATTRIBUTES.get(name)
    if expected is None:
        raise op.error(f"attribute '{name}' not supported by dialect")
    if not isinstance(attribute, expected):
        raise op.error(f"'{name}' is expected to be a #{name} attribute")
    if isinstance(attribute, DataLayoutSpec):
        attribute.verify(op)


dlti.verify_op_attribute = _verify
