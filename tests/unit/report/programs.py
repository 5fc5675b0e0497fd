"""Parses small programs with every dialect, and reports on them."""

import re
from functools import cache
from pathlib import Path

from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry import all_dialects, find_dialect

ROOT = Path(__file__).parents[3]


@cache
def parts_of_page(page: Path) -> dict[str, str]:
    """The parts of a page of exact results by their first lines, which are not indented."""
    parts = re.split(r"^(?=\S)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.partition("\n")[0]: part for part in parts if part}


def module(text: str) -> Op:
    """The module of a text."""
    op, _ = parse_module(Source("program.mlir", text), DialectTable(find_dialect, all_dialects))
    return op


def report(text: str, machine: str = "") -> Report:
    """The report on a text, for a machine if one is named."""
    return report_on(module(text), built_in_topology(machine) if machine else None)


def collective(body: str, mesh: str = '"x"=4, "y"=2') -> Collective:
    """The only collective of a function with `body` and the argument %a, which is sharded along "x"."""
    found = report(
        f"""
        sdy.mesh @mesh = <[{mesh}]>
        func.func @main(%a: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
            -> tensor<64x32xf32> {{
          {body}
          return %0 : tensor<64x32xf32>
        }}
        """
    ).collectives
    (only,) = found
    return only
