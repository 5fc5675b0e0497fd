"""The programs of `programs.mlir`; comments give the name and the collectives of the partitioned program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("programs.mlir")
SEPARATOR = "\n// -----\n\n"


@dataclass(frozen=True)
class Program:
    """A program whose function @main is partitioned."""

    name: str
    collectives: str
    text: str


def _read(chunk: str) -> Program:
    name, collectives, text = chunk.split("\n", 2)
    return Program(name.removeprefix("// "), collectives.removeprefix("// "), text)


PROGRAMS = [_read(chunk) for chunk in FILE.read_text(encoding="utf-8").split(SEPARATOR)]
