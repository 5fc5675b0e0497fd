"""Mutants of HLO text of TPU and GPU, as programs to compare a report with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import ClassVar

import sdyopt
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import of_report
from sdyopt.analysis.hlo_comparison.comparison import (
    HloComparison,
    compiled_report,
    is_one_slice,
    mismatch_of,
    shifts_of,
)
from sdyopt.analysis.hlo_comparison.hlo_comparison import FORMATS
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from tests.fuzz.contract import ROOT, Outcome
from tests.fuzz.corpus import Seed
from tests.fuzz.inputs import Input, Source
from tests.fuzz.mutation import mutate

_CASES = ROOT / "tests/lit/hlo_comparison"


@cache
def _report() -> Report:
    """The report of the program that the HLO of the lit cases is of."""
    text = (_CASES / "compare.mlir").read_text(encoding="utf-8")
    return sdyopt.parse(text).report().ir


class HloInput(Input):
    """HLO that is compared with a report, whatever its devices and parameters are."""

    def run(self) -> Outcome:
        report = _report()
        try:
            compiled = read_hlo("input.txt", self.text.decode("utf-8", "replace"))
            ours = list(of_report(report))
            matches = match_collectives(ours, compiled.operands, compiled)
            accelerated, shifts = on_accelerators(compiled), shifts_of(ours, compiled.operands)
            mismatch = mismatch_of(report, compiled) + str(is_one_slice(report, compiled))
            found = HloComparison(report, compiled, matches, accelerated, mismatch, shifts)
            compiled_report(found)
            for write in FORMATS.values():
                write(found)
        except DiagnosticError as error:
            return Outcome(status=1, errors=f"{error.diagnostic.location}: error: {error}")
        return Outcome(is_accepted=bool(compiled.operands))


def _seeds() -> Sequence[Seed]:
    return [Seed(path.read_bytes()) for path in sorted((_CASES / "Inputs").glob("*.txt"))]


@dataclass
class Hlo(Source):
    """Mutants of HLO of the lit cases, or of files."""

    size: ClassVar[int] = 1000

    seeds: Sequence[Seed] = field(default_factory=_seeds)

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        _report()
        return [self._input(random) for _ in range(size)]

    def _input(self, random: Random) -> Input:
        # The smaller of two: a large one takes longer.
        text = min((random.choice(self.seeds).text for _ in range(2)), key=len)
        return HloInput(mutate(random, text, random.choice(self.seeds).text))
