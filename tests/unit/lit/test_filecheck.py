"""The package filecheck, as it is adapted, agrees with LLVM's FileCheck."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# The directives with their texts, the input, and whether LLVM's FileCheck accepts it.
CASES: dict[str, tuple[list[str], str, bool]] = {
    "a NOT ends where the next match starts": (
        [": a", "-NOT: x", "-NEXT: x_constraint"],
        "a\nx_constraint",
        True,
    ),
    "and searches the line before it": ([": a", "-NOT: x", "-NEXT: b"], "a\nx b", False),
    "as for a CHECK": ([": a", "-NOT: b", ": bb"], "a\nbb", True),
    "a NEXT is the first match": ([": a", "-NEXT: b", "-NOT: b"], "a\nb b", False),
    "which may not be on the same line": ([": a", "-NEXT: b"], "a b\nb", False),
    "nor on a later one": ([": a", "-NEXT: b"], "a\n\nb", False),
    "a NEXT needs a match before it": (["-NOT: x", "-NEXT: b"], "a\nb", False),
    "a SAME, too": (["-SAME: b"], "a b", False),
    "a NOT ends at the first match of the DAGs": (
        ["-NOT: {{^}}a", "-DAG: b", "-DAG: {{[ab]}}"],
        "\nab",
        True,
    ),
    "but not before it": (["-NOT: x", "-DAG: c", "-DAG: b"], "x\nb\nc", False),
    "also if another NOT follows": (["-NOT: x", "-DAG: c", "-DAG: b", "-NOT: d", ": e"], "b\nx\nc\ne", True),
    "a label may match after what precedes it in its line": (
        [": ab", "-NOT: c", "-LABEL: a{{.*}}b"],
        "ab d ab\nc",
        True,
    ),
    "but has to match there": ([": ab", "-LABEL: a{{.*}}b"], "ab\nab", False),
    "a DAG is no such match": (["-DAG: a", "-EMPTY:"], "a\n\nb", False),
}


def accepts(command: list[str], folder: Path, checks: str, text: str) -> bool:
    (folder / "checks").write_text(checks, encoding="utf-8")
    (folder / "input").write_text(text, encoding="utf-8")
    files = [str(folder / "checks"), f"--input-file={folder / 'input'}"]
    return subprocess.run([*command, *files], capture_output=True, check=False).returncode == 0


OURS = [sys.executable, "-m", "sdyopt.tools.lit.filecheck"]


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str, tmp_path: Path) -> None:
    checks, text, expected = CASES[name]
    lines = "".join(f"// CHECK{each}\n" for each in checks)
    assert accepts(OURS, tmp_path, lines, f"{text}\n") is expected


def _line() -> str:
    return " ".join(random.choice(["a", "b", "ab", "c", "d", ""]) for _ in range(random.randint(0, 3)))


def _checks(lines: list[str]) -> str:
    kinds = ["", "", "-NEXT", "-NEXT", "-SAME", "-NOT", "-NOT", "-DAG", "-LABEL", "-EMPTY", "-COUNT-2"]
    texts = ["a", "b", "ab", "c", "d", "{{[ab]}}", "a{{.*}}b", "{{^}}a", "c{{$}}"]
    found = []
    for _ in range(random.randint(1, 6)):
        kind, text = random.choice(kinds), random.choice(texts)
        if lines and random.random() < 0.3:
            text = random.choice(lines).strip()
        found.append(f"// CHECK{kind}:{'' if kind == '-EMPTY' else f' {text}'}\n")
    return "".join(found)


def test_generated_checks_agree_with_llvm(tmp_path: Path) -> None:
    """Of 1,000 with each of three seeds, all agree; here are fewer, because each takes two processes."""
    llvm = shutil.which("FileCheck-22") or shutil.which("FileCheck-19")
    if llvm is None:
        pytest.skip("requires LLVM's FileCheck: llvm-22-tools or llvm-19-tools")
    random.seed(0)
    for _ in range(40):
        lines = [_line() for _ in range(random.randint(2, 8))]
        checks, text = (
            _checks([line for line in lines if line.strip()]),
            "".join(f"{line}\n" for line in lines),
        )
        expected = accepts([llvm], tmp_path, checks, text)
        assert accepts(OURS, tmp_path, checks, text) is expected, f"{text}\n{checks}"
