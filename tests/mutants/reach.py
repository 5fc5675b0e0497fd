"""Which lines of the targets each test executes.

They are recorded once, in a folder, and again for tests that changed. If a source file changed since, a test
that executed any of its lines counts as one that executes all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.mutants.mutant import Mutant
from tests.mutants.targets import all_files
from tests.mutants.tree import Tree

_TESTS, _FILES, _UNSTABLE = "tests.jsonl", "files.json", "unstable.json"


class Reach:
    """The recorded tests, with their times and the lines that they execute."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hashes: dict[str, str] = _read(folder / _FILES, {})
        self.unstable: list[str] = _read(folder / _UNSTABLE, [])
        self._records: list[dict[str, Any]] = []
        if (folder / _TESTS).exists():
            lines = (folder / _TESTS).read_text(encoding="utf-8").splitlines()
            self._records = [json.loads(line) for line in lines]
        self._index()

    def replace(self, records: list[dict[str, Any]], hashes: dict[str, str]) -> None:
        """Replaces the records, and the hashes of the files of tests and targets."""
        self._records, self._hashes = records, hashes
        self._index()

    def _index(self) -> None:
        unstable = set(self.unstable)
        usable = [each for each in self._records if each["passed"] and each["test"] not in unstable]
        self.seconds: dict[str, float] = {each["test"]: each["seconds"] for each in usable}
        self._by_line: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for each in usable:
            for path, lines in each["lines"].items():
                for line in lines:
                    self._by_line[path][line].append(each["test"])

    def tests_of(self, mutant: Mutant, tree: Tree) -> list[str]:
        """The tests that execute the lines of a mutant; if no test does, those that execute its file.

        No test executes lines that run during the import.
        """
        lines = self._by_line.get(mutant.path, {})
        wanted: Iterable[int] = range(mutant.first_line, mutant.last_line + 1)
        if self._hashes.get(mutant.path) != _hash(tree.folder / mutant.path):
            wanted = lines
        found = dict.fromkeys(test for line in wanted for test in lines.get(line, ()))
        return list(found or dict.fromkeys(test for tests in lines.values() for test in tests))

    # --- Recording --------------------------------------------------------------------------------

    def update(self, tree: Tree) -> list[str]:
        """Records the tests of files that are new or changed, and returns those that pass."""
        tests = _test_files(tree.folder)
        hashes = {path: _hash(tree.folder / path) for path in tests}
        stale = [path for path in tests if self._hashes.get(path) != hashes[path]]
        if not self._records:
            hashes |= {path: _hash(tree.folder / path) for path in all_files()}
        current = set(tests).difference(stale)
        self._records = [each for each in self._records if _file_of(each["test"]) in current]
        if stale:
            print(f"recording the lines of {len(stale)} test files", flush=True)
            self._records += _record(tree, stale, self._folder / "new.jsonl")
        self.unstable = [test for test in self.unstable if _file_of(test) in current]
        sources = {path: value for path, value in self._hashes.items() if not path.startswith("tests/")}
        self._hashes = sources | hashes
        self.save()
        return [test for test in self.seconds if _file_of(test) not in current]

    def save(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(each) + "\n" for each in self._records]
        (self._folder / _TESTS).write_text("".join(lines), encoding="utf-8")
        (self._folder / _FILES).write_text(json.dumps(self._hashes), encoding="utf-8")
        (self._folder / _UNSTABLE).write_text(json.dumps(self.unstable), encoding="utf-8")
        self._index()

    def fingerprint(self, mutant: Mutant, tree: Tree) -> str:
        """Changes if a test or the file of the mutant does."""
        tests = sorted(item for item in self._hashes.items() if item[0].startswith("tests/"))
        return sha256(f"{tests} {_hash(tree.folder / mutant.path)}".encode()).hexdigest()


def _record(tree: Tree, files: Iterable[str], output: Path) -> list[dict[str, Any]]:
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.mutants.recorder", str(output.resolve()), *files]
    subprocess.run(command, cwd=tree.folder, env=tree.environment(), stdout=subprocess.DEVNULL, check=True)
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def _test_files(root: Path) -> list[str]:
    found = [*root.glob("tests/**/test_*.py"), *root.glob("tests/lit/**/*.mlir")]
    paths = (path.relative_to(root) for path in found)
    return sorted(path.as_posix() for path in paths if "Inputs" not in path.parts)


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else default
