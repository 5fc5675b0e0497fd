// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=OLDER

sdy.mesh @mesh = <["x"=4, "y"=5]>
sdy.mesh @same = <["x"=4, "y"=5]>

// "x" does not divide the factor of 5 elements, but it is the first axis of both tensors.
// CHECK-LABEL: func.func @split
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: return %0
// OLDER-LABEL: func.func @split
// OLDER-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// OLDER-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// OLDER-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]>
func.func @split(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<10xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// "y" divides each of the 4 shards along "x", in both tensors.
// CHECK-LABEL: func.func @second_axis
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>}
// CHECK-NEXT: return %0
func.func @second_axis(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<4x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>} : (tensor<24xf32>) -> tensor<4x3x2xf32>
  return %0 : tensor<4x3x2xf32>
}

// "x" divides each of the 5 shards along "y" first, and then each of 4 slices.
// CHECK-LABEL: func.func @other_place
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
func.func @other_place(%a: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> (tensor<4x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}, {}]>]>} : (tensor<24xf32>) -> tensor<4x3x2xf32>
  return %0 : tensor<4x3x2xf32>
}

// "x" as a whole, and as two sub-axes that follow each other.
// CHECK-LABEL: func.func @sub_axes
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {"x":(1)2}, {"x":(2)2}]>]>}
// CHECK-NEXT: return %0
func.func @sub_axes(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<3x2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {"x":(1)2}, {"x":(2)2}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {"x":(1)2}, {"x":(2)2}]>]>} : (tensor<6x4xf32>) -> tensor<3x2x2x2xf32>
  return %0 : tensor<3x2x2x2xf32>
}

// Explicitly replicated axes, and the names of meshes, must be the same.
// CHECK-LABEL: func.func @replicated
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}], replicated={"y"}>
func.func @replicated(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"y"}>}) -> (tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<10xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @mesh_names
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
func.func @mesh_names(%a: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<5x2xf32> {sdy.sharding = #sdy.sharding<@same, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@same, [{"x"}, {}]>]>} : (tensor<10xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
