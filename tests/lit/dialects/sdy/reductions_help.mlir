// RUN: not sdy-opt %s -split-input-file -sdy-verify-unreduced-axes 2>&1 | filecheck %s

// Errors about the kinds of reductions show the culprit, and say what to write instead.

sdy.mesh @mesh = <["x"=2]>

// CHECK:      cannot reduce 'max' unreduced axes. Expected 'min'.
// CHECK:      sdy.all_reduce min {"x"} %a
// CHECK-NEXT: {{ +}}^~~
// CHECK:      help: the operand has partial results of a maximum; write `sdy.all_reduce max …`
func.func @kind(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce min {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK:      cannot change the reduction operator of kept unreduced axes from max to sum.
// CHECK:      unreduced={"x"}
// CHECK-NEXT: {{ +}}^~~~~~~~~~~~~~~
// CHECK:      help: write unreduced=max{…}, or remove the axes, so that the partial results are combined
func.func @change(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK: 'stablehlo.negate' op dropped unreduced axis 'x'
// CHECK: help: an operand has partial results along "x"; insert `sdy.reshard` before, which combines them, or add unreduced={"x"} to the sharding of the result
func.func @dropped(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK: 'stablehlo.all_reduce' op cannot reduce 'max' unreduced axes. Expected 'sum'.
// CHECK: help: the operand has partial results of a maximum; make its body a maximum
func.func @body(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
