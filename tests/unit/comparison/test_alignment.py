"""Alignment: pairs of indices, by the most specific tokens first."""

from __future__ import annotations

import time

from sdyopt.analysis.comparison.matching import align, pair_anywhere


def pairs(before: str, after: str) -> list[tuple[int, int]]:
    """The alignment of two words, letter by letter."""
    return align([(letter,) for letter in before], [(letter,) for letter in after])


def test_equal_sequences() -> None:
    assert pairs("abc", "abc") == [(0, 0), (1, 1), (2, 2)]
    assert pairs("aaa", "aaa") == [(0, 0), (1, 1), (2, 2)]
    assert pairs("", "abc") == pairs("abc", "") == []


def test_inserted_and_removed_elements() -> None:
    assert pairs("abc", "axbc") == [(0, 0), (1, 2), (2, 3)]
    assert pairs("abc", "ac") == [(0, 0), (2, 1)]


def test_letters_that_repeat_are_aligned_between_unique_ones() -> None:
    # `u` is unique; a longest common subsequence aligns the rest.
    assert pairs("xyxuyy", "yxuyxy") == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 5)]


def test_order_is_kept() -> None:
    """An element that moved over others has no counterpart here."""
    assert pairs("abcd", "bcda") == [(1, 0), (2, 1), (3, 2)]


def test_specific_tokens_decide_first() -> None:
    """All are `add`; the names tell which one is new."""
    before = [("first", "add"), ("last", "add")]
    after = [("new", "add"), ("first", "add"), ("last", "add")]
    assert align(before, after) == [(0, 1), (1, 2)]


def test_general_tokens_pair_what_is_left() -> None:
    """The second element has another name, but is the same kind of operation."""
    before = [("a", "add"), ("b", "mul"), ("c", "add")]
    after = [("a", "add"), ("renamed", "mul"), ("c", "add")]
    assert align(before, after) == [(0, 0), (1, 1), (2, 2)]


def test_none_matches_nothing() -> None:
    assert align([(None, "x")], [(None, "y")]) == []
    assert align([(None, "x")], [(None, "x")]) == [(0, 0)]


def test_elements_in_another_order() -> None:
    before, after = [("a", 1), ("b", 1), ("c", 2)], [("c", 2), ("d", 1), ("a", 1)]
    assert sorted(pair_anywhere(before, after, 1)) == [(0, 2), (2, 0)]
    # By the second token, too, `b` and `d` are a pair.
    assert sorted(pair_anywhere(before, after, 2)) == [(0, 2), (1, 1), (2, 0)]
    assert pair_anywhere(before, after, 2, [(0, 2), (1, 1)]) == [(2, 0)]


def test_long_sequences_take_linear_time() -> None:
    """Two labels in a random order that differ: nothing is unique, and the sequences are long."""
    state, letters = 1, []
    for _ in range(40_000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        letters.append((state >> 16 & 1,))
    start = time.perf_counter()
    assert len(align(letters, [*letters[20_000:], *letters[:20_000]])) < 40_000
    assert len(align(letters, letters)) == 40_000
    assert time.perf_counter() - start < 10
