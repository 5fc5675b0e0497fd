// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

// Collectives and unreduced axes name how partial results are combined, unless they are summed.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

// An all-reduce that computes the maximum of partial maxima.
// CHECK-LABEL: func.func @max(
// CHECK-SAME: unreduced=max{"x"}>
// CHECK-NEXT: sdy.all_reduce max {"x"} %arg0 out_sharding=<@mesh, [{}, {}]>
// GENERIC: "sdy.all_reduce"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{}, {}]>, reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 1 : i32}>
func.func @max(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A reduce-scatter, and axes that stay unreduced.
// CHECK-LABEL: func.func @min(
// CHECK-NEXT: sdy.reduce_scatter min [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}], unreduced=min{"y"}>
// GENERIC: "sdy.reduce_scatter"(%{{.*}}) <{{.*}}unreduced=min{"y"}>, reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, reduction_op = 2 : i32}>
func.func @min(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=min{"x", "y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reduce_scatter min [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}], unreduced=min{"y"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The sum is the default and is not printed. Older releases do not store it either. A kind may be a string.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: unreduced={"x"}>
// CHECK-NEXT: sdy.all_reduce {"x"} %arg0
// CHECK-NEXT: sdy.all_reduce {"x"} %arg0
// GENERIC: "sdy.all_reduce"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{}]>, reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 0 : i32}>
func.func @sum(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=sum{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce sum {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce "sum" {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
