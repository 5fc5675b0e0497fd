"""The examples, images and links in the README are up to date."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs.readme import FOLDER, images

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_one_page() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("name", ["report-dark.svg", "report-light.svg"])
def test_the_image_is_of_the_report(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == images()[name], "run: make docs"


def test_excerpts_are_from_the_outputs_of_their_commands() -> None:
    """In an excerpt, `…` stands for an omitted part of a line or, alone, for omitted lines."""
    excerpts = re.findall(r"<!-- excerpt -->\n```console\n\$ sdy-opt (.*?)\n(.*?)```", README, re.DOTALL)
    assert len(excerpts) == README.count("```console")
    for command, text in excerpts:
        lines = ["(.*\n)*" if line == "…" else pattern_of(line) for line in text.splitlines()]
        assert re.fullmatch("".join(lines), output_of(command) + "\n"), command


def pattern_of(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…")) + "\n"


def output_of(command: str) -> str:
    arguments = [sys.executable, "-m", "sdyopt", *shlex.split(command)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.rstrip("\n")


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    shown = re.findall(r"(?:^ {4}|`)make ([a-z -]+?)(?=`| {2}|$)", README, re.MULTILINE)
    assert {"run", "test"} <= {target for targets_shown in shown for target in targets_shown.split()}
    assert {target for targets_shown in shown for target in targets_shown.split()} <= targets


def test_link_targets_exist() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
