"""Converts manuals to Markdown."""

from __future__ import annotations

from sdyopt.cli.help import purpose
from sdyopt.pipeline.option import Option
from sdyopt.registry import PassEntry, PipelineEntry

Entry = PassEntry | PipelineEntry


def manual(entry: Entry) -> str:
    """The manual and the options of a pass or pipeline, without a title."""
    summary, rest = purpose(entry), entry.manual.partition("\n")[2]
    return "\n\n".join(
        filter(None, (summary[:1].upper() + summary[1:] + ".", prose(rest.strip("\n")), _options(entry)))
    )


def _options(entry: Entry) -> str:
    if not entry.options():
        return ""
    rows = [f"| `{option.flag}` | {_default(option)} | {option.help} |" for option in entry.options()]
    return "\n".join(["| option | default | effect |", "|---|---|---|", *rows])


def _default(option: Option) -> str:
    text = option.write(option.default).partition("=")[2]
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Converts a docstring; indented lines become code blocks."""
    blocks: list[str] = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if any(line.startswith(" ") for line in lines):
            blocks.append(_with_programs(lines))
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def _with_programs(lines: list[str]) -> str:
    """Converts the lines of a paragraph; indented ones become code blocks."""
    output: list[str] = []
    in_program = False
    for line in lines:
        is_program = line.startswith(" ")
        if is_program != in_program:
            output += ["```mlir"] if is_program else ["```", ""]
            if is_program and len(output) > 1 and output[-2]:
                output.insert(-1, "")
            in_program = is_program
        output.append(line.removeprefix("    "))
    if in_program:
        output.append("```")
    return "\n".join(output)
