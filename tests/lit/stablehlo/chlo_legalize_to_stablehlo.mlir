// RUN: sdy-opt %s -chlo-legalize-to-stablehlo=leave-others=true | filecheck %s
// RUN: not sdy-opt %s -chlo-legalize-to-stablehlo 2>&1 | filecheck %s --check-prefix=OTHERS

// OTHERS: chlo_legalize_to_stablehlo.mlir:{{[0-9]+}}:8: error: failed to legalize operation 'chlo.erf' that was explicitly marked illegal
// OTHERS: help: leave-others=true leaves such operations

// CHECK-LABEL: func.func @broadcasts(
// CHECK-SAME:    %[[A:.*]]: tensor<4x1xf32>, %[[B:.*]]: tensor<8xf32>, %[[C:.*]]: tensor<f32>, %[[D:.*]]: tensor<4x8xf32>, %[[E:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[A8:.*]] = stablehlo.broadcast_in_dim %[[A]], dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[B8:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.atan2 %[[A8]], %[[B8]] : tensor<4x8xf32>
// CHECK-NEXT:    %[[C8:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.compare LT, %[[D]], %[[C8]], TOTALORDER : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK-NEXT:    %[[E8:.*]] = stablehlo.broadcast_in_dim %[[E]], dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.add %[[D]], %[[E8]] : tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.complex
func.func @broadcasts(%a: tensor<4x1xf32>, %b: tensor<8xf32>, %c: tensor<f32>, %d: tensor<4x8xf32>, %e: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4xcomplex<f32>>) {
  %0 = chlo.broadcast_atan2 %a, %b : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = chlo.broadcast_compare %d, %c {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi1>
  %2 = chlo.broadcast_add %d, %e {broadcast_dimensions = array<i64: 0>} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %3 = chlo.broadcast_complex %e, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>, tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    stablehlo.constant dense<3.200000e+00> : tensor<4xf32>
// CHECK-NEXT:    stablehlo.constant dense<-1> : tensor<4xi8>
// CHECK-NEXT:    stablehlo.constant dense<[1, 2]> : tensor<2xi32>
func.func @constants(%x: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi8>, tensor<2xi32>) {
  %0 = "chlo.constant_like"(%x) {value = 3.2 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "chlo.constant_like"(%i) {value = -1 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi8>, tensor<2xi32>
}

// CHECK-LABEL: func.func @functions(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[L:.*]] = stablehlo.subtract %[[ONE]], %[[X]]
// CHECK-NEXT:    %[[R:.*]] = stablehlo.add %[[ONE]], %[[X]]
// CHECK-NEXT:    %[[P:.*]] = stablehlo.multiply %[[L]], %[[R]]
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.sqrt %[[P]]
// CHECK-NEXT:    stablehlo.atan2 %[[Q]], %[[X]]
// CHECK:         stablehlo.atan2 %[[X]], %{{.*}}
// CHECK:         stablehlo.atan2 %[[X]], %{{.*}}
// CHECK:         stablehlo.constant dense<3.40282347E+38> : tensor<4xf32>
// CHECK:         stablehlo.log_plus_one
// CHECK:         stablehlo.sign
// CHECK:         stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
// CHECK:         stablehlo.exponential
// CHECK:         stablehlo.exponential_minus_one
// CHECK:         stablehlo.select
// CHECK:         %[[ABS:.*]] = stablehlo.abs %[[X]]
// CHECK-NEXT:    %[[INF:.*]] = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
// CHECK-NEXT:    stablehlo.compare EQ, %[[ABS]], %[[INF]]
// CHECK-NOT:     chlo.
// CHECK:         return
func.func @functions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>) {
  %0 = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
  %6 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  %7 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  %8 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  %9 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  %10 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  %11 = chlo.next_after %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>
}

// Halves are computed with 32 bits where that matters; dynamic sizes need no constants.
// CHECK-LABEL: func.func @types(
// CHECK-SAME:    %[[H:.*]]: tensor<4xbf16>, %[[D:.*]]: tensor<?xf32>, %[[C:.*]]: tensor<4xcomplex<f32>>, %[[U:.*]]: tensor<4xui8>)
// CHECK-NEXT:    %[[W:.*]] = stablehlo.convert %[[H]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.multiply %[[D]], %[[D]] : tensor<?xf32>
// CHECK-NEXT:    stablehlo.tan %[[S]] : tensor<?xf32>
// CHECK-NEXT:    stablehlo.real %[[C]]
// CHECK-NEXT:    stablehlo.imag %[[C]]
// CHECK-NEXT:    stablehlo.negate
// CHECK-NEXT:    stablehlo.complex
// CHECK:         stablehlo.multiply %{{.*}} : tensor<4xui16>
// CHECK-NEXT:    %[[EIGHT:.*]] = stablehlo.constant dense<8> : tensor<4xui16>
// CHECK-NEXT:    stablehlo.shift_right_logical %{{.*}}, %[[EIGHT]] : tensor<4xui16>
func.func @types(%h: tensor<4xbf16>, %d: tensor<?xf32>, %c: tensor<4xcomplex<f32>>, %u: tensor<4xui8>) -> (tensor<4xbf16>, tensor<?xf32>, tensor<4xcomplex<f32>>, tensor<4xui8>) {
  %0 = chlo.cosh %h : tensor<4xbf16> -> tensor<4xbf16>
  %1 = chlo.square %d : tensor<?xf32> -> tensor<?xf32>
  %2 = chlo.tan %1 : tensor<?xf32> -> tensor<?xf32>
  %3 = chlo.conj %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %4 = "chlo.mulhi"(%u, %u) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %0, %2, %3, %4 : tensor<4xbf16>, tensor<?xf32>, tensor<4xcomplex<f32>>, tensor<4xui8>
}

// CHECK-LABEL: func.func @top_k(
// CHECK-SAME:    %[[X:.*]]: tensor<4x16xf32>)
// CHECK-NEXT:    %[[I:.*]] = stablehlo.iota dim = 1 : tensor<4x16xi32>
// CHECK-NEXT:    %[[S:.*]]:2 = "stablehlo.sort"(%[[X]], %[[I]]) <{dimension = 1 : i64, is_stable = true}> ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK-NEXT:      stablehlo.compare GT, %[[A]], %[[B]], TOTALORDER
// CHECK:         stablehlo.slice %[[S]]#0 [0:4, 0:3]
// CHECK-NEXT:    stablehlo.slice %[[S]]#1 [0:4, 0:3]
func.func @top_k(%x: tensor<4x16xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0:2 = chlo.top_k(%x, k = 3) : tensor<4x16xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>
}

// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    chlo.erf %{{.*}} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    chlo.acos %{{.*}} : tensor<?xf32> -> tensor<?xf32>
func.func @others(%x: tensor<4xf32>, %d: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.acos %d : tensor<?xf32> -> tensor<?xf32>
  return %0, %1 : tensor<4xf32>, tensor<?xf32>
}
