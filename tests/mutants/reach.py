"""Which lines of the targets each test executes.

They are recorded once, in a folder, and again for tests that changed. If a source file changed since, a test
that executed any of its lines counts as one that executes all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.mutants.mutant import Mutant
from tests.mutants.targets import all_files, files_of, function_of
from tests.mutants.tree import Tree

# The records are saved whenever so many test files have run.
_SAVED_FILES = 100
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
        unstable = tuple(self.unstable)
        usable = [each for each in self._records if each["passed"] and not each["test"].startswith(unstable)]
        self.seconds: dict[str, float] = {each["test"]: each["seconds"] for each in usable}
        self._breadth = {each["test"]: sum(map(len, each["lines"].values())) for each in usable}
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

    def sort(self, tests: list[str], kills: Counter[str]) -> None:
        """Sorts tests: first functions that killed mutants of the same file, then cheap and specific tests.

        A test is specific if it executes few lines. Of many parameters of a function, the first ones count.
        """
        position: Counter[str] = Counter()
        costs: dict[str, float] = {}
        for test in sorted(tests, key=self.seconds.__getitem__):
            function = function_of(test)
            position[function] += 1
            costs[test] = (self.seconds[test] + 0.02) * (self._breadth[test] + 50) * position[function]
        tests.sort(key=lambda test: (-kills[function_of(test)], costs[test]))

    # --- Recording --------------------------------------------------------------------------------

    def update(self, tree: Tree, folders: Sequence[str] = ("tests",), targets: Sequence[str] = ()) -> None:
        """Records the tests of files in some folders that are new or changed; all if `targets` are others."""
        if not self._hashes.keys() >= set(targets):
            self._hashes, self._records = {}, []
        tests = _test_files(tree.folder)
        hashes = {path: _hash(tree.folder / path) for path in tests}
        changed = [path for path in tests if self._hashes.get(path) != hashes[path]]
        wanted = set(files_of(folders, tree.folder, "*"))
        stale = [path for path in changed if path in wanted]
        sources = {path: value for path, value in self._hashes.items() if not path.startswith("tests/")}
        if not self._records:
            sources = {path: _hash(tree.folder / path) for path in sorted({*all_files(), *targets})}
        current = set(tests).difference(changed)
        self._records = [each for each in self._records if _file_of(each["test"]) in current]
        self.unstable = [test for test in self.unstable if _file_of(test) in current]
        self._hashes = sources | {path: hashes[path] for path in current}
        # An interrupted run continues after the last files that are saved.
        for start in range(0, len(stale), _SAVED_FILES):
            print(f"recording the lines of test files: {start} of {len(stale)}", flush=True)
            files = stale[start : start + _SAVED_FILES]
            self._records += _record(tree, [*sources, *files], self._folder / "new.jsonl")
            self._hashes |= {path: hashes[path] for path in files}
            self.save()
        self.save()

    def save(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(each) + "\n" for each in self._records]
        (self._folder / _TESTS).write_text("".join(lines), encoding="utf-8")
        (self._folder / _FILES).write_text(json.dumps(self._hashes), encoding="utf-8")
        (self._folder / _UNSTABLE).write_text(json.dumps(self.unstable), encoding="utf-8")
        self._index()

    def version(self, test: str) -> str:
        """The file of a test and its content."""
        path = _file_of(test)
        return f"{path} {self._hashes[path][:8]}"


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
