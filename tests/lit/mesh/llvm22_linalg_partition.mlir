// RUN: sdy-opt %s --mesh-version=22 '--pass-pipeline=builtin.module(func.func(sharding-propagation,shard-partition))' | filecheck %s

// Reductions along sharded dimensions are completed by all-reduces.

shard.grid @grid(shape = 2x2)

func.func @reduce(%a: tensor<8x4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<8x4xf32>) outs(%init : tensor<4xf32>) dimensions = [0]
  return %1 : tensor<4xf32>
}

func.func @scalar(%a: tensor<8x4xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<8x4xf32>) outs(%init : tensor<f32>) dimensions = [0, 1]
  return %1 : tensor<f32>
}

func.func @transpose(%a: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %init = tensor.empty() : tensor<4x8xf32>
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<8x4xf32>) outs(%init : tensor<4x8xf32>) permutation = [1, 0]
  return %1 : tensor<4x8xf32>
}

func.func @broadcast(%a: tensor<8xf32>) -> tensor<4x8xf32> {
  %init = tensor.empty() : tensor<4x8xf32>
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  %1 = linalg.broadcast ins(%0 : tensor<8xf32>) outs(%init : tensor<4x8xf32>) dimensions = [0]
  return %1 : tensor<4x8xf32>
}

func.func @map(%a: tensor<8xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  %1 = linalg.map { math.exp } ins(%0 : tensor<8xf32>) outs(%init : tensor<8xf32>)
  return %1 : tensor<8xf32>
}

// CHECK: module {
// CHECK-NEXT: shard.grid @grid(shape = 2x2)
// CHECK-NEXT: func.func @reduce(%arg0: tensor<4x4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %0 = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %proc_linear_idx = shard.process_multi_index on @grid axes = [0] : index
// CHECK-NEXT: %grid_shape = shard.grid_shape @grid axes = [0] : index
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.cmpi eq, %proc_linear_idx, %c0 : index
// CHECK-NEXT: %2 = scf.if %1 -> (tensor<4xf32>) {
// CHECK-NEXT: scf.yield %0 : tensor<4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: %3 = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %cst = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: scf.yield %4 : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %reduced = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x4xf32>) outs(%2 : tensor<4xf32>) dimensions = [0]
// CHECK-NEXT: %all_reduce = shard.all_reduce %reduced on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT: return %all_reduce : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @scalar(%arg0: tensor<4x4xf32>) -> tensor<f32> {
// CHECK-NEXT: %0 = tensor.empty() : tensor<f32>
// CHECK-NEXT: %proc_linear_idx = shard.process_multi_index on @grid axes = [0] : index
// CHECK-NEXT: %grid_shape = shard.grid_shape @grid axes = [0] : index
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.cmpi eq, %proc_linear_idx, %c0 : index
// CHECK-NEXT: %2 = scf.if %1 -> (tensor<f32>) {
// CHECK-NEXT: scf.yield %0 : tensor<f32>
// CHECK-NEXT: } else {
// CHECK-NEXT: %3 = tensor.empty() : tensor<f32>
// CHECK-NEXT: %cst = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<f32>) -> tensor<f32>
// CHECK-NEXT: scf.yield %4 : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: %reduced = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x4xf32>) outs(%2 : tensor<f32>) dimensions = [0, 1]
// CHECK-NEXT: %all_reduce = shard.all_reduce %reduced on @grid grid_axes = [0] : tensor<f32> -> tensor<f32>
// CHECK-NEXT: return %all_reduce : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @transpose(%arg0: tensor<4x2xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT: %0 = tensor.empty() : tensor<2x4xf32>
// CHECK-NEXT: %transposed = linalg.transpose ins(%arg0 : tensor<4x2xf32>) outs(%0 : tensor<2x4xf32>) permutation = [1, 0]
// CHECK-NEXT: return %transposed : tensor<2x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @broadcast(%arg0: tensor<4xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT: %0 = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %broadcasted = linalg.broadcast ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4x4xf32>) dimensions = [0]
// CHECK-NEXT: return %broadcasted : tensor<4x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @map(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %0 = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %mapped = linalg.map { math.exp } ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4xf32>)
// CHECK-NEXT: return %mapped : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
