"""Changes that an estimate drops before a trial are no loss: searches find the same as with all trials."""

import re
from fractions import Fraction
from operator import gt
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from benchmarks.advice.planted import adviser_on
from passes.propagation.engine import propagation_driver
from sdyopt.analysis.changes import trials
from sdyopt.analysis.changes.axes import Axes
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.outcome import key_of_program
from sdyopt.analysis.changes.prices import Priced
from sdyopt.analysis.changes.proposals import proposals
from sdyopt.analysis.changes.search import Search, TrialBudget
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline, pipeline_of
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.elementwise import SineOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.repropagation import Shardings
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise.test_proposals import parsed

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = {"mlp": 60, "transformer_train": 24}
# An estimate is off by more than a tenth of the time for one trial of fifty at most.
TOLERANCE, EXCEPTIONS = Fraction(1, 10), Fraction(1, 50)


# A layer in each iteration: %w[i] is gathered in the loop, %s could be before it, and %total is summed up.
LOOP = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<8x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>},
    %shared: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>})
    -> (tensor<64x256xf32>, tensor<256x256xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<8> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<256x256xf32>
  %r:4 = stablehlo.while(%i = %zero, %h = %x, %s = %shared, %total = %none)
      : tensor<i32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  cond {
    %c = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 256, 256]
        : (tensor<8x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %weight = stablehlo.reshape %slice : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
    %a = stablehlo.dot_general %h, %weight, contracting_dims = [1] x [0]
        : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
    %b = stablehlo.dot_general %a, %s, contracting_dims = [1] x [0]
        : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
    %t = stablehlo.tanh %b : tensor<64x256xf32>
    %g = stablehlo.dot_general %h, %t, contracting_dims = [0] x [0]
        : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
    %sum = stablehlo.add %total, %g : tensor<256x256xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %t, %s, %sum
        : tensor<i32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  }
  return %r#1, %r#3 : tensor<64x256xf32>, tensor<256x256xf32>
}
"""


def search_of(name: str) -> Search:
    budget = TrialBudget(0, PROGRAMS[name], PROGRAMS[name])
    return Search(adviser_on((EXAMPLES / f"{name}.mlir").read_text(), 1).search.trials, budget)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_are_those_of_all_trials(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with interpreter_settings():
        monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
        estimated = search_of(name)
        found = [trial.text for trial in estimated.ranked]
        assert estimated.trials._estimate is not None
        monkeypatch.setattr(trials, "LEAST_ESTIMATED", 10**9)
        monkeypatch.setattr(trials, "_MISSED", 10**9)
        monkeypatch.setattr(trials, "_ROUNDED", -(10**9))
        tried = search_of(name)
        assert found == [trial.text for trial in tried.ranked]


def test_of_a_large_program_the_time_at_most_need_only_fall() -> None:
    # But by no more than what numbers are rounded by.
    pairs = ("99", "199"), ("99", "199.999999"), ("99", "200"), ("100", "90")
    costs = [EstimatedCost(Fraction(time), Fraction(most)) for time, most in pairs]
    of_program = SimpleNamespace(
        figures=SimpleNamespace(of_step=Fraction(100)),
        _size=trials.LEAST_ESTIMATED,
        _estimate=SimpleNamespace(costs=lambda changes, least: list(changes)),
    )
    changes = cast("list[Change]", costs)
    found = Trials._estimated(cast(Trials, of_program), changes, EstimatedCost(Fraction(100), Fraction(200)))
    assert [cost is trials._ABOVE for cost in found] == [False, True, True, True]


def test_a_small_budget_is_enough_and_all_passes_confirm_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with interpreter_settings():
        search = search_of("mlp")
        best, fastest = search.ranked[0].text, min(search.ranked, key=lambda trial: trial.after.seconds)
        trials = search.trials
        # By their estimates, seven changes that do not pay come before it.
        few = Search(trials, TrialBudget(0, 8, 8))
        few.limit = PROGRAMS["mlp"]
        assert few.ranked[0].text == best
        assert few.tried < few.proposed
        # A shortcut that is wrong: after propagation, each program is that of one change.
        resumed = Trials._resumed
        monkeypatch.setattr(Trials, "_resumed", lambda trials, _: resumed(trials, fastest.change))
        wrong = Search(trials, TrialBudget(0, 8, 8))
        for trial in wrong.ranked[:3]:
            partitioned = wrong.trials.partitioned(trial.change)
            assert partitioned is not None and partitioned.figures == trial.figures


def test_estimates_are_near_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
    with interpreter_settings():
        search = search_of("mlp")
        assert search.can_try
        changes = list(proposals(search.program))
        estimate = search.trials._estimate
        assert estimate is not None
        costs = estimate.costs(changes)
        figures = search.trials.figures
        assert figures is not None
        limit = EstimatedCost(figures.seconds, search.cost(figures))
        for exact, bound in zip(costs, estimate.costs(changes, limit), strict=True):
            # What is above the limit need not be known better.
            assert bound == exact or (bound and bound.is_above(limit) and (exact or limit).is_above(limit))
        pairs = [
            (estimated, cost_of(search.trials._trial(change, None).after))
            for change, estimated in zip(changes, costs, strict=True)
            if estimated is not None
        ]
        assert len(pairs) > len(changes) * 9 // 10
        for estimates, tried in (
            zip(*column, strict=True) for column in zip(*map(columns, pairs), strict=True)
        ):
            off = [abs(one - other) for one, other in zip(estimates, tried, strict=True)]
            most = [TOLERANCE * other for other in tried]
            assert sum(map(gt, off, most)) <= len(pairs) * EXCEPTIONS


def columns(pair: tuple[EstimatedCost, EstimatedCost]) -> list[tuple[Fraction, Fraction]]:
    """The seconds, those at most, the bytes between steps, the FLOPs and the bytes of two costs."""
    (*one, _), (*other, _) = pair
    return list(zip(one, other, strict=True))


def cost_of(figures: Figures) -> EstimatedCost:
    return EstimatedCost(
        figures.of_step,
        figures.at_most(True),
        Fraction(figures.carried),
        figures.flops,
        figures.wire_bytes,
        bool(figures.reshards),
    )


@pytest.mark.parametrize(
    ("specs", "carried", "adds_reshards"),
    [
        # As it is: the parameter is gathered for the product, and its gradient is scattered.
        ({}, 0, False),
        # Without the other, the next step has to reshard what it is given.
        ({"w": ((), ("x",))}, 4096, False),
        ({"result": ((), ("x",))}, 4096, False),
        ({"result": ((), ())}, 0, False),
        ({"w": ((), ())}, 12288, False),
        ({"w": ((), ("x",)), "result": ((), ("x",))}, 0, False),
        # Each device computes the whole products.
        ({"a": ((), ())}, 0, False),
        ({"h": ((), ("x",))}, 0, True),
    ],
)
def test_estimates_know_what_is_sent_and_computed(
    specs: dict[str, Axes], carried: int, adds_reshards: bool
) -> None:
    with interpreter_settings():
        search = adviser_on(STEP, 1).search
        module, mesh, estimate = search.trials.module, search.mesh, search.trials._estimate
        assert mesh is not None and estimate is not None
        function = next(op for op in module.walk() if isinstance(op, FuncOp))
        product = next(op for op in module.walk() if isinstance(op, DotGeneralOp))
        subjects: dict[str, Subject] = dict(zip("wa", function.entry.arguments, strict=True))
        subjects |= {"h": product.results[0], "result": FunctionResult(function, 0)}
        edits = [
            AnnotationEdit(subjects[name], mesh.sharding(axes), mesh.mesh) for name, axes in specs.items()
        ]
        change = Change(tuple(edits))
        (cost,) = estimate.costs([change])
        after = search.trials.figures if not edits else search.trials._trial(change, None).after
        assert cost is not None and after is not None
        # The program as it is reshards no activation.
        assert cost[2:] == cost_of(after)[2:]
        assert cost.seconds == pytest.approx(after.of_step, rel=float(TOLERANCE))
        assert (after.carried, bool(after.reshards)) == (carried, adds_reshards)


STEP = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32},
    %a: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %h = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
      : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %t = stablehlo.tanh %h : tensor<256x64xf32>
  %g = stablehlo.dot_general %a, %t, contracting_dims = [0] x [0]
      : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %n = stablehlo.subtract %w, %g : tensor<64x64xf32>
  return %n : tensor<64x64xf32>
}
"""


