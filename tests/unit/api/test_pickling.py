"""What is passed to other processes, and what to pass instead of the rest."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

import sdyopt
from sdyopt.tools.api.program import _orders_of_uses

ROOT = Path(__file__).parents[3]
MESH = sdyopt.Mesh("mesh", {"x": 2, "y": 4})
PROGRAM = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""


def wire_bytes(module: sdyopt.Module) -> tuple[sdyopt.Module, int]:
    result = module.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)
    return result, len(result.report().collectives)


def test_modules_are_passed_to_processes() -> None:
    module = sdyopt.parse(ROOT / "examples/mlp.mlir")
    with get_context("spawn").Pool(1) as pool:
        [(result, count)] = pool.map(wire_bytes, [module])
    here = wire_bytes(module)
    assert str(result) == str(here[0])
    assert count == here[1]


@pytest.mark.parametrize("name", ["mlp", "transformer_train"])
def test_a_pickled_module_is_equal_in_every_part(name: str) -> None:
    module = sdyopt.parse(ROOT / f"examples/{name}.mlir")
    # After passes, uses are in another order than in the text.
    for each in (module, module.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)):
        copy: sdyopt.Module = pickle.loads(pickle.dumps(each))
        assert copy.as_text(debug_info=True) == each.as_text(debug_info=True)
        assert _orders_of_uses(copy.ir) == _orders_of_uses(each.ir)
        assert copy.diagnostics == each.diagnostics


def test_data_is_pickled() -> None:
    sharding = sdyopt.Sharding(MESH, ["x", None], unreduced_axes=["y"], reduction="max")
    copy = pickle.loads(pickle.dumps(sharding))
    assert copy == sharding
    assert copy.ir is sharding.ir


def test_findings_are_pickled() -> None:
    found = sdyopt.parse(
        """sdy.mesh @mesh = <["x"=2, "y"=2]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          return %a : tensor<8xf32>
        }"""
    ).lint()
    copy = pickle.loads(pickle.dumps(found))
    assert found
    assert (copy, str(copy)) == (found, str(found))


def test_an_error_is_pickled() -> None:
    with pytest.raises(sdyopt.ParseError) as error:
        sdyopt.parse("foo")
    copy = pickle.loads(pickle.dumps(error.value))
    assert str(copy) == str(error.value)
    assert type(copy) is sdyopt.ParseError


# --- What refers to a program -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "instead"),
    [
        (lambda module: module.report(), r"Report .*: pass to_dict\(\)"),
        (lambda module: module.compare_with(module), r"Comparison .*: pass to_dict\(\)"),
        (lambda module: module.advise(), r"Advice .*: pass its module, or as_text"),
        (lambda module: sdyopt.check(module), r"Check .*: pass its text, or report.to_dict\(\)"),
        (lambda module: sdyopt.check(module).places[0], "CostlyPlace .*: pass its fields"),
        (lambda module: module.functions["main"], "Function .*: pass the module"),
        (lambda module: module.functions["main"].arguments[0], "Value .*: pass the module"),
        (lambda module: module.edit(), "Edit .*: pass the module"),
        (lambda module: module.ir, "operation of the IR .*: pass its module"),
    ],
)
def test_what_refers_to_a_program_says_what_to_pass(
    result: Callable[[sdyopt.Module], object], instead: str
) -> None:
    """Operations refer to each other, so of a long program it was a RecursionError."""
    with pytest.raises(TypeError, match=instead):
        pickle.dumps(result(sdyopt.parse(PROGRAM)))


def test_a_copy_of_a_result_is_the_result() -> None:
    report = sdyopt.parse(PROGRAM).report()
    assert copy.copy(report) is report
    assert copy.deepcopy([report]) == [report]
