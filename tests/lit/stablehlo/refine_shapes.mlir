// RUN: sdy-opt %s -stablehlo-refine-shapes -split-input-file | filecheck %s

// Computations of shapes are folded, and the sizes propagate to the results of the function.
// CHECK-LABEL: func.func @folds(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>) -> (tensor<11xf32>, tensor<32xf32>) {
// CHECK-DAG:     %[[N:.*]] = stablehlo.constant dense<11> : tensor<1xi64>
// CHECK-DAG:     %[[M:.*]] = stablehlo.constant dense<32> : tensor<1xi64>
// CHECK:         %[[I:.*]] = stablehlo.dynamic_iota %[[N]], dim = 0 : (tensor<1xi64>) -> tensor<11xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dynamic_reshape %[[X]], %[[M]] : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<32xf32>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tanh %[[R]] : tensor<32xf32>
// CHECK-NEXT:    return %[[I]], %[[T]]
func.func @folds(%x: tensor<4x8xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x8xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x8xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<7> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %less = stablehlo.compare LT, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %min = stablehlo.select %less, %0, %1 : tensor<i1>, tensor<i32>
  %sum = stablehlo.add %min, %c : tensor<i32>
  %max = stablehlo.maximum %sum, %zero : tensor<i32>
  %wide = stablehlo.convert %max : (tensor<i32>) -> tensor<i64>
  %shape = stablehlo.reshape %wide : (tensor<i64>) -> tensor<1xi64>
  %iota = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  %size = stablehlo.multiply %0, %1 : tensor<i32>
  %size64 = stablehlo.convert %size : (tensor<i32>) -> tensor<i64>
  %flat = stablehlo.reshape %size64 : (tensor<i64>) -> tensor<1xi64>
  %2 = stablehlo.dynamic_reshape %x, %flat : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<?xf32>
  %3 = stablehlo.tanh %2 : tensor<?xf32>
  return %iota, %3 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Integers fold with the sign of their type, toward zero, and with wraparound; a division by zero does not fold.
// CHECK-LABEL: func.func @integers(
// CHECK-DAG:     %[[D:.*]] = stablehlo.constant dense<[-3, 3]> : tensor<2xi8>
// CHECK-DAG:     %[[R:.*]] = stablehlo.constant dense<[-1, 1]> : tensor<2xi8>
// CHECK-DAG:     %[[W:.*]] = stablehlo.constant dense<-126> : tensor<2xi8>
// CHECK-DAG:     %[[U:.*]] = stablehlo.constant dense<127> : tensor<ui8>
// CHECK-DAG:     %[[C:.*]] = stablehlo.constant dense<[-2, 3]> : tensor<2xi8>
// CHECK-DAG:     %[[B:.*]] = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK:         %[[Z:.*]] = stablehlo.divide
// CHECK-NEXT:    return %[[D]], %[[R]], %[[W]], %[[U]], %[[R]], %[[C]], %[[B]], %[[Z]]
func.func @integers() -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<ui8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi8>) {
  %a = stablehlo.constant dense<[-7, 7]> : tensor<2xi8>
  %b = stablehlo.constant dense<2> : tensor<2xi8>
  %big = stablehlo.constant dense<65> : tensor<2xi8>
  %u = stablehlo.constant dense<254> : tensor<ui8>
  %two = stablehlo.constant dense<2> : tensor<ui8>
  %low = stablehlo.constant dense<-2> : tensor<2xi8>
  %high = stablehlo.constant dense<3> : tensor<2xi8>
  %zero = stablehlo.constant dense<0> : tensor<2xi8>
  %0 = stablehlo.divide %a, %b : tensor<2xi8>
  %1 = stablehlo.remainder %a, %b : tensor<2xi8>
  %2 = stablehlo.multiply %big, %b : tensor<2xi8>
  %3 = stablehlo.divide %u, %two : tensor<ui8>
  %4 = stablehlo.sign %a : tensor<2xi8>
  %5 = stablehlo.clamp %low, %a, %high : tensor<2xi8>
  %6 = stablehlo.compare LT, %a, %zero : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  %7 = stablehlo.divide %a, %zero : tensor<2xi8>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<ui8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi8>
}

// -----

