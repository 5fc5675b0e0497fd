"""What collectives may hide behind: products that are independent of them."""

from sdyopt.analysis.figures.product_collectives import counted_collectives, independent_products
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.report.text_report import text_report
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from tests.unit.report.programs import module

GATHER = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<512x512xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
    %b: tensor<512x512xf32>) -> tensor<512x512xf32> {{
  %g = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : tensor<512x512xf32>
  {body}
  return %r : tensor<512x512xf32>
}}
"""
DOT = "stablehlo.dot_general {}, {}, contracting_dims = [1] x [0]"
TYPE = "(tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>"


def product(name: str, lhs: str, rhs: str) -> str:
    return f"%{name} = {DOT.format(lhs, rhs)} : {TYPE}\n"


BESIDE = GATHER.format(body=product("p", "%b", "%b") + product("r", "%g", "%p"))
ALONE = GATHER.format(body=product("r", "%g", "%b"))


def independent(text: str) -> list[int]:
    """The numbers of the products that the only collective may run beside."""
    op = module(text)
    [collective] = counted_collectives(op)
    return independent_products(collective, [each for each in op.walk() if isinstance(each, DotGeneralOp)])


def test_a_collective_runs_beside_products_that_do_not_need_it() -> None:
    assert independent(BESIDE) == [0]
    assert independent(ALONE) == []


def test_products_in_a_region_are_of_its_operation() -> None:
    loop = """%n = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %l:2 = stablehlo.while(%i = %zero, %x = %b) : tensor<i32>, tensor<512x512xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      INNER
      stablehlo.return %next, %y : tensor<i32>, tensor<512x512xf32>
    }
  """
    last = product("r", "%g", "%l#1")
    free = loop.replace("INNER", product("y", "%x", "%b"))
    assert independent(GATHER.format(body=free + last)) == [0]
    # The loop uses the gathered value.
    captured = loop.replace("INNER", product("y", "%x", "%g"))
    assert independent(GATHER.format(body=captured + last)) == []


def test_a_report_names_what_hides_a_collective() -> None:
    topology = built_in_topology("tpu-v5e")
    text = text_report(report_on(module(BESIDE), topology), 200, rows=None)
    # The location of a collective is that of its use.
    assert (
        'all_gather {"x"} at program.mlir:7, 17.9 us: may hide behind 4.10 us of dot_general at pro' in text
    )
    text = text_report(report_on(module(ALONE), topology), 200, rows=None)
    assert "nothing hides it, all products need it or come before it" in text
