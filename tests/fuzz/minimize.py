"""Makes an input with a problem small: drops flags, then lines, then tokens, while the problem stays."""

from collections.abc import Callable, Sequence
from functools import partial

from sdyopt.analysis.execution.reduction.analysis import smallest
from tests.fuzz.inputs import Input
from tests.fuzz.mutation import lines, tokens

MOST_RUNS = 400


def minimize(input: Input, has_problem: Callable[[Input], bool], most_runs: int = MOST_RUNS) -> Input:
    """A smaller input with the same problem, after at most this many runs."""
    runs = 0

    def is_kept(candidate: Input) -> bool:
        nonlocal runs
        runs += 1
        return runs <= most_runs and has_problem(candidate)

    input = input.with_flags(smallest(input.flags, lambda flags: is_kept(input.with_flags(flags))))
    for split in (lines, tokens):
        input = input.with_text(b"".join(smallest(split(input.text), partial(_is_kept_text, input, is_kept))))
    return input


def _is_kept_text(input: Input, is_kept: Callable[[Input], bool], pieces: Sequence[bytes]) -> bool:
    return is_kept(input.with_text(b"".join(pieces)))
