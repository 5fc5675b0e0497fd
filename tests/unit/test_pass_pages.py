"""The page of passes is generated from their manuals."""

import pytest

from docs.passes import PAGE, page
from sdyopt.mlir.registry import all_passes

pytestmark = pytest.mark.sources


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make docs"


def test_every_pass_and_option_is_on_the_page() -> None:
    text = page()
    for entry in all_passes():
        assert text.count(f"\n## -{entry.flag}\n") == 1
        section = text.partition(f"\n## -{entry.flag}\n")[2].partition("\n## ")[0]
        assert [option.flag for option in entry.options() if f"| `{option.flag}` |" not in section] == []


def test_programs_are_fenced() -> None:
    assert page().count("\n```mlir\n") == page().count("\n```\n") > 10
