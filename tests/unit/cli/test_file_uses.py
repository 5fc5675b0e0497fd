"""A file that is written has no other use."""

from pathlib import Path

import pytest

from sdyopt.tools.cli import main
from sdyopt.tools.cli.verify import main as verify


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--log-actions-to={f}", "for the --log-actions-to option: '{f}' is also the input"),
        ("--report={f}", "for the --report option: '{f}' is also the input"),
        ("--diagnostics-output={f}", "for the --diagnostics-output option: '{f}' is also the input"),
        ("-o {g} --log-actions-to={g}", "for the --log-actions-to option: '{g}' is also the file of -o"),
        ("--log-actions-to={g} --mlir-generate-reproducer={g}", "is also the file of"),
        ("--budget={g} --mlir-generate-reproducer={g}", "is also the file of --budget"),
    ],
)
def test_a_file_with_two_uses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    """The file is unchanged."""
    program, other = tmp_path / "program.txt", tmp_path / "other.txt"
    program.write_text("module {}\n")
    names = {"f": str(program), "g": str(other)}
    assert main([names["f"], *flags.format(**names).split()]) == 2
    assert message.format(**names) in capsys.readouterr().err
    assert program.read_text() == "module {}\n"
    assert not other.exists()


# The log is open until the process ends.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_devices_have_many_uses_and_a_reproducer_may_replace_the_input(tmp_path: Path) -> None:
    """A device may have many uses. A reproducer may replace the program, which is read before."""
    program = tmp_path / "program.mlir"
    program.write_text("module {}\n")
    flags = ["-o", "/dev/null", "--log-actions-to=/dev/null", "--mlir-generate-reproducer=/dev/null"]
    assert main([str(program), *flags]) == 0
    assert main([str(program), "-o", "/dev/null", f"--mlir-generate-reproducer={program}"]) == 0
    assert "external_resources" in program.read_text()


def test_each_program_to_verify_is_an_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.mlir", "b.mlir"):
        (tmp_path / name).write_text("module {}\n")
    assert verify([str(tmp_path), f"--diagnostics-output={tmp_path / 'b.mlir'}"]) == 2
    assert "b.mlir' is also the input" in capsys.readouterr().err
    assert (tmp_path / "b.mlir").read_text() == "module {}\n"
