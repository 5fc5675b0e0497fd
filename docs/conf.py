"""How Sphinx makes a site of the pages as they are in the checkout: `make site`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sdyopt

project = "sdy-opt"
copyright = "the authors of sdy-opt"
version = release = sdyopt.__version__
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "examples/**.md", "benchmarks/**.md"]
html_theme = "furo"
html_title = "sdy-opt"
html_extra_path = ["../build/site-extra"]  # has docs/images and the page of the example
html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "monokai"
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence"]
# `console` and `mlir` are words for the reader; no lexer knows the syntax of MLIR.
suppress_warnings = ["misc.highlighting_failure"]

ROOT = Path(__file__).parents[1]
_EXAMPLE = "examples/transformer_train.html"
# Pages that docs/README.md does not list.
_FURTHER = (
    "docs/README", "examples/README", "examples/ci/README", "benchmarks/speed", "benchmarks/growth",
    "CONTRIBUTING", "SECURITY", "CHANGELOG",
)  # fmt: skip
_LINK = re.compile(r"(?<!!)\[([^][]+)\]\((?!\w+:|#)([^)#]+)[^)]*\)")


def _tree(names: Iterable[str], caption: str = "") -> str:
    """A tree of contents, of pages by their paths from the root."""
    head = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    return "\n".join([*head, *(f"/{name}" for name in names), "```", ""])


def _contents() -> Iterator[str]:
    """The trees of the pages in the tables of docs/README.md, whose first cells are the captions."""
    listed = {"README"}
    for table in (ROOT / "docs/README.md").read_text(encoding="utf-8").split("\n\n"):
        if heading := re.match(r"\| (.*?)(?:, to)? \| read \|", table):
            pages = [(ROOT / "docs" / target).resolve() for _, target in _LINK.findall(table)]
            names = dict.fromkeys(page.relative_to(ROOT).with_suffix("").as_posix() for page in pages)
            yield _tree((name for name in names if name not in listed), heading[1].capitalize())
            listed.update(names)
    yield _tree(_FURTHER, "Further pages")


def _prepare(app: Any, page: str, source: list[str]) -> None:
    """Adds the trees to the first page, and to the index of a folder its pages; keeps the text of links to
    folders and to what is outside of the checkout.
    """
    folder = (ROOT / page).parent

    def text_or_link(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        return match[1] if target.is_dir() or not target.is_relative_to(ROOT) else match[0]

    source[0] = _LINK.sub(text_or_link, source[0])
    if page == root_doc:
        example = f'<p><a href="{_EXAMPLE}">The page of this program</a></p>'
        source[0] += "\n".join(["", example, "", *_contents()])
    elif page.endswith("/index"):
        pages = sorted(path for path in folder.rglob("*.md") if path.name != "index.md")
        source[0] += "\n" + _tree(path.relative_to(ROOT).with_suffix("").as_posix() for path in pages)


def setup(app: Any) -> None:
    app.connect("source-read", _prepare)
