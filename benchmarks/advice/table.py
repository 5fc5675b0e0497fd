"""Tables in pages, between comments that name them: <!-- planted --> … <!-- end -->."""

from __future__ import annotations

from pathlib import Path


def write_table(page: Path, name: str, text: str) -> None:
    """Writes a text between the comments of this name."""
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    page.write_text(f"{before}<!-- {name} -->\n\n{text}\n\n<!-- end -->\n{after}", encoding="utf-8")
