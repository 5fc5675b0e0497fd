"""Help, manuals, lists of passes and lint rules, and shell completion, formatted by click."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size
from textwrap import fill

import click
from click.shell_completion import CompletionItem

from sdyopt.analysis.interface.flag import GROUPS, Flag
from sdyopt.base.diagnostics.usage import UsageError, nearest
from sdyopt.mlir.pipeline.base import Option
from sdyopt.mlir.registry import PassEntry, PipelineEntry, all_passes, lookup
from sdyopt.tools.cli.flags import FLAGS

Entry = PassEntry | PipelineEntry

PROGRAM = "sdy-opt"
DESCRIPTION = """\
Says what the shardings of a JAX program cost, with --check; else parses an MLIR module, runs passes in the
order of their flags, and prints it.

Flags start with one dash or two. Pass options follow the flag: -NAME=a=1, or -NAME='a=1 b=2' for several.
INPUT is a file, or - for stdin (default: -).
"""
MORE = """\
Passes are listed by --list-passes, all flags and options by --help-hidden.

"""
EXIT_CODES = "Exit codes: 0: success; 1: an error, or a failed check; 2: usage error."
# The columns for the names of passes in the short list. A few names are longer.
NAME_COLUMNS = 33
# The maximum width of help and manuals.
MAX_WIDTH = 100


def command() -> click.Command:
    """The click command, for shell completion only; `cli.arguments` parses the arguments."""
    entries = all_passes()
    parameters: list[click.Parameter] = [_flag_option(flag) for flag in FLAGS.values() if flag.name != "help"]
    parameters += [_pass_option(entry) for entry in entries]
    parameters.append(click.Argument(["input"], required=False, type=click.Path()))
    return _Command(PROGRAM, params=parameters, help=DESCRIPTION, epilog=EXIT_CODES)


def help_text(is_complete: bool = False) -> str:
    """The output of --help, or of --help-hidden with all flags, passes and options."""
    kind = _CompleteCommand if is_complete else _Command
    shown = kind(PROGRAM, help=DESCRIPTION, epilog=EXIT_CODES if is_complete else MORE + EXIT_CODES)
    shown.params.append(click.Argument(["input"], required=False))
    context = click.Context(shown, info_name=PROGRAM, max_content_width=MAX_WIDTH)
    return context.get_help() + "\n"


class _Command(click.Command):
    """Help with the common flags by group; completion of flags with one dash or two."""

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
        _write_flags(formatter, [flag for flag in FLAGS.values() if flag.is_common])


class _CompleteCommand(_Command):
    """Help with all flags, passes and options."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        _write_flags(formatter, list(FLAGS.values()))
        _write_passes(formatter)


def _write_flags(formatter: click.HelpFormatter, flags: Sequence[Flag]) -> None:
    for group in GROUPS:
        rows = [(_spelling(flag), flag.help + _default(flag)) for flag in flags if flag.group == group]
        if rows:
            with formatter.section(group):
                formatter.write_dl(rows)


def _write_passes(formatter: click.HelpFormatter) -> None:
    """Writes all passes and pipelines with their options."""
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
        default = option.write(option.default).partition("=")[2]
        option_default = f" (default: {default})" if default else ""
        yield (
            f"    {option.flag}={_placeholder(option)}",
            option.help.removesuffix(".") + option_default,
        )


def _placeholder(option: Option) -> str:
    return f"{option.kind.placeholder},…" if option.is_list else option.kind.placeholder


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
        multiple=flag.is_list or flag.repeats,
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
    formatter = click.HelpFormatter(max_width=MAX_WIDTH)
    text = f"{wrapped(entry.manual.rstrip(), formatter.width)}\n"
    if isinstance(entry, PassEntry):
        text += f"\nRuns on {entry.pass_class.anchor or 'any operation'}.\n"
    rows = list(_rows(entry))[1:]
    if not rows:
        return text
    with formatter.section("Options"):
        formatter.write_dl([(name.strip(), help) for name, help in rows])
    return f"{text}\n{formatter.getvalue()}"


def wrapped(text: str, width: int) -> str:
    """Wraps paragraphs that are too wide. Paragraphs with indented lines are code, and are kept."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(_wrapped_paragraph(paragraph, width) for paragraph in paragraphs)


def _wrapped_paragraph(text: str, width: int) -> str:
    lines = text.split("\n")
    is_prose = not any(line.startswith(" ") for line in lines)
    if not is_prose or max(map(len, lines)) <= width:
        return text
    return fill(text, width, break_long_words=False, break_on_hyphens=False)


def passes_short() -> str:
    """All passes and pipelines, one per line. On a terminal, long lines are cut off."""
    width = get_terminal_size().columns if stdout_is_terminal() else 0
    sections = []
    entries = all_passes()
    for title, kind in (("Passes", PassEntry), ("Pipelines", PipelineEntry)):
        rows = [(f"-{entry.flag}", purpose(entry)) for entry in entries if isinstance(entry, kind)]
        sections.append("\n".join([f"{title}:", *_lines(rows, width)]))
    footer = "Options are listed by --help-pass=NAME, and by --list-passes=full."
    return "\n\n".join([*sections, footer]) + "\n"


def _lines(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Two columns. A name that is too long for the first one moves its summary to the right."""
    for name, summary in rows:
        line = f"  {name:<{NAME_COLUMNS}}  {summary}"
        yield f"{line[: width - 1]}…" if 0 < width < len(line) else line


def stdout_is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def passes_full() -> str:
    """All passes and pipelines with their options, as text."""
    formatter = click.HelpFormatter(max_width=MAX_WIDTH)
    _write_passes(formatter)
    return formatter.getvalue().lstrip("\n")


def passes_markdown() -> str:
    """All passes and pipelines as a Markdown table."""
    lines = ["| flag | runs on | what it does |", "|---|---|---|"]
    for entry in all_passes():
        runs_on = entry.pass_class.anchor or "any operation" if isinstance(entry, PassEntry) else "a pipeline"
        lines.append(f"| `-{entry.flag}` | {runs_on} | {purpose(entry).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


# The texts of --list-passes, by its value.
PASS_LISTS = {"short": passes_short, "full": passes_full, "markdown": passes_markdown}


def lint_help(id: str) -> str:
    """The page of a rule, or the list of all rules if `id` is empty. Raises UsageError for an unknown one."""
    from sdyopt.analysis.lint.rule import all_rules, rule_ids

    formatter = click.HelpFormatter(max_width=MAX_WIDTH)
    if not id:
        with formatter.section("Lint rules"):
            formatter.write_dl([(rule.id, f"{rule.severity}: {rule.summary()}") for rule in all_rules()])
        return formatter.getvalue() + "\n  The page of a rule is printed by --help-lint=RULE.\n"
    rule = next((rule for rule in all_rules() if rule.id == id), None)
    if rule is None:
        raise UsageError(
            f"unknown lint rule '{id}'", nearest(id, rule_ids()) or "--help-lint lists the rules"
        )
    facts = [f"Severity: {rule.severity}. Looks at {rule.looks_at}."]
    facts += [f"Limit: {name} = {limit.default}: {limit.help}." for name, limit in rule.limits.items()]
    return "".join(f"{wrapped(text, formatter.width)}\n" for text in (rule.manual(), "", *facts))
