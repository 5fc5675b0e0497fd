// RUN: sdy-opt %s -split-input-file -sdy-unflatten-call-graph | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Copies with equal shardings are merged into the first one called. Their original names are removed.
// CHECK-LABEL: func.func @alike
// CHECK-NEXT:    call @f_0(
// CHECK-NEXT:    call @f_0(
// CHECK:       func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
// CHECK:       func.func private @f_0(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
func.func @alike(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f_0(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f_0(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Different arguments, results or manual axes keep copies apart. Values without a sharding count as open.
// CHECK-LABEL: func.func @different
// CHECK-NEXT:    call @f(
// CHECK-NEXT:    call @f_0(
// CHECK-NEXT:    call @f_1(
// CHECK-NEXT:    call @f_1(
// CHECK-NEXT:    call @f_3(
func.func @different(%a: tensor<8xf32>) {
  %0:2 = call @f(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = call @f_0(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2:2 = call @f_1(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3:2 = call @f_2(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %4:2 = call @f_3(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}
func.func private @f(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
func.func private @f_0(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {sdy.original_func_name = "f"}
func.func private @f_1(tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) attributes {sdy.original_func_name = "f"}
func.func private @f_2(tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) attributes {sdy.original_func_name = "f"}
func.func private @f_3(tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) attributes {sdy.func_manual_axes = #sdy<manual_axes{"y"}>, sdy.original_func_name = "f"}

// -----

// Equal functions that are not copies of one function are not merged.
// CHECK-LABEL: func.func @strangers
// CHECK-NEXT:    call @f()
// CHECK-NEXT:    call @g()
func.func @strangers() {
  call @f() : () -> ()
  call @g() : () -> ()
  return
}
func.func private @f() {
  return
}
func.func private @g() {
  return
}
