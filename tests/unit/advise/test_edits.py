"""What edits change, how they are named, and what they are estimated to cost: the page edits.txt.

Of each value that an edit can shard, the bytes of a hash choose two shardings. Below an edit are what is
written there now, what JAX constrains with it, what it derives, and the estimate of the program after it.

    python -m tests.unit.advise.test_edits    # writes the page
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from math import prod
from pathlib import Path

import pytest

from sdyopt.analysis.changes.derived import DerivedConstraints
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, is_input
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.analysis.changes.originals import Gradients, _handed_on
from sdyopt.analysis.changes.outcome import work_of
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise import test_derived as derived
from tests.unit.advise.test_proposals import parsed
from tests.unit.report.programs import parts_of_page

_HERE = Path(__file__).parent
PAGE, _LIT = _HERE / "edits.txt", _HERE.parents[1] / "lit"
PROGRAMS = (
    "advise/replicated",
    "check/explicit",
    "check/explicit_axes",
    "check/free_axes",
    "check/gradients",
    "check/kinds",
    "check/layers",
    "check/same_batch",
    "check/shard_map",
    "check/slice_of_weight",
    "check/tree",
    "check/weights",
    "explain/gradients",
    "explain/jax_loop",
    "lint/jax_constraints",
)


def programs() -> dict[str, str]:
    """The programs of the page by name, in its order."""
    texts = {name: (_LIT / f"{name}.mlir").read_text(encoding="utf-8") for name in PROGRAMS}
    layers = derived.OF_LAYERS.replace("LAST", derived._RESHARD).replace("LEFT", "%11")
    return {
        **{name: text.split("// -----\n")[0] for name, text in texts.items()},
        "derived of a weight": derived.OF_WEIGHT.replace('["x"=2]', '["x"=2, "y"=2]'),
        "derived of experts": derived.EXPERTS,
        "derived of layers": layers,
        "derived of one operand": derived.OF_ONE_OPERAND,
        "derived of a reshard": derived.OF_RESHARD,
    }


def part_of(name: str, text: str) -> str:
    """The part of the page for a program."""
    with interpreter_settings():
        return "".join(f"{line}\n" for line in (name, *_Program(text).lines()))


class _Program:
    """A program with what is asked of its edits."""

    def __init__(self, text: str) -> None:
        self._module = parsed(text)
        self._trials = Trials(self._module, completing_pipeline(self._module), built_in_topology("tpu-v5e"))
        self._names, self._gradients = ChangeNames(self._module), Gradients(self._module)
        self._derived = DerivedConstraints(self._module)
        self._numbers = {op: number for number, op in enumerate(self._module.walk())}
        self._mesh = next(op for op in self._module.walk() if isinstance(op, MeshOp))

    def lines(self) -> Iterator[str]:
        edits = [edit for subject in self._subjects() for edit in self._edits(subject)]
        changes = [Change(self._gradients.constrained([edit])) for edit in edits]
        estimate = self._trials._estimate
        costs = [None] * len(changes) if estimate is None else estimate.costs(changes)
        for edit, change, cost in zip(edits, changes, costs, strict=True):
            alone = Change((edit,))
            yield f"  {self._text(edit)}: {self._names.text(alone)} | {self._names.sdy_text(alone)}"
            kinds = [kind for kind in ("frees", "is_less_sharded") if getattr(edit, kind)]
            now = self._names.now(alone)
            yield f"    {', '.join([self._names.place(edit), *kinds, *filter(None, [now and f'now {now}'])])}"
            yield f"    with {'; '.join(map(self._text, change.edits))}"
            following = self._derived.following(change.edits)
            if following is None:
                yield "    JAX rejects it"
            elif following:
                yield f"    then {'; '.join(map(self._text, following))}"
                together = Change((*change.edits, *following))
                yield f"    {self._names.text(together)}"
                yield f"    {self._names.text(together._replace(title='all'))}"
            if cost is not None:
                yield (
                    f"    {float(cost.seconds):.6g} s, at most {float(cost.at_most):.6g} s, "
                    f"carries {float(cost.carried):g} and sends {float(cost.wire_bytes):g} bytes, "
                    f"{float(cost.flops):g} FLOPs{', reshards' * cost.adds_reshards}"
                )

    def _subjects(self) -> Iterator[Subject]:
        """Arguments and results of the program, all constraints, and a third of the other values."""
        for op in self._module.walk():
            if isinstance(op, FuncOp) and not is_private(op):
                yield from (argument for argument in op.entry.arguments if is_input(argument))
                yield from (FunctionResult(op, number) for number in range(len(op.function_type.results)))
            elif not op.regions:
                is_constraint = isinstance(op, ShardingConstraintOp)
                yield from (
                    value
                    for value in op.results
                    if isinstance(value, OpResult) and (is_constraint or self._numbers[op] % 3 == 0)
                )

    def _edits(self, subject: Subject) -> Iterator[AnnotationEdit]:
        type = (
            subject.function.function_type.results[subject.result_index]
            if isinstance(subject, FunctionResult)
            else subject.type
        )
        if not isinstance(type, RankedTensor) or not type.rank:
            return
        sizes = {axis.name: axis.size for axis in self._mesh.mesh.axes}
        for number in range(2):
            digest = sha256(f"{self._subject_text(subject)} {number}".encode()).digest()
            dims: list[list[str]] = [[] for _ in type.shape]
            for name, byte in zip(sizes, digest, strict=False):
                dim = byte % (type.rank + 1)
                taken = prod(sizes[other] for other in dims[dim]) if dim < type.rank else 0
                if taken and type.shape[dim] % (taken * sizes[name]) == 0:
                    dims[dim].append(name)
            axes = [DimensionSharding(tuple(map(AxisRef, names))) for names in dims]
            sharding = TensorSharding(SymbolRef(self._mesh.sym_name), tuple(axes))
            yield AnnotationEdit(subject, sharding, self._mesh.mesh)
        if isinstance(subject, OpResult) and isinstance(subject.op, ShardingConstraintOp):
            yield AnnotationEdit(subject, subject.op.sharding, self._mesh.mesh, is_removal=True)

    def _subject_text(self, subject: Subject) -> str:
        if isinstance(subject, FunctionResult):
            return f"result {subject.result_index}"
        if isinstance(subject, BlockArgument):
            return f"argument {subject.index}"
        return f"{subject.op.name.partition('.')[2]} {self._numbers[subject.op]}"

    def _text(self, edit: AnnotationEdit) -> str:
        spec = ",".join(" ".join(axis.name for axis in dim.axes) for dim in edit.sharding.dims)
        return f"{self._subject_text(edit.subject)} ({spec}){edit.how}{' removed' * edit.is_removal}"


@pytest.mark.parametrize("name", programs())
def test_edits_are_those_of_the_page(name: str) -> None:
    assert part_of(name, programs()[name]) == parts_of_page(PAGE).get(name)


def test_an_edit_of_a_gradient_is_one_of_what_its_statement_transposes_it_to() -> None:
    """Unless another line does, or something else uses it, too."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%g: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
      %0 = stablehlo.negate %g : tensor<4x8xf32> loc("jit(step)/transpose(jvp())/neg"("f"("model.py":3:5)))
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
          loc("jit(step)/transpose(jvp())/transpose"("f"("model.py":LINE:5)))
      return %1, OTHER : tensor<8x4xf32>, tensor<4x8xf32>
    }
    """

    def edited(line: str, other: str) -> list[tuple[str, str]]:
        module = parsed(text.replace("LINE", line).replace("OTHER", other))
        value = next(op.results[0] for op in module.walk() if op.name == "stablehlo.negate")
        mesh = next(op for op in module.walk() if isinstance(op, MeshOp))
        assert isinstance(value, OpResult)
        dims = DimensionSharding((AxisRef("x"),)), DimensionSharding(())
        edit = _handed_on(AnnotationEdit(value, TensorSharding(SymbolRef("mesh"), dims), mesh.mesh))
        assert isinstance(edit.subject, OpResult)
        return [(edit.subject.op.name, ",".join("x" if dim.axes else "" for dim in edit.sharding.dims))]

    assert edited("3", "%g") == [("stablehlo.transpose", ",x")]
    assert edited("4", "%g") == edited("3", "%0") == [("stablehlo.negate", "x,")]


def test_the_work_of_a_trial_is_that_of_operations_and_of_ranks_above_16() -> None:
    """The module, the function, its return, and two operations: of rank 18 twice, and once."""
    type = f"tensor<{'1x' * 18}f32>"
    program = parsed(f"""
    func.func @main(%a: {type}) -> tensor<1xf32> {{
      %0 = stablehlo.negate %a : {type}
      %1 = stablehlo.reshape %0 : ({type}) -> tensor<1xf32>
      return %1 : tensor<1xf32>
    }}
    """)
    assert work_of(program) == 5 + 2 * 2 + 2


if __name__ == "__main__":
    PAGE.write_text("".join(part_of(name, text) for name, text in programs().items()), encoding="utf-8")
