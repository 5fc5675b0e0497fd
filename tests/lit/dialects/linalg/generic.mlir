// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#scalar = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @parallel
func.func @parallel(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %0 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x4xf32>) outs(%arg2 : tensor<4x8xf32>) attrs =  {foo} {
  // CHECK-NEXT: ^bb0(%in: f32, %in_0: f32, %out: f32):
  // GENERIC: "linalg.generic"(%{{.*}}) <{indexing_maps = [#map, #map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
  %0 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x8xf32>) attrs = {foo} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    // CHECK-NEXT: %1 = arith.addf %in, %in_0 : f32
    %s = arith.addf %x, %y : f32
    // CHECK-NEXT: linalg.yield %1 : f32
    linalg.yield %s : f32
  // CHECK-NEXT: } -> tensor<4x8xf32>
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reduction
func.func @reduction(%a: tensor<4x8xf32>, %c: tensor<4xf32>, %f: f32) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = linalg.generic {doc = "x", indexing_maps = [#map, #map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg2 : tensor<4x8xf32>, f32) outs(%arg1 : tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #scalar, #row], iterator_types = ["parallel", "reduction"], doc = "x"} ins(%a, %f : tensor<4x8xf32>, f32) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

#trait = {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"], doc = "x"}

// CHECK-LABEL: func.func @alias
func.func @alias(%a: tensor<7x7xi32>) -> tensor<7x7xi32> {
  // CHECK-NEXT: linalg.generic {doc = "x", indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%arg0 : tensor<7x7xi32>) {
  %0 = linalg.generic #trait outs(%a : tensor<7x7xi32>) {
  ^bb0(%x: i32):
    linalg.yield %x : i32
  } -> tensor<7x7xi32>
  return %0 : tensor<7x7xi32>
}
