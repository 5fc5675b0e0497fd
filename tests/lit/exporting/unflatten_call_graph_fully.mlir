// RUN: sdy-opt %s -split-input-file -sdy-unflatten-call-graph=dedup-functions-fully=true | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Shardings are ignored. Most calls have their argument sharded along "y", if those of @f_0 and @f_1, which are
// equivalent, are counted together.
// @f_1 is the first to reach this number.
// CHECK-LABEL: func.func @majority
// CHECK-NEXT:    call @f_1(
// CHECK-NEXT:    call @f_1(
// CHECK-NEXT:    call @f_1(
// CHECK-NOT:     sdy.original_func_name
func.func @majority(%a: tensor<8xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_1(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f_0(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<8xf32>
}
func.func private @f_1(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Manual axes keep functions apart in any case, because shapes in a manual computation are local.
// CHECK-LABEL: func.func @manual
// CHECK-NEXT:    call @f(
// CHECK-NEXT:    call @f_0(
func.func @manual(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.func_manual_axes = #sdy<manual_axes{"x"}>, sdy.original_func_name = "f"} {
  return %a : tensor<4xf32>
}
