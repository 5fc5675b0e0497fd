"""The copy of the project that mutants are written to, so that every process of a test runs the mutant."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tests.mutants.mutant import Mutant


class Tree:
    """A copy of the files of the project that git does not ignore."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source = source
        self.folder = folder.resolve()

    def update(self) -> None:
        """Copies what changed, removes what is gone, and compiles the code."""
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.source,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split("\0")
        kept = {name for name in names if name and (self.source / name).is_file()}
        for path in [path for folder in _CHECKED_OUT for path in (self.folder / folder).rglob("*")]:
            is_bytecode = path.parent.name == "__pycache__"
            if path.is_file() and not is_bytecode and path.relative_to(self.folder).as_posix() not in kept:
                path.unlink()
        for name in sorted(kept):
            _copy(self.source / name, self.folder / name)
        command = [sys.executable, "-m", "compileall", "-q", "sdyopt", "passes", "tests"]
        subprocess.run(command, cwd=self.folder, check=True)

    def environment(self, forks: bool = False) -> dict[str, str]:
        """The environment in which Python imports the copy, and keeps no bytecode of mutants.

        Without `forks`, lit tests start no fork server.
        """
        added = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **added, **({} if forks else {"SDYOPT_LIT_SUBPROCESS": "1"})}

    def version(self, path: str) -> str:
        """The hash of a file."""
        return sha256((self.folder / path).read_bytes()).hexdigest()[:8]

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Writes a mutant to the copy, and restores the file afterwards."""
        path = self.folder / mutant.path
        content, status = path.read_bytes(), path.stat()
        try:
            path.write_bytes(mutant.applied(content))
            # Bytecode is valid for the time and size of its source; this time is that of no other version.
            os.utime(path, (1, 1))
            yield
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


# The folders with code and tests; other files that tests write stay.
_CHECKED_OUT = ("sdyopt", "passes", "tests")


def _copy(source: Path, target: Path) -> None:
    status = source.stat()
    if target.exists():
        old = target.stat()
        if (old.st_size, old.st_mtime_ns) == (status.st_size, status.st_mtime_ns):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
