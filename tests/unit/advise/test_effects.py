"""The verdicts on a change that was tried, and the values whose gradients changes are of."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import sdyopt
from sdyopt.analysis.advise.adviser import AdviceResult
from sdyopt.analysis.advise.analysis import advice_text
from sdyopt.analysis.changes.axes import mesh_of
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, joined
from sdyopt.analysis.changes.effect import ActivationReshard, Effect, Figures, Measure, best_of
from sdyopt.analysis.changes.names import ChangeNames, sdy_help
from sdyopt.analysis.changes.order import surest_first, without_equals
from sdyopt.analysis.changes.originals import Gradients
from sdyopt.analysis.changes.outcome import key_of_program
from sdyopt.analysis.changes.roles import roles_of, statement_of
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Annotation, Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.source_locations import UserLines
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.report.check.trial_text import trial_text
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.elementwise import MulOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.pipeline.tree import Pipeline


def figures(sent: int, peak: int = 10, conflicts: int = 0, moved: int = 0, carried: int = 0) -> Figures:
    zero = Fraction(0)
    return Figures(
        zero,
        zero,
        zero,
        Fraction(sent),
        peak,
        None,
        zero,
        zero,
        0,
        carried,
        zero,
        (ActivationReshard("all_to_all", "x", (), Fraction(conflicts), Fraction(moved)),)
        if conflicts
        else (),
    )


@pytest.mark.parametrize(
    ("after", "is_conflict_free", "holds"),
    [
        (figures(60), True, True),
        # Even whole tensors are less than what was sent.
        (figures(60, conflicts=10, moved=40), False, True),
        (figures(60, conflicts=10, moved=50), False, False),
        # What is no gain can become a loss.
        (figures(100, conflicts=10, moved=10), False, False),
    ],
)
def test_a_gain_holds_if_whole_tensors_may_move(after: Figures, is_conflict_free: bool, holds: bool) -> None:
    effect = Effect(figures(100), after)
    assert effect.is_conflict_free == is_conflict_free
    assert effect.holds == holds
    assert ("; XLA may send more" in effect.text) != holds


@pytest.mark.parametrize(("sent", "is_so"), [(81, True), (80, False), (100, False), (101, False)])
def test_a_gain_is_of_reshards_if_most_of_it_is(sent: int, is_so: bool) -> None:
    assert Effect(figures(100, conflicts=10), figures(sent)).is_of_reshards == is_so


def test_what_is_sent_more_but_at_most_less_is_sure() -> None:
    """With as many bytes of results and slices as before, and fewer seconds whatever a partitioner does."""
    before = figures(100)._replace(penalty=Fraction(2), of_results=Fraction(7), sliced=5)
    after = before._replace(
        wire_bytes=Fraction(110),
        penalty=Fraction(1),
        reshards=figures(0, conflicts=10, moved=50).reshards,
    )
    for figures_after, may in (
        (after, False),
        (after._replace(penalty=Fraction(2)), True),
        (after._replace(of_results=Fraction(8)), True),
        (after._replace(sliced=6), True),
    ):
        trial = Trial(Change(), before, figures_after)
        assert not trial.effect.holds
        assert trial.may_send_still_more == may


@pytest.mark.parametrize(
    ("before", "after", "saved", "saved_at_most"),
    [
        # Seconds, those between steps, and those of whole tensors that may be moved.
        ((100, 0, 100), (90, 0, 50), "1/10", "1/10"),
        ((90, 10, 100), (50, 0, 140), "1/2", "1/20"),
        ((100, 0, 0), (80, 40, 0), "-1/5", "-1/5"),
        ((0, 0, 0), (1, 0, 0), "0", "0"),
    ],
)
def test_what_a_change_saves_is_the_least_share(
    before: tuple[int, int, int], after: tuple[int, int, int], saved: str, saved_at_most: str
) -> None:
    of_before, of_after = (
        figures(0)._replace(seconds=Fraction(all), carrying=Fraction(carrying), penalty=Fraction(penalty))
        for all, carrying, penalty in (before, after)
    )
    trial = Trial(Change(), of_before, of_after)
    assert (trial.saved(False), trial.saved(True)) == (Fraction(saved), Fraction(saved_at_most))


def test_a_change_is_said_in_words_of_shardy_if_no_line_is_of_jax() -> None:
    names = cast(ChangeNames, SimpleNamespace(is_of_jax=False, sdy_text=lambda change: change.words[1]))
    change = Change(words=("write P('x')", '[{"x"}, {}] on %a; 2 more'))
    trial = Trial(change, figures(100), figures(60), text="write P('x')")
    assert sdy_help(trial, names) == 'in sdy: [{"x"}, {}] on %a; 2 more'
    assert not sdy_help(trial._replace(change=Change(words=("", ""))), names)


@pytest.mark.parametrize(("sent", "is_more"), [(1009, False), (1010, False), (1011, True)])
def test_what_sends_a_hundredth_more_sends_as_much(sent: int, is_more: bool) -> None:
    assert Trial(Change(), figures(1000), figures(sent)).sends_more == is_more


def test_reshards_that_were_there_before_are_no_risk() -> None:
    """The partitioner does them as before; without a gain, other ones are a risk even if they send less."""
    before = figures(100, conflicts=10, moved=1000)
    assert Effect(before, before._replace(wire_bytes=Fraction(99))).holds
    assert not Effect(before, figures(100)).holds


@pytest.mark.parametrize(("sent", "is_worth_it"), [(100, True), (98, False), (91, False), (90, True)])
def test_what_a_partitioner_is_free_to_choose_must_save_a_tenth(sent: int, is_worth_it: bool) -> None:
    effect = Effect(figures(100), figures(sent))
    assert effect.is_worth_it(frees=True) == is_worth_it
    assert effect.is_worth_it()
    # So must a constraint where there is none, if it only saves reshards that it may choose otherwise.
    assert effect.is_worth_it(is_new=True)
    without_reshards = Effect(figures(100, conflicts=12, moved=12), figures(sent))
    assert without_reshards.is_worth_it(is_new=True) == is_worth_it
    assert without_reshards.is_worth_it()


@pytest.mark.parametrize(("sent", "is_worth_it"), [(100, True), (98, False), (76, False), (75, True)])
def test_a_gain_at_risk_must_be_a_quarter(sent: int, is_worth_it: bool) -> None:
    assert Effect(figures(100), figures(sent, conflicts=10, moved=200)).is_worth_it() == is_worth_it
    assert Effect(figures(100), figures(sent)).is_worth_it()


def test_what_only_loses_axes_turns_sharding_off() -> None:
    module = sdyopt.parse(TURNED_OFF).ir
    mesh = next(op for op in module.walk() if isinstance(op, MeshOp))
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    weight = function.entry.arguments[0]
    assert isinstance(weight, BlockArgument)

    def change(*dims: tuple[str, ...]) -> Change:
        shardings = tuple(DimensionSharding(tuple(map(AxisRef, names))) for names in dims)
        return Change(
            (AnnotationEdit(weight, TensorSharding(SymbolRef(mesh.sym_name), shardings), mesh.mesh),)
        )

    assert change((), ()).turns_sharding_off
    assert change((), ("y",)).turns_sharding_off
    assert not change(("y",), ("x",)).turns_sharding_off
    assert not change(("x", "y"), ()).turns_sharding_off


TURNED_OFF = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x8xf32> {
  return %w : tensor<8x8xf32>
}
"""