def test_estimates_in_a_loop_are_no_higher_than_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """So no change that pays is dropped; what changes in each iteration is sent as often, and many are."""
    monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
    with interpreter_settings():
        search = adviser_on(LOOP, 1).search
        changes = list(proposals(search.program))
        estimate = search.trials._estimate
        assert estimate is not None
        pairs = [
            (estimated, cost_of(search.trials._trial(change, None).after))
            for change, estimated in zip(changes, estimate.costs(changes), strict=True)
            if estimated is not None
        ]
        assert len(pairs) > len(changes) * 3 // 4
        for which in (0, 1):
            assert [pair for pair in pairs if pair[0][which] > pair[1][which] * (1 + TOLERANCE)] == []
        assert search.trials.figures is not None
        now = search.trials.figures.seconds
        dropped = [pair for pair in pairs if pair[0].seconds >= now]
        assert len(dropped) > len(pairs) // 4


# A large cache is read for little else: %x is sharded by the weight, which contracts what it shards.
_CACHED = """
sdy.mesh @mesh = <["model"=4]>
func.func @main(%x: tensor<64x1024xf32>,
    %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
    %cache: tensor<64x4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>})
    -> tensor<64x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.sine %x : tensor<64x1024xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %2 = stablehlo.reduce(%cache init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<64x4096x1024xf32>, tensor<f32>) -> tensor<64x1024xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x1024xf32>
  return %3 : tensor<64x1024xf32>
}
"""


