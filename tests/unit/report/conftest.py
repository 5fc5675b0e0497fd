"""The exact figures of the reports that tests of figures make: the page exact_figures.txt.

Tests say what a figure means, and compare it within bounds. What moves on the page when a model changes is
what the change does. `python -m tests.unit.report.test_figures` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import Topology, built_in_topology
from sdyopt.base.dataclasses import asdict
from tests.unit.report import programs

PAGE = Path(__file__).with_name("exact_figures.txt")
MODULES = tuple(
    f"test_{name}"
    for name in (
        "drawn_programs",
        "execution_counts",
        "flops",
        "fused_kernels",
        "kernels",
        "live_memory",
        "recomputation",
        "sdy_collectives",
        "stablehlo_collectives",
        "time_estimate",
    )
)
# Tests write their part of the page to this file, if the environment names one.
WRITTEN = "SDYOPT_EXACT_FIGURES"


@pytest.fixture(autouse=True)
def exact_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compares the figures of the reports that a test makes with those of the page."""
    module = request.module.__name__.rpartition(".")[2]
    if module not in MODULES:
        yield
        return
    lines: list[str] = []

    def reporting(make: Any) -> Any:
        def report_on(module: Any, machine: Topology | None = None, *others: Any, **named: Any) -> Report:
            report: Report = make(module, machine, *others, **named)
            for topology in (machine, *map(built_in_topology, ("tpu-v5e", "h100"))):
                again = report if topology is machine else make(module, topology, *others, **named)
                lines.append(f"  {figures_of(again, topology)}")
            return report

        return report_on

    for owner in (request.module, programs):
        if hasattr(owner, "report_on"):
            monkeypatch.setattr(owner, "report_on", reporting(owner.report_on))
    yield
    name = f"{module}::{request.node.name}"
    if path := os.environ.get(WRITTEN):
        with Path(path).open("a", encoding="utf-8") as page:
            page.writelines(f"{line}\n" for line in ([name, *lines] if lines else ()))
    else:
        known = programs.parts_of_page(PAGE).get(name, "").splitlines()[1:]
        assert lines == known, "python -m tests.unit.report.test_figures writes the page"


def figures_of(report: Report, machine: Topology | None) -> str:
    """All that a report says of kernels, products, collectives and memory, on one line."""
    words = []
    if report.kernels is not None:
        words += [f"kernel {_text(size)}x{runs}" for size, runs in report.kernels.sizes.items()]
        kernels = report.kernels
        words.append(f"kernels {_text((kernels.unsized, kernels.custom_flops, kernels.custom_bytes))}")
    for sent in report.collectives:
        words.append(
            f"{sent.kind} {sent.axes} {_text((sent.wire_bytes, sent.bytes_in, sent.compiled or None))}"
        )
    words += [f"product {each.flops} {_text(asdict(each.kernel).values())}" for each in report.products]
    if machine is not None:
        time = time_estimate(report, machine)
        words.append(f"products take {_text(each.seconds for each in time.products)}")
        words.append(f"collectives take {_text(each.seconds for each in time.collectives)}")
        words.append(f"elementwise {_text(time.elementwise or ())}")
    memory = report.memory
    words.append(f"memory {_text((memory.arguments, memory.results, memory.constants, memory.peak))}")
    words += [f"{name} {peak}" for name, peak in memory.by_compiler.items()]
    words += [f"{value.role} {value.bytes}" for value in memory.live_at_peak]
    return ", ".join(words)


def _text(values: Any) -> str:
    return "/".join(f"{float(each):.9g}" if isinstance(each, Fraction) else str(each) for each in values)
