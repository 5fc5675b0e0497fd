"""Plans of reshards at one operation."""

from passes.exporting.explicit_reshards.insertion import ShardingCache, is_sufficient_key
from passes.exporting.explicit_reshards.reshard_plan import PlanInput, ReshardPlan, ReshardPlanner
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from tests.simulation.programs import function_of, read

ADD = """
sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{A}]>}, %b: tensor<8xf32>
    {sdy.sharding = #sdy.sharding<@mesh, [{B}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def plan(text: str) -> ReshardPlan | None:
    """The plan of the first operation of a function."""
    module = read(text)
    op = next(iter(function_of(module).entry.ops))
    rule = sharding_rule_of(op)
    assert rule is not None
    shardings = tuple(sharding_of(value) for value in (*op.operands, *op.results))
    planner = ReshardPlanner(lambda name: find_mesh(name, module))
    return planner.plan(PlanInput(op.signature, rule, shardings, shardings[0]), full=True)


def test_an_operation_with_compatible_shardings_has_no_plan() -> None:
    assert plan(ADD.replace("{A}", '{"x"}').replace("{B}", '{"x"}')) is None


def test_only_the_operand_with_another_sharding_is_resharded() -> None:
    found = plan(ADD.replace("{A}", '{"x"}').replace("{B}", "{}"))
    assert found is not None
    assert [index for index, _ in found.operands] == [1]
    assert not found.results


def test_a_reshape_with_overflow_axes_reshards_only_what_changes() -> None:
    # "x" shards neither factor of 12 = 3 * 4, so the operand is gathered; the result is replicated already.
    found = plan("""
    sdy.mesh @mesh = <["x"=4]>
    func.func @f(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3x4xf32> {
      %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
        : (tensor<12xf32>) -> tensor<3x4xf32>
      return %0 : tensor<3x4xf32>
    }
    """)
    assert found is not None
    assert [index for index, _ in found.operands] == [0]
    assert not found.results


def test_plans_are_cached_by_shardings_that_are_not_unreduced() -> None:
    sharded = TensorSharding(SymbolRef("mesh"), (DimensionSharding((AxisRef("x"),)),))
    assert is_sufficient_key(None)
    assert is_sufficient_key(sharded)
    assert not is_sufficient_key(TensorSharding(sharded.mesh_or_ref, sharded.dims, (), (AxisRef("y"),)))
    module = read("""
    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
      %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    """)
    argument = function_of(module).entry.arguments[0]
    (barrier,) = argument.users
    cached = ShardingCache()
    assert cached[argument] is sharding_of(argument) is sharded
    assert not is_sufficient_key(cached[barrier.results[0]])
