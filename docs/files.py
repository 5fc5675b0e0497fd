"""Writes the list of files, docs/files.md: `make docs`, at the root of the checkout."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

PAGE = Path(__file__).with_name("files.md")
START, END = (
    "<!-- files: written by `make docs` from the first line of each file -->\n",
    "<!-- end of files -->\n",
)
STOREYS = ("base", "mlir", "shardy", "analysis", "tools")
# Their files are found by name: passes, and lint rules, which have pages of their own.
NAMED_ALIKE = ("lint/rules",)


def with_files(text: str) -> str:
    """The text of the page with the current list between its markers."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    storeys = [_storey(f"sdyopt/{each}", Path("sdyopt", each)) for each in STOREYS]
    return "\n".join([before + START, *storeys, _helpers_of_passes(), END + after])


def _storey(title: str, root: Path) -> str:
    files = [each for each in _sources(root) if not each.parent.as_posix().endswith(NAMED_ALIKE)]
    return _details(title, files, root)


def _helpers_of_passes() -> str:
    """The files that several passes share. A pass is a file directly in `passes/*/`."""
    root = Path("passes")
    return _details("helpers in passes/", [each for each in _sources(root) if len(each.parts) > 3], root)


def _sources(root: Path) -> list[Path]:
    files = [each for each in root.rglob("*.py") if each.name not in {"__init__.py", "__main__.py"}]
    return sorted(files, key=lambda each: (each.parent, each.name))


def _details(title: str, files: list[Path], root: Path) -> str:
    parts = [f"<details><summary>{title}</summary>\n"]
    for folder, group in groupby(files, key=lambda each: each.parent):
        parts.append(f"`{folder.relative_to(root).as_posix()}/`\n" if folder != root else "")
        parts += [f"- `{each.name}`: {_sentence(each)}" for each in group]
        parts.append("")
    return "\n".join([*parts, "</details>\n"])


def _sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".:")


if __name__ == "__main__":
    PAGE.write_text(with_files(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