def test_what_reads_a_cache_does_not_grow_with_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
    with interpreter_settings():
        module = parsed(_CACHED)
        machine = built_in_topology("tpu-v5e:2x2")
        search = Search(Trials(module, completing_pipeline(module, False, machine), machine))
        program = search.program
        weight = next(op for op in search.trials.module.walk() if isinstance(op, FuncOp)).entry.arguments[1]
        assert isinstance(weight, BlockArgument)
        edit = AnnotationEdit(weight, program.mesh.sharding(((), ("model",))), program.mesh.mesh)
        assert search.trials._estimate is not None
        (estimated,) = search.trials._estimate.costs([Change((edit,))])
        assert estimated is not None
        after = search.trials._trial(Change((edit,)), None).after
        assert estimated.seconds <= after.seconds * (1 + TOLERANCE)


def test_propagation_again_is_propagation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
    with interpreter_settings():
        search = search_of("mlp")
        assert search.can_try and search.trials._propagated is not None
        program, _ = search.trials._propagated
        elements = search.trials._pipeline.merged().elements
        passes = elements[: len(elements) - len(program.after.elements)]
        resumed = 0
        for number, change in enumerate(proposals(search.program)):
            if change.rewrite is not None or change.passes is not None:
                continue
            again = program.shardings([change])
            assert again is not None
            copy = search.trials.changed(change)
            assert run_pipeline(Pipeline("builtin.module", passes), copy)
            assert axes_in(copy) == sorted(
                described(op, [again[program.again.slot(result)] for result in op.results])
                for op in program.module.walk()
                if is_computed(op)
            )
            # The program itself is as it was.
            assert all(annotation_of(edit.subject) is not edit.sharding for edit in change.edits)
            # The passes after it end in the program in which all passes end.
            if number % 4 == 0 and (changed := program.changed([change])) is not None:
                resumed += 1
                assert run_pipeline(program.after, copy)
                assert run_pipeline(program.after, changed[0])
                assert key_of_program(copy) == key_of_program(changed[0])
        assert resumed > number // 5


def test_a_trial_by_all_passes_that_ends_in_a_measured_program_measures_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trials, "LEAST_ESTIMATED", 0)
    with interpreter_settings():
        search = search_of("mlp")
        tried = search.trials
        change = next(change for change in proposals(search.program) if tried._resumed(change))
        trial = tried._trial(change, Fraction(1))
        monkeypatch.delattr(Trials, "_measure")
        assert trial.figures is not None and tried.in_full(trial) == trial


