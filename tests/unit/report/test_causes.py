"""Why a collective is needed: which consumer is named, and which dimension shards the axes."""

from sdyopt.analysis.figures.causes import consumers
from sdyopt.analysis.figures.source_locations import Phase
from sdyopt.analysis.report.communication import ALL_GROUPINGS
from sdyopt.mlir.ir.rewrite import Rewriter
from tests.unit.report.programs import module, report

MESH = 'sdy.mesh @mesh = <["x"=2]>'


def test_the_oldest_use_is_named_first_also_if_a_later_one_is_a_collective() -> None:
    found = report(
        f"""
        {MESH}
        func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
          %0 = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : tensor<4x4xf32>
          %1 = stablehlo.abs %0 : tensor<4x4xf32> loc("m.py":1:1)
          %2 = sdy.all_slice [{{}}, {{"x"}}] %0 out_sharding=<@mesh, [{{}}, {{"x"}}]> : tensor<4x4xf32>
          %3 = stablehlo.negate %2 : tensor<4x4xf32> loc("m.py":2:1)
          return
        }}
        """
    ).collectives[0]
    assert found.location.file_text == "m.py:1"
    assert found.cause.startswith("abs and 1 more need this sharding of a function argument")


def test_the_first_use_in_the_program_is_named_and_not_that_of_an_earlier_collective() -> None:
    found = report(
        f"""
        {MESH}
        func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
          %0 = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : tensor<4x4xf32>
          %1 = sdy.all_slice [{{}}, {{"x"}}] %0 out_sharding=<@mesh, [{{}}, {{"x"}}]> : tensor<4x4xf32>
          %2 = stablehlo.abs %0 : tensor<4x4xf32> loc("jit(f)/jvp()/abs"("m.py":1:1))
          %3 = stablehlo.negate %1 : tensor<4x4xf32> loc("jit(f)/transpose(jvp())/neg"("m.py":2:1))
          return
        }}
        """
    ).collectives[0]
    assert (found.location.file_text, found.location.phase) == ("m.py:1", Phase.FORWARD)


def test_a_dimension_of_the_same_operand_is_called_so() -> None:
    cause = (
        report(
            f"""
            {MESH}
            func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
              %0 = sdy.all_to_all [{{"x"}}: 0->1] %a out_sharding=<@mesh, [{{}}, {{"x"}}]> : tensor<4x4xf32>
              %1 = stablehlo.negate %0 : tensor<4x4xf32>
              return
            }}
            """
        )
        .collectives[0]
        .cause
    )
    assert (
        cause == 'negate needs this sharding of a function argument: "x" shards dimension 1 of this operand'
    )


def test_a_sort_needs_all_of_its_dimension() -> None:
    (found,) = report(
        f"""
        {MESH}
        func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
            -> tensor<8xf32> {{
          %0 = sdy.all_gather [{{"x"}}] %a out_sharding=<@mesh, [{{}}]> : tensor<8xf32>
          %1 = "stablehlo.sort"(%0) <{{dimension = 0 : i64}}> ({{
          ^bb0(%l: tensor<f32>, %r: tensor<f32>):
            %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }}) : (tensor<8xf32>) -> tensor<8xf32>
          return %1 : tensor<8xf32>
        }}
        """
    ).collectives
    assert found.cause == "sort needs this sharding of a function argument: it needs all of dimension 0"


def test_a_sum_of_partial_results_is_that_of_products_with_weights() -> None:
    weight = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'
    found = report(
        f"""
        {MESH}
        func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>}},
            %u: tensor<4x4xf32> {weight} loc("up"), %v: tensor<4x4xf32> {weight} loc("gate")) {{
          %0 = stablehlo.dot_general %a, %u, contracting_dims = [1] x [0]
              {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}], unreduced={{"x"}}>]>}}
              : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          %1 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
              {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}], unreduced={{"x"}}>]>}}
              : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          %2 = stablehlo.add %0, %1
              {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}], unreduced={{"x"}}>]>}}
              : tensor<4x4xf32>
          %3 = sdy.all_reduce {{"x"}} %2 out_sharding=<@mesh, [{{}}, {{}}]> : tensor<4x4xf32>
          %4 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
              : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          %5 = sdy.all_reduce {{"x"}} %4 out_sharding=<@mesh, [{{}}, {{}}]> : tensor<4x4xf32>
          return
        }}
        """
    ).collectives
    assert [sorted(each.summed_over) for each in found[:2]] == [["gate", "up"], ["gate"]]
    weight_of = ALL_GROUPINGS["weight"].text_of
    assert weight_of(found[0]).startswith("sums over ") and weight_of(found[0]).endswith(" and 1 more")
    assert weight_of(found[1]) == "sums over gate"


def test_the_first_use_is_found_after_operations_have_moved() -> None:
    program = module(
        f"""
        {MESH}
        func.func @main(%a: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
          %0 = sdy.all_gather [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : tensor<4x4xf32>
          %1 = stablehlo.abs %0 : tensor<4x4xf32>
          %2 = stablehlo.negate %0 : tensor<4x4xf32>
          return
        }}
        """
    )
    gather, absolute, negation = (op for op in program.walk() if op.dialect_name != "builtin" and op.results)
    assert consumers(gather) == [absolute, negation]
    Rewriter().move(negation, before=absolute)
    assert consumers(gather) == [negation, absolute]
