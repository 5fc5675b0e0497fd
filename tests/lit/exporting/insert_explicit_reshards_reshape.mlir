// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=3, "z"=4]>

// Rows and columns become one dimension. Sharding the columns only would not give contiguous shards.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"z":(1)2}, {"z":(2)2}]>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>}
// CHECK-NEXT: return %1
func.func @columns(%a: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : (tensor<2x8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// "z" shards both rows and columns of the result, which is equivalent.
// CHECK-LABEL: func.func @both
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(1)2}, {"z":(2)2}]>]>}
// CHECK-NEXT: return %0
func.func @both(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(1)2}, {"z":(2)2}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(1)2}, {"z":(2)2}]>]>} : (tensor<16xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// The dimension has factors 2 and 3. "y" is major-most but does not divide the factor of size 2, so it
// overflows. With other axes per factor, "x" shards the rows and "y" the columns.
// CHECK-LABEL: func.func @overflow
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x", "y"}]>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %2
func.func @overflow(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> (tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// "y" cannot shard the minor factor without an axis on the major one, so it is dropped.
// CHECK-LABEL: func.func @overflow_lost
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %2
func.func @overflow_lost(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
