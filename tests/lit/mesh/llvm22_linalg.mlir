// RUN: sdy-opt %s --mesh-version=22 '--pass-pipeline=builtin.module(func.func(sharding-propagation))' | filecheck %s

// Propagation through the operations of linalg, and to constants.

shard.grid @grid(shape = 2x2)

func.func @reduce(%a: tensor<8x4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<8x4xf32>) outs(%init : tensor<4xf32>) dimensions = [0]
  return %1 : tensor<4xf32>
}

func.func @scalar(%a: tensor<8x4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<8x4xf32>) outs(%init : tensor<f32>) dimensions = [0, 1]
  return %1 : tensor<f32>
}

func.func @transpose(%a: tensor<8x4xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<8x4xf32>) outs(%init : tensor<4x8xf32>) permutation = [1, 0]
  return %1 : tensor<4x8xf32>
}

func.func @broadcast(%a: tensor<8xf32>, %init: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  %1 = linalg.broadcast ins(%0 : tensor<8xf32>) outs(%init : tensor<4x8xf32>) dimensions = [0]
  return %1 : tensor<4x8xf32>
}

func.func @map(%a: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  %1 = linalg.map { math.exp } ins(%0 : tensor<8xf32>) outs(%init : tensor<8xf32>)
  return %1 : tensor<8xf32>
}

func.func @constant() -> tensor<8x4xf32> {
  %x = arith.constant 2.0 : f32
  %c = arith.constant dense<1.0> : tensor<8x4xf32>
  %init = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.add ins(%c, %x : tensor<8x4xf32>, f32) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %1 = shard.shard %0 to %s : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK: module {
// CHECK-NEXT: shard.grid @grid(shape = 2x2)
// CHECK-NEXT: func.func @reduce(%arg0: tensor<8x4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding : tensor<8x4xf32>
// CHECK-NEXT: %sharding_0 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_1 = shard.shard %sharding_annotated to %sharding_0 annotate_for_users : tensor<8x4xf32>
// CHECK-NEXT: %sharding_2 = shard.sharding @grid split_axes = {{\[\[}}{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_3 = shard.shard %arg1 to %sharding_2 annotate_for_users : tensor<4xf32>
// CHECK-NEXT: %reduced = linalg.reduce { arith.addf } ins(%sharding_annotated_1 : tensor<8x4xf32>) outs(%sharding_annotated_3 : tensor<4xf32>) dimensions = [0]
// CHECK-NEXT: %sharding_4 = shard.sharding @grid split_axes = {{\[\[}}{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_5 = shard.shard %reduced to %sharding_4 : tensor<4xf32>
// CHECK-NEXT: return %sharding_annotated_5 : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @scalar(%arg0: tensor<8x4xf32>, %arg1: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding : tensor<8x4xf32>
// CHECK-NEXT: %sharding_0 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_1 = shard.shard %sharding_annotated to %sharding_0 annotate_for_users : tensor<8x4xf32>
// CHECK-NEXT: %sharding_2 = shard.sharding @grid split_axes = [] : !shard.sharding
// CHECK-NEXT: %sharding_annotated_3 = shard.shard %arg1 to %sharding_2 annotate_for_users : tensor<f32>
// CHECK-NEXT: %reduced = linalg.reduce { arith.addf } ins(%sharding_annotated_1 : tensor<8x4xf32>) outs(%sharding_annotated_3 : tensor<f32>) dimensions = [0, 1]
// CHECK-NEXT: %sharding_4 = shard.sharding @grid split_axes = [] : !shard.sharding
// CHECK-NEXT: %sharding_annotated_5 = shard.shard %reduced to %sharding_4 : tensor<f32>
// CHECK-NEXT: return %sharding_annotated_5 : tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @transpose(%arg0: tensor<8x4xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding : tensor<8x4xf32>
// CHECK-NEXT: %sharding_0 = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_1 = shard.shard %sharding_annotated to %sharding_0 annotate_for_users : tensor<8x4xf32>
// CHECK-NEXT: %sharding_2 = shard.sharding @grid split_axes = {{\[\[}}1], [0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_3 = shard.shard %arg1 to %sharding_2 annotate_for_users : tensor<4x8xf32>
// CHECK-NEXT: %transposed = linalg.transpose ins(%sharding_annotated_1 : tensor<8x4xf32>) outs(%sharding_annotated_3 : tensor<4x8xf32>) permutation = [1, 0]
// CHECK-NEXT: %sharding_4 = shard.sharding @grid split_axes = {{\[\[}}1], [0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_5 = shard.shard %transposed to %sharding_4 : tensor<4x8xf32>
// CHECK-NEXT: return %sharding_annotated_5 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @broadcast(%arg0: tensor<8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding : tensor<8xf32>
// CHECK-NEXT: %sharding_0 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_1 = shard.shard %sharding_annotated to %sharding_0 annotate_for_users : tensor<8xf32>
// CHECK-NEXT: %sharding_2 = shard.sharding @grid split_axes = {{\[\[}}], [0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_3 = shard.shard %arg1 to %sharding_2 annotate_for_users : tensor<4x8xf32>
// CHECK-NEXT: %broadcasted = linalg.broadcast ins(%sharding_annotated_1 : tensor<8xf32>) outs(%sharding_annotated_3 : tensor<4x8xf32>) dimensions = [0]
// CHECK-NEXT: %sharding_4 = shard.sharding @grid split_axes = {{\[\[}}], [0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_5 = shard.shard %broadcasted to %sharding_4 : tensor<4x8xf32>
// CHECK-NEXT: return %sharding_annotated_5 : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @map(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding : tensor<8xf32>
// CHECK-NEXT: %sharding_0 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_1 = shard.shard %sharding_annotated to %sharding_0 annotate_for_users : tensor<8xf32>
// CHECK-NEXT: %sharding_2 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_3 = shard.shard %arg1 to %sharding_2 annotate_for_users : tensor<8xf32>
// CHECK-NEXT: %mapped = linalg.map { math.exp } ins(%sharding_annotated_1 : tensor<8xf32>) outs(%sharding_annotated_3 : tensor<8xf32>)
// CHECK-NEXT: %sharding_4 = shard.sharding @grid split_axes = {{\[\[}}0{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_5 = shard.shard %mapped to %sharding_4 : tensor<8xf32>
// CHECK-NEXT: return %sharding_annotated_5 : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @constant() -> tensor<8x4xf32> {
// CHECK-NEXT: %cst = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %cst_0 = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
// CHECK-NEXT: %sharding = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated = shard.shard %cst_0 to %sharding : tensor<8x4xf32>
// CHECK-NEXT: %0 = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT: %sharding_1 = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_2 = shard.shard %0 to %sharding_1 : tensor<8x4xf32>
// CHECK-NEXT: %sharding_3 = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_4 = shard.shard %sharding_annotated to %sharding_3 annotate_for_users : tensor<8x4xf32>
// CHECK-NEXT: %sharding_5 = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_6 = shard.shard %sharding_annotated_2 to %sharding_5 annotate_for_users : tensor<8x4xf32>
// CHECK-NEXT: %1 = linalg.add ins(%sharding_annotated_4, %cst : tensor<8x4xf32>, f32) outs(%sharding_annotated_6 : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %sharding_7 = shard.sharding @grid split_axes = {{\[\[}}0], [1{{\]\]}} : !shard.sharding
// CHECK-NEXT: %sharding_annotated_8 = shard.shard %1 to %sharding_7 : tensor<8x4xf32>
// CHECK-NEXT: return %sharding_annotated_8 : tensor<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
