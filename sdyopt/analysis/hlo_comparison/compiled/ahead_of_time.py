"""Compiles programs ahead of time for TPU, GPU or CPU, with the compiler of a machine that is not there.

A process of the Python that has the compiler does it (`execution.worker.compile_ahead`). Results are kept in
the cache of the user, by the text of the program, the target and the version of the compiler.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import sys
import zlib
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.base.dataclasses import asdict, dataclass
from sdyopt.base.diagnostics.whole_files import read_regular_file, replace_cached_file, user_cache

# A change of the format, or of what is compiled, makes older results useless.
_FORMAT = 2
_MAX_CACHE = 1 << 30
# With fewer bytes, a file system is full.
_LEAST_ROOM = 1 << 16
_FILES = {
    "hlo": ("*after_optimizations_after_buffer_assignment.txt", "*after_optimizations.txt"),
    "assignment": ("*after_optimizations-buffer-assignment.txt",),
    "live_ranges": ("*after_optimizations-live-range.txt",),
}
# How XLA begins the error of a program that needs more memory than a device has.
_EXHAUSTED = "RESOURCE_EXHAUSTED"
_INSTALL = {
    "tpu": "pip install 'sdy-opt[tpu]'",
    "cuda": "pip install 'sdy-opt[gpu]'",
    "cpu": "pip install 'sdy-opt[run]'",
}


@dataclass(frozen=True)
class CompileTarget:
    """What is compiled for: `topology` is that of a TPU, such as `v5e:4x4`, `device` the name of a GPU."""

    platform: str
    topology: str = ""
    slices: int = 1
    device: str = ""

    def __str__(self) -> str:
        slices = f" × {self.slices} slices" if self.slices > 1 else ""
        return f"{self.topology or self.device or 'CPU'}{slices}"


@dataclass(frozen=True)
class CompiledText:
    """The optimized HLO of one device and its buffers, as a compiler such as `libtpu 0.0.52` wrote them."""

    compiler: str
    hlo: str
    assignment: str
    live_ranges: str

    @classmethod
    def read(cls, path: Path) -> CompiledText | None:
        """A result that was kept; None for a file that is damaged, or none of ours."""
        try:
            data = read_regular_file(path, _MAX_CACHE)
            fields = json.loads(gzip.decompress(data or b""))
            compiled = cls(**fields)
        except (OSError, EOFError, ValueError, TypeError, RecursionError, zlib.error):
            return None
        with suppress(OSError):
            # The oldest results are those that were not used for longest. A cache may be read-only.
            os.utime(path)
        return compiled if all(isinstance(value, str) for value in fields.values()) else None


class Compiler:
    """Compiles for one target. `compile` raises NoJax without the compiler, NotValidated if it fails."""

    def __init__(self, worker: Worker, target: CompileTarget) -> None:
        self._worker = worker
        self.target = target
        self._known_versions: list[str] = []

    def compile(self, text: str, mesh: list[int], devices: int) -> CompiledText:
        """Compiles the text of a program for so many devices."""
        request: dict[str, Any] = {
            "platform": self.target.platform,
            "topology": self.target.topology,
            "slices": self.target.slices,
            "device": self.target.device,
            "mesh": mesh,
            "devices": devices,
            "text": text,
        }
        versions = self.versions
        settings = [os.environ.get(name, "") for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
        key = json.dumps([_FORMAT, versions, settings, request])
        path = _cache_file(hashlib.sha256(key.encode()).hexdigest())
        kept = None if path is None else CompiledText.read(path)
        if kept is not None:
            return kept
        try:
            with TemporaryDirectory(prefix="sdyopt-compiled-", ignore_cleanup_errors=True) as folder:
                answer = self._run("compile_ahead", {**request, "dump": folder})
                # A compiler goes on without what it cannot write, and blames something else or nothing.
                if disk_usage(folder).free < _LEAST_ROOM:
                    raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} in {gettempdir()}")
                failure = answer.get("cannot", "")
                # A program that does not fit has its buffers, too: how many bytes they need is the answer.
                if failure and _EXHAUSTED not in failure:
                    raise NotValidated(failure)
                texts = {name: _largest(Path(folder), names, failure) for name, names in _FILES.items()}
        except OSError as problem:
            raise NotValidated(f"no room for what the compiler writes: {problem.strerror}") from None
        compiled = CompiledText(compiler=versions[0], **texts)
        if path is not None:
            _write(path, compiled)
        return compiled

    @property
    def versions(self) -> list[str]:
        """The compiler, such as `libtpu 0.0.52`, and what else decides on what it makes. Raises NoJax."""
        if not self._known_versions:
            answer = self._run("compiler_version", {"platform": self.target.platform})
            if "cannot" in answer:
                python = self._worker.python or sys.executable
                raise NoJax(f"{python} {answer['cannot']}", self._install(), python)
            self._known_versions = answer["versions"]
        return self._known_versions

    def _run(self, task: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            [answer] = self._worker.run(task, {"devices": 1, **request})
        except NoJax as error:
            raise NoJax(str(error), self._install(), error.python) from None
        return answer

    def _install(self) -> str:
        return f"{_INSTALL[self.target.platform]}, or name a Python that has it with --jax-python"


def _largest(folder: Path, patterns: tuple[str, ...], failure: str) -> str:
    """The text of the largest file: others are of small programs of a compiler's own. Raises NotValidated."""
    for pattern in patterns:
        paths = sorted(folder.glob(pattern), key=lambda path: path.stat().st_size)
        if paths:
            return paths[-1].read_text(encoding="utf-8", errors="replace")
    raise NotValidated(failure or "the compiler ended without writing its HLO and buffers")


# --- The cache --------------------------------------------------------------------------------


def _cache_file(key: str) -> Path | None:
    folder = user_cache()
    return None if folder is None else folder / "compiled" / f"{key}.json.gz"


def _write(path: Path, compiled: CompiledText) -> None:
    """Keeps a result. Another process may write the same; without space, nothing is kept."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        text = json.dumps(asdict(compiled))
        replace_cached_file(path, gzip.compress(text.encode(), compresslevel=4, mtime=0))
        _remove_oldest(path.parent)


def _remove_oldest(folder: Path) -> None:
    """Removes results until the others have at most _MAX_CACHE bytes."""
    states = [(path.stat(), path) for path in folder.glob("*.json.gz")]
    total = 0
    for state, path in sorted(states, key=lambda state: (-state[0].st_mtime_ns, state[1])):
        total += state.st_size
        if total > _MAX_CACHE:
            path.unlink(missing_ok=True)
