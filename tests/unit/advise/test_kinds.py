"""What each kind of proposals proposes for small programs, in order: the page proposals.txt.

After what a change edits, the page has its text, what is written there now, and the estimates of its cost.

python -m tests.unit.advise.test_kinds    # writes the page
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.analysis.changes.proposals import kinds
from sdyopt.analysis.changes.proposals.boundary import at_peak
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise.test_proposals import parsed
from tests.unit.report.programs import parts_of_page
from tests.unit.report.test_drawn_programs import sharded_program

_HERE = Path(__file__).parent
PAGE, _LIT = _HERE / "proposals.txt", _HERE.parents[1] / "lit"
PROGRAMS = (
    "advise/constraints",
    "advise/donated",
    "advise/replicated",
    "advise/sliced_sums",
    "check/Inputs/explicit_scan",
    "check/explicit",
    "check/explicit_axes",
    "check/free_axes",
    "check/json",
    "check/layers",
    "check/memory",
    "check/same_batch",
    "check/same_lines",
    "check/tree",
    "check/two_meshes",
    "check/weights",
    "explain/collective_sides",
    "explain/jax_lines",
    "explain/jax_loop",
    "lint/implicit_batching",
    "report/activations",
    "report/carried_names",
)


# A product in three parts, and their gradients beside each other: as two pads and a concatenation of three.
# The last three operations have other sizes, a part in another place, or elements between.
_PARTS = """
#at = loc("m.py":3:1)
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %w: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x12xf32>) -> tensor<4x12xf32> loc(#at)
  %1 = stablehlo.slice %0 [0:4, 0:4] : (tensor<4x12xf32>) -> tensor<4x4xf32> loc(#at)
  %2 = stablehlo.slice %0 [0:4, 4:8] : (tensor<4x12xf32>) -> tensor<4x4xf32> loc(#at)
  %3 = stablehlo.slice %0 [0:4, 8:12] : (tensor<4x12xf32>) -> tensor<4x4xf32> loc(#at)
  %4 = stablehlo.multiply %1, %2 : tensor<4x4xf32>
  %5 = stablehlo.multiply %4, %3 : tensor<4x4xf32>
  %6 = stablehlo.pad %4, %z, low = [0, 8], high = [0, 0], interior = [0, 0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x12xf32> loc(#at)
  %7 = stablehlo.pad %5, %z, low = [0, 4], high = [0, 4], interior = [0, 0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x12xf32> loc(#at)
  %8 = stablehlo.concatenate %5, %4, %5, dim = 1
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x12xf32> loc(#at)
  %9 = stablehlo.add %6, %7 : tensor<4x12xf32>
  %10 = stablehlo.pad %5, %z, low = [0, 3], high = [0, 5], interior = [0, 0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x12xf32> loc(#at)
  %11 = stablehlo.pad %w, %z, low = [-4, 0], high = [0, 0], interior = [0, 0]
      : (tensor<8x12xf32>, tensor<f32>) -> tensor<4x12xf32> loc(#at)
  %12 = stablehlo.add %10, %11 : tensor<4x12xf32>
  return %5, %8, %9, %12 : tensor<4x4xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>
}
"""


def programs() -> dict[str, str]:
    """The programs of the page by name, in its order."""
    texts = {f"{name}.mlir": (_LIT / f"{name}.mlir").read_text(encoding="utf-8") for name in PROGRAMS}
    drawn = {f"drawn {number}": sharded_program(number, 3) for number in (100, 102, 104, 105, 106, 107, 109)}
    return {**texts, "parts": _PARTS, **drawn}


def part_of(name: str, text: str) -> str:
    """The part of the page for a program: a line for each change, after the program and its kind.

    Below it are the lines that a rewrite adds.
    """
    return "".join(f"{line}\n" for line in _lines(name, text))


def _lines(name: str, text: str) -> Iterator[str]:
    yield name
    with interpreter_settings():
        module = parsed(text)
        numbers = {op: number for number, op in enumerate(module.walk())}
        trials = Trials(module, completing_pipeline(module), built_in_topology("tpu-v5e"))
        program, before, names = Search(trials).program, _statements(module), ChangeNames(module)
        assert trials.figures is not None
        figures, estimate = trials.figures, trials._estimate

        def subject_text(subject: Subject) -> str:
            if isinstance(subject, FunctionResult):
                return f"result {subject.result_index}"
            if isinstance(subject, BlockArgument):
                return f"argument {subject.index}"
            return f"{subject.op.name.partition(chr(46))[2]} {numbers[subject.op]}"

        def edit_text(edit: AnnotationEdit) -> str:
            dims = [
                ".".join(axis.name for axis in dim.axes) + "?" * (not dim.is_closed)
                for dim in edit.sharding.dims
            ]
            return f"{subject_text(edit.subject)} ({', '.join(dims)}){edit.how}{' removed' * edit.is_removal}"

        def change_text(change: Change) -> str:
            texts = change.title, change.words[0], *map(edit_text, change.edits)
            return "; ".join(filter(None, texts)) or "nothing"

        def words(change: Change) -> str:
            now = names.now(change)
            return f"{names.text(change)}{now and f' (now {now})'}" if change.edits else ""

        def cost_text(cost: EstimatedCost | None) -> str:
            """By how much the program costs more, in ns, bytes and FLOPs."""
            if cost is None:
                return "unknown"
            more = {
                "ns": (cost.seconds - figures.of_step) * 10**9,
                "ns at most": (cost.at_most - figures.of_step - figures.penalty) * 10**9,
                "carried": cost.carried - figures.carried,
                "FLOPs": cost.flops - figures.flops,
                "sent": cost.wire_bytes - figures.wire_bytes,
            }
            texts = [f"{float(value):+.6g} {unit}" for unit, value in more.items() if value]
            return ", ".join([*texts, *["adds reshards"] * cost.adds_reshards]) or "as before"

        found = {kind: value.propose for kind, value in kinds().items()}
        known: dict[str, None] = {}
        for kind, propose in {**found, "at the peak": at_peak}.items():
            changes = list(propose(program))
            if changes:
                yield f"  {kind}"
            costs = [None] * len(changes) if estimate is None else estimate.costs(changes)
            for change, cost in zip(changes, costs, strict=True):
                text = change_text(change)
                yield f"    {text}"
                if change.edits and text not in known:
                    known[text] = None
                    yield f"      {words(change)}: {cost_text(cost)}"
                if not change.edits:
                    added = _statements(trials.changed(change)) - before
                    yield from (f"      + {statement}" for statement in added.elements())


def _statements(module: Op) -> Counter[str]:
    """The lines of a program without the names of values."""
    return Counter(re.sub(r"%\w+", "%", line.strip()) for line in print_op(module).splitlines())


@pytest.mark.parametrize("name", programs())
def test_proposals_are_those_of_the_page(name: str) -> None:
    assert part_of(name, programs()[name]) == parts_of_page(PAGE).get(name), (
        "python -m tests.unit.advise.test_kinds writes the page"
    )


def test_the_page_has_no_other_programs() -> None:
    assert list(parts_of_page(PAGE)) == list(programs())


if __name__ == "__main__":
    PAGE.write_text("".join(part_of(name, text) for name, text in programs().items()), encoding="utf-8")
