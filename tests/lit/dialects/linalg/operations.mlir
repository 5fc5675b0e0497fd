// Contractions, elementwise operations by kind, softmax, pack and unpack, and Winograd transforms.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @contractions(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>, %i: tensor<4x8xi8>, %j: tensor<8x16xi8>, %k: tensor<4x16xi32>, %m: memref<4x8xf32>, %n: memref<8x16xf32>, %o: memref<4x16xf32>, %t: tensor<8x4xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %j : tensor<4x8xi8>, tensor<8x16xi8>) outs(%k : tensor<4x16xi32>) -> tensor<4x16xi32>
  %2 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {k = 1 : i32} ins(%t, %b : tensor<8x4xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  linalg.matmul ins(%m, %n : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>)
  %3 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @contractions(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<4x16xf32>, %arg3: tensor<4x8xi8>, %arg4: tensor<8x16xi8>, %arg5: tensor<4x16xi32>, %arg6: memref<4x8xf32>, %arg7: memref<8x16xf32>, %arg8: memref<4x16xf32>, %arg9: tensor<8x4xf32>) {
// CHECK-NEXT:    %0 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    %1 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg3, %arg4 : tensor<4x8xi8>, tensor<8x16xi8>) outs(%arg5 : tensor<4x16xi32>) -> tensor<4x16xi32>
// CHECK-NEXT:    %2 = linalg.matmul indexing_maps = [#map{{[0-9]*}}, #map{{[0-9]*}}, #map{{[0-9]*}}] {k = 1 : i32} ins(%arg9, %arg1 : tensor<8x4xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    linalg.matmul ins(%arg6, %arg7 : memref<4x8xf32>, memref<8x16xf32>) outs(%arg8 : memref<4x16xf32>)
// CHECK-NEXT:    %3 = linalg.contract indexing_maps = [#map{{[0-9]*}}, #map{{[0-9]*}}, #map{{[0-9]*}}] ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @batch(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %c: tensor<2x4x16xf32>, %d: tensor<4x16xf32>) {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%c : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %1 = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @batch(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x16xf32>, %arg2: tensor<2x4x16xf32>, %arg3: tensor<4x16xf32>) {
// CHECK-NEXT:    %0 = linalg.batch_matmul ins(%arg0, %arg1 : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%arg2 : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
// CHECK-NEXT:    %1 = linalg.batch_reduce_matmul ins(%arg0, %arg1 : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%arg3 : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @elementwise(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %v: tensor<8xf32>, %c: tensor<4x8xi1>) {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.elementwise kind=#linalg.elementwise_kind<select> ins(%c, %a, %b : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%a, %v : tensor<4x8xf32>, tensor<8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @elementwise(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<4x8xi1>) {
// CHECK-NEXT:    %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %1 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %2 = linalg.elementwise kind=#linalg.elementwise_kind<select> ins(%arg3, %arg0, %arg1 : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %3 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [#map{{[0-9]*}}, #map{{[0-9]*}}, #map{{[0-9]*}}] ins(%arg0, %arg2 : tensor<4x8xf32>, tensor<8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @softmax(%a: tensor<2x16x32xf32>, %b: tensor<2x16x32xf32>, %m: memref<4xf32>) {
  %0 = linalg.softmax dimension(2) ins(%a : tensor<2x16x32xf32>) outs(%b : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  linalg.softmax {k} dimension(0) ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  return
}

// CHECK-LABEL: func.func @softmax(%arg0: tensor<2x16x32xf32>, %arg1: tensor<2x16x32xf32>, %arg2: memref<4xf32>) {
// CHECK-NEXT:    %0 = linalg.softmax dimension(2) ins(%arg0 : tensor<2x16x32xf32>) outs(%arg1 : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
// CHECK-NEXT:    linalg.softmax {k} dimension(0) ins(%arg2 : memref<4xf32>) outs(%arg2 : memref<4xf32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @pack(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>, %p: tensor<13x15xf32>, %q: tensor<2x8x8x2xf32>, %f: f32, %o: tensor<16x4x32x16xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?x?x4xf32>, %n: index) {
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %s : tensor<4x16x32x16xf32> -> tensor<128x256xf32>
  %2 = linalg.pack %p padding_value(%f : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 2] into %q : tensor<13x15xf32> -> tensor<2x8x8x2xf32>
  %3 = linalg.pack %s outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %o {k} : tensor<128x256xf32> -> tensor<16x4x32x16xf32>
  %4 = linalg.unpack %3 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %s : tensor<16x4x32x16xf32> -> tensor<128x256xf32>
  %5 = linalg.pack %y padding_value(%f : f32) inner_dims_pos = [0, 1] inner_tiles = [%n, 4] into %z : tensor<?x?xf32> -> tensor<?x?x?x4xf32>
  return
}

// CHECK-LABEL: func.func @pack(%arg0: tensor<128x256xf32>, %arg1: tensor<4x16x32x16xf32>, %arg2: tensor<13x15xf32>, %arg3: tensor<2x8x8x2xf32>, %arg4: f32, %arg5: tensor<16x4x32x16xf32>, %arg6: tensor<?x?xf32>, %arg7: tensor<?x?x?x4xf32>, %arg8: index) {
// CHECK-NEXT:    %pack = linalg.pack %arg0 inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %arg1 : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
// CHECK-NEXT:    %unpack = linalg.unpack %pack inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %arg0 : tensor<4x16x32x16xf32> -> tensor<128x256xf32>
// CHECK-NEXT:    %pack_0 = linalg.pack %arg2 padding_value(%arg4 : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 2] into %arg3 : tensor<13x15xf32> -> tensor<2x8x8x2xf32>
// CHECK-NEXT:    %pack_1 = linalg.pack %arg0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %arg5 {k} : tensor<128x256xf32> -> tensor<16x4x32x16xf32>
// CHECK-NEXT:    %unpack_2 = linalg.unpack %pack_1 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %arg0 : tensor<16x4x32x16xf32> -> tensor<128x256xf32>
// CHECK-NEXT:    %pack_3 = linalg.pack %arg6 padding_value(%arg4 : f32) inner_dims_pos = [0, 1] inner_tiles = [%arg8, 4] into %arg7 : tensor<?x?xf32> -> tensor<?x?x?x4xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @index(%m: tensor<4xindex>) -> tensor<4xindex> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%m : tensor<4xindex>) {
  ^bb0(%x: index):
    %1 = linalg.index 0 : index
    linalg.yield %1 : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}

