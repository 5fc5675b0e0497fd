"""Peaks of live memory, worked out by hand. A tensor<256xf32> takes 1 KiB."""

from tests.unit.report.programs import report

KIB = 1024


def test_operands_and_results_are_live_together() -> None:
    # The first operation is the last use of %a: %a and %0 are live there, %0 and %1 at the second operation.
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>) -> tensor<256xf32> {
          %0 = stablehlo.negate %a : tensor<256xf32>
          %1 = stablehlo.add %0, %0 : tensor<256xf32>
          return %1 : tensor<256xf32>
        }
        """
    ).memory
    assert (memory.arguments, memory.results, memory.constants) == (KIB, KIB, 0)
    assert memory.peak == 2 * KIB
    assert memory.peak_with_arguments == 3 * KIB


def test_a_sharded_value_takes_its_shard() -> None:
    memory = report(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<256xf32> {
          return %a : tensor<256xf32>
        }
        """
    ).memory
    assert memory.peak == KIB // 4
    assert [(value.bytes, value.replicas) for value in memory.live_at_peak] == [(KIB // 4, 1)]


def test_a_call_adds_what_the_function_needs_besides_its_arguments() -> None:
    # In @callee, %b, %0 and %1 are live at the second operation: 2 KiB besides the argument. In @main, %a and
    # %0 are live at the call: 2 KiB.
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>) -> tensor<256xf32> {
          %0 = call @callee(%a) : (tensor<256xf32>) -> tensor<256xf32>
          return %0 : tensor<256xf32>
        }
        func.func private @callee(%b: tensor<256xf32>) -> tensor<256xf32> {
          %0 = stablehlo.negate %b : tensor<256xf32>
          %1 = stablehlo.add %0, %b : tensor<256xf32>
          return %1 : tensor<256xf32>
        }
        """
    ).memory
    assert memory.peak == 4 * KIB


def test_operands_of_a_call_are_live_during_the_call() -> None:
    # @callee does not use %b after its first operation, but %a, %0, %1 and %2 are live at its second one.
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
          %0 = call @callee(%a) : (tensor<256xf32>) -> tensor<256xf32>
          return %0, %a : tensor<256xf32>, tensor<256xf32>
        }
        func.func private @callee(%b: tensor<256xf32>) -> tensor<256xf32> {
          %1 = stablehlo.negate %b : tensor<256xf32>
          %2 = stablehlo.sine %1 : tensor<256xf32>
          return %2 : tensor<256xf32>
        }
        """
    ).memory
    assert memory.peak == 4 * KIB


def test_region_arguments_take_no_memory() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>, %p: tensor<i1>) -> tensor<256xf32> {
          %0 = stablehlo.while(%v = %a) : tensor<256xf32>
          cond {
            stablehlo.return %p : tensor<i1>
          } do {
            %1 = stablehlo.negate %v : tensor<256xf32>
            stablehlo.return %1 : tensor<256xf32>
          }
          return %0 : tensor<256xf32>
        }
        """
    ).memory
    # %a, %p, the result of the loop, and %1 inside it.
    assert memory.peak == 3 * KIB + 1


def test_values_of_dynamic_shape_are_counted_and_not_guessed() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
          return %a : tensor<?xf32>
        }
        """
    ).memory
    assert (memory.peak, memory.unknown_values) == (0, 1)
