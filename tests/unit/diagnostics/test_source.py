"""Sources: conversion between offsets and lines and byte columns."""

import pytest

from sdyopt.base.diagnostics import FileLoc, Source


@pytest.mark.parametrize("text", ["", "abc", "a\n\nb\n", "aé\n日本x\n", "\r\nx\r\n"])
def test_offsets_round_trip(text: str) -> None:
    source = Source("f", text)
    for offset in range(len(text) + 1):
        if text[offset : offset + 1] == "\n" and text[offset - 1 : offset] == "\r":
            continue  # inside a line terminator
        assert source.offset_of(*source.line_column(offset)) == offset


def test_columns_count_bytes() -> None:
    source = Source("f", "x\né日.z")
    assert source.location(5) is FileLoc("f", 2, 7)
    assert source.offset_of(2, 7) == 5


def test_locations_in_chunks_are_those_of_the_file() -> None:
    whole = Source("f", "one\ntwo // ---\nthree\n")
    chunk = whole.chunk(14, 21)
    assert chunk.text == "\nthree\n"
    assert chunk.location(0) is FileLoc("f", 2, 11)
    assert chunk.location(1) is FileLoc("f", 3, 1)
    assert chunk.offset_of(3, 1) == 1


def test_lines_and_columns_outside_the_text_have_no_offset() -> None:
    source = Source("f", "ab\nc")
    assert [source.offset_of(*position) for position in ((0, 0), (1, 4), (3, 1), (2, 0))] == [None] * 4
    assert source.offset_of(1, 3) == 2
