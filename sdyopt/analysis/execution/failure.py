"""Why a program was not validated."""

from __future__ import annotations


class NotValidated(Exception):
    """A program could not be compared with another one; the text is the reason."""


class NoJax(Exception):
    """The Python that executes programs cannot import jax; the text is the error, `help` what to install."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help
