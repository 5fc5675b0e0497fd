"""What each kind of proposals proposes for small programs, in order: the page proposals.txt.

python -m tests.unit.advise.test_kinds    # writes the page
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.proposals import kinds
from sdyopt.analysis.changes.proposals.boundary import at_peak
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise.test_proposals import parsed

_HERE = Path(__file__).parent
PAGE, _LIT = _HERE / "proposals.txt", _HERE.parents[1] / "lit"
PROGRAMS = (
    "advise/constraints",
    "advise/donated",
    "advise/replicated",
    "advise/sliced_sums",
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


def page() -> str:
    """The page: a line for each change, after the program and its kind, and lines that a rewrite adds."""
    texts = {f"{name}.mlir": (_LIT / f"{name}.mlir").read_text(encoding="utf-8") for name in PROGRAMS}
    return "".join(
        f"{line}\n" for name, text in {**texts, "parts": _PARTS}.items() for line in _lines(name, text)
    )


def _lines(name: str, text: str) -> Iterator[str]:
    yield name
    with interpreter_settings():
        module = parsed(text)
        numbers = {op: number for number, op in enumerate(module.walk())}
        trials = Trials(module, completing_pipeline(module))
        program, before = Search(trials).program, _statements(module)

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

        found = {kind: value.propose for kind, value in kinds().items()}
        for kind, propose in {**found, "at the peak": at_peak}.items():
            for number, change in enumerate(propose(program)):
                if not number:
                    yield f"  {kind}"
                yield f"    {change_text(change)}"
                if not change.edits:
                    added = _statements(trials.changed(change)) - before
                    yield from (f"      + {statement}" for statement in added.elements())


def _statements(module: Op) -> Counter[str]:
    """The lines of a program without the names of values."""
    return Counter(re.sub(r"%\w+", "%", line.strip()) for line in print_op(module).splitlines())


def test_proposals_are_those_of_the_page() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), (
        "python -m tests.unit.advise.test_kinds writes the page"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
