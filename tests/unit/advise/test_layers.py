"""Equal layers of an unrolled program are reduced to two before a search."""

import pytest

import sdyopt
from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.adviser import Adviser
from sdyopt.analysis.advise.analysis import advice_text
from sdyopt.analysis.changes import search
from sdyopt.analysis.changes.layers import LayerRun, runs_of, with_fewer_layers
from sdyopt.analysis.changes.search import TrialBudget
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.dialects.func import FuncOp

MATRIX = "tensor<64x64xf32>"
UPDATE = ("add", "multiply", "subtract", "maximum", "minimum", "add", "multiply", "subtract")


def layered(count: int) -> str:
    """A program of equal layers, and an update of the weight of each with a donated argument."""
    numbers = range(count)
    x = '%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x")'
    weights = [
        f"%w{number}: {MATRIX} {{tf.aliasing_output = {number + 1} : i32}} loc(\"params['w{number}']\")"
        for number in numbers
    ]
    lines = [
        "  %one = stablehlo.constant dense<1.0> : tensor<64x64xf32>",
    ]
    value = "%x"
    for number in numbers:
        product = f"%l{number}_0"
        lines.append(
            f"  {product} = stablehlo.dot_general {value}, %w{number}, contracting_dims = [1] x [0]"
            f" : ({MATRIX}, {MATRIX}) -> {MATRIX}"
        )
        value = product
        for step, name in enumerate(("tanh", "sine", "cosine", "abs", "negate", "tanh", "sine"), 1):
            lines.append(f"  %l{number}_{step} = stablehlo.{name} {value} : {MATRIX}")
            value = f"%l{number}_{step}"
    results = [value]
    for number in numbers:
        value = f"%w{number}"
        for step, name in enumerate(UPDATE):
            lines.append(f"  %u{number}_{step} = stablehlo.{name} {value}, %l{number}_0 : {MATRIX}")
            value = f"%u{number}_{step}"
        results.append(value)
    types = ", ".join([MATRIX] * len(results))
    body = "\n".join(lines)
    return (
        'sdy.mesh @mesh = <["data"=4]>\n'
        f"func.func @main({', '.join([x, *weights])}) -> ({types}) {{\n{body}\n"
        f"  return {', '.join(results)} : {types}\n}}\n"
    )


def test_runs_are_found_after_what_differs() -> None:
    layer = list("abcdefgh")
    assert list(runs_of(["x", *layer * 5, *"ab", "y", *layer * 2])) == [LayerRun(1, 8, 5)]
    # The longest one counts, although equal layers are also found in what is repeated.
    assert list(runs_of([*layer * 5, "x"] * 5)) == [LayerRun(0, 41, 5)]


def test_two_layers_are_left_with_their_updates() -> None:
    module = sdyopt.parse(layered(12)).ir
    reduced = with_fewer_layers(module)
    assert reduced is not None
    text = print_op(reduced.module)
    sdyopt.parse(text)
    assert text.count("stablehlo.dot_general") == 2
    [function] = [op for op in reduced.module.walk() if isinstance(op, FuncOp)]
    # The weights of the first and of the last layer, which are donated to the results left.
    assert len(function.entry.arguments) == 3
    assert [text.count(f"aliasing_output = {number} : i32") for number in range(4)] == [0, 1, 1, 0]
    assert reduced.results == {0: 0, 1: 1, 12: 2}


def test_a_program_without_equal_layers_is_not_reduced() -> None:
    assert with_fewer_layers(sdyopt.parse(layered(3)).ir) is None


def test_layers_without_weights_leave_the_first_and_the_last() -> None:
    lines, value = [], "%x"
    for number in range(6):
        for step, name in enumerate(
            ("tanh", "sine", "cosine", "abs", "negate", "exponential", "sqrt", "floor")
        ):
            lines.append(f"  %l{number}_{step} = stablehlo.{name} {value} : {MATRIX}")
            value = f"%l{number}_{step}"
    body = "\n".join(lines)
    module = sdyopt.parse(
        f"func.func @main(%x: {MATRIX}) -> {MATRIX} {{\n{body}\n  return {value} : {MATRIX}\n}}"
    ).ir
    reduced = with_fewer_layers(module)
    assert reduced is not None
    assert print_op(reduced.module).count("stablehlo.floor") == 2


def test_strategies_are_searched_with_fewer_layers() -> None:
    module = sdyopt.parse(layered(12)).ir
    options = Options(advise="-", advise_from_scratch=True, advise_jobs=1)
    advice = Adviser(module, assumed_pipeline(module)[1], None, options).advice()
    assert 0 < advice.reduced < advice.tried
    assert "of the trials have two of the equal layers" in advice_text(advice, ".txt")
    assert advice.given is not None
    assert advice.final is not None
    assert advice.final.seconds <= advice.given.seconds
    assert advice.final.peak_bytes <= advice.given.peak_bytes


def test_changes_are_ranked_with_fewer_layers_if_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sdyopt.parse(layered(12).replace('[{"data"}, {}]', "[{}, {}]")).ir
    advice = Adviser(module, assumed_pipeline(module)[1], None, Options(advise="-", advise_jobs=1)).advice()
    monkeypatch.setattr(search, "BUDGET", TrialBudget(0, 16, 16))
    few = Adviser(module, assumed_pipeline(module)[1], None, Options(advise="-", advise_jobs=1)).advice()
    assert not advice.reduced
    assert 0 < few.reduced <= 32
    # With as many again for those that go together.
    assert few.tried <= 96
    # Its figures are those of all layers.
    assert few.changes[0].before == advice.changes[0].before
    assert few.changes[0].after in [each.after for each in advice.changes]
