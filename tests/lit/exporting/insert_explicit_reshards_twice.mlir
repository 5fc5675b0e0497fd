// RUN: sdy-opt %s -sdy-insert-explicit-reshards -sdy-insert-explicit-reshards -verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// A second run repeats the all-reduce, as in C++; a warning reports it.
// CHECK-LABEL: func @twice
func.func @twice(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  // CHECK: %[[ONCE:.*]] = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %[[TWICE:.*]] = sdy.all_reduce {"x"} %[[ONCE]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: stablehlo.negate %[[TWICE]]
  // expected-warning @+2 {{op 'sdy.all_reduce' is unknown to SDY sharding rule registry}}
  // expected-warning @+1 {{repeats the all-reduce along {"x"}: explicit reshards were inserted before; run the pass once}}
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.negate %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
