"""How often operations are executed: in loops with constant bounds, in functions, in branches, or unknown."""

import math

import pytest

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, counter_trip_count, is_passed_on
from sdyopt.analysis.figures.figures import MAX_RUNS, ONCE, RunTimes
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import NegOp
from sdyopt.mlir.ir.operation import Op
from tests.unit.report.programs import module


def times(text: str) -> list[RunTimes | None]:
    """How often each `stablehlo.negate` of a program runs."""
    root = module(text)
    counts = ExecutionCounts(root)
    return [counts.times(op) for op in root.walk() if isinstance(op, NegOp)]


@pytest.mark.parametrize(
    ("start", "step", "limit", "direction", "runs"),
    [
        (0, 1, 24, "LT", 24),
        (0, 1, 24, "LE", 25),
        (0, 5, 24, "LT", 5),
        (10, -1, 0, "GT", 10),
        (10, -3, 0, "GE", 4),
        (0, 2, 8, "NE", 4),
        (0, 3, 8, "NE", None),  # passes the limit
        (0, 0, 8, "LT", None),  # never ends
        (0, -1, 8, "LT", None),  # ends by overflow
        (9, 1, 8, "LT", 0),
        (0, 1, 8, "EQ", None),
    ],
)
def test_trip_count_of_constant_bounds(
    start: int, step: int, limit: int, direction: str, runs: int | None
) -> None:
    assert counter_trip_count(start, step, limit, direction) == runs


@pytest.mark.parametrize(
    ("start", "step", "limit", "direction", "values", "runs"),
    [
        (100, 1, 127, "LT", (-128, 127), 27),
        (100, 1, 127, "LE", (-128, 127), None),  # 127 + 1 is -128
        (3, -1, 0, "GT", (0, 255), 3),
        (3, -1, 0, "GE", (0, 255), None),  # 0 - 1 is 255
    ],
)
def test_trip_count_of_a_counter_that_overflows(
    start: int, step: int, limit: int, direction: str, values: tuple[int, int], runs: int | None
) -> None:
    assert counter_trip_count(start, step, limit, direction, values) == runs


LOOP = """
func.func @main(%a: tensor<f32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %bound = stablehlo.constant dense<7> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %n = %bound, %v = %a) : tensor<i32>, tensor<i32>, tensor<f32>
  cond {{
    %c = stablehlo.compare {compare} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.negate %v : tensor<f32>
    stablehlo.return %next, {n}, %w : tensor<i32>, tensor<i32>, tensor<f32>
  }}
  return %0#2 : tensor<f32>
}}
"""


def test_loop_with_a_bound_that_is_carried_unchanged() -> None:
    assert times(LOOP.format(compare="LT, %i, %n", n="%n")) == [RunTimes(7, 7)]


def test_a_loop_may_have_its_counter_on_the_right() -> None:
    assert times(LOOP.format(compare="GT, %n, %i", n="%n")) == [RunTimes(7, 7)]


def test_a_loop_with_a_bound_that_changes_has_no_known_count() -> None:
    assert times(LOOP.format(compare="LT, %i, %n", n="%next")) == [None]


def test_function_runs_as_often_as_it_is_called() -> None:
    text = """
    func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %0 = call @twice(%a) : (tensor<f32>) -> tensor<f32>
      %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func private @twice(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.negate %a : tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @unused(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.negate %a : tensor<f32>
      return %0 : tensor<f32>
    }
    """
    assert times(text) == [RunTimes(2, 2), RunTimes(0, 0)]


def test_branch_runs_at_most_as_often_as_the_enclosing_operation() -> None:
    text = """
    func.func @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.negate %a : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }, {
        stablehlo.return %a : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    """
    assert times(text) == [RunTimes(0, 1)]


def test_without_main_every_public_function_is_an_entry() -> None:
    text = """
    func.func @first(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.negate %a : tensor<f32>
      return %0 : tensor<f32>
    }
    """
    assert times(text) == [ONCE]


def test_recursion_is_unknown() -> None:
    text = """
    func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %0 = call @again(%a) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @again(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.negate %a : tensor<f32>
      %1 = call @again(%0) : (tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    """
    assert times(text) == [None]


