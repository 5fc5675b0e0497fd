"""The cost of a finding is what the program sends less without it.

Each case is a program and the same program without the waste. The difference of their reports is the cost.
"""

import pytest

from tests.unit.lint.programs import lint, only, sent_bytes

HEAD = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: tensor<i32>)
    -> (tensor<512x512xf32>, tensor<512x512xf32>) {
"""
TAIL = "\n  return %r0, %r1 : tensor<512x512xf32>, tensor<512x512xf32>\n}\n"
X = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}'


def gather(name: str, value: str) -> str:
    return (
        f'{name} = sdy.all_gather [{{"x"}}, {{}}] {value} out_sharding=<@mesh, [{{}}, {{}}]> '
        ": tensor<512x512xf32>\n"
    )


def loop(before: str, body: str, gathered: str) -> str:
    """A loop of 10 runs that adds a gathered value."""
    return f"""
  {before}
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<512x512xf32>
  %l:2 = stablehlo.while(%i = %zero, %b = %init) : tensor<i32>, tensor<512x512xf32>
  cond {{
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %next = stablehlo.add %i, %one : tensor<i32>
    {body}
    %sum = stablehlo.add %b, {gathered} : tensor<512x512xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<512x512xf32>
  }}
  %r0 = stablehlo.negate %l#1 : tensor<512x512xf32>
  %r1 = stablehlo.abs %l#1 : tensor<512x512xf32>"""


def in_branch(gathered: str) -> str:
    """A conditional whose one branch returns a gathered value."""
    return f"""
    %q = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %g = "stablehlo.if"(%q) ({{
      {gathered}
      stablehlo.return %h : tensor<512x512xf32>
    }}, {{
      stablehlo.return %b : tensor<512x512xf32>
    }}) : (tensor<i1>) -> tensor<512x512xf32>"""


REPEATED = gather("%r0", "%a") + gather("%r1", "%a")
ONCE = gather("%r0", "%a") + "%r1 = stablehlo.negate %r0 : tensor<512x512xf32>"

THERE_AND_BACK = f"""
  {gather("%0", "%a")}
  %1 = stablehlo.tanh %0 : tensor<512x512xf32>
  %2 = sdy.all_slice [{{"x"}}, {{}}] %1 out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<512x512xf32>
  %r0 = stablehlo.negate %2 {X} : tensor<512x512xf32>
  %r1 = stablehlo.abs %2 {X} : tensor<512x512xf32>"""
STAYS = f"""
  %0 = stablehlo.tanh %a {X} : tensor<512x512xf32>
  %r0 = stablehlo.negate %0 {X} : tensor<512x512xf32>
  %r1 = stablehlo.abs %0 {X} : tensor<512x512xf32>"""


@pytest.mark.parametrize(
    ("rule", "wasteful", "better"),
    [
        ("repeated-collective", REPEATED, ONCE),
        (
            "loop-invariant-collective",
            loop("", in_branch(gather("%h", "%a")), "%g"),
            loop(gather("%h", "%a"), in_branch(""), "%g"),
        ),
        ("reshard-round-trip", THERE_AND_BACK, STAYS),
    ],
)
def test_the_cost_is_the_difference_to_the_program_without_the_waste(
    rule: str, wasteful: str, better: str
) -> None:
    wasteful, better = HEAD + wasteful + TAIL, HEAD + better + TAIL
    count, cost = lint(wasteful, only(rule)).counts[rule]
    assert count == 1
    assert cost == sent_bytes(wasteful) - sent_bytes(better) > 0
    assert not lint(better, only(rule)).counts


def test_a_limit_is_the_least_cost_that_is_reported() -> None:
    text = HEAD + REPEATED + TAIL
    cost = 3 * 512 * 512 * 4 // 4
    assert lint(text, only("repeated-collective", min_bytes=cost)).counts
    assert not lint(text, only("repeated-collective", min_bytes=cost + 1)).counts
