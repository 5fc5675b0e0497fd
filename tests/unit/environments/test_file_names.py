"""Files may have names of any characters, and of bytes that are not UTF-8."""

import os
import sys
from pathlib import Path

import pytest

from tests.harness.process import sdy_opt

PROGRAM = b"module {\n}\n"


@pytest.mark.parametrize("name", ["größe 日本", "-", "--cse", "'\"$(x) \\ %s", "a\nb"])
def test_a_name_may_have_any_characters(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(PROGRAM)
    printed = sdy_opt(f"./{name}", "-o", f"./{name}.out", folder=tmp_path)
    assert printed == (0, b"", b"")
    assert (tmp_path / f"{name}.out").read_bytes() == PROGRAM + b"\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux may file names be arbitrary bytes")
def test_a_name_may_have_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.mlir")).write_bytes(b"module")
    printed = sdy_opt(b"\xff.mlir", folder=tmp_path)
    assert printed.status == 1
    assert b".mlir:1:6: error: " in printed.errors
