// Without a pass, a report counts what the partitioner sends in place of operations that need elements of other
// shards, and says which operation that is. The partitioned program sends the same.
// RUN: sdy-opt %s --report | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline --report | filecheck %s --check-prefix=LOCAL

sdy.mesh @mesh = <["x"=4]>

// CHECK:      communication: 15.9 KiB on the wire per device, 6 collectives
// CHECK:      15.0 KiB 94% 2 exchanges.mlir:{{[0-9]+}} all_gather {"x"}
// CHECK-NEXT:   top_k needs elements of other shards
// CHECK:      768 B 5% 2 exchanges.mlir:{{[0-9]+}} all_to_all {"x"}
// CHECK-NEXT:   sort needs this sharding of a function argument: it needs all of dimension 1;
// CHECK:      128 B 1% 2 exchanges.mlir:{{[0-9]+}} collective_permute {"x"}
// CHECK-NEXT:   pad needs elements of other shards
// In the body of an exchange, each device has another value.
// CHECK:      10.0 KiB 1 of 4 {{.*}} f32[16,160]
// LOCAL:      communication: 15.9 KiB on the wire per device, 6 collectives
// LOCAL:        sort needs its result
func.func @main(%a: tensor<16x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<16x40xf32>, tensor<72x32xf32>, tensor<8x64xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %v, %i = chlo.top_k(%a, k = 40) : tensor<16x4096xf32> -> (tensor<16x40xf32>, tensor<16x40xi32>)
  %p = stablehlo.pad %b, %z, low = [4, 0], high = [4, 0], interior = [0, 0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<72x32xf32>
  %s = "stablehlo.sort"(%c) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %q = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  }) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %v, %p, %s : tensor<16x40xf32>, tensor<72x32xf32>, tensor<8x64xf32>
}
