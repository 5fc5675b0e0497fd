"""split-file, run as cases run it."""

import pytest

from tests.harness.split_file import split


def test_parts_by_name() -> None:
    text = "// RUN: x\n//--- a.mlir\nmodule {}\n\n//--- folder/b.txt\n#--- c\n"
    assert split(text) == {"a.mlir": "module {}\n\n", "folder/b.txt": "", "c": ""}


def test_a_split_marker_of_the_driver_is_no_part() -> None:
    assert split("//--- a\n// -----\n") == {"a": "// -----\n"}


@pytest.mark.parametrize("text", ["", "module {}", "//--- a\n//--- a\n"])
def test_what_cannot_be_split(text: str) -> None:
    with pytest.raises(ValueError, match=r"named a|no `//--- NAME`"):
        split(text)
