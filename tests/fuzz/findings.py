"""Findings: one input for each problem, and the lit case that starts its test."""

import hashlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.inputs import Input


@dataclass(frozen=True)
class Finding:
    """A problem, the smallest input that has it, and the number of inputs that had it."""

    problem: str
    input: Input
    count: int = 1
    # The difference from the result of the reference, if there is one.
    details: str = ""

    @property
    def name(self) -> str:
        """A file name: words of the problem, and a checksum because these may be those of another."""
        words = re.sub(r"\W+", "-", self.problem.lower()).strip("-")[:60]
        return f"{words}-{hashlib.sha256(self.problem.encode()).hexdigest()[:6]}.mlir"

    def write(self, folder: Path) -> Path:
        """Writes the lit case, to be completed with a sentence and the expected output."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        path.write_bytes(self.case())
        return path

    def case(self) -> bytes:
        arguments = "".join(f" {shlex.quote(argument)}" for argument in self.input.arguments)
        is_difference = bool(self.details)
        head = (
            f"// RUN: {'' if is_difference else 'not '}sdy-opt %s{arguments} 2>&1 | FileCheck %s\n"
            f"\n// TODO: complete this case. Found by the fuzzer: {self.problem}\n"
            f"// CHECK: {'' if is_difference else 'error: '}TODO\n\n"
        )
        details = "".join(f"// {line}\n" for line in self.details.splitlines())
        return f"{head}{details}".encode() + self.input.text
