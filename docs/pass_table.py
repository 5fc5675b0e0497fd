"""Writes the README's table of passes: `python -m docs.pass_table`, at the root of the checkout."""

from pathlib import Path

from sdyopt.registry import PassEntry, PipelineEntry, all_passes

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- passes: written by `python -m docs.pass_table` -->\n", "<!-- end of passes -->\n"


def with_table(readme: str) -> str:
    """The text of a README, with the passes that there are between its markers."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


def table() -> str:
    """All passes by folder; pipelines come last."""
    rows = sorted((_folder(entry), entry.flag, _purpose(entry)) for entry in all_passes())
    lines = [f"| `-{flag}` | {folder} | {purpose} |\n" for folder, flag, purpose in rows]
    return "".join(["| flag | kind | purpose |\n", "|---|---|---|\n", *lines])


def _folder(entry: PassEntry | PipelineEntry) -> str:
    """`exporting` for a pass in passes/exporting/."""
    return entry.module.split(".")[-2] if entry.is_single else "pipeline"


def _purpose(entry: PassEntry | PipelineEntry) -> str:
    """The first line of the manual, without the flag that it starts with."""
    first_line = entry.manual.partition("\n")[0]
    return first_line.removeprefix(f"{entry.flag}:").strip().replace("|", "\\|")


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
