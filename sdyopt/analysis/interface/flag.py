"""The flags of the command line: how one is declared, and in which group help lists it.

An analysis declares its flags as the fields of its `Options`, and the command line has a table of all others.
This module imports next to nothing, because every run reads flags.
"""

from __future__ import annotations

from typing import Any, Final

from sdyopt.base.dataclasses import NamedTuple, field

GENERAL: Final = "General"
PIPELINE: Final = "Pipeline"
PRINTING: Final = "Printing"
INSTRUMENTATION: Final = "Pass instrumentation"
DIAGNOSTICS: Final = "Diagnostics"
REPORTS: Final = "Reports"
SHARDINGS: Final = "Shardings"
VALIDATION: Final = "Validation"
INFORMATION: Final = "Information"

GROUPS = (
    *(GENERAL, PIPELINE, DIAGNOSTICS, PRINTING, INSTRUMENTATION, REPORTS, SHARDINGS, VALIDATION),
    INFORMATION,
)

# The name of stdin as an input and of stdout as an output.
STDIN = STDOUT = "-"


class TextFile(NamedTuple):
    """The name and the text of a file that a flag names."""

    name: str
    text: str


class Writes(NamedTuple):
    """The output that a flag writes to its file.

    `content` is a noun with its article, `is_plural` its number. An empty name of a file is an error with
    `example` as help; without an example, it stands for no file. `takes_dash`: `-` is a stream. The input may
    be replaced if it has been read by then, as by the output of -o.
    """

    content: str
    example: str = ""
    is_plural: bool = False
    takes_dash: bool = False
    may_replace_input: bool = False


class Flag(NamedTuple):
    """A flag. Without a placeholder it is a boolean switch; otherwise it takes a value.

    `implied` is the value of a flag that is given without one; a value must then follow after `=`, so that
    a file name after the flag is not taken for its value. `kind` is the type of the value; that of `TextFile`
    is the name of a file that is read. `is_list`: values are separated by commas, and the flag may be
    repeated. `repeats`: the flag may be repeated, but its values may contain commas. `is_signed`: a number
    may be negative. `minimum`: the least number that may be given.

    `needs`: the flag has no effect without one of these flags. `writes`: what it writes to its file. `reads`:
    its file is read. `is_common`: --help lists it.
    """

    name: str
    group: str
    help: str
    placeholder: str = ""
    default: bool | int | str | None = None
    implied: str | None = None
    kind: type[bool] | type[int] | type[str] = str
    choices: tuple[str, ...] = ()
    is_list: bool = False
    is_signed: bool = False
    repeats: bool = False
    minimum: int = 0
    needs: tuple[str, ...] = ()
    writes: Writes | None = None
    reads: bool = False
    is_common: bool = False


def flag(
    *,
    default: bool | int | str | tuple[str, ...] | None,
    help: str,
    placeholder: str = "",
    group: str = "",
    implied: str | None = None,
    choices: tuple[str, ...] = (),
    repeats: bool = False,
    minimum: int = 0,
    needs: tuple[str, ...] = (),
    writes: Writes | None = None,
    reads: bool = False,
    is_common: bool = False,
) -> Any:
    """Declares a flag as the value of a field of `Options`.

    The name of the field is that of the flag, its type that of the value. A tuple is a list separated by
    commas, or all values of a flag that `repeats`. The group is by default that of the options, the
    placeholder the list of choices.
    """
    declared = Flag(
        "",
        group,
        help,
        placeholder or "|".join(choices),
        None if isinstance(default, tuple) else default,
        implied,
        choices=choices,
        repeats=repeats,
        minimum=minimum,
        needs=needs,
        writes=writes,
        reads=reads,
        is_common=is_common,
    )
    return field(default=default, metadata={"flag": declared}, kw_only=True)
