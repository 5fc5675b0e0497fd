// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-insert-explicit-reshards | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s --check-prefix=FULL

// In graph regions of unregistered operations, uses may precede definitions.

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})

// The call operand is defined last in its block, so the reshard is inserted at the end.
// CHECK-LABEL: func.func @defined_last
// CHECK: call @callee(%1)
// CHECK-NEXT: %0 = stablehlo.negate %arg0
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{"y"}]>
// CHECK-NEXT: }
func.func @defined_last(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  "test.graph"() ({
    func.call @callee(%0) : (tensor<8xf32>) -> ()
    %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  }, {}) : () -> ()
  return
}

// Cyclic barriers have no source: any of them determines the sharding.
// FULL-LABEL: func.func @circle_of_barriers
// FULL: stablehlo.negate %1
func.func @circle_of_barriers() {
  "test.graph"() ({
    %0 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
  }, {}) : () -> ()
  return
}
