"""Warnings for flags that have no effect, because another flag is missing."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import FLAG_WITHOUT_EFFECT
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.flags import FLAGS


def flag_warnings(arguments: Arguments) -> Iterator[Diagnostic]:
    """A warning for each flag without effect."""
    for flag in FLAGS.values():
        if (
            flag.needs
            and flag.name in arguments.values
            and arguments[flag.name] != flag.default
            and not any(arguments[other] for other in flag.needs)
        ):
            yield flag_warning(f"the --{flag.name} option has no effect", f"add --{flag.needs[0]}")


def flag_warning(message: str, help: str) -> Diagnostic:
    """A warning about a flag without effect."""
    return Diagnostic(Severity.WARNING, UnknownLoc(), message, help=help, id=FLAG_WITHOUT_EFFECT)
