"""What compilers write: the buffers at the peak, and the cache of what was compiled."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from shutil import disk_usage
from tempfile import gettempdir

import pytest

from sdyopt.analysis.execution import process
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.hlo_comparison.compiled import analysis
from sdyopt.analysis.hlo_comparison.compiled.analysis import (
    ARGUMENT,
    RESULT,
    TEMP_BUFFER,
    BufferValue,
    Compiler,
    CompileTarget,
    _largest,
    read_buffers,
)

INPUTS = Path(__file__).parents[2] / "lit" / "compiled" / "Inputs"
ASSIGNMENT = (INPUTS / "buffers.txt").read_text(encoding="utf-8")
LIVE_RANGES = (INPUTS / "live_ranges.txt").read_text(encoding="utf-8")
TEXT = 'sdy.mesh @mesh = <["x"=4]>  "stablehlo.dot_general"'


def test_buffers_on_the_chip_take_no_memory_of_the_device() -> None:
    """Those of computations that operations call do."""
    buffers = read_buffers(ASSIGNMENT, LIVE_RANGES)
    assert buffers.total == 2048 + 4096 + 2048 + 8192 + 512
    assert buffers.by_kind[TEMP_BUFFER] == 8192 + 512
    assert buffers.by_kind[ARGUMENT] == 6144
    # The largest first.
    assert [value.bytes for value in buffers.values] == [4096, 4096, 4096, 2048, 2048]


def test_values_at_the_peak_are_live_together() -> None:
    """`product` and `all-reduce` are in step 3, in which both are live."""
    temporaries = [each for each in read_buffers(ASSIGNMENT, LIVE_RANGES).values if each.kind == TEMP_BUFFER]
    assert [each.instruction for each in temporaries] == ["all-reduce", "product"]
    earlier = LIVE_RANGES.replace("product{}:2-3", "product{}:1-2")
    [first] = [each for each in read_buffers(ASSIGNMENT, earlier).values if each.kind == TEMP_BUFFER]
    assert (first.instruction, first.bytes) == ("product", 4096)
    # A value may be live in one step only, also if that is the peak.
    brief = LIVE_RANGES.replace("product{}:2-3", "product{}:2-2")
    smaller = ASSIGNMENT.replace("(size=4096,offset=4096)", "(size=2048,offset=4096)")
    temporaries = [each for each in read_buffers(smaller, brief).values if each.kind == TEMP_BUFFER]
    assert [each.instruction for each in temporaries] == ["product"]


def test_of_values_at_one_offset_the_largest_is_shown() -> None:
    """A fusion may write in place of its operand: both have the same bytes."""
    assignment = ASSIGNMENT.replace("(size=4096,offset=4096)", "(size=2048,offset=0)")
    temporaries = [each for each in read_buffers(assignment, LIVE_RANGES).values if each.kind == TEMP_BUFFER]
    assert temporaries == [BufferValue("product", 4096, "f32[8,32]", TEMP_BUFFER)]


@pytest.mark.parametrize("text", ["", "BufferAssignment:\n", "allocation 1: size x, page 0:\n", "\0" * 100])
def test_text_without_allocations_has_no_bytes(text: str) -> None:
    assert read_buffers(text, text).total == 0


def test_a_result_that_is_a_tuple_has_a_short_type() -> None:
    assignment = (
        "allocation 2: size 16, page 0, maybe-live-out:\n value: <5 r{} @0> (size=16,offset=0): (f32[2]{0})\n"
    )
    assert read_buffers(assignment, "").values == [BufferValue("r", 16, "(…)", RESULT)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sdyopt" / "compiled"


def compiler(kind: str = "v5e:2x2") -> Compiler:
    return Compiler(Worker(str(INPUTS / "compiler"), 60, 0), CompileTarget("tpu", kind))


def test_the_program_is_the_largest_that_was_compiled(tmp_path: Path) -> None:
    """Compilers compile small programs of their own, too."""
    for number, text in enumerate(["small", "the program of the user", ""]):
        (tmp_path / f"module_{number}.after_optimizations.txt").write_text(text, encoding="utf-8")
    assert _largest(tmp_path, ("*.buffers.txt", "*after_optimizations.txt"), "") == "the program of the user"
    with pytest.raises(NotValidated, match="ended without writing"):
        _largest(tmp_path, ("*.buffers.txt",), "")


def test_what_was_compiled_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compiler().compile(TEXT, [4], 4)
    assert compiled.compiler == "libtpu 9.9"
    assert compiled.hlo.startswith("HloModule jit_f")
    assert len(list(cache.iterdir())) == 1
    # Programs are read by their user only.
    assert cache.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(analysis, "_largest", None)
    assert compiler().compile(TEXT, [4], 4) == compiled


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\x1f\x8b", b"{}", b"\xff" * 100, gzip.compress(b"[" * 10_000, mtime=0)),
        gzip.compress(b'{"compiler": 1, "hlo": "", "assignment": "", "live_ranges": ""}', mtime=0),
    ],
)
def test_a_damaged_cache_is_made_again(cache: Path, data: bytes) -> None:
    compiled = compiler().compile(TEXT, [4], 4)
    [path] = cache.iterdir()
    path.write_bytes(data)
    assert compiler().compile(TEXT, [4], 4) == compiled
    assert len(path.read_bytes()) > len(data)


def test_a_pipe_in_the_cache_is_replaced(cache: Path) -> None:
    """Writing to it would wait for a reader."""
    compiled = compiler().compile(TEXT, [4], 4)
    [path] = cache.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert compiler().compile(TEXT, [4], 4) == compiled
    assert path.is_file()


def test_a_cache_that_is_only_read_is_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compiler().compile(TEXT, [4], 4)

    def refuse(path: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(analysis, "_largest", None)
    assert compiler().compile(TEXT, [4], 4) == compiled


def test_each_target_and_program_has_a_result_of_its_own(cache: Path) -> None:
    compiler().compile(TEXT, [4], 4)
    compiler("v5e:4x4").compile(TEXT, [4], 4)
    compiler().compile(f"{TEXT}\n", [4], 4)
    assert len(list(cache.iterdir())) == 3


def test_the_oldest_results_make_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler().compile(TEXT, [4], 4)
    [first] = cache.iterdir()
    os.utime(first, (1, 1))
    monkeypatch.setattr(analysis, "_MAX_CACHE", 3 * first.stat().st_size // 2)
    compiler("v5e:4x4").compile(TEXT, [4], 4)
    [kept] = cache.iterdir()
    assert kept != first


def test_the_cache_has_as_many_bytes_as_it_may(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    paths = [cache / f"{number}.json.gz" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    monkeypatch.setattr(analysis, "_MAX_CACHE", 300)
    analysis._remove_oldest(cache)
    assert all(path.exists() for path in paths)
    monkeypatch.setattr(analysis, "_MAX_CACHE", 299)
    analysis._remove_oldest(cache)
    assert [path.exists() for path in paths] == [False, True, True]


def test_the_range_of_an_element_of_a_tuple_has_its_number() -> None:
    assignment, ranges = (
        text.replace("product @", "product{1} @").replace("product{}", "product{1}")
        for text in (ASSIGNMENT, LIVE_RANGES)
    )
    temporaries = [each for each in read_buffers(assignment, ranges).values if each.kind == TEMP_BUFFER]
    assert [each.instruction for each in temporaries] == ["all-reduce", "product"]


def test_a_cache_that_cannot_be_written_is_none(cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("no folder", encoding="utf-8")
    assert compiler().compile(TEXT, [4], 4).compiler == "libtpu 9.9"


def test_a_failure_of_the_compiler_is_its_message(cache: Path) -> None:
    with pytest.raises(NotValidated, match="INVALID_ARGUMENT"):
        compiler().compile(f"{TEXT} @main_of_wrong_model", [4], 4)
    assert not cache.exists()


def test_a_program_that_does_not_fit_has_its_buffers(cache: Path) -> None:
    """How many bytes they take is the answer."""
    compiled = compiler().compile(f"{TEXT} @main_of_large_model", [4], 4)
    assert read_buffers(compiled.assignment, compiled.live_ranges).total == 16896


def test_without_room_for_what_is_compiled(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(analysis, "TemporaryDirectory", full)
    with pytest.raises(NotValidated, match="no room for what the compiler writes: No space left on device"):
        compiler().compile(TEXT, [4], 4)


def test_a_disk_that_the_compiler_fills_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler itself only says that a file is missing, or cuts one off."""
    usages = {each: disk_usage(cache.parents[1])._replace(free=each) for each in (0, 1 << 16)}
    monkeypatch.setattr(analysis, "disk_usage", lambda _: usages[0])
    for text in (TEXT, f"{TEXT} @main_of_wrong_model"):
        with pytest.raises(NotValidated, match=f"writes: No space left on device in {gettempdir()}"):
            compiler().compile(text, [4], 4)
    assert not cache.exists()
    monkeypatch.setattr(analysis, "disk_usage", lambda _: usages[1 << 16])
    assert compiler().compile(TEXT, [4], 4).compiler == "libtpu 9.9"


def test_a_disk_without_room_for_the_program_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no mistake of the Python that compiles."""

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(process, "TemporaryFile", full)
    with pytest.raises(NotValidated, match="no room for a copy of the program: No space left on device"):
        compiler().compile(TEXT, [4], 4)


def test_without_the_compiler_the_help_says_what_to_install(tmp_path: Path) -> None:
    python = tmp_path / "python"
    answer = '{"cannot": "has no libtpu"}'
    python.write_text(f"#!/bin/sh\ncat > /dev/null\necho sdyopt:\necho 'sdyopt:{answer}'\n", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(NoJax, match="has no libtpu") as raised:
        Compiler(Worker(str(python)), CompileTarget("tpu", "v5e:2x2")).compile(TEXT, [4], 4)
    assert raised.value.help == ("pip install 'sdy-opt[tpu]', or name a Python that has it with --jax-python")
