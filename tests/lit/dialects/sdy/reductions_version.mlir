// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2]>

// Since jaxlib 0.11.2, the generic form shows that partial results are summed.
// CHECK: "sdy.all_reduce"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{}]>, reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 0 : i32}>
// BEFORE: "sdy.all_reduce"(%{{.*}}) <{out_sharding = #sdy.sharding<@mesh, [{}]>, reduction_axes = #sdy<axis_ref_list{"x"}>}>
func.func @sum(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
