"""What the linter does with findings, and that rules look only at what their page says."""

from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

import sdyopt
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.lint.linter import _line_of_state, _one_per_line, _Placed, read_comments
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import Finding, LintSettings, Looks, Rule, all_rules
from sdyopt.analysis.report.check.checker import CheckResult, check_of
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, handling
from sdyopt.base.diagnostics.location import FileLoc, Source
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from tests.unit.lint.programs import lint, only, program

TWO = """sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}
"""


def test_findings_are_in_the_order_of_the_source() -> None:
    lines = [each.culprit.line for each in lint(TWO, only("uneven-sharding")).diagnostics if each.culprit]
    assert lines == [2, 3]


def test_equal_findings_at_one_place_are_one_finding() -> None:
    # Both calls have a copy of the function, which has the same location.
    text = """sdy.mesh @mesh = <["x"=4]>
func.func private @f(%a: tensor<8x10xf32>) -> tensor<8x10xf32> {
  %0 = stablehlo.custom_call @kernel(%a) : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}
func.func @main(%a: tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x10xf32> {
  %0 = call @f(%a) : (tensor<8x10xf32>) -> tensor<8x10xf32>
  %1 = stablehlo.negate %a : tensor<8x10xf32>
  %2 = call @f(%1) : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return %2 : tensor<8x10xf32>
}
"""
    assert len(lint(text, only("replicating-custom-call", min_bytes=1)).diagnostics) == 1


def test_what_is_alike_on_a_line_is_one_finding() -> None:
    message, expected = "costs much", "costs much; 1 more like it on this line, 3.00 KiB in all"
    rule = only("repeated-collective").rules()[0]
    module = program(TWO).module
    location = FileLoc("model.py", 5, 3)
    placed = [
        _Placed(
            rule,
            Finding(module, message, cost=Fraction(size)),
            Diagnostic(Severity.WARNING, location, message),
            (),
        )
        for size in (1024, 2048)
    ]
    assert [each.diagnostic.message for each in _one_per_line(placed)] == [expected]


def test_the_program_is_not_changed() -> None:
    found = program(TWO)
    before = [(op, op.signature, op.attributes) for op in found.module.walk()]
    lint(TWO)
    assert [(op, op.signature, op.attributes) for op in found.module.walk()] == before


class _Forbidden(AssertionError):
    """A rule looks at what its page does not name."""


class _Limited:
    """A subject without what a rule must not look at."""

    def __init__(self, looks_at: Looks) -> None:
        self._looks_at = looks_at
        self._module = program(TWO).module
        pipeline = completing_pipeline(self._module)
        self._trials = Trials(self._module, pipeline, make=LintedProgram)

    @property
    def as_read(self) -> LintedProgram:
        if self._looks_at is not Looks.AS_READ:
            raise _Forbidden
        return LintedProgram(self._module)

    @property
    def with_collectives(self) -> LintedProgram:
        if self._looks_at is Looks.AS_READ:
            raise _Forbidden
        found = self._trials.with_collectives
        assert isinstance(found, LintedProgram)
        return found

    @property
    def trials(self) -> Trials:
        if self._looks_at is not Looks.TRIALS:
            raise _Forbidden
        return self._trials

    @property
    def search(self) -> Search:
        return Search(self.trials)

    @property
    def check(self) -> CheckResult:
        return check_of(self.with_collectives.report, self.search)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_rules_look_at_nothing_that_their_page_does_not_name(rule: type[Rule]) -> None:
    [instance] = LintSettings(selected=(rule.id,)).rules()
    with handling(lambda _: None):
        list(instance.check(_Limited(rule.looks_at)))


GRADIENTS = """
#product = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#tanh = loc("jit(step)/jvp()/tanh"("layer"("model.py":7:5)))
#of_tanh = loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":7:5)))
#of_product = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<16x8xf32>, %w: tensor<8x8xf32> loc("params['w']"), %g: tensor<16x8xf32>)
    -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32> loc(#product)
  %y = stablehlo.tanh %h : tensor<16x8xf32> loc(#tanh)
  %dh = stablehlo.multiply %g, %y : tensor<16x8xf32> loc(#of_tanh)
  %dw = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0]
      : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32> loc(#of_product)
  return %y, %dw : tensor<16x8xf32>, tensor<8x8xf32>
}
"""


def test_a_gradient_is_constrained_with_its_value_or_by_the_name_of_its_weight() -> None:
    module = program(GRADIENTS).module
    search = Search(Trials(module, completing_pipeline(module)))
    h, *_, dw = [op.results[0] for op in module.walk() if op.results]
    assert isinstance(h, OpResult) and isinstance(dw, OpResult) and search.mesh is not None
    sharding = search.mesh.sharding((("x",), ()))
    # JAX constrains the gradient of an activation with it, and that of a weight, which the step gets, alone.
    texts = [
        search.names.text(search.program.change([AnnotationEdit(each, sharding, search.mesh.mesh)]))
        for each in (h, dw)
    ]
    assert texts == [
        "jax.lax.with_sharding_constraint(the dot_general at model.py:6, P('x')), which constrains its "
        "gradient, too",
        "jax.lax.with_sharding_constraint(the gradient of params['w'], P('x')) on what jax.grad returns",
    ]


def test_a_change_of_the_state_of_an_optimizer_is_at_the_line_of_the_program_that_updates_it() -> None:
    """Not one of a parameter, whose first use is differentiated."""
    type = "tensor<8xf32>"
    module = sdyopt.parse(f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%w: {type} loc("params['w']"), %m: {type} loc("state['mu']"), %n: {type})
        -> ({type}, {type}, {type}) {{
      %0 = stablehlo.tanh %w : {type} loc("jit(step)/jvp()/tanh"("layer"("model.py":3:5)))
      %1 = stablehlo.negate %m : {type}
        loc("jit(step)/neg"(callsite("update"("opt.py":9:5) at "step"("model.py":7:5))))
      %2 = stablehlo.negate %n : {type}
      return %0, %1, %2 : {type}, {type}, {type}
    }}
    """).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    sharding = TensorSharding(SymbolRef("mesh"), (DimensionSharding((AxisRef("x"),)),))

    def line(file: str, *numbers: int) -> str:
        arguments = [function.entry.arguments[number] for number in numbers]
        edits = [
            AnnotationEdit(each, sharding, mesh) for each in arguments if isinstance(each, BlockArgument)
        ]
        trial = cast(Trial, SimpleNamespace(change=Change(tuple(edits))))
        found = _line_of_state(trial, file, ChangeNames(module))
        return "" if found is None else f"{found[0].file_text} {found[1].name}"

    assert line("model.py", 1) == "model.py:7 stablehlo.negate"
    # The first edit counts.
    assert line("model.py", 1, 0) == "model.py:7 stablehlo.negate"
    assert line("other.py", 1) == "opt.py:9 stablehlo.negate"
    assert [line("model.py", *numbers) for numbers in ((0,), (0, 1), (2,))] == ["", "", ""]


def test_a_comment_is_of_its_line_or_alone_of_the_next_one_that_is_no_comment() -> None:
    allow = "// sdy-lint: allow({})"
    text = "\n".join(
        [
            f"first {allow.format('size-one-axis')}",
            f"  {allow.format('replicated-value')}",
            "// why",
            "second",
        ]
    )
    comments = read_comments(Source("program.mlir", text))
    assert comments.by_line == {1: {"size-one-axis"}, 4: {"replicated-value"}}
    # So it is in the first line, and in the last one it is of no other.
    alone = read_comments(Source("program.mlir", allow.format("size-one-axis")))
    assert alone.by_line == {1: {"size-one-axis"}}