// CHECK-LABEL: func.func @pieces(
// CHECK-DAG:     %[[S:.*]] = stablehlo.constant dense<[5, 3]> : tensor<2xi32>
// CHECK-DAG:     %[[C:.*]] = stablehlo.constant dense{{.*}}[1, 9], [3, 9]{{.*}} : tensor<2x2xi32>
// CHECK-DAG:     %[[B:.*]] = stablehlo.constant dense<9> : tensor<3x2xi32>
// CHECK-DAG:     %[[M:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK:         %[[J:.*]] = stablehlo.concatenate %[[M]], %{{.*}}, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT:    return %[[S]], %[[C]], %[[B]], %[[J]]
func.func @pieces(%x: tensor<2xf32>) -> (tensor<2xi32>, tensor<2x2xi32>, tensor<3x2xi32>, tensor<?xf32>) {
  %a = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi32>
  %b = stablehlo.constant dense<9> : tensor<2x1xi32>
  %c = stablehlo.constant dense<[7, 5, 4, 3]> : tensor<4xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = stablehlo.slice %c [1:4:2] : (tensor<4xi32>) -> tensor<2xi32>
  %1 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  %2 = stablehlo.broadcast_in_dim %nine, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
  %3 = stablehlo.concatenate %one, %one, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<2xi32>, tensor<2x2xi32>, tensor<3x2xi32>, tensor<?xf32>
}

// -----

// A called function is refined for the constants and types of its calls; the constants are no longer passed.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>) -> tensor<4x2xf32>
// CHECK:         %[[D:.*]] = stablehlo.dynamic_reshape %[[X]]
// CHECK-NEXT:    %[[R:.*]] = call @callee(%[[D]]) : (tensor<4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    return %[[R]]
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    %[[Y:.*]]: tensor<4xf32> {jax.name = "y"}) -> tensor<4x2xf32>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.constant dense<[4, 2]> : tensor<2xi32>
// CHECK-NEXT:    stablehlo.dynamic_broadcast_in_dim %[[Y]], %[[S]], dims = [0] : (tensor<4xf32>, tensor<2xi32>) -> tensor<4x2xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  %1 = call @half(%0) : (tensor<i32>) -> tensor<i32>
  %s = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = call @callee(%0, %1, %d) : (tensor<i32>, tensor<i32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
func.func private @half(%n: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.divide %n, %c : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @callee(%n: tensor<i32>, %m: tensor<i32>, %y: tensor<?xf32> {jax.name = "y"}) -> tensor<?x?xf32> {
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

// -----

// Loops and branches, whose regions are refined with them; products, windows and slices.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         stablehlo.while{{.*}} : tensor<i32>, tensor<4xf32>
// CHECK:         "stablehlo.if"
// CHECK:         }) : (tensor<i1>) -> tensor<4xf32>
func.func @regions(%x: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = stablehlo.constant dense<4> : tensor<1xi32>
  %d = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %0:2 = stablehlo.while(%i = %n, %y = %d) : tensor<i32>, tensor<?xf32>
  cond {
    %q = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %z = stablehlo.add %y, %y : tensor<?xf32>
    stablehlo.return %i, %z : tensor<i32>, tensor<?xf32>
  }
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0#1 : tensor<?xf32>
  }, {
    %t = stablehlo.tanh %d : tensor<?xf32>
    stablehlo.return %t : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0#1, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-NOT:     tensor<?
// CHECK:         return
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %i: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>, %z: tensor<f32>, %n: tensor<2xi32>) {
  %shape = stablehlo.constant dense<[4, 8]> : tensor<2xi32>
  %d = stablehlo.dynamic_reshape %x, %shape : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %0 = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<8x2xf32>) -> tensor<?x2xf32>
  %1 = stablehlo.dot %d, %w : (tensor<?x?xf32>, tensor<8x2xf32>) -> tensor<?x?xf32>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x?x?x4xf32>
  %pads = stablehlo.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi32>
  %3 = "stablehlo.dynamic_conv"(%i, %k, %pads) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %4 = stablehlo.dynamic_pad %d, %z, %ones, %zeros, %zeros : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %5 = stablehlo.real_dynamic_slice %d, %zeros, %shape, %ones : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %limits = stablehlo.add %n, %ones : tensor<2xi32>
  %6 = stablehlo.real_dynamic_slice %d, %n, %limits, %ones : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %7 = stablehlo.bitcast_convert %d : (tensor<?x?xf32>) -> tensor<?x?xi32>
  %8 = stablehlo.convert %7 : (tensor<?x?xi32>) -> tensor<?x?xf64>
  %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %10 = stablehlo.rng %z, %z, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %11 = "stablehlo.all_gather"(%d) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %12 = "stablehlo.reduce_scatter"(%d) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %13 = stablehlo.custom_call @foo(%d, %shape) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %14 = chlo.tan %d : tensor<?x?xf32> -> tensor<?x?xf32>
  stablehlo.custom_call @use(%0, %1, %2, %3, %4, %5, %6, %9, %10, %11, %12, %13, %14) {has_side_effect = true} : (tensor<?x2xf32>, tensor<?x?xf32>, tensor<1x?x?x4xf32>, tensor<1x?x?x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf64>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
