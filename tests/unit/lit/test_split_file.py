"""Splitting files into parts."""

import pytest

from sdyopt.tools.lit.split_file import split


def test_each_marker_starts_a_part() -> None:
    text = "// RUN: x\n//--- a.mlir\nmodule {}\n\n//--- folder/b.txt\n#--- c\n"
    assert split(text) == {"a.mlir": "module {}\n\n", "folder/b.txt": "", "c": ""}


def test_split_markers_of_the_driver_are_text() -> None:
    assert split("//--- a\n// -----\n") == {"a": "// -----\n"}


@pytest.mark.parametrize("text", ["", "module {}", "//--- a\n//--- a\n"])
def test_a_text_without_parts_or_with_equal_names_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"named a|no `//--- NAME`"):
        split(text)


@pytest.mark.parametrize("name", ["/etc/hosts", "../a", "a/../../b"])
def test_parts_outside_of_the_folder_are_errors(name: str) -> None:
    with pytest.raises(ValueError, match=f"the part {name} is outside of the folder"):
        split(f"//--- {name}\n")
