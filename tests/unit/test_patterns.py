"""Patterns whose compiled form is kept between runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sdyopt.base import patterns

TEXTS = [
    (r"(?P<word>[a-z]++)\s*(\d+)?", 0),
    (r"é|\u00e9(?i:x)", re.ASCII),
    (r'"(?:[^"\\]|\\.)*+"', re.DOTALL),
    (r"a(?=b)(?!c)(?<!d)\b", re.VERBOSE | re.MULTILINE),
]


def reload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_stored", None)
    monkeypatch.setattr(patterns, "_new", set())


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reload(monkeypatch)
    return tmp_path / "sdyopt"


def stored_file(cache: Path) -> Path:
    [file] = cache.glob("patterns-*")
    return file


def test_a_stored_pattern_is_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, flags in TEXTS:
        assert patterns.constant_pattern(text, flags) is re.compile(text, flags)
    patterns.keep_patterns()
    reload(monkeypatch)
    monkeypatch.setattr(re, "compile", None)
    for text, flags in TEXTS:
        stored = patterns.constant_pattern(text, flags)
        monkeypatch.undo()
        compiled = re.compile(text, flags)
        assert stored == compiled
        assert (stored.groups, dict(stored.groupindex)) == (compiled.groups, dict(compiled.groupindex))
        for subject in ("word 12", "é", '"a\\"b"', "ab", ""):
            found, expected = stored.search(subject), compiled.search(subject)
            assert (found and (found.span(), found.groups(), found.lastgroup)) == (
                expected and (expected.span(), expected.groups(), expected.lastgroup)
            )


@pytest.mark.parametrize("damage", ["", "x", "null\n{}\n"])
def test_a_damaged_file_is_written_again(monkeypatch: pytest.MonkeyPatch, cache: Path, damage: str) -> None:
    patterns.constant_pattern("a+")
    patterns.keep_patterns()
    whole = stored_file(cache).read_text()
    stored_file(cache).write_text(damage)
    reload(monkeypatch)
    assert patterns.constant_pattern("a+").fullmatch("aaa")
    patterns.keep_patterns()
    assert stored_file(cache).read_text() == whole


def test_a_pipe_in_the_cache_is_replaced(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Writing to it would wait for a reader."""
    patterns.constant_pattern("a+")
    patterns.keep_patterns()
    file = stored_file(cache)
    file.unlink()
    os.mkfifo(file)
    reload(monkeypatch)
    patterns.constant_pattern("a+")
    patterns.keep_patterns()
    assert file.is_file()


def test_invalid_code_is_compiled_again(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    patterns.constant_pattern("a+")
    patterns.keep_patterns()
    content = stored_file(cache).read_text().partition("\n")[2].strip().replace("0 a+\x1f", "0 b+\x1f")
    content = re.sub(r"[A-Za-z0-9+/=]{12,}", "AAAAAAAA", content)
    stored_file(cache).write_text(f"{patterns._checksum(content)}\n{content}\n")
    reload(monkeypatch)
    assert patterns.constant_pattern("b+").fullmatch("bbb")


def test_nothing_is_written_without_new_patterns(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    patterns.keep_patterns()
    assert not list(cache.glob("patterns-*"))
