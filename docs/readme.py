"""Writes the README's table of passes: `make docs`, at the root of the checkout."""

from pathlib import Path

from sdyopt.cli.help import passes_markdown

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- passes: written by `make docs` -->\n", "<!-- end of passes -->\n"


def with_table(readme: str) -> str:
    """The text of a README with the current table of passes between its markers."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{passes_markdown()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