def test_a_constant_bound_is_found_through_many_calls() -> None:
    # Each function passes its argument on twice, so that 2^40 paths lead to the loop.
    chain = "".join(
        f"""
    func.func private @f{n}(%limit: tensor<i32>) -> tensor<i32> {{
      %0 = call @f{n + 1}(%limit) : (tensor<i32>) -> tensor<i32>
      %1 = call @f{n + 1}(%limit) : (tensor<i32>) -> tensor<i32>
      return %1 : tensor<i32>
    }}"""
        for n in range(40)
    )
    text = f"""
    func.func @main() -> tensor<i32> {{
      %limit = stablehlo.constant dense<3> : tensor<i32>
      %0 = call @f0(%limit) : (tensor<i32>) -> tensor<i32>
      return %0 : tensor<i32>
    }}
    {chain}
    func.func private @f40(%limit: tensor<i32>) -> tensor<i32> {{
      %start = stablehlo.constant dense<0> : tensor<i32>
      %step = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.while(%counter = %start) : tensor<i32>
      cond {{
        %1 = stablehlo.compare LT, %counter, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }} do {{
        %2 = stablehlo.negate %counter : tensor<i32>
        %3 = stablehlo.add %counter, %step : tensor<i32>
        stablehlo.return %3 : tensor<i32>
      }}
      return %0 : tensor<i32>
    }}
    """
    assert times(text) == [RunTimes(3 * 2**40, 3 * 2**40)]


def test_a_manual_computation_passes_a_constant_bound_on() -> None:
    loop = LOOP.format(compare="LT, %i, %n", n="%n").partition("%bound")[2].partition("\n")[2]
    loop = loop.partition("  return")[0].replace("%n = %bound", "%n = %limit").replace("%a", "%b")
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<f32>) -> tensor<f32> {{
      %bound = stablehlo.constant dense<7> : tensor<i32>
      %r = sdy.manual_computation(%a, %bound) in_shardings=[<@mesh, []>, <@mesh, []>]
          out_shardings=[<@mesh, []>] manual_axes={{"x"}} (%b: tensor<f32>, %limit: tensor<i32>) {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
      {loop}
        sdy.return %0#2 : tensor<f32>
      }} : (tensor<f32>, tensor<i32>) -> tensor<f32>
      return %r : tensor<f32>
    }}
    """
    assert times(text) == [RunTimes(7, 7)]


def test_runs_of_many_nested_loops_have_a_float() -> None:
    depth = 40
    starts = [
        f"""%{n}:2 = stablehlo.while(%i{n} = %zero, %a{n} = %a{n - 1}) : tensor<i32>, tensor<f32> cond {{
          %c{n} = stablehlo.compare LT, %i{n}, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c{n} : tensor<i1>
        }} do {{
          %j{n} = stablehlo.add %i{n}, %one : tensor<i32>"""
        for n in range(1, depth + 1)
    ]
    ends = [
        f"stablehlo.return %j{n}, {f'%{n + 1}#1' if n < depth else '%r'} : tensor<i32>, tensor<f32>\n}}"
        for n in range(depth, 0, -1)
    ]
    text = f"""
    func.func @main(%a0: tensor<f32>) -> tensor<f32> {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %most = stablehlo.constant dense<2147483647> : tensor<i32>
      {" ".join(starts)}
      %r = stablehlo.negate %a{depth} : tensor<f32>
      {" ".join(ends)}
      return %1#1 : tensor<f32>
    }}
    """
    assert times(text) == [RunTimes(MAX_RUNS, MAX_RUNS)]
    assert float(MAX_RUNS) * 1e200 < math.inf


def test_what_a_loop_passes_on_takes_no_list_of_all_that_it_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else reports on loops take the square of their values."""
    program = """
    func.func @main(%a: tensor<i1>, %b: tensor<i1>) -> tensor<i1> {
      %r:2 = stablehlo.while(%x = %a, %y = %b) : tensor<i1>, tensor<i1>
      cond {
        stablehlo.return %x : tensor<i1>
      } do {
        stablehlo.return %y, %y : tensor<i1>, tensor<i1>
      }
      return %r#0 : tensor<i1>
    }
    """
    loop = next(op for op in module(program).walk() if isinstance(op, WhileOp))
    monkeypatch.delattr(Op, "operands")
    assert [is_passed_on(loop, index) for index in (0, 1)] == [False, True]
