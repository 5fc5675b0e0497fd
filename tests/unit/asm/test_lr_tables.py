"""LALR tables are cached, but only in a directory that no other user can write to."""

import os
from pathlib import Path

import pytest

from sdyopt.mlir.asm.parser.attributes import lr_parser
from sdyopt.mlir.asm.parser.attributes.lr_parser import Tables, build_tables, load_tables, write_tables


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(lr_parser, "SHIPPED", tmp_path / "none.json")
    monkeypatch.setattr(lr_parser, "load_tables", load_tables.__wrapped__)
    return tmp_path / "sdyopt"


def test_tables_are_deterministic(home: Path) -> None:
    assert build_tables() == build_tables()


def test_cached_tables_are_the_built_ones(home: Path) -> None:
    built = lr_parser.load_tables()
    (file,) = home.iterdir()
    assert file.name == f"attribute-tables-{built.key}.json"
    assert home.stat().st_mode & 0o077 == 0
    assert lr_parser.load_tables() == built


def test_cached_tables_are_not_rebuilt(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = lr_parser.load_tables()

    def fail(key: str = "") -> Tables:
        raise AssertionError(f"rebuilt {key}")

    monkeypatch.setattr(lr_parser, "build_tables", fail)
    assert lr_parser.load_tables() == built


@pytest.mark.parametrize("content", ["", "nonsense", "[]", '{"key": "other"}', "\\x80"])
def test_invalid_file_is_replaced(home: Path, content: str) -> None:
    built = lr_parser.load_tables()
    (file,) = home.iterdir()
    file.write_text(content)
    assert lr_parser.load_tables() == built
    assert file.read_text() != content


def test_damaged_tables_that_are_still_json_are_replaced(home: Path) -> None:
    built = lr_parser.load_tables()
    (file,) = home.iterdir()
    file.write_text(file.read_text().replace("expected", "rejected", 1))
    assert lr_parser.load_tables() == built


def test_a_pipe_in_place_of_the_file_is_replaced(home: Path) -> None:
    built = lr_parser.load_tables()
    (file,) = home.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert lr_parser.load_tables() == built


def test_directory_that_others_can_write_to_is_not_used(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    lr_parser.load_tables()
    assert not list(home.iterdir())


def test_symlink_is_not_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    home.symlink_to(tmp_path / "elsewhere")
    lr_parser.load_tables()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_without_a_cache_directory_tables_are_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    monkeypatch.setattr(lr_parser, "SHIPPED", tmp_path / "none.json")
    assert load_tables.__wrapped__() == build_tables()
    write_tables(build_tables(), tmp_path / "no directory" / "file")


def test_empty_tables_are_replaced(home: Path) -> None:
    built = lr_parser.load_tables()
    [file] = home.rglob("attribute-tables-*.json")
    write_tables(Tables(built.key, {}, [], [], [], [], [], []), file)
    assert lr_parser.load_tables() == built