// CHECK-LABEL: func.func @index(%arg0: tensor<4xindex>) -> tensor<4xindex> {
// CHECK-NEXT:    %0 = linalg.generic {indexing_maps = [#map{{[0-9]*}}], iterator_types = ["parallel"]} outs(%arg0 : tensor<4xindex>) {
// CHECK-NEXT:    ^bb0(%out: index):
// CHECK-NEXT:      %1 = linalg.index 0 : index
// CHECK-NEXT:      linalg.yield %1 : index
// CHECK-NEXT:    } -> tensor<4xindex>
// CHECK-NEXT:    return %0 : tensor<4xindex>
// CHECK-NEXT:  }

func.func @winograd(%f: tensor<2x3x3x5xf32>, %o: tensor<6x6x5x2xf32>) {
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%o : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return
}

// CHECK-LABEL: func.func @winograd(%arg0: tensor<2x3x3x5xf32>, %arg1: tensor<6x6x5x2xf32>) {
// CHECK-NEXT:    %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%arg0 : tensor<2x3x3x5xf32>) outs(%arg1 : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @copy(%i: tensor<4xi8>, %j: tensor<4xi32>, %m: memref<4xf32>) {
  %0 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%i : tensor<4xi8>) outs(%j : tensor<4xi32>) -> tensor<4xi32>
  %1 = linalg.copy ins(%i : tensor<4xi8>) outs(%j : tensor<4xi32>) -> tensor<4xi32>
  linalg.copy ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  return
}

// CHECK-LABEL: func.func @copy(%arg0: tensor<4xi8>, %arg1: tensor<4xi32>, %arg2: memref<4xf32>) {
// CHECK-NEXT:    %0 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0 : tensor<4xi8>) outs(%arg1 : tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:    %1 = linalg.copy ins(%arg0 : tensor<4xi8>) outs(%arg1 : tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:    linalg.copy ins(%arg2 : memref<4xf32>) outs(%arg2 : memref<4xf32>)
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @random(%f: f64, %s: i32, %m: tensor<?x?xf32>) {
  %0 = linalg.fill_rng_2d ins(%f, %f, %s : f64, f64, i32) outs(%m : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @random(%arg0: f64, %arg1: i32, %arg2: tensor<?x?xf32>) {
// CHECK-NEXT:    %0 = linalg.fill_rng_2d ins(%arg0, %arg0, %arg1 : f64, f64, i32) outs(%arg2 : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @generic_default(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @generic_default(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
// CHECK-NEXT:    %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1 : tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

// A scalar may be a vector.
func.func @fill_with_vectors(%v: vector<2x4xf32>, %a: tensor<?xvector<2x4xf32>>) -> tensor<?xvector<2x4xf32>> {
  %0 = linalg.fill ins(%v : vector<2x4xf32>) outs(%a : tensor<?xvector<2x4xf32>>) -> tensor<?xvector<2x4xf32>>
  return %0 : tensor<?xvector<2x4xf32>>
}
// CHECK-LABEL: func.func @fill_with_vectors
// CHECK-NEXT:    linalg.fill ins(%arg0 : vector<2x4xf32>) outs(%arg1 : tensor<?xvector<2x4xf32>>)
