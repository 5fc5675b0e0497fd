"""Inputs of the search, and what a source of inputs is.

An input is a program with flags, or one whose result is simulated or compared. A source makes the inputs of a
batch from its number, so that the same seed searches the same inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from tests.fuzz.batch import run_all, run_command
from tests.fuzz.contract import Outcome, problem_of


@dataclass(frozen=True)
class Input:
    """A program and its flags."""

    text: bytes
    flags: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line for the program."""
        return self.flags

    def run(self) -> Outcome:
        """Runs the input, in this process."""
        return run_command(self.text, self.flags)

    def with_flags(self, flags: Sequence[str]) -> Input:
        """The input with other flags."""
        return replace(self, flags=tuple(flags))

    def with_text(self, text: bytes) -> Input:
        """The input with another program."""
        return replace(self, text=text)


class Source:
    """Makes inputs, runs them, and takes the accepted ones back."""

    # The number of inputs in a batch.
    size: ClassVar[int] = 50

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        """The inputs of a batch."""
        raise NotImplementedError

    def run(self, inputs: Sequence[Input]) -> list[Outcome]:
        """The outcomes of inputs, in order."""
        return run_all([input.run for input in inputs])

    def problem(self, input: Input) -> str:
        """The signature of what an input violates; empty if it holds the contract."""
        return problem_of(self.run([input])[0])

    def details(self, input: Input) -> str:
        """The difference from the result of the reference, if there is one."""
        return ""

    def accept(self, random: Random, input: Input) -> None:
        """Takes an input that the command accepted."""

    def close(self) -> None:
        """Ends the processes that the source keeps."""