def test_a_constraint_of_a_loop_may_be_applied_otherwise() -> None:
    """With open dimensions, it does not take the users of what the loop carries: that is a whole trial."""
    constraint = '%c = sdy.sharding_constraint %r#1 <@mesh, [{"data"}, {}]> : tensor<64x256xf32>'
    with interpreter_settings():
        search = adviser_on(LOOP.replace("return %r#1, %r#3", f"{constraint}\n  return %c, %r#3"), 1).search
        assert search.trials._propagated is not None and search.mesh is not None
        program, _ = search.trials._propagated
        op = next(op for op in search.trials.module.walk() if isinstance(op, ShardingConstraintOp))
        opened = op.sharding.with_dims([DimensionSharding(dim.axes, False) for dim in op.sharding.dims])
        assert program.changed([Change((AnnotationEdit(op.results[0], opened, search.mesh.mesh),))]) is None


def test_a_value_gets_its_sharding_without_manual_axes_again() -> None:
    """%a gets shardings from the body in one propagation, and from %x, without "seq", in the next."""
    body = MANUAL.replace(
        "sine %a", 'sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {?}]>]>}'
    )
    text = re.sub("  %0 = .*\n", "", body).replace("(%0)", "(%x)")
    results: list[Shardings | None] = []
    for befores in ("?", ""), ("",):
        with interpreter_settings():
            search = adviser_on(text, 1).search
            assert search.trials._propagated is not None and search.mesh is not None
            program, _ = search.trials._propagated
            function = next(op for op in program.module.walk() if isinstance(op, FuncOp))
            for before in befores:
                axes = () if before else (AxisRef("data"),)
                dims = DimensionSharding(axes, False), DimensionSharding((), False)
                sharding = TensorSharding(SymbolRef("mesh"), dims)
                found = program.again.shardings({function.entry.arguments[0]: sharding})
            results.append(found)
    assert results[0] == results[1]


