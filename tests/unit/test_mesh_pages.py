"""The pages of the mesh dialect are generated from its operations and passes."""

import pytest

from docs.mesh_pages import FOLDER, pages

pytestmark = pytest.mark.sources


def test_pages_are_up_to_date() -> None:
    made = pages()
    assert {path: (FOLDER / path).read_text(encoding="utf-8") for path in made} == made


def test_there_are_no_other_pages() -> None:
    found = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.md")}
    assert found == set(pages())
