"""sdy-opt-verify: which files it verifies. Its messages are in tests/lit/driver/verify_files.mlir."""

import errno
import gc
import os
from pathlib import Path

import pytest

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.tools.cli import verify
from sdyopt.tools.cli.flags import FLAGS
from sdyopt.tools.cli.verify import ALLOWED, main
from sdyopt.tools.driver.job import Job, JobOutcome
from sdyopt.tools.driver.run import run_job

VALID = "func.func private @f()\n"


def test_programs_in_one_process_share_no_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They share no symbols: each of them defines the same one."""
    for number in range(500):
        (tmp_path / f"{number}.mlir").write_text(VALID)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "500 programs verified\n"


def test_each_file_is_verified_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(VALID)
    assert main([str(program), str(tmp_path), str(program)]) == 0
    assert capsys.readouterr().out == "1 program verified\n"


def test_errors_come_in_the_order_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.mlir").write_text("module {} }\n")
    assert main([str(tmp_path)]) == 1
    found = [
        line[0]
        for line in capsys.readouterr().err.replace(f"{tmp_path}/", "\n").splitlines()
        if "error" in line
    ]
    assert found == ["a", "b", "c"]


def test_blank_lines_are_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor do they end the search for a RUN line."""
    (tmp_path / "blank.mlir").write_text("\n" * 100_000)
    (tmp_path / "test.mlir").write_text("\n" * 100_000 + "  //  RUN: sdy-opt %s\n")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 program verified; 1 lit test skipped\n"


def test_a_folder_that_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As is one whose path is too long, which no permission of the user can change."""
    (tmp_path / "valid.mlir").write_text(VALID)
    (tmp_path / "locked" / "below").mkdir(parents=True)
    (tmp_path / "locked" / "program.mlir").write_text(VALID)
    (tmp_path / "to_nothing.mlir").symlink_to("nothing")
    (tmp_path / "loop.mlir").symlink_to("loop.mlir")
    scandir, listdir = os.scandir, os.listdir

    def check(folder: str | os.PathLike[str]) -> str:
        if os.fspath(folder).endswith("locked"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return os.fspath(folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", lambda folder: scandir(check(folder)))
        patch.setattr(os, "listdir", lambda folder: listdir(check(folder)))
        patch.chdir(tmp_path)
        # No path names the innermost folder.
        for _ in range(25):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
        os.chdir(tmp_path)
        assert main([str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == "4 programs checked, 3 invalid\n"
    assert [line.rpartition(": ")[2] for line in captured.err.splitlines()] == [
        "File name too long",
        "Is a directory",
        "Too many levels of symbolic links",
    ]


def test_an_internal_error_ends_the_verification_of_one_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.mlir").write_text(VALID)

    def run_with_bug(job: Job) -> JobOutcome:
        if job.name.endswith("b.mlir"):
            raise KeyError("bug")
        return run_job(job)

    monkeypatch.setattr(verify, "run_job", run_with_bug)
    assert main([str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == "3 programs checked, 1 invalid\n"
    first, second, _ = captured.err.splitlines()
    assert first == "sdy-opt: internal error: KeyError: 'bug'"
    assert second.endswith(f", while verifying '{tmp_path}/b.mlir'")


def test_programs_are_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage collection is off while sdy-opt-verify runs, as in sdy-opt."""
    for number in range(5):
        (tmp_path / f"{number}.mlir").write_text(VALID)
    monkeypatch.setattr(verify, "COLLECTED_BYTES", 0)
    gc.collect()
    before = sum(isinstance(each, ModuleOp) for each in gc.get_objects())
    gc.disable()
    try:
        assert main([str(tmp_path)]) == 0
        assert sum(isinstance(each, ModuleOp) for each in gc.get_objects()) <= before
    finally:
        gc.enable()


def test_garbage_is_collected_after_many_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection for each of them would take longer than to verify it."""
    collections: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: collections.append(1))
    monkeypatch.setattr(verify, "COLLECTED_BYTES", 4 * len(VALID))
    for number in range(12):
        (tmp_path / f"{number}.mlir").write_text(VALID)
    assert main([str(tmp_path)]) == 0
    assert len(collections) == 2


def test_its_flags_are_flags_of_sdy_opt() -> None:
    assert set(ALLOWED) <= set(FLAGS)
    assert list(ALLOWED) == sorted(ALLOWED)
