// Since jaxlib 0.11.2, an all-reduce must not introduce partial results.
// RUN: sdy-opt %s --sdy-version=jaxlib-0.10.2 | filecheck %s
// RUN: not sdy-opt %s --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=SEPTEMBER
// RUN: not sdy-opt-verify %s --sdy-version=2027-01 2>&1 | filecheck %s --check-prefix=UNKNOWN

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK: sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}], unreduced={"y"}>
// SEPTEMBER: error: 'sdy.all_reduce' op cannot add new unreduced axis 'y'.
// UNKNOWN: for the --sdy-version option: Cannot find option named '2027-01'!
func.func @all_reduce(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