@pytest.mark.parametrize(("sent", "best"), [(70, "holds"), (71, "depends")])
def test_what_holds_is_preferred_if_it_saves_half_as_much(sent: int, best: str) -> None:
    depends = Effect(figures(100), figures(40, conflicts=10, moved=100))
    holds = Effect(figures(100), figures(sent))
    assert best_of([("depends", depends), ("holds", holds)], Measure.WIRE)[0] == best


def test_what_is_sent_between_steps_is_a_cost() -> None:
    effect = Effect(figures(100), figures(60, carried=8))
    assert effect.is_worse
    assert effect.text == "-40 B sent, +8 B between steps"


def test_changes_together_run_the_passes_of_each() -> None:
    changes = Change(passes={"cse": {}}), Change(), Change(passes={"inline": {"max-iterations": "1"}})
    assert joined(changes).passes == {"cse": {}, "inline": {"max-iterations": "1"}}


PROGRAM = """
#forward = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %d: tensor<4x8xf32>, %v: tensor<8x8xf32>)
    -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %other = stablehlo.add %v, %v : tensor<8x8xf32> loc("jit(step)/jvp()/add"("layer"("model.py":6:40)))
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(#forward)
  %dw = stablehlo.dot_general %x, %d, contracting_dims = [0] x [0]
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32> loc(#backward)
  %dx = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(#backward)
  return %y, %dw, %dx : tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}
"""


