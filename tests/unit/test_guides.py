"""The code blocks of the guides in docs/: files, commands and what they print."""

from pathlib import Path

import pytest

from tests.harness.pages import BLOCK, FOLLOW, ROOT, Block, Folder, blocks_of

pytestmark = pytest.mark.sources

GUIDES = [
    *("docs/from-jax.md", "docs/from-mlir-opt.md", "docs/ci.md"),
    *("docs/comparing.md", "docs/explain.md", "docs/reducing.md", "docs/writing-a-dialect.md"),
]
# Guides whose blocks are the files of a recipe, which tests/unit/test_recipes.py follows.
RECIPES = [
    f"docs/{name}.md" for name in ("writing-a-pass", "writing-an-operation", "writing-an-analysis", "recipes")
]


@pytest.mark.parametrize("page", GUIDES)
def test_blocks_without_jax(page: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for block in blocks_of(page):
        if block.kind != "jax":
            folder.follow(block)


@pytest.mark.reference
@pytest.mark.parametrize("page", ["docs/from-jax.md"])
def test_blocks_with_jax(page: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    needing_jax = [block for block in blocks_of(page) if block.kind in ("jax", "copy")]
    assert len(needing_jax) > 1
    for block in needing_jax:
        folder.follow(block)


@pytest.mark.parametrize("page", GUIDES)
def test_every_block_has_a_known_kind(page: str) -> None:
    blocks = blocks_of(page)
    assert blocks
    assert [block for block in blocks if block.kind not in FOLLOW] == []
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * sum(block.kind != "copy" for block in blocks)
    prose = BLOCK.sub("", text)
    assert "\n\n    " not in prose, "an indented block is not tested; write a fenced one"


@pytest.mark.parametrize("page", [*GUIDES, *RECIPES])
def test_lines_of_blocks_have_at_most_120_characters(page: str) -> None:
    """Web pages wrap prose, but a block with longer lines must be scrolled."""
    long = [line for block in blocks_of(page) for line in block.text.splitlines() if len(line) > 120]
    assert long == []


def test_right_blocks_pass_and_wrong_ones_fail(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.follow(Block(1, "run", "", "$ echo one two\none …\n$ printf 'a\\nb\\nc\\n'\na\n…\nc\n"))
    folder.follow(Block(1, "run, exit", "3", "$ exit 3\n"))
    for block in (
        Block(1, "run", "", "$ echo one\ntwo\n"),
        Block(1, "run", "", "$ echo one\n"),
        Block(1, "run", "", "$ exit 3\n"),
        Block(1, "run, exit", "3", "$ true\n"),
        Block(1, "part of", "README.md", "no such line\n"),
    ):
        with pytest.raises(AssertionError):
            folder.follow(block)
