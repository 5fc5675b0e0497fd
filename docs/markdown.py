"""Manuals as Markdown."""

from __future__ import annotations

from sdyopt.cli.help import purpose
from sdyopt.pipeline.option import Option
from sdyopt.registry import PassEntry, PipelineEntry

Entry = PassEntry | PipelineEntry


def manual(entry: Entry) -> str:
    """What a pass does, and its options, without a title."""
    said, rest = purpose(entry), entry.manual.partition("\n")[2]
    return "\n\n".join(
        filter(None, (said[:1].upper() + said[1:] + ".", prose(rest.strip("\n")), _options(entry)))
    )


def _options(entry: Entry) -> str:
    if not entry.options():
        return ""
    rows = [f"| `{option.flag}` | {_default(option)} | {option.help} |" for option in entry.options()]
    return "\n".join(["| option | default | what |", "|---|---|---|", *rows])


def _default(option: Option) -> str:
    text = option.write(option.default).partition("=")[2]
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Docstrings are text; what is indented in them is programs."""
    blocks: list[str] = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if any(line.startswith(" ") for line in lines):
            blocks.append(_with_programs(lines))
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def _with_programs(lines: list[str]) -> str:
    """Indented lines as a program, the others as text between programs."""
    made: list[str] = []
    is_inside = False
    for line in lines:
        is_program = line.startswith(" ")
        if is_program != is_inside:
            made += ["```mlir"] if is_program else ["```", ""]
            if is_program and len(made) > 1 and made[-2]:
                made.insert(-1, "")
            is_inside = is_program
        made.append(line.removeprefix("    "))
    if is_inside:
        made.append("```")
    return "\n".join(made)
