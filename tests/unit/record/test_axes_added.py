"""The axes that a change adds, each with the step that propagated it."""

from sdyopt.analysis.sharding_record.arrivals import axes_added
from sdyopt.analysis.sharding_record.model import Step
from tests.unit.record.records import recorded

RANDOM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %state: tensor<2xui64>,
    %a: tensor<8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<2xui64>, tensor<8xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %2 = stablehlo.add %1, %a : tensor<8xui32>
  return %0, %2 : tensor<2xui64>, tensor<8xui32>
}
"""


def test_a_change_that_adds_an_empty_sharding_adds_no_axes() -> None:
    """If one result of an operation gets a sharding, the other gets an empty one."""
    _, record = recorded(RANDOM)
    [run] = record.runs
    changes = [change for change in run.changes if isinstance(change.cause, Step)]
    added = [list(axes_added(run, change)) for change in changes]
    assert [] in added
    for arrivals in filter(None, added):
        [arrival] = arrivals
        assert arrival.step is not None and arrival.step.site.op_name in ("stablehlo.add", "func.func")
        assert (arrival.axis.name, arrival.dim, arrival.factor) == ("x", 0, 0)
