"""The examples in the documents run and print what is shown, and docs/api.md has every public name."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt

ROOT = Path(__file__).parents[3]
DOCUMENTS = ("README.md", "docs/api.md")


def blocks(document: str, language: str) -> list[str]:
    """The code blocks of a language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_print_what_is_shown(document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of a document share their variables."""
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks(document, "pycon"))
    # The report lists all examples that fail.
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "document"}, document, document, 0)
    assert len(test.examples) > 2
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_all_public_names_are_documented() -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    table = text.partition("| names | what they are |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(sdyopt.__all__)


@pytest.mark.reference
def test_example_with_jax(tmp_path: Path) -> None:
    [example] = blocks("docs/api.md", "python")
    script = tmp_path / "model.py"
    script.write_text(example, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [shown] = re.findall(r"print\(collective\)  # (.*)", example)
    [line] = done.stdout.splitlines()
    assert line.replace(f"{tmp_path}/", "") == shown


def test_example_scripts_run_from_another_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    program = ROOT / "examples" / "transformer_train.mlir"
    lines = run(str(ROOT / "examples/api/list_collectives.py"), str(program)).splitlines()
    assert lines[-1] == f"{len(lines) - 1} collectives on 8 devices"
    assert re.fullmatch(r" +[\d,]+ bytes  all_reduce {\"model\"} at transformer_train\.py:\d+", lines[0])
    halved = run(str(ROOT / "examples/api/halve_communication.py"), str(program))
    before, after = [int(number.replace(",", "")) for number in re.findall(r"[\d,]{5,}", halved)]
    assert after < 0.51 * before
    tests = str(ROOT / "examples/api/test_sharding.py")
    assert "3 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
