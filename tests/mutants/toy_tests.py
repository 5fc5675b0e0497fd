"""Tests that end in different ways; pytest does not collect them, because of the name of this file."""

import os


def test_passes() -> None:
    assert True


def test_fails() -> None:
    raise AssertionError


def test_ends_the_process() -> None:
    os._exit(0)


def test_hangs() -> None:
    while True:
        pass
