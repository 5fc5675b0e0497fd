"""Help, manuals, lists of passes, and shell completion, formatted by click."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.shell_completion import CompletionItem

from sdyopt.cli.flags import FLAGS, GROUPS, Flag
from sdyopt.pipeline.option import Option
from sdyopt.registry import PassEntry, PipelineEntry, all_passes, lookup

Entry = PassEntry | PipelineEntry

PROGRAM = "sdy-opt"
DESCRIPTION = """\
Parses an MLIR module, runs passes on it in the order of their flags, and prints it.

Flags start with one dash or two. Pass options follow the flag: -NAME=a=1, or -NAME='a=1 b=2' for several.
INPUT is a file, or - for stdin (default: -).
"""
EXIT_CODES = "Exit codes: 0: success; 1: invalid input; 2: usage error."


def command() -> click.Command:
    """The click command, for help and completion only; `cli.arguments` parses the arguments."""
    entries = all_passes()
    parameters: list[click.Parameter] = [_flag_option(flag) for flag in FLAGS.values() if flag.name != "help"]
    parameters += [_pass_option(entry) for entry in entries]
    parameters.append(click.Argument(["input"], required=False, type=click.Path()))
    return _Command(PROGRAM, params=parameters, help=DESCRIPTION, epilog=EXIT_CODES)


def help_text() -> str:
    """The output of --help."""
    context = click.Context(command(), info_name=PROGRAM, max_content_width=100)
    return context.get_help() + "\n"


class _Command(click.Command):
    """Help by groups, with pass options; completion of flags with one dash or two."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        name = incomplete.lstrip("-")
        dashes = incomplete.removesuffix(name)
        if not dashes:
            return []
        helps = {flag.name: flag.help for flag in FLAGS.values()}
        helps |= {entry.flag: purpose(entry) for entry in all_passes()}
        return [
            CompletionItem(dashes + flag, help=help) for flag, help in helps.items() if flag.startswith(name)
        ]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for group in GROUPS:
            flags = [flag for flag in FLAGS.values() if flag.group == group]
            with formatter.section(group):
                formatter.write_dl([(_spelling(flag), flag.help + _default(flag)) for flag in flags])
        entries = all_passes()
        for title, kind in (("Passes", PassEntry), ("Pipelines", PipelineEntry)):
            rows = [row for entry in entries if isinstance(entry, kind) for row in _rows(entry)]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _dashes(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _spelling(flag: Flag) -> str:
    if not flag.placeholder:
        return _dashes(flag.name) + ("[=false]" if flag.default else "")
    if flag.implied is not None:
        return f"{_dashes(flag.name)}[={flag.placeholder}]"
    return (
        f"{_dashes(flag.name)}={flag.placeholder}"
        if len(flag.name) > 1
        else f"-{flag.name} {flag.placeholder}"
    )


def _default(flag: Flag) -> str:
    if flag.kind is bool:
        return " (default: true)" if flag.default else ""
    return f" (default: {flag.default})" if flag.default and flag.implied is None else ""


def _rows(entry: Entry) -> Iterator[tuple[str, str]]:
    yield f"-{entry.flag}", purpose(entry)
    for option in entry.options():
        yield (
            f"    {option.flag}={_placeholder(option)}",
            option.help.removesuffix(".") + _option_default(option),
        )


def _placeholder(option: Option) -> str:
    return f"{option.kind.placeholder},…" if option.is_list else option.kind.placeholder


def _option_default(option: Option) -> str:
    default = option.write(option.default).partition("=")[2]
    return f" (default: {default})" if default else ""


# --- Completion -----------------------------------------------------------------------


def _flag_option(flag: Flag) -> click.Option:
    names = [_dashes(flag.name), flag.name.replace("-", "_")]
    if not flag.placeholder:
        return click.Option(names, is_flag=True, help=flag.help)
    kind = click.Choice(flag.choices) if flag.choices else click.STRING
    if flag.implied is not None:
        return click.Option(names, is_flag=False, flag_value=flag.implied, type=kind, help=flag.help)
    return click.Option(
        names,
        type=kind,
        help=flag.help,
        metavar=flag.placeholder,
        multiple=flag.is_list,
        shell_complete=_complete_passes if flag.placeholder.startswith("PASS") else None,
    )


def _pass_option(entry: Entry) -> click.Option:
    name = f"pass_{entry.flag.replace('-', '_')}"
    return click.Option([f"--{entry.flag}", name], is_flag=False, flag_value="", help=purpose(entry))


def _complete_passes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    entries = [entry for entry in all_passes() if entry.flag.startswith(incomplete)]
    return [CompletionItem(entry.flag, help=purpose(entry)) for entry in entries]


# --- Manuals and lists ----------------------------------------------------------------


def purpose(entry: Entry) -> str:
    """The summary of a pass or pipeline: the first line of its manual, without the flag and the full stop."""
    first = entry.manual.partition("\n")[0]
    return first.removeprefix(f"{entry.flag}: ").removesuffix(".")


def manual_text(flag: str) -> str:
    """The manual of a pass or pipeline with its options. The flag may start with dashes."""
    entry = lookup(flag.lstrip("-"))
    text = f"{entry.manual.rstrip()}\n"
    if isinstance(entry, PassEntry):
        text += f"\nRuns on {entry.pass_class.anchor or 'any operation'}.\n"
    rows = list(_rows(entry))[1:]
    if not rows:
        return text
    formatter = click.HelpFormatter(max_width=100)
    with formatter.section("Options"):
        formatter.write_dl([(name.strip(), help) for name, help in rows])
    return f"{text}\n{formatter.getvalue()}"


def passes_text() -> str:
    """All passes and pipelines with their options, as text."""
    formatter = click.HelpFormatter(max_width=100)
    entries = all_passes()
    for title, kind in (("Passes", PassEntry), ("Pass Pipelines", PipelineEntry)):
        rows = [row for entry in entries if isinstance(entry, kind) for row in _rows(entry)]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
    return formatter.getvalue().lstrip("\n")


def passes_markdown() -> str:
    """All passes and pipelines as a Markdown table."""
    lines = ["| flag | runs on | what it does |", "|---|---|---|"]
    for entry in all_passes():
        runs_on = entry.pass_class.anchor or "any operation" if isinstance(entry, PassEntry) else "a pipeline"
        lines.append(f"| `-{entry.flag}` | {runs_on} | {purpose(entry).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"