def test_the_line_of_a_gradient_is_that_of_the_operation_that_takes_the_value() -> None:
    module = sdyopt.parse(PROGRAM).ir
    y, dw, dx = [op.results[0] for op in module.walk() if op.signature.name == "stablehlo.dot_general"]
    gradients = Gradients(module)
    values = [gradients.value(each) for each in (y, dw, dx)]
    assert [each.index if isinstance(each, BlockArgument) else None for each in values] == [None, 1, 0]


STATEMENTS = """
#helper = loc("shard"("model.py":3:5))
#layer = loc(callsite(#helper at "layer"("model.py":9:7)))
#other = loc(callsite(#helper at "layer"("model.py":20:7)))
#again = loc(callsite(#layer at "body"("model.py":30:7)))
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<64x128xf32>, %g: tensor<64x128xf32>, %s: tensor<64x128xf32>)
    -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<64x128xf32>
      loc("jit(step)/jvp()/sharding_constraint"(#layer))
  %1 = sdy.sharding_constraint %g <@mesh, [{}, {}]> : tensor<64x128xf32>
      loc("jit(step)/transpose(jvp())/sharding_constraint"(#layer))
  %2 = sdy.sharding_constraint %s <@mesh, [{}, {}]> : tensor<64x128xf32>
      loc("jit(step)/jvp()/sharding_constraint"(#other))
  %y = stablehlo.tanh %x : tensor<64x128xf32> loc("jit(step)/jvp()/tanh"("layer"("model.py":8:7)))
  %3 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<64x128xf32>
      loc("jit(step)/transpose(jvp())/checkpoint/rematted_computation/sharding_constraint"(#again))
  return %0, %1, %2, %3 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}
"""


def test_a_statement_constrains_a_value_its_gradient_and_what_is_recomputed() -> None:
    module = sdyopt.parse(STATEMENTS).ir
    constraints = [op for op in module.walk() if isinstance(op, ShardingConstraintOp)]
    lines = UserLines.of_module(module)
    first, gradient, other, recomputed = (statement_of(op, lines) for op in constraints)
    assert first == gradient == recomputed != other
    # They are one class of values, which change together.
    classes = [each for role in roles_of(module) for each in role.classes]
    found = [[place.subject for place in each.constraints] for each in classes]
    assert [op.output for op in (*constraints[:2], constraints[3])] in found


