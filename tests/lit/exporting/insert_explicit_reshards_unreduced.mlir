// RUN: sdy-opt %s -sdy-insert-explicit-reshards | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>

// An unreduced value is all-reduced before each of its uses, here two and a return.
// CHECK-LABEL: func.func @sum_when_used
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: %2 = stablehlo.multiply %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: %3 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: return %2, %3
func.func @sum_when_used(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.multiply %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %0, %a : tensor<8xf32>, tensor<8xf32>
}

// Nothing is inserted if the result is unreduced too, whether the operation is linear or not.
// CHECK-LABEL: func.func @stay_unreduced
// CHECK-NEXT: %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x"}>]>}
// CHECK-NEXT: return %0
func.func @stay_unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The value is all-reduced along the axes and sub-axes that the user is not unreduced along.
// CHECK-LABEL: func.func @partly
// CHECK-NEXT: %0 = sdy.all_reduce {"x", "z":(2)2} %arg0 out_sharding=<@mesh, [{}], unreduced={"z":(1)2}>
// CHECK-NEXT: %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"z":(1)2}>]>}
// CHECK-NEXT: return %1
func.func @partly(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "z"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"z":(1)2}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"z":(1)2}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Replicated along "x", required unreduced along "x".
// CHECK-LABEL: func.func @from_copies
// CHECK-NEXT: %0 = sdy.replicated_to_unreduced {"x"} %arg0 out_sharding=<@mesh, [{"y"}], unreduced={"x"}>
// CHECK-NEXT: return %0
func.func @from_copies(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Sharded along "x", required unreduced along "x".
// CHECK-LABEL: func.func @from_shards
// CHECK-NEXT: %0 = sdy.sharded_to_unreduced [{"x"}] %arg0 out_sharding=<@mesh, [{"y"}], unreduced={"x"}>
// CHECK-NEXT: return %0
func.func @from_shards(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Replicated axes are converted first, because the shards are smaller then.
// CHECK-LABEL: func.func @from_both
// CHECK-NEXT: %0 = sdy.replicated_to_unreduced {"x"} %arg0 out_sharding=<@mesh, [{"z"}], unreduced={"x"}>
// CHECK-NEXT: %1 = sdy.sharded_to_unreduced [{"z":(2)2}] %0 out_sharding=<@mesh, [{"z":(1)2}], unreduced={"x", "z":(2)2}>
// CHECK-NEXT: return %1
func.func @from_both(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(1)2}], unreduced={"x", "z":(2)2}>}) {
  %0 = sdy.reshard %a <@mesh, [{"z":(1)2}], unreduced={"x", "z":(2)2}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Other differences are resharded before.
// CHECK-LABEL: func.func @reshard_first
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}]>
// CHECK-NEXT: %1 = sdy.replicated_to_unreduced {"x"} %0 out_sharding=<@mesh, [{"y"}], unreduced={"x"}>
// CHECK-NEXT: return %1
func.func @reshard_first(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  %0 = sdy.reshard %a <@mesh, [{"y"}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A returned value is converted for an unreduced result.
// CHECK-LABEL: func.func @returned
// CHECK-NEXT: %0 = sdy.sharded_to_unreduced [{"x"}] %arg0 out_sharding=<@mesh, [{"y"}], unreduced={"x"}>
// CHECK-NEXT: return %0
func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) {
  return %a : tensor<8xf32>
}

sdy.mesh @six = <["x"=6]>

// "x":(1)3 cannot be split at the end of "x":(1)2, so the value is resharded first.
// CHECK-LABEL: func @sub_axes_that_cannot_coexist
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@six, [{"x":(1)2}]> : tensor<6xf32>
// CHECK-NEXT: %1 = sdy.replicated_to_unreduced {"x":(2)3} %0 out_sharding=<@six, [{"x":(1)2}], unreduced={"x":(2)3}> : tensor<6xf32>
// CHECK-NEXT: return %1
func.func @sub_axes_that_cannot_coexist(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@six, [{"x":(1)3}]>}) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@six, [{"x":(1)2}], unreduced={"x":(2)3}>}) {
  return %a : tensor<6xf32>
}
