"""Errors that are declared once: their wording, what they underline, and their help.

    UNKNOWN_AXIS = ErrorKind('unknown axis name: "{axis}"', at='value > text "{axis}"', explain="axis")

    raise op.op_error(UNKNOWN_AXIS(axis=name))

A `Message` is the text of an error, with its kind. It is returned, cached and printed as any text, and keeps
its kind if text is put before it: `prefix + message`. What it underlines, and its help, are worked out only
when a person sees the error (`mlir/error_help/explainer.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ErrorKind:
    """An error: a message for each set of values.

    `wording`, `help` and `at` are templates in the syntax of `str.format`. `at` has the steps to what is
    wrong in the statement (`steps_of` in `mlir/error_help/table.py`). If help depends on more than the
    values, `explain` names the function of `mlir/error_help` that gives it.
    """

    __slots__ = ("at", "explain", "help", "wording")

    def __init__(self, wording: str, *, at: str = "", help: str = "", explain: str = "") -> None:
        self.wording, self.at, self.help, self.explain = wording, at, help, explain

    def __call__(self, **values: object) -> Message:
        return Message(self.wording.format_map(values)).of(self, values)


class Message(str):
    """The text of an error of a kind, and the values in it."""

    kind: ErrorKind
    values: Mapping[str, Any]

    def of(self, kind: ErrorKind, values: Mapping[str, object]) -> Message:
        """This text, as that of a kind."""
        self.kind, self.values = kind, values
        return self

    def __radd__(self, prefix: str) -> Message:
        return Message(f"{prefix}{self}").of(self.kind, self.values)


def about(message: str, **values: object) -> Message:
    """A message with more values, such as those that say which operand it is about: `side` and `index`."""
    if not isinstance(message, Message):
        return Message(message).of(_PLAIN, values)
    return Message(message).of(message.kind, {**message.values, **values})


_PLAIN = ErrorKind("")


def is_kind(message: str, kind: ErrorKind) -> bool:
    """Whether a text is the message of an error of this kind."""
    return isinstance(message, Message) and message.kind is kind