GRADIENT = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8xf32>, %s: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = stablehlo.tanh %x : tensor<8xf32> loc("jit(step)/jvp()/tanh"("layer"("model.py":6:5)))
  %z = sdy.sharding_constraint %y <@mesh, [{"x"}]> : tensor<8xf32>
      loc("jit(step)/jvp()/sharding_constraint"("layer"("model.py":7:5)))
  %d = stablehlo.negate %s : tensor<8xf32> loc("jit(step)/transpose(jvp())/neg"("layer"("model.py":7:5)))
  %g = stablehlo.multiply %d, %x : tensor<8xf32>
      loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":6:5)))
  return %z, %g : tensor<8xf32>, tensor<8xf32>
}
"""


def test_a_new_constraint_constrains_the_gradient_as_in_jax() -> None:
    module = sdyopt.parse(GRADIENT).ir
    y, z, d = [op.results[0] for op in module.walk() if op.results][:3]
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    assert isinstance(z.defining_op, ShardingConstraintOp)
    assert isinstance(y, OpResult) and isinstance(z, OpResult)
    gradients = Gradients(module)
    new = AnnotationEdit(y, z.defining_op.sharding, mesh)
    assert [each.subject for each in gradients.constrained([new])] == [y, d]
    # The constraint of the gradient is in the program, and changes with the one of the same statement.
    written = AnnotationEdit(z, z.defining_op.sharding, mesh)
    assert gradients.constrained([written]) == (written,)


def test_a_peak_that_may_be_on_the_chip_is_no_cost() -> None:
    change = _change(50, 50)
    tpu = built_in_topology("tpu-v5e")
    assert tpu.compute is not None
    for peak, pays in ((tpu.compute.cache, True), (2 * tpu.compute.cache, False)):
        wider = change._replace(figures=change.after._replace(peak_bytes=peak))
        module = sdyopt.parse("module {}").ir
        assert Search(Trials(module, Pipeline(), tpu)).pays(wider) == pays
        assert not Search(Trials(module, Pipeline())).pays(wider)


def _change(sent: int, microseconds: int, latency: int = 0, penalty: int = 0) -> Trial:
    """A change of a program that takes 100 us and sends 100 bytes. 10 of the us are latency."""
    micro = Fraction(1, 10**6)
    before = figures(100)._replace(seconds=100 * micro, compute=80 * micro, latency=10 * micro)
    after = before._replace(
        seconds=microseconds * micro,
        wire_bytes=Fraction(sent),
        latency=latency * micro,
        penalty=penalty * micro,
    )
    text = f"{sent} bytes"
    return Trial(
        Change(words=(text, "")), before, after, text=text, annotations=(Annotation("w", "P()", "[]"),)
    )


def test_what_sends_more_says_so_first_and_comes_after_what_is_nearly_as_fast() -> None:
    changes = [_change(1300, 90), _change(104, 91), _change(90, 94), _change(80, 96)]
    module = sdyopt.parse("module {}").ir
    ordered = surest_first(changes, moves_whole=True)
    # The last is not nearly as fast as the first.
    assert [each.text for each in ordered] == ["90 bytes", "1300 bytes", "80 bytes", "104 bytes"]
    advice = AdviceResult(module, ordered)
    assert "2. 1300 bytes; sends 13.0 × as much, saves latency\n" in advice_text(advice, ".txt")


def _of(text: str, how: str = "", result: str = "", is_new: bool = True) -> Trial:
    """A change of the sharding of one subject, with the same figures as all others."""
    edit = SimpleNamespace(
        subject=text,
        sharding="P('x')",
        how=how,
        is_new_constraint=is_new,
        is_removal=False,
        replaced=None,
        is_boundary=False,
    )
    results = (Annotation(result, "P('x')", "[]"),) if result else ()
    return _change(90, 94)._replace(text=text, change=Change((cast(AnnotationEdit, edit),)), results=results)


def test_of_constraints_with_one_effect_the_easiest_is_left() -> None:
    first, second = _of("scatter", how=" in the backward rule", result="w"), _of("sum", result="w")
    assert list(without_equals([first, second], True)) == [second]
    # The gradients of two weights, and two weights, may have the same figures.
    for others in (
        [first, _of("other", result="v")],
        [_of("w", is_new=False), _of("v", is_new=False)],
        [_of("one"), _of("other")],
    ):
        assert list(without_equals(others, True)) == others


def _at_lines(saved: int, *lines: str) -> Trial:
    """A change of the constraints of lines, with which a device sends so much less; line 14 differs now."""
    edits = [
        SimpleNamespace(
            subject=line,
            sharding="P('x')",
            how="",
            is_new_constraint=False,
            is_removal=False,
            is_boundary=line.startswith("%"),
            named=SimpleNamespace(type="f32"),
            replaced=SimpleNamespace(sharding="P('y')" if line == "14" else "P()"),
        )
        for line in lines
    ]
    change = Change(tuple(cast("list[AnnotationEdit]", edits)))
    places = tuple([Annotation(line, "P('x')", "[]") for line in lines])
    return _change(100 - saved, 100 - saved)._replace(text=str(lines), change=change, annotations=places)


def test_the_one_constraint_of_several_that_saves_most_comes_first() -> None:
    wide = _at_lines(40, "12", "14", "15", "16")
    for saved, is_first in ((20, True), (19, False)):
        few = _at_lines(saved, "14")
        assert (few in without_equals([wide, few], True)) == is_first
        assert surest_first([wide, few], moves_whole=True)[0] is (few if is_first else wide)


def test_of_changes_of_as_many_places_the_surest_comes_first() -> None:
    places = (Annotation("12", "P('x')", "[]"), Annotation("14", "P('x')", "[]"))
    risky, sure = (
        _change(70, microseconds, penalty=penalty)._replace(annotations=places)
        for microseconds, penalty in ((75, 10), (76, 0))
    )
    assert surest_first([risky, sure], moves_whole=True)[0] is sure


def test_inputs_that_get_one_sharding_are_one_place() -> None:
    """What an optimizer keeps of a parameter follows it, and is no reason to put it after a constraint."""
    inputs, constraint = _at_lines(40, "%arg0", "%arg1", "%arg2"), _at_lines(39, "12")
    assert surest_first([inputs, constraint], moves_whole=True) == [inputs, constraint]
    statements = _at_lines(40, "16", "17", "18")
    assert surest_first([statements, constraint], moves_whole=True) == [constraint, statements]


def test_changes_are_in_the_order_of_what_they_save_at_least() -> None:
    changes = [_change(90, 94), _change(80, 90, penalty=2), _change(70, 80, penalty=18)]
    saved = [round(100 * each.saved(True)) for each in changes]
    assert saved == [6, 8, 2]
    assert [round(100 * each.saved(False)) for each in changes] == [6, 10, 20]
    text = advice_text(AdviceResult(sdyopt.parse("module {}").ir, changes), ".txt", 200)
    assert "in the order of the time that is saved even if XLA moves resharded activations whole" in text
    assert "time 100.0 us → 90.0 us (−10.0%), at most 100.0 us → 92.0 us (−8.0%)" in text


@pytest.mark.parametrize(("seconds", "why"), [(0, "others save more by an estimate"), (30, "after 30 s")])
def test_advice_says_why_changes_are_not_tried(seconds: int, why: str) -> None:
    advice = AdviceResult(sdyopt.parse("module {}").ir, tried=3, proposed=5, seconds=seconds)
    assert f"not tried: 2 more changes ({why})" in advice_text(advice, ".txt", 200)


def _key_without_locations(text: str) -> list[object]:
    """What programs have in common that are equal, but for locations, which name their texts."""
    key = key_of_program(sdyopt.parse(text).ir)
    return [part for part in key if not (isinstance(part, tuple) and part and isinstance(part[0], Source))]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (
            "func.func @f(%a: tensor<i1>, %b: tensor<i1>) { stablehlo.and %a, %b : tensor<i1> return }",
            "%a, %b :",
            "%b, %a :",
        ),
        (
            "module { module @b { func.func private @f() } }",
            "{ func.func private @f() }",
            "{ } func.func private @f()",
        ),
        (
            """func.func @f(%c: i1) {
              cf.cond_br %c, ^first, ^second
            ^first:
              stablehlo.custom_call @f() : () -> ()
              return
            ^second:
              return
            }""",
            "^first, ^second",
            "^second, ^first",
        ),
    ],
)
def test_programs_that_use_arguments_or_blocks_in_another_order_are_others(
    text: str, old: str, new: str
) -> None:
    keys = [_key_without_locations(each) for each in (text, text, text.replace(old, new))]
    assert keys[0] == keys[1] != keys[2]


BACKWARD = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<8x8xf32>, %x: tensor<4x8xf32>, %d: tensor<4x8xf32>)
    -> (tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %h = stablehlo.tanh %x : tensor<4x8xf32> loc("jit(step)/jvp()/tanh"("layer"("model.py":5:5)))
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
  %t = stablehlo.dot_general %d, %h, contracting_dims = [0] x [0]
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
  %dw = stablehlo.transpose %t, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      loc("jit(step)/transpose(jvp())/transpose"("layer"("model.py":6:5)))
  %dh = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
  %again = stablehlo.tanh %x : tensor<4x8xf32>
      loc("jit(step)/transpose(jvp())/rematted_computation/tanh"("layer"("model.py":8:5)))
  %dx = stablehlo.multiply %dh, %again : tensor<4x8xf32>
      loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":5:5)))
  %new = stablehlo.subtract %w, %dw : tensor<8x8xf32> loc("jit(step)/sub"("step"("model.py":9:5)))
  return %new, %dx, %y : tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
"""


