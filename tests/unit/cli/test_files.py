"""Input and output files: a failed run does not change an existing output."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt.base.diagnostics import whole_files
from sdyopt.mlir.asm.parser.attributes.lr_parser import build_tables, write_tables
from sdyopt.tools.cli.files import FileProblem, Input, Output, open_log, read_input, write_file

ROOT = Path(__file__).parents[3]


def test_input_is_read_as_bytes_and_a_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\xff")
    assert read_input(str(tmp_path / "in")) == b"\xff"
    with pytest.raises(FileProblem, match=r"cannot open input file '.*missing': No such file or directory"):
        read_input(str(tmp_path / "missing"))


def test_an_input_that_was_taken_is_not_kept() -> None:
    data = Input(b"module {}")
    assert data.take() == b"module {}"
    assert data.take() == b""


def test_the_output_file_is_replaced_when_complete(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("before")
    target.chmod(0o640)
    output = Output(str(target))
    assert target.read_text() == "before"
    output.write("after \udcff")
    output.discard()
    assert target.read_bytes() == b"after \xff"
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_discarding_removes_the_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("before")
    Output(str(target)).discard()
    Output(str(tmp_path / "new")).discard()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_symbolic_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    Output(str(tmp_path / "link")).write("after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "after"


def test_the_temporary_file_is_new_and_its_name_random(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write to the directory can plant no link that is followed, even if the name were known."""
    monkeypatch.setattr(whole_files, "_UNNAMED", None)
    (tmp_path / "precious").write_text("before")
    first, second = Output(str(tmp_path / "out")), Output(str(tmp_path / "out"))
    names = {file.name for file in tmp_path.iterdir()} - {"precious"}
    assert len(names) == 2
    first.discard()
    second.discard()
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / f".sdyopt-{bytes(8).hex()}.tmp").symlink_to("precious")
    with pytest.raises(FileProblem, match="File exists"):
        Output(str(tmp_path / "out"))
    assert (tmp_path / "precious").read_text() == "before"


@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_files_are_new_or_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_unnamed_files: bool
) -> None:
    if not has_unnamed_files:
        monkeypatch.setattr(whole_files, "_UNNAMED", None)
    old = os.umask(0o027)
    try:
        for text in ("first", "second"):
            write_file(str(tmp_path / "out"), text)
            assert (tmp_path / "out").read_text() == text
            assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(old)
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has files without a name")
@pytest.mark.parametrize("before", [None, "before"])
def test_nothing_is_left_if_the_process_is_killed(tmp_path: Path, before: str | None) -> None:
    target = tmp_path / "out"
    if before is not None:
        target.write_text(before)
    code = """if True:
        import os, signal, sys
        from sdyopt.tools.cli.files import Output

        def pages():
            yield "x" * 1_000_000
            os.kill(os.getpid(), signal.SIGKILL)

        Output(sys.argv[1]).write_pages(pages())
    """
    ended = subprocess.run([sys.executable, "-c", code, str(target)], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    left = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert left == ({} if before is None else {"out": before})


def test_the_name_may_be_as_long_as_any(tmp_path: Path) -> None:
    write_file(str(tmp_path / ("n" * 250)), "x")
    assert (tmp_path / ("n" * 250)).read_text() == "x"


WRITERS = {
    "-o": lambda path: Output(str(path)).write("x" * 10_000_000),
    "an additional file": lambda path: write_file(str(path), "x" * 10_000_000),
    "the cache of parse tables": lambda path: write_tables(build_tables(), path),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_an_error_of_writing_leaves_nothing(tmp_path: Path, writer: str) -> None:
    """A limit of the size of files stands for a full disk."""
    code = f"""if True:
        import resource, signal, sys
        from pathlib import Path
        from tests.unit.cli.test_files import WRITERS

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        WRITERS[{writer!r}](Path(sys.argv[1]))
    """
    target = tmp_path / "out"
    target.write_text("before")
    command = [sys.executable, "-c", code, str(target)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "File too large" in ended.stderr or writer == "the cache of parse tables"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out", "before")]


def test_devices_are_not_replaced() -> None:
    Output("/dev/null").write("x")
    assert Path("/dev/null").is_char_device()


def test_a_missing_directory_is_an_error_on_opening(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"cannot open output file .*: No such file or directory"):
        Output(str(tmp_path / "missing" / "out"))


@pytest.mark.parametrize("flags", [("-o", "out"), ("--report=report.txt", "-sdy-propagation-pipeline")])
def test_a_deleted_working_directory_is_an_error(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "in.mlir").write_text("func.func @main() { return }")
    (tmp_path / "deleted").mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from sdyopt.tools.cli import run_process; run_process()"
    command = [sys.executable, "-c", code, str(tmp_path / "in.mlir"), *flags]
    ended = subprocess.run(command, cwd=tmp_path / "deleted", capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("sdy-opt: cannot open output file")


def test_termination_removes_the_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("func.func @main() { return }")
    code = """if True:
        import os, signal
        from sdyopt.tools.cli import run_process
        from sdyopt.tools.driver import run

        run.run_job = lambda job: os.kill(os.getpid(), signal.SIGTERM)
        run_process()
    """
    command = [sys.executable, "-c", code, "in.mlir", "-o", "out"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "", "")
    assert [file.name for file in tmp_path.iterdir()] == ["in.mlir"]


def test_additional_files_get_missing_parent_directories(tmp_path: Path) -> None:
    write_file(str(tmp_path / "a" / "b"), "x")
    assert (tmp_path / "a" / "b").read_text() == "x"
    with pytest.raises(FileProblem):
        write_file(str(tmp_path / "a"), "x")


@pytest.mark.parametrize(
    ("name", "why"), [("a" * 5000, "File name too long"), ("loop", "Too many levels of")]
)
def test_a_name_that_cannot_be_resolved_is_an_error(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileProblem, match=why):
        Output(str(tmp_path / name))
    with pytest.raises(FileProblem, match=why):
        read_input(str(tmp_path / name))


# The log is open until the process ends.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_log_is_an_error() -> None:
    with pytest.raises(FileProblem, match="cannot write output file '/dev/full': No space left on device"):
        open_log("/dev/full")("x")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_log_that_is_not_whole_is_removed(tmp_path: Path) -> None:
    write, (soft, hard) = open_log(str(tmp_path / "log")), resource.getrlimit(resource.RLIMIT_FSIZE)
    write("xx")
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, hard))
    try:
        with pytest.raises(FileProblem, match="File too large"):
            write("xx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("flags", ["", "--diagnostics-format=json"])
def test_an_unwritable_stderr_does_not_change_the_exit_code(redirection: str, flags: str) -> None:
    command = f'"{sys.executable}" -m sdyopt --unknown {flags} {redirection}'
    assert subprocess.run(command, shell=True, check=False, stdin=subprocess.DEVNULL).returncode == 2
    command = f'echo "module {{}}" | "{sys.executable}" -m sdyopt {flags} {redirection} >/dev/null'
    assert subprocess.run(command, shell=True, check=False).returncode == 0
