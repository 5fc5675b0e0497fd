"""How sections and their tables are laid out in columns of text."""

import pytest
from rich.cells import cell_len

from sdyopt.analysis.interface.pages.section import ReportTable, Section
from sdyopt.analysis.report.text_report import LARGE_ROWS, _large_rows, section_lines

TABLE = ReportTable(
    "",
    ("bytes", "times", "where", "kind"),
    2,
    [
        ("1.00 GiB", "12", "encoder/layers/attention/model.py:120", 'all_gather {"data"}'),
        ("300 MiB", "1", "model.py:7", "all_reduce"),
        ("1.10 MiB", "1", "模型.py:7", "reshard"),
        ("1.00 MiB", "1", "", "reshard"),
        ("? B × n", "1", "", "loop"),
    ],
)
NOTED = ReportTable(
    "",
    ("bytes", "times", "where", "why"),
    2,
    [
        (size, times, where, f"{kind} of a product that needs both of its operands along the same axes")
        for size, times, where, kind in TABLE.rows
    ],
    has_notes=True,
)
WIDE = ReportTable("", ("value", "bytes"), 0, [("a" * 30, "1 B"), ("b", "2 B")])


def lines(table: ReportTable, width: int, rows: int | None = None, noted_rows: int = 3) -> list[str]:
    """The lines of a table."""
    _, heading, *others = section_lines([], [Section("h", [], [table])], width, rows, noted_rows)
    assert heading == "h"
    return others


def test_figures_are_right_aligned_and_a_long_place_has_its_end() -> None:
    assert lines(TABLE, 80) == [
        "     bytes  times  where                         kind",
        '  1.00 GiB     12  …yers/attention/model.py:120  all_gather {"data"}',
        "   300 MiB      1  model.py:7                    all_reduce",
        # Chinese characters are two columns wide.
        "  1.10 MiB      1  模型.py:7                     reshard",
        "  1.00 MiB      1                                reshard",
        "   ? B × n      1                                loop",
    ]


def test_the_last_column_is_below_if_it_would_be_cut() -> None:
    assert [any("kind: " in line for line in lines(TABLE, width)) for width in (68, 67)] == [False, True]
    assert lines(TABLE, 67, 2) == [
        "     bytes  times  where",
        "  1.00 GiB     12  …yers/attention/model.py:120",
        '        kind: all_gather {"data"}',
        "   300 MiB      1  model.py:7",
        "        kind: all_reduce",
        "  … and 3 more",
    ]
    assert lines(WIDE, 16) == [
        "  value",
        "  aaaaaaaaaaaaa…",
        "        bytes: 1",
        "        B",
        "  b",
        "        bytes: 2",
        "        B",
    ]


@pytest.mark.parametrize(
    ("width", "header", "row"),
    [
        (12, "  bytes  ti…", "  1.00…   12"),
        (14, "   bytes  ti…", "  1.00 …   12"),
        (18, "    bytes  times", "  1.00 G…     12"),
        (22, "     bytes  times  wh…", "  1.00 GiB     12  …y…"),
        (26, "     bytes  times  where", "  1.00 GiB     12  …yers/…"),
    ],
)
def test_columns_are_reduced_evenly_to_the_width(width: int, header: str, row: str) -> None:
    assert lines(TABLE, width, 1)[:2] == [header, row]
    for each in range(width, 80):
        assert max(map(cell_len, lines(TABLE, each))) <= each


def test_rows_of_less_than_a_thousandth_of_the_largest_are_left_out_of_files() -> None:
    """What has no size is kept."""
    assert [line.split()[:2] for line in lines(TABLE, 80, LARGE_ROWS)[1:]] == [
        ["1.00", "GiB"],
        ["300", "MiB"],
        ["1.10", "MiB"],
        ["?", "B"],
        ["…", "and"],
    ]
    assert lines(TABLE, 80, LARGE_ROWS)[-1] == "  … and 1 more, each less than 0.1% of the largest"
    # A table without bytes has all.
    assert len(lines(ReportTable("", ("a", "b"), 0, TABLE.rows), 80, LARGE_ROWS)) == 1 + 5


def test_a_note_is_of_three_lines_and_fewer_rows_have_one() -> None:
    assert lines(NOTED, 40, 1) == [
        "     bytes  times  where",
        "  1.00 GiB     12  …yers/attention/mode…",
        '        all_gather {"data"} of a product',
        "        that needs both of its operands",
        "        along the same axes",
        "  … and 4 more",
    ]
    assert lines(NOTED, 34, 1)[2:-1] == [
        '        all_gather {"data"} of a',
        "        product that needs both of",
        "        its operands along the…",
    ]
    counts = {(rows, noted): len(lines(NOTED, 100, rows, noted)) for rows, noted in ((5, 3), (2, 3), (4, 5))}
    # The header, two lines a row, and how many are left out.
    assert counts == {(5, 3): 1 + 6 + 1, (2, 3): 1 + 4 + 1, (4, 5): 1 + 8 + 1}


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("one two three", 13, ["one two three"]),
        ("one two three", 12, ["one two", "three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 6, ["one", "two", "three"]),
        ("abcdefgh", 4, ["abcd", "efgh"]),
        ("模型 模型", 9, ["模型 模型"]),
        ("模型 模型", 8, ["模型", "模型"]),
    ],
)
def test_lines_are_broken_between_words_or_within_what_is_longer(
    text: str, width: int, expected: list[str]
) -> None:
    assert list(section_lines([text], [], width, None)) == expected
    # Sentences are indented.
    section = Section("h", [text])
    assert list(section_lines([], [section], width + 2, None)) == [
        "",
        "h",
        *(f"  {line}" for line in expected),
    ]


def test_rows_of_a_thousandth_of_the_largest_are_large() -> None:
    rows: list[tuple[str, ...]] = [("1000 KiB",), ("1.00 KiB",), ("1023 B",), ("? B",)]
    assert _large_rows(ReportTable("", ("bytes",), 1, rows)) == [rows[0], rows[1], rows[3]]
    assert _large_rows(ReportTable("", ("size",), 1, rows)) == rows
