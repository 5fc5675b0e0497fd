"""docs/errors.md shows the outputs in tests/unit/mistakes."""

from docs.errors import PAGE, page


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
