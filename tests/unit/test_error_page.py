"""docs/errors.md shows the outputs in tests/unit/mistakes."""

import pytest

from docs.errors import PAGE, page

pytestmark = pytest.mark.sources


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
