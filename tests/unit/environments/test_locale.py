"""Text is UTF-8 even if the locale is not: programs, diagnostics, arguments, names of files."""

import os
from pathlib import Path

import pytest

from tests.harness.process import ROOT, ProcessResult, environment_with, sdy_opt

# With a path that is not ASCII, Python 3.11 and 3.12 themselves do not start.
pytestmark = pytest.mark.skipif(
    not str(ROOT).isascii(), reason="the path of the editable install is read in the encoding of the locale"
)

# A locale whose encoding is ASCII, without the settings by which Python uses UTF-8 nevertheless.
POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

PROGRAM = """\
module attributes {mesh.name = "größe"} {
  func.func @f(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
}
"""
# MLIR prints bytes of strings that are not ASCII in hexadecimal.
PRINTED = PROGRAM.replace("größe", r"gr\C3\B6\C3\9Fe") + "\n"
WRONG = PROGRAM.replace("return %arg0", 'return %0 : i32 loc("é") //')


def run(folder: Path, environment: dict[str, str]) -> tuple[list[ProcessResult], dict[str, bytes]]:
    """What several runs print, and the files that they write."""
    folder.mkdir()
    (folder / "größe.mlir").write_text(PROGRAM, encoding="utf-8")
    (folder / "日本.mlir").write_text(WRONG, encoding="utf-8")
    (folder / "two.mlir").write_text(f"{PROGRAM}// —\n{PROGRAM}", encoding="utf-8")
    commands = [
        ("größe.mlir",),
        ("日本.mlir",),
        ("größe.mlir", "-cse", "-o", "ß.mlir", "--mlir-print-ir-after-all", "--mlir-print-ir-tree-dir=ŧ"),
        ("größe.mlir", "-sdy-propagation-pipeline=dump-directory=ŧ"),
        ("größe.mlir", "-sdy-propagation-pipeline=dump-directory=ø", "-o", "ł.mlir"),
        ("two.mlir", "--split-input-file=// —", "--output-split-marker=// ±"),
        ("größe.mlir", "-o", "µ/ß.mlir"),
        ("no-größe.mlir",),
        ("größe.mlir", "-größe"),
    ]
    # With parse tables in the cache, the grammar would not be read.
    environment = {**environment, "XDG_CACHE_HOME": str(folder)}
    printed = [
        sdy_opt(*map(os.fsencode, command), environment=environment, folder=folder) for command in commands
    ]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return printed, {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_posix_locale_changes_no_output(tmp_path: Path) -> None:
    usual, posix = (
        run(tmp_path / "usual", environment_with()),
        run(tmp_path / "posix", environment_with(**POSIX)),
    )
    printed, files = usual
    assert [each.status for each in printed] == [0, 1, 0, 0, 0, 0, 1, 1, 2]
    assert printed[0].output.decode() == PRINTED
    assert printed[5].output.decode() == f"{PRINTED}// ±\n{PRINTED}"
    assert "日本.mlir:3:12: error:" in printed[1].errors.decode()
    assert b"internal error" not in b"".join(each.errors for each in printed)
    assert {"ß.mlir", "ł.mlir"} <= files.keys()
    assert any(name.startswith("ŧ/") for name in files)
    here, there = (str(tmp_path / name).encode() for name in ("usual", "posix"))
    for expected, found in zip(printed, posix[0], strict=True):
        assert found._replace(errors=found.errors.replace(there, here)) == expected
    assert posix[1] == files


def test_the_posix_locale_does_not_change_help(tmp_path: Path) -> None:
    environment = environment_with(**POSIX, XDG_CACHE_HOME=str(tmp_path))
    for arguments in (("--help",), ("--help-pass", "sdy-aggressive-propagate")):
        assert sdy_opt(*arguments, environment=environment) == sdy_opt(*arguments)
