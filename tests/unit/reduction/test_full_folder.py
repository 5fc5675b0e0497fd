"""A folder for temporary files that is full."""

import errno
import os
from pathlib import Path

import pytest

from sdyopt.analysis.execution.reduction import analysis
from sdyopt.tools.cli import main


def test_full_folder_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Full(type(Path())):  # type: ignore[misc]
        def write_text(self, *_: object, **__: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(analysis, "Path", Full)
    program = tmp_path / "program.mlir"
    program.write_text("func.func private @f()\n")
    assert main([str(program), "--reduce=true %s"]) == 1
    message = "error: cannot reduce: cannot write a temporary file: No space left on device\nhelp: free space"
    assert message in capfd.readouterr().err
