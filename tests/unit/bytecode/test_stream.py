"""The integers and sections of bytecode."""

import pytest

from sdyopt.mlir.bytecode.stream import ByteReader, ByteWriter, MalformedBytecode


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "01"),
        (1, "03"),
        (127, "ff"),
        (128, "0202"),
        (16_383, "feff"),
        (16_384, "040002"),
        ((1 << 56) - 1, "80ffffffffffffff"),
        (1 << 56, "000000000000000001"),
        ((1 << 64) - 1, "00ffffffffffffffff"),
    ],
)
def test_a_number_starts_with_as_many_zero_bits_as_it_has_further_bytes(value: int, encoded: str) -> None:
    writer = ByteWriter()
    writer.varint(value)
    assert writer.data.hex() == encoded
    reader = ByteReader(bytes(writer.data), 0, len(writer.data), "IR")
    assert reader.varint() == value
    reader.finish()


@pytest.mark.parametrize("value", [0, 1, -1, 63, -64, 64, -(1 << 63), (1 << 63) - 1])
def test_the_sign_is_the_lowest_bit(value: int) -> None:
    writer = ByteWriter()
    writer.signed(value)
    assert ByteReader(bytes(writer.data), 0, len(writer.data), "IR").signed() == value


def test_sections_are_aligned_as_their_contents() -> None:
    section = ByteWriter()
    section.byte(1)
    section.align(8)
    section.bytes(b"12345678")
    file = ByteWriter()
    file.bytes(b"abc")
    file.section(5, section)
    reader = ByteReader(bytes(file.data), 3, len(file.data), "header")
    code, contents = reader.subsection()
    assert (code, contents.position % 8) == (5, 0)
    contents.byte()
    contents.align(8)
    assert contents.take(8) == b"12345678"
    contents.finish()
    reader.finish()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("", "unexpected end"),
        ("05", "unexpected end"),
        ("2101", "there is no section with the id 33"),
        ("050b00", "the resource section has 5 bytes, and 1 are left"),
        ("850307cbcbcb", "the alignment 3 is not a power of two"),
        ("8503110000", "expected padding"),
    ],
)
def test_an_invalid_section_is_rejected(data: str, problem: str) -> None:
    raw = bytes.fromhex(data)
    with pytest.raises(MalformedBytecode, match=problem):
        ByteReader(raw, 0, len(raw), "header").subsection()


def test_a_count_is_at_most_the_number_of_bytes_left() -> None:
    with pytest.raises(MalformedBytecode, match="100 entries are expected, and 2 bytes are left") as caught:
        ByteReader(bytes([201, 0, 0]), 0, 3, "string").count()
    assert (caught.value.section, caught.value.offset) == ("string", 0)