def test_what_becomes_dead_while_shardings_propagate_has_no_copy() -> None:
    """Its region has a rule by then: what uses the window comes after it, and is erased first."""
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<64x64xf32>, %b: tensor<f32>) -> tensor<64x64xf32> {
      %window = "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 2, 2>}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %m = stablehlo.maximum %l, %r : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<63x63xf32>
      %user = stablehlo.negate %window : tensor<63x63xf32>
      %0 = stablehlo.sine %a : tensor<64x64xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<64x64xf32>
      return %1 : tensor<64x64xf32>
    }
    """
    with interpreter_settings():
        pipeline = pipeline_of({"sdy-propagation-pipeline": {}})
        of_program = trials_on(parsed(text), pipeline, is_inlined=False)
        assert of_program._propagated is not None
        mesh = next(op.mesh for op in of_program.module.walk() if isinstance(op, MeshOp))
        op = next(op for op in of_program.module.walk() if isinstance(op, ShardingConstraintOp))
        swapped = op.sharding.with_dims(reversed(op.sharding.dims))
        changed = of_program._propagated[0].changed([Change((AnnotationEdit(op.results[0], swapped, mesh),))])
        assert changed is not None
        names = [op.signature.name for op in changed[0].walk() if op.dialect_name == "stablehlo"]
        assert names == ["stablehlo.sine"]


def axes_in(module: Op) -> list[str]:
    return sorted(
        described(op, [sharding_of(result) for result in op.results])
        for op in module.walk()
        if is_computed(op)
    )


def is_computed(op: Op) -> bool:
    return op.dialect_name == "stablehlo" and bool(op.results)


def described(op: Op, shardings: list[TensorSharding | None]) -> str:
    closed = [None if each is None or each.is_fully_replicated else each.closed() for each in shardings]
    return f"{op.signature.name} {op.location} {closed}"


MANUAL = """
sdy.mesh @mesh = <["data"=2, "seq"=4]>
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {"seq"}]> : tensor<64x64xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{?}, {"seq", ?}]>]
      out_shardings=[<@mesh, [{?}, {"seq", ?}]>] manual_axes={"seq"} (%a: tensor<64x16xf32>) {
    %2 = stablehlo.sine %a : tensor<64x16xf32>
    sdy.return %2 : tensor<64x16xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
"""


def test_what_a_manual_computation_takes_has_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes before propagation shard it as the computation does; from other shardings, it need not end."""
    with interpreter_settings():
        search = adviser_on(MANUAL, 1).search
        assert search.trials._propagated is not None
        program, _ = search.trials._propagated
        constraint = next(op for op in search.trials.module.walk() if isinstance(op, ShardingConstraintOp))
        assert search.mesh is not None
        swapped = constraint.sharding.with_dims(reversed(constraint.sharding.dims))
        change = Change((AnnotationEdit(constraint.results[0], swapped, search.mesh.mesh),))
        assert program.shardings([change]) is None
        subject = program.copies[constraint].results[0]
        assert program.again.shardings({subject: swapped}) is not None
        monkeypatch.setattr(propagation_driver, "_MOST_CONVERSIONS", 0)
        assert program.again.shardings({subject: constraint.sharding}) is None


@pytest.mark.parametrize(("axis", "is_valid"), [("data", True), ("seq", False)])
def test_a_constraint_in_a_manual_computation_is_verified_after_propagation(
    axis: str, is_valid: bool
) -> None:
    with interpreter_settings():
        search = adviser_on(MANUAL, 1).search
        assert search.mesh is not None
        value = next(op.results[0] for op in search.trials.module.walk() if isinstance(op, SineOp))
        assert isinstance(value, OpResult)
        dims = DimensionSharding((AxisRef(axis),)), DimensionSharding(())
        edit = AnnotationEdit(value, TensorSharding(SymbolRef("mesh"), dims), search.mesh.mesh)
        resumed = search.trials._resumed(Change((edit,)))
        assert resumed is not None and (resumed[0] is not None) == is_valid
        constraints = () if resumed[0] is None else resumed[0].walk()
        assert sum(isinstance(op, ShardingConstraintOp) for op in constraints) == 2 * is_valid


@pytest.mark.parametrize(
    ("name", "count", "is_free"), [("add", 2, True), ("transpose", 1, False), ("iota", 0, True)]
)
def test_what_is_sharded_alike_is_free_if_it_is_elementwise_or_takes_nothing(
    name: str, count: int, is_free: bool
) -> None:
    text = """
    func.func @main(%a: tensor<8x8xf32>) {
      %0 = stablehlo.add %a, %a : tensor<8x8xf32>
      %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.iota dim = 0 : tensor<8x8xf32>
      return
    }
    """
    op = next(op for op in parsed(text).walk() if op.signature.name == f"stablehlo.{name}")
    priced = Priced(op, None, (None,) * count, op.results[0].type)
    sharding, other, none = (
        TensorSharding(
            SymbolRef("mesh"), tuple(DimensionSharding(tuple(map(AxisRef, axes))) for axes in dims)
        )
        for dims in (("x", ""), ("", "x"), ("", ""))
    )
    assert priced.is_free([sharding] * (count + 1)) == is_free
    assert not count or not priced.is_free([sharding, *[other] * count])
    unreduced = TensorSharding(none.mesh_or_ref, none.dims, (), (AxisRef("x"),))
    assert not priced.is_free([unreduced] * (count + 1))


@pytest.mark.parametrize(
    ("size", "limit", "highest"),
    [
        # In a large program, what saves three quarters of the noise may pay.
        (400, 100, "99.25"),
        # In a smaller one all that is not equal; beside the figures of another change, a twentieth more.
        (399, 100, "99.999999"),
        (399, 99, "103.95"),
    ],
)
def test_a_change_is_tried_if_its_estimate_is_below_the_limit(size: int, limit: int, highest: str) -> None:
    at_limit = Fraction(highest)
    costs = [EstimatedCost(at_limit), EstimatedCost(at_limit - Fraction(1, 10**9)), None]
    stub = SimpleNamespace(
        _estimate=SimpleNamespace(costs=lambda changes, least: costs),
        _size=size,
        figures=SimpleNamespace(of_step=Fraction(100)),
    )
    estimated = Trials._estimated(cast(Trials, stub), [Change()] * 3, EstimatedCost(Fraction(limit)))
    assert estimated == [trials._ABOVE, *costs[1:]]


CONSTRAINT = "  %c{} = sdy.sharding_constraint {} <@mesh, [{}, {{}}]> : tensor<64x32xf32>\n"
CONSTRAINED = CONSTRAINT.format(0, "%s", '{"data"}')
TAKEN = """
  %m = sdy.manual_computation(%s) in_shardings=[<@mesh, [{"data"}, {}]>]
      out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data"} (%a: tensor<16x32xf32>) {
    sdy.return %a : tensor<16x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
"""
CARRIED = """
  %r:2 = stablehlo.while(%f = %p, %h = %s) : tensor<i1>, tensor<64x32xf32>
  cond {
    stablehlo.return %f : tensor<i1>
  } do {
    %t = stablehlo.tanh %h : tensor<64x32xf32>
    stablehlo.return %f, %t : tensor<i1>, tensor<64x32xf32>
  }
"""


@pytest.mark.parametrize(
    ("body", "are_resumed"),
    [
        (CONSTRAINED, [True]),
        (CONSTRAINED + CONSTRAINT.format(1, "%x", '{"data"}'), [True, True]),
        # Passes before propagation simplify open ones, chains, several on a value, and those of loops.
        (CONSTRAINT.format(0, "%s", '{"data", ?}'), [False]),
        (CONSTRAINED + CONSTRAINT.format(1, "%c0", '{"model"}'), [False, False]),
        (CONSTRAINED + CONSTRAINT.format(1, "%s", '{"model"}'), [False, False]),
        (CONSTRAINED + TAKEN, [False]),
        (CARRIED + CONSTRAINT.format(0, "%r#1", '{"data"}'), [False]),
    ],
)
def test_trials_resume_after_propagation_if_passes_before_it_leave_a_constraint(
    body: str, are_resumed: list[bool]
) -> None:
    values = re.findall(r"^  (%[cm]\d*) =", body, re.MULTILINE)
    types = ", ".join(["tensor<64x32xf32>"] * len(values))
    text = f"""
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<64x32xf32>, %p: tensor<i1>) -> ({types}) {{
  %s = stablehlo.sine %x : tensor<64x32xf32>
{body}
  return {", ".join(values)} : {types}
}}
"""
    with interpreter_settings():
        search = adviser_on(text, 1).search
        assert search.trials._propagated is not None and search.mesh is not None
        program, _ = search.trials._propagated
        constraints = [op for op in search.trials.module.walk() if isinstance(op, ShardingConstraintOp)]
        assert len(constraints) == len(are_resumed)
        for op, is_resumed in zip(constraints, are_resumed, strict=True):
            swapped = op.sharding.with_dims(reversed(op.sharding.dims))
            opened = op.sharding.with_dims([DimensionSharding(dim.axes, False) for dim in op.sharding.dims])
            edit = AnnotationEdit(op.results[0], swapped, search.mesh.mesh)
            assert program.is_resumed([edit]) == is_resumed
            assert not program._replace(merges_constraints=True).is_resumed([edit])
            for other in edit._replace(sharding=opened), edit._replace(sharding=op.sharding, is_removal=True):
                assert not program.is_resumed([other])
                assert not program.is_resumed([edit, other])
            # What is written as it is changes nothing.
            assert not program.is_resumed([edit._replace(sharding=op.sharding)])


@pytest.mark.parametrize(
    ("most", "asked", "is_estimated", "expected"),
    [
        # 8 takes 2 s, and at most no longer; 9 may take 3 s.
        (2, [], True, [0, 3, 4, 8]),
        (3, [], True, [0, 1, 3, 4, 8]),
        (4, [], True, [0, 1, 3, 4, 5, 7, 8, 9]),
        # What is above the limit is not tried, even if it is asked for.
        (2, [2, 9], True, [0, 3, 4, 8, 9]),
        (4, [], False, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_changes_with_the_lowest_estimates_are_tried(
    most: int, asked: list[int], is_estimated: bool, expected: list[int]
) -> None:
    """And half as many of those without one that no pass simplifies away, and as many of the others."""
    above, now = [2, 6], cast(Figures, SimpleNamespace())
    costs: list[EstimatedCost | None] = [None] * 11
    changes = [Change(words=(str(number), "")) for number in range(len(costs))]
    if is_estimated:
        for number, seconds, at_most in ((1, 3, 0), (4, 1, 0), (8, 2, 0), (9, 2, 1)):
            costs[number] = EstimatedCost(Fraction(seconds), Fraction(at_most))
        costs[2] = costs[6] = trials._ABOVE
    stub = SimpleNamespace(
        figures=now,
        _size=trials.LEAST_ESTIMATED,
        _estimated=lambda *_: costs,
        _is_simplified=lambda change: change in (changes[0], changes[5]),
        _in_full=lambda tried, *_: (Trial(change, now, now) for change in tried),
    )
    keys = {changes[number].key for number in asked}
    limit = EstimatedCost(Fraction(9))
    tried = list(Trials.of_changes(cast(Trials, stub), changes, 1, limit, most, keys))
    assert [changes.index(trial.change) for trial in tried if trial.figures is not None] == expected
    slower = [trial for trial in tried if trial.figures is None]
    assert [changes.index(trial.change) for trial in slower] == above * is_estimated
    assert not any(trial.has_failed for trial in slower)


@pytest.mark.parametrize(("size", "expected"), [(0, [0, 1, 2]), (-1, [0, 1, 2, 3])])
def test_in_a_large_program_what_may_not_pay_is_not_tried(size: int, expected: list[int]) -> None:
    """Its estimate is judged; what has none is tried."""
    now = cast(Figures, SimpleNamespace())
    changes = [Change(words=(str(number), "")) for number in range(4)]
    stub = SimpleNamespace(
        figures=now,
        _size=trials.LEAST_ESTIMATED + size,
        _estimated=lambda *_: [None, *(EstimatedCost(Fraction(number)) for number in (1, 2, 3))],
        _is_simplified=lambda _: False,
        _in_full=lambda tried, *_: (Trial(change, now, now) for change in tried),
    )
    tried = list(
        Trials.of_changes(cast(Trials, stub), changes, 1, None, 4, may_pay=lambda _, cost: cost.seconds < 3)
    )
    assert [changes.index(trial.change) for trial in tried if trial.figures is not None] == expected
    assert [trial.change for trial in tried] == changes


@pytest.mark.parametrize("is_removal", [False, True])
def test_a_constraint_that_shards_as_propagation_does_is_not_tried(is_removal: bool) -> None:
    """Opened or removed, it changes nothing; unless what is before it is sharded otherwise."""
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.tanh %a : tensor<64x64xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<64x64xf32>
      %2 = stablehlo.dot_general %b, %1, contracting_dims = [1] x [0]
          : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    }
    """
    with interpreter_settings():
        search = adviser_on(text, 1).search
        estimate, figures = search.trials._estimate, search.trials.figures
        assert search.mesh is not None and estimate is not None and figures is not None
        op = next(op for op in search.trials.module.walk() if isinstance(op, ShardingConstraintOp))
        dims = [dim if is_removal else dim.opened() for dim in op.sharding.dims]
        edit = AnnotationEdit(op.results[0], op.sharding.with_dims(dims), search.mesh.mesh, is_removal)
        change = Change((edit,))
        assert estimate.costs([change]) == [cost_of(figures)]
        assert search.trials._trial(change, None).figures == figures
        program, _ = search.trials._propagated or (None, None)
        assert program is not None
        shardings = list(program.shardings([change]) or ())
        shardings[program.again.slot(program.copies[op].operand_at(0))] = None
        assert program.is_equal(edit, shardings) == (not is_removal)


def test_another_order_of_axes_has_an_estimate() -> None:
    with interpreter_settings():
        search = adviser_on(ORDERS, 1).search
        changes = [change for change in proposals(search.program) if change.of_sharding is not None]
        estimate, figures = search.trials._estimate, search.trials.figures
        assert estimate is not None and figures is not None
        costs = estimate.costs(changes)
        tried = [search.trials._trial(change, None).after for change in changes]
        assert all(map(are_near, costs, map(cost_of, tried)))
        assert len(costs) == 2 and all(cost.seconds < figures.seconds for cost in costs if cost is not None)
        # After other changes, and beside a manual computation, it is not known.
        made = search.trials.after(changes[0])
        assert made._estimate is None
        search = adviser_on(ORDERS + MANUAL.split("\n", 2)[2].replace("@main", "@other"), 1).search
        program, _ = search.trials._propagated or (None, None)
        assert program is not None and changes[0].of_sharding is not None
        assert program.with_each(changes[0].of_sharding) is None


def are_near(cost: EstimatedCost | None, other: EstimatedCost) -> bool:
    return cost is not None and list(map(float, cost)) == pytest.approx(list(map(float, other)))


ORDERS = """
sdy.mesh @mesh = <["data"=2, "seq"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"seq", "data"}, {}]>},
    %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "seq"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "seq"}, {}]>}) {
  %0 = stablehlo.add %a, %b : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