@pytest.mark.parametrize(
    ("number", "how"),
    [
        # The statement transposes it: the change is that of the next value.
        (2, " on what jax.grad returns"),
        (3, " on what jax.grad returns"),
        (4, " in the backward rule of a jax.custom_vjp"),
        # Computed again in the backward pass: only the statement of the forward pass has a line.
        (5, None),
        (7, ""),
    ],
)
def test_a_constraint_of_a_gradient_says_where_it_is_written(number: int, how: str | None) -> None:
    module = sdyopt.parse(BACKWARD).ir
    mesh = next(op for op in module.walk() if isinstance(op, MeshOp))
    value = [op.results[0] for op in module.walk() if op.results][number]
    dims = (DimensionSharding(()), DimensionSharding(()))
    change = AnnotationEdit(value, TensorSharding(SymbolRef(mesh.sym_name), dims), mesh.mesh)
    found = Gradients(module).constrained([change])
    assert [each.how for each in found] == ([] if how is None else [how])
    if how:
        assert found[0].text("it") == f"jax.lax.with_sharding_constraint(it, P()){how}"


def test_a_constraint_of_a_statement_is_written_with_that_of_the_gradient() -> None:
    module = sdyopt.parse(STATEMENTS).ir
    first, gradient, _, recomputed = (
        op.output for op in module.walk() if isinstance(op, ShardingConstraintOp)
    )
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    for value in first, gradient:
        assert isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp)
        changes = Gradients(module).constrained([AnnotationEdit(value, value.op.sharding, mesh)])
        assert {each.subject for each in changes} == {first, gradient, recomputed}


