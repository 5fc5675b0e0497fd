"""The errors that sdy-opt prints for common mistakes, on a terminal of 100 columns."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.unit.mistakes import COLUMNS, FOLDER, Mistake, mistakes, output_of, rows

ROOT = Path(__file__).parents[3]
MAX_ROWS = 14
MISTAKES = mistakes()
# Mistakes whose messages need no help, because they say what to do.
WITHOUT_HELP = {"input-missing", "input-empty-name", "output-directory"}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_output_is_that_of_the_golden_file(mistake: Mistake) -> None:
    status, text = output_of(mistake)
    assert text == mistake.golden.read_text(encoding="utf-8")
    assert status in (1, 2)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_output_fits_the_terminal_and_has_help(mistake: Mistake) -> None:
    text = mistake.golden.read_text(encoding="utf-8")
    assert rows(text) <= MAX_ROWS
    assert "\nhelp: " in text or mistake.name.partition("-")[2] in WITHOUT_HELP


def test_there_are_no_other_outputs() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {mistake.name for mistake in MISTAKES}
    assert len(MISTAKES) >= 40


def test_a_mistyped_axis_in_a_long_program_is_underlined_on_one_screen(tmp_path: Path) -> None:
    program = (ROOT / "examples" / "transformer_train.mlir").read_text(encoding="utf-8")
    path = tmp_path / "train.mlir"
    path.write_text(program.replace('{"model"}', '{"modle"}', 1), encoding="utf-8")
    text = on_a_terminal(str(path))
    lines = [line.replace(str(path), "train.mlir") for line in text.splitlines()]
    # The function has no location in the source of the model: for a person, it is that in the file.
    line, column = located(path.read_text(encoding="utf-8"), '"modle"')
    where = f"train.mlir:{line}:{column}"
    assert lines[0] == f"{where}: error: 'func.func' op arg 0 - unknown axis name: \"modle\""
    start = lines[2].index("^")
    assert lines[1][start:].startswith('"modle"')
    assert lines[2].strip() == "^~~~~~~"
    help = 'did you mean "model"? @mesh has the axes "data"=4, "model"=2'
    assert lines[-1] == f"help: arg 0 is weights['embedding']; {help}"
    assert len(lines) <= MAX_ROWS
    assert all(len(line) <= COLUMNS for line in lines[1:])


def located(text: str, part: str) -> tuple[int, int]:
    """The line and column of the first occurrence of a text."""
    offset = text.index(part)
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def on_a_terminal(*arguments: str) -> str:
    """What sdy-opt prints on stderr if that is a terminal of COLUMNS columns."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", str(COLUMNS)], stdin=theirs, check=True)
    command = [sys.executable, "-m", "sdyopt", "--color=never", *arguments]
    text = b""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=ROOT) as process:
        os.close(theirs)
        # Reading fails at the end, when the last process has closed the terminal.
        with suppress(OSError):
            while part := os.read(ours, 1 << 16):
                text += part
        assert process.wait() == 1
    os.close(ours)
    return text.decode().replace("\r\n", "\n")
