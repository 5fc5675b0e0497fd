"""Code blocks of Markdown pages, and what a test does with each.

Each block has a comment directly above it that defines what it is:

    <!-- file NAME -->      a file that later blocks use
    <!-- add NAME -->       text at the end of such a file
    <!-- part of PATH -->   consecutive lines of a file in the checkout
    <!-- run -->            commands after `$ `, and what they print; `…` stands for omitted text
    <!-- run, exit N -->    the last command ends with this exit status
    <!-- jax -->            Python code that needs JAX
    <!-- not tested -->     such as an installation

A comment `<!-- copy PATH … -->` elsewhere copies files of the checkout for the blocks that follow, and with a
slash at the end the contents of a folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

IGNORED = shutil.ignore_patterns("__pycache__", ".pytest_cache", "Output")
BLOCK = re.compile(
    r"^(?:<!-- (?P<kind>[^>\n]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$"
    r"|^<!-- copy (?P<copied>[^\n]*) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A code block, or a comment that copies files, whose `kind` is `copy`. `line` is where it starts."""

    line: int
    kind: str
    argument: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """The code blocks and copy comments of a page, in order. `page` is a path in the checkout."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["copied"] is not None:
            blocks.append(Block(line, "copy", match["copied"], ""))
            continue
        kind, argument = _split(match["kind"] or "")
        blocks.append(Block(line, kind, argument, match["text"]))
    return blocks


def _split(comment: str) -> tuple[str, str]:
    for kind in ("part of", "run, exit", "file", "add"):
        if comment.startswith(kind + " "):
            return kind, comment.removeprefix(kind + " ")
    return comment, ""


class Folder:
    """A folder in which the blocks of a page run, with the commands of this environment."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def follow(self, block: Block) -> None:
        """Runs, writes, copies or compares the block; raises AssertionError if the page is wrong."""
        FOLLOW[block.kind](self, block)

    def skip(self, block: Block) -> None:
        pass

    def copy(self, block: Block) -> None:
        for name in block.argument.split():
            source, target = ROOT / name, self.path / (name if not name.endswith("/") else "")
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=IGNORED, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)

    def write(self, block: Block) -> None:
        target = self.path / block.argument
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")

    def append(self, block: Block) -> None:
        with (self.path / block.argument).open("a", encoding="utf-8") as file:
            file.write("\n\n" + block.text)

    def compare_with_source(self, block: Block) -> None:
        source = (ROOT / block.argument).read_text(encoding="utf-8")
        assert f"\n{block.text}" in f"\n{source}", f"the block is not part of {block.argument}:\n{block.text}"

    def run_commands(self, block: Block) -> None:
        *passing, last = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
        for command in passing:
            self._run(command, 0)
        self._run(last, int(block.argument or 0))

    def run_python(self, block: Block) -> None:
        (self.path / "block.py").write_text(block.text, encoding="utf-8")
        done = self._execute(f"{sys.executable} block.py")
        assert done.returncode == 0, done.stdout

    def _run(self, text: str, status: int) -> None:
        command, _, expected = text.partition("\n")
        while command.endswith("\\"):
            line, _, expected = expected.partition("\n")
            command = f"{command}\n{line}"
        done = self._execute(command)
        assert done.returncode == status, f"{command}\nexit status {done.returncode}\n{done.stdout}"
        lines = ["(.*\n)*" if line == "…" else _pattern(line) for line in expected.rstrip("\n").splitlines()]
        printed = done.stdout.rstrip("\n") + "\n" if done.stdout.strip() else ""
        assert re.fullmatch("".join(lines), printed), f"{command}\nprints\n{done.stdout}"

    def _execute(self, command: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.path,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )


FOLLOW = {
    "copy": Folder.copy,
    "file": Folder.write,
    "add": Folder.append,
    "part of": Folder.compare_with_source,
    "run": Folder.run_commands,
    "run, exit": Folder.run_commands,
    "jax": Folder.run_python,
    "not tested": Folder.skip,
}


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part.rstrip()) for part in line.split("…")) + " *\n"
