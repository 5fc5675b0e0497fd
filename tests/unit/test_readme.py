"""The examples, tables and links in the README are up to date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.readme import END, START, with_table

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_table_of_passes_is_up_to_date() -> None:
    assert START in README
    assert END in README
    assert with_table(README) == README, "run: make docs"


def test_the_input_of_the_first_example_is_its_file() -> None:
    [(path, text)] = re.findall(r"<!-- input: (\S+) -->\n```mlir\n(.*?)```", README, re.DOTALL)
    assert (ROOT / path).read_text(encoding="utf-8") == text


def test_the_output_of_the_first_example_is_that_of_its_command() -> None:
    [(command, text)] = re.findall(
        r"<!-- output -->\n```console\n\$ sdy-opt (.*?)\n(.*?)```", README, re.DOTALL
    )
    assert output_of(command) == text.rstrip("\n")


def test_the_excerpt_of_the_second_example_is_from_the_output_of_its_command() -> None:
    """In an excerpt, `…` stands for an omitted part of a line or, alone, for omitted lines."""
    [(command, text)] = re.findall(
        r"<!-- excerpt -->\n```console\n\$ sdy-opt (.*?)\n(.*?)```", README, re.DOTALL
    )
    lines = ["(.*\n)*" if line == "…" else pattern_of(line) for line in text.splitlines()]
    assert re.fullmatch("".join(lines), output_of(command) + "\n")
    assert command.partition(".mlir ")[2].split() == flags_of(ROOT / "examples" / "run.sh")


def pattern_of(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…")) + "\n"


def output_of(command: str) -> str:
    arguments = [sys.executable, "-m", "sdyopt", *command.split()]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.rstrip("\n")


def flags_of(script: Path) -> list[str]:
    return re.findall(r"^  (-\S+)", script.read_text(encoding="utf-8"), re.MULTILINE)


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    shown = re.findall(r"(?:^ {4}|`)make ([a-z -]+?)(?=`| {2}|$)", README, re.MULTILINE)
    assert {target for targets_shown in shown for target in targets_shown.split()} <= targets
    assert {"run", "test"} <= targets


def test_link_targets_exist() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
