"""Makes an input with a problem small: drops flags, then lines, then tokens, while the problem stays."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from tests.fuzz.inputs import Input
from tests.fuzz.mutation import lines, tokens

MOST_RUNS = 400

T = TypeVar("T")


def minimize(input: Input, has_problem: Callable[[Input], bool], most_runs: int = MOST_RUNS) -> Input:
    """A smaller input with the same problem, after at most this many runs."""
    runs = 0

    def is_kept(candidate: Input) -> bool:
        nonlocal runs
        runs += 1
        return runs <= most_runs and has_problem(candidate)

    input = input.with_flags(_without(input.flags, lambda flags: is_kept(input.with_flags(flags))))
    for split in (lines, tokens):
        input = input.with_text(b"".join(_without(split(input.text), partial(_is_kept_text, input, is_kept))))
    return input


def _is_kept_text(input: Input, is_kept: Callable[[Input], bool], pieces: Sequence[bytes]) -> bool:
    return is_kept(input.with_text(b"".join(pieces)))


def _without(pieces: Sequence[T], is_kept: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """The pieces that are needed: drops halves, then quarters, and so on to single pieces."""
    size = max(len(pieces) // 2, 1)
    while pieces:
        start = 0
        while start < len(pieces):
            candidate = [*pieces[:start], *pieces[start + size :]]
            if is_kept(candidate):
                pieces = candidate
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return pieces
