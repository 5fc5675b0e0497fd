// RUN: sdy-opt %s -mesh-spmdization | filecheck %s
// RUN: sdy-opt %s -pass-pipeline='builtin.module(func.func(mesh-spmdization))' | filecheck %s

mesh.mesh @line(shape = 3)
mesh.mesh @g(shape = 2x3)

// Arguments and results become shards; operations get local types.
// CHECK-LABEL: func.func @elementwise(%arg0: tensor<2x9xf32>) -> tensor<2x9xf32>
func.func @elementwise(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: %[[E:.*]] = tosa.exp %arg0 : (tensor<2x9xf32>) -> tensor<2x9xf32>
  // CHECK-NEXT: return %[[E]]
  %0 = mesh.shard %t to <@line, [[0]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[0]]> annotate_for_users : tensor<6x9xf32>
  %2 = tosa.exp %1 : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %3 = mesh.shard %2 to <@line, [[0]]> : tensor<6x9xf32>
  return %3 : tensor<6x9xf32>
}

// Different shardings of producer and user need a reshard.
// CHECK-LABEL: func.func @exchange(%arg0: tensor<2x9xf32>) -> tensor<6x3xf32>
func.func @exchange(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: %[[A:.*]] = mesh.all_to_all %arg0 on @line mesh_axes = [0] split_axis = 1 concat_axis = 0 : tensor<2x9xf32> -> tensor<6x3xf32>
  // CHECK-NEXT: tensor.cast %[[A]] : tensor<6x3xf32> to tensor<6x3xf32>
  %0 = mesh.shard %t to <@line, [[0]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[], [0]]> annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}

// The third of three annotations reshards from the second.
// CHECK-LABEL: func.func @three_in_a_row(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32>
func.func @three_in_a_row(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK: %[[S:.*]] = mesh.all_slice %arg0
  // CHECK-NEXT: mesh.all_gather %[[S]]
  %0 = mesh.shard %t to <@line, [[]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[0]]> annotate_for_users : tensor<6x9xf32>
  %2 = mesh.shard %1 to <@line, [[]]> annotate_for_users : tensor<6x9xf32>
  return %2 : tensor<6x9xf32>
}

// An operation without a sharding model is copied if its tensors are replicated.
// CHECK-LABEL: func.func @copied
func.func @copied(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: math.absf %arg0 : tensor<6x9xf32>
  %0 = mesh.shard %t to <@line, [[]]> : tensor<6x9xf32>
  %1 = math.absf %0 : tensor<6x9xf32>
  %2 = mesh.shard %1 to <@line, [[]]> : tensor<6x9xf32>
  return %2 : tensor<6x9xf32>
}

// Values other than tensors are unchanged.
// CHECK-LABEL: func.func @no_tensors(%arg0: i32, %arg1: memref<2xf32>) -> (i32, memref<2xf32>)
func.func @no_tensors(%n: i32, %m: memref<2xf32>) -> (i32, memref<2xf32>) {
  %0 = arith.addi %n, %n : i32
  return %0, %m : i32, memref<2xf32>
}

// A declaration has no annotations.
// CHECK: func.func private @declared(tensor<6x9xf32>)
func.func private @declared(tensor<6x9xf32>)

// The elements of a quantized constant are stored as integers.
// CHECK-LABEL: func.func @quantized_constant
// CHECK-NEXT: stablehlo.constant() <{value = dense<3> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>
func.func @quantized_constant() {
  %0 = stablehlo.constant() <{value = dense<3> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}
