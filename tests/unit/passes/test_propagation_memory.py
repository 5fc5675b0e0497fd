"""The state of propagation is freed when its pass ends, without garbage collection."""

import gc
import weakref

import pytest

import sdyopt
from passes.propagation.engine import propagation_driver

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_the_driver_is_not_part_of_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers: list[weakref.ref[object]] = []

    class Observed(propagation_driver.PropagationDriver):
        def write(self, *arguments: object) -> None:
            drivers.append(weakref.ref(self))
            super().write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("passes.propagation.basic_propagate.PropagationDriver", Observed)
    gc.disable()
    try:
        result = sdyopt.parse(PROGRAM).run("sdy-basic-propagate")
        assert '[{"x", ?}]' in str(result)
        assert drivers
        assert all(driver() is None for driver in drivers)
    finally:
        gc.enable()