# y = einsum(x, w, out_sharding=…); z = einsum(y, v): JAX gives the gradient of y, and the product that it
# transposes for it, the sharding of y.
OUT_SHARDING = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %v: tensor<6x10xf32>, %d: tensor<8x10xf32>)
    -> (tensor<8x10xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc(#first)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x6xf32> loc(#first)
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<8x6xf32>, tensor<6x10xf32>) -> tensor<8x10xf32> loc(#second)
  %3 = stablehlo.dot_general %v, %d, contracting_dims = [1] x [1]
      : (tensor<6x10xf32>, tensor<8x10xf32>) -> tensor<6x8xf32> loc(#product)
  %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"x"}]> : tensor<6x8xf32> loc(#product)
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32> loc(#transpose)
  %6 = sdy.sharding_constraint %5 <@mesh, [{"x"}, {}]> : tensor<8x6xf32> loc(#transpose)
  return %2, %6 : tensor<8x10xf32>, tensor<8x6xf32>
}
#first = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#second = loc("jit(step)/jvp()/dot_general"("layer"("model.py":7:5)))
#product = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":7:5)))
#transpose = loc("jit(step)/transpose(jvp())/transpose"("layer"("model.py":7:5)))
"""


def test_an_out_sharding_shards_the_gradient_too() -> None:
    module = sdyopt.parse(OUT_SHARDING).ir
    value, product, gradient = (op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp))
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    assert isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp)
    sharding = value.op.sharding
    exchanged = sharding.with_dims(tuple(reversed(sharding.dims)))
    edits = Gradients(module).constrained([AnnotationEdit(value, exchanged, mesh)])
    found = {edit.subject: edit.sharding for edit in edits}
    assert found == {value: exchanged, gradient: exchanged, product: sharding}
    # One that the program shards otherwise keeps its sharding.
    other = sdyopt.parse(OUT_SHARDING.replace('%5 <@mesh, [{"x"}, {}]>', "%5 <@mesh, [{}, {}]>")).ir
    (statement, *_) = (op for op in other.walk() if isinstance(op, ShardingConstraintOp))
    edit = AnnotationEdit(statement.output, exchanged, mesh)
    assert list(Gradients(other).constrained([edit])) == [edit]


# z = y * v, both with an out_sharding: the gradient of y is the product with v.
OF_TWO = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x3xf32>, %w: tensor<3x4xf32>, %u: tensor<3x4xf32>, %g: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32> loc(#first)
  %b = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0]
      : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32> loc(#second)
  %y = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#first)
  %v = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#second)
  %z = stablehlo.multiply %y, %v : tensor<8x4xf32> loc(#product)
  %0 = stablehlo.multiply %g, %y : tensor<8x4xf32> loc(#back)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#back)
  %2 = stablehlo.multiply %g, %v : tensor<8x4xf32> loc(#back)
  %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<8x4xf32> loc(#back)
  return %z, %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
#first = loc("jit(step)/jvp()/dot_general"("layer"("model.py":5:5)))
#second = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#product = loc("jit(step)/jvp()/mul"("layer"("model.py":7:5)))
#back = loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":7:5)))
"""


def test_of_two_operands_each_has_its_gradient() -> None:
    module = sdyopt.parse(OF_TWO).ir
    first, second, of_second, of_first = (
        op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp)
    )
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    for value, gradient in ((first, of_first), (second, of_second)):
        assert isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp)
        exchanged = value.op.sharding.with_dims(tuple(reversed(value.op.sharding.dims)))
        edits = Gradients(module).constrained([AnnotationEdit(value, exchanged, mesh)])
        assert {edit.subject for edit in edits} == {value, gradient}
    # One gradient that the program shards otherwise keeps its sharding, and the other one does not.
    other = sdyopt.parse(OF_TWO.replace('%0 <@mesh, [{"x"}, {}]>', "%0 <@mesh, [{}, {}]>")).ir
    values = [op.output for op in other.walk() if isinstance(op, ShardingConstraintOp)]
    for value, changed in ((values[0], [values[0], values[3]]), (values[1], [values[1]])):
        edits = Gradients(other).constrained([AnnotationEdit(value, exchanged, mesh)])
        assert [edit.subject for edit in edits] == changed


def test_what_saves_time_but_fewer_bytes_says_so() -> None:
    assert trial_text(_change(90, 80)) == "90 bytes: -10 B sent"
    assert trial_text(_change(90, 80), has_time=True) == "90 bytes: -10 B sent, -20% time"
    assert trial_text(_change(100, 80), has_time=True) == "100 bytes: as much sent, -20% time"
    # Not that it saves none.
    assert trial_text(_change(90, 100), has_time=True) == "90 bytes: -10 B sent"


ORDERED = """
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x", "y"}}, {{"z"}}]>}})
    -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{order}}}, {{}}]>}}) {{
  return %a : tensor<8x8xf32>
}}
"""


def test_axes_have_the_order_that_the_program_has_elsewhere() -> None:
    for order, expected in (('"x"', "xy"), ('"y", "x"', "yx")):
        mesh = mesh_of(sdyopt.parse(ORDERED.format(order=order)).ir)
        assert mesh is not None
        sharding = mesh.sharding((("y", "x"), ("z",)))
        assert "".join(axis.name for axis in sharding.dims[0].axes) == expected
        assert mesh.sharding((("z", "x"), ())).dims[0].axes == (AxisRef("z"), AxisRef("x"))


LOOKUP = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %table: tensor<4096x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %i: tensor<64x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x256xf32> {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 256>}> : (tensor<4096x256xf32>, tensor<64x1xi32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}
"""


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ((("x", "y"), ()), False),
        # Other rows, and columns, are as before.
        ((("x",), ()), True),
        ((("y",), ("x",)), True),
    ],
)
def test_rows_that_are_looked_up_are_not_sharded_further(
    dims: tuple[tuple[str, ...], ...], expected: bool
) -> None:
    module = sdyopt.parse(LOOKUP).ir
    search = Search(trials_on(module, assumed_pipeline(module)[1]))
    function = next(op for op in search.trials.module.walk() if isinstance(op, FuncOp))
    table = function.entry.arguments[0]
    mesh = next(op for op in search.trials.module.walk() if isinstance(op, MeshOp))
    assert isinstance(table, BlockArgument)
    shardings = tuple(DimensionSharding(tuple(map(AxisRef, names))) for names in dims)
    edit = AnnotationEdit(table, TensorSharding(SymbolRef(mesh.sym_name), shardings), mesh.mesh)
    before = figures(100, peak=100)._replace(seconds=Fraction(100), flops=Fraction(100))
    trial = Trial(Change((edit,)), before, before._replace(seconds=Fraction(50), wire_bytes=Fraction(50)))
    assert search.pays(trial) == expected


_EXPRESSIONS = """
#sum = loc("model.py":1:8 to :13)
#product = loc("model.py":1:4 to :18)
#scan = loc("model.py":2:0 to :9)
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32> loc("jit(f)/add"(#sum))
  %1 = stablehlo.negate %0 : tensor<8xf32> loc("jit(f)/neg"(#product))
  %2 = stablehlo.multiply %1, %0 : tensor<8xf32> loc("jit(f)/mul"(#product))
  %zero = stablehlo.constant dense<0.0> : tensor<f32> loc("jit(f)/scan"(#scan))
  %3 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8xf32> loc("jit(f)/scan"(#scan))
  %4:2 = stablehlo.while(%b = %2, %c = %3) : tensor<8xf32>, tensor<8xf32>
  cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %c, %b : tensor<8xf32>, tensor<8xf32>
  } loc("jit(f)/while"(#scan))
  return %4#0 : tensor<8xf32>
}
"""


def test_values_have_the_expressions_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = sdyopt.parse(_EXPRESSIONS).ir
    values = {op.signature.name.partition(".")[2]: op.results[0] for op in module.walk() if op.results}

    def texts() -> list[str]:
        names = ChangeNames(module)
        return [names.jax(values[name]) for name in ("add", "negate", "multiply")]

    unnamed = ["the add at model.py:1", "the negate at model.py:1", "the multiply at model.py:1"]
    assert texts() == unnamed
    Path("model.py").write_text("y = 1\nscan(f, y)\n", encoding="utf-8")
    assert texts() == unnamed
    Path("model.py").write_text("y = f(b(a + a), c)\nscan(f, y)\n", encoding="utf-8")
    assert texts() == ["a + a at model.py:1", "the negate at model.py:1", "f(b(a + a), c) at model.py:1"]


_SCANNED = """
func.func @main(%w: tensor<4x8xf32> loc("params['w']"), %x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %w, %i, %zero, sizes = [1, 8]
        : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
        loc("jit(f)/while/body/dynamic_slice"("f"("model.py":7:4)))
    %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
        loc("jit(f)/while/body/squeeze"("f"("model.py":7:4)))
    stablehlo.return %i, %2 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
"""


def test_the_part_of_an_input_that_an_iteration_takes_has_the_name_of_the_input() -> None:
    module = sdyopt.parse(_SCANNED).ir
    names = ChangeNames(module)
    parts = [op for op in module.walk() if isinstance(op, DynamicSliceOp | ReshapeOp)]
    expected = "params['w'] in the body of the loop at model.py:7"
    assert [names.jax(op.results[0]) for op in parts] == [expected, expected]


@pytest.mark.parametrize(("length", "is_named"), [(48, True), (49, False)])
def test_a_long_expression_is_not_repeated(
    length: int, is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expression = f"{'a' * (length - 4)} + b"
    Path("model.py").write_text(f"y = f(b({expression}), c)\n", encoding="utf-8")
    module = sdyopt.parse(_EXPRESSIONS.replace("1:8 to :13", f"1:8 to :{8 + length}")).ir
    (value,) = (op.results[0] for op in module.walk() if op.signature.name == "stablehlo.add")
    assert ChangeNames(module).jax(value) == f"{expression if is_named else 'the add'} at model.py:1"


def test_what_a_scan_begins_with_is_not_constrained() -> None:
    module = sdyopt.parse(_EXPRESSIONS).ir
    mesh = next(op for op in module.walk() if isinstance(op, MeshOp))
    sharding = TensorSharding(SymbolRef("mesh"), (DimensionSharding((AxisRef("x"),)),))
    for op in module.walk():
        if isinstance(op, BroadcastInDimOp | MulOp):
            (subject,) = op.results
            edit = AnnotationEdit(subject, sharding, mesh.mesh)
            assert bool(Gradients(module).constrained([edit])) == isinstance(op, MulOp)
