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

// CHECK-LABEL: func.func @top_k_of_dynamic(
// CHECK-NEXT:    %[[N:.*]] = stablehlo.get_dimension_size %{{.*}}, dim = 0
// CHECK:         stablehlo.dynamic_iota %{{.*}}, dim = 1 : (tensor<2xi64>) -> tensor<?x16xi32>
// CHECK:         stablehlo.real_dynamic_slice
func.func @top_k_of_dynamic(%x: tensor<?x16xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  %0:2 = chlo.top_k(%x, k = 3) : tensor<?x16xf32> -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return %0#0, %0#1 : tensor<?x3xf32>, tensor<?x3xi32>
}

// Polynomials have a constant for each coefficient; those of f64 have more of them.
// CHECK-LABEL: func.func @special_functions(
// CHECK:         stablehlo.clamp
// CHECK:         stablehlo.constant dense<-2.72614237E-10> : tensor<4xf32>
// CHECK:         stablehlo.constant dense<9.6049737398705161> : tensor<4xf64>
// CHECK:         stablehlo.constant dense<7.85386146E-5> : tensor<4xf32>
// CHECK:         stablehlo.log_plus_one
// CHECK:         stablehlo.constant dense<676.520386> : tensor<4xf32>
// CHECK:         stablehlo.cosine
// CHECK:         stablehlo.constant dense<0.77857{{.*}}> : tensor<4xf32>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:         stablehlo.power
// CHECK:         stablehlo.exponential
// CHECK-NOT:     chlo.
// CHECK:         return
func.func @special_functions(%x: tensor<4xf32>, %d: tensor<4xf64>, %h: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erf %d : tensor<4xf64> -> tensor<4xf64>
  %2 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  %6 = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  %7 = chlo.lgamma %h : tensor<4xbf16> -> tensor<4xbf16>
  %8 = chlo.zeta %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %9 = chlo.polygamma %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @doubles(
// CHECK-NOT:     chlo.
// CHECK:         return
func.func @doubles(%d: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %0 = chlo.erfc %d : tensor<4xf64> -> tensor<4xf64>
  %1 = chlo.erf_inv %d : tensor<4xf64> -> tensor<4xf64>
  %2 = chlo.bessel_i1e %d : tensor<4xf64> -> tensor<4xf64>
  return %0, %1, %2 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// CHECK-LABEL: func.func @complex_functions(
// CHECK-COUNT-4: stablehlo.constant dense<3.40282347E+38> : tensor<4xf32>
// CHECK:         stablehlo.constant dense<9.00719925E+15> : tensor<4xf32>
// CHECK:         stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<4xcomplex<f32>>
// CHECK-NOT:     chlo.
// CHECK:         return
func.func @complex_functions(%c: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
  %0 = chlo.acos %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %1 = chlo.acosh %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %2 = chlo.asin %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %3 = chlo.asinh %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %4 = chlo.atan %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %5 = chlo.atanh %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %6 = chlo.square %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %7 = chlo.sinh %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
}

// Constants and operands are broadcast to dynamic shapes.
// CHECK-LABEL: func.func @dynamic_shapes(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>)
// CHECK:         %[[CONST:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[SHAPE:.*]] = shape.shape_of %[[X]] : tensor<?x4xf32> -> tensor<2xindex>
// CHECK-NEXT:    %[[ONE:.*]] = stablehlo.dynamic_broadcast_in_dim %[[CONST]], %[[SHAPE]], dims = []
// CHECK-NEXT:    %[[ATAN:.*]] = stablehlo.atan2 %[[X]], %[[ONE]] : tensor<?x4xf32>
// CHECK:         %[[WITNESS:.*]] = shape.cstr_broadcastable
// CHECK-NEXT:    %[[SUM:.*]] = shape.assuming %[[WITNESS]] -> (tensor<?x4xf32>) {
// CHECK:           shape.broadcast
// CHECK:           %[[ADDED:.*]] = stablehlo.add
// CHECK-NEXT:      shape.assuming_yield %[[ADDED]] : tensor<?x4xf32>
// CHECK-NEXT:    }
// CHECK:         shape.cstr_broadcastable
// CHECK:           tensor.cast %{{.*}} : tensor<?xindex> to tensor<2xindex>
// CHECK:           stablehlo.select %[[P]],
// CHECK:         shape.const_witness true
func.func @dynamic_shapes(%x: tensor<?x4xf32>, %y: tensor<4xf32>, %p: tensor<i1>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) {
  %0 = chlo.atan %x : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = chlo.broadcast_add %0, %y : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = chlo.broadcast_select %p, %1, %x : (tensor<i1>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = chlo.broadcast_select %p, %y, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @products_of_integers(
// CHECK:         stablehlo.constant dense<4294967295> : tensor<4xui64>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xi64>) -> tensor<4xui64>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xui64>) -> tensor<4xi64>
func.func @products_of_integers(%u: tensor<4xui64>, %i: tensor<4xi64>) -> (tensor<4xui64>, tensor<4xi64>) {
  %0 = "chlo.mulhi"(%u, %u) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui64>
  %1 = "chlo.mulhi"(%i, %i) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %0, %1 : tensor<4xui64>, tensor<4xi64>
}

// A product for each group: of rows of lhs with its slice of rhs, or along a ragged contracting dimension.
// CHECK-LABEL: func.func @ragged_dot(
// CHECK-COUNT-3: stablehlo.dot_general %{{.*}}, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<11x5xf32>, tensor<5x7xf32>) -> tensor<11x7xf32>
// CHECK-NEXT:    stablehlo.add
// CHECK-COUNT-3: stablehlo.dot_general %{{.*}} : (tensor<11x?xf32>, tensor<?x7xf32>) -> tensor<11x7xf32>
// CHECK:         stablehlo.concatenate
// CHECK:         stablehlo.dot_general %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1]
func.func @ragged_dot(%l: tensor<11x5xf32>, %r: tensor<3x5x7xf32>, %g: tensor<3xi32>, %ld: tensor<11x?xf32>, %rd: tensor<?x7xf32>, %lb: tensor<2x3x5xf32>, %rb: tensor<2x5x7xf32>)
    -> (tensor<11x7xf32>, tensor<3x11x7xf32>, tensor<2x3x7xf32>) {
  %0 = "chlo.ragged_dot"(%l, %r, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  %1 = "chlo.ragged_dot"(%ld, %rd, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = []>} : (tensor<11x?xf32>, tensor<?x7xf32>, tensor<3xi32>) -> tensor<3x11x7xf32>
  %2 = "chlo.ragged_dot"(%lb, %rb, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>} : (tensor<2x3x5xf32>, tensor<2x5x7xf32>, tensor<3xi32>) -> tensor<2x3x7xf32>
  return %0, %1, %2 : tensor<11x7xf32>, tensor<3x11x7xf32>, tensor<2x3x7xf32>
}

// CHECK-LABEL: func.func @scan(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[INIT:.*]]: tensor<4xf32>)
// CHECK:         %[[LOOP:.*]]:3 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[CARRY:.*]] = %[[INIT]], %[[OUT:.*]] = %{{.*}})
// CHECK:           %[[POSITION:.*]] = stablehlo.subtract %{{.*}}, %[[I]] : tensor<i64>
// CHECK:           stablehlo.dynamic_slice %[[X]], %{{.*}}, %[[POSITION]], sizes = [4, 1]
// CHECK:           %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[CARRY]] : tensor<4xf32>
// CHECK:           stablehlo.dynamic_update_slice %[[OUT]], %{{.*}}, %{{.*}}, %[[POSITION]]
// CHECK:           stablehlo.return %{{.*}}, %[[SUM]], %{{.*}}
// CHECK:         return %[[LOOP]]#2, %[[LOOP]]#1
func.func @scan(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0:2 = chlo.scan(%x) inits(%init) dimension=1 attributes {is_reverse = true} {
  ^bb0(%input: tensor<4xf32>, %carry: tensor<4xf32>):
    %1 = chlo.square %input : tensor<4xf32> -> tensor<4xf32>
    %2 = stablehlo.add %1, %carry : tensor<4xf32>
    stablehlo.return %1, %2 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>
}

// There are no approximations for small floats, and no infinities in some of them.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    chlo.erf %{{.*}} : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
// CHECK-NEXT:    chlo.is_inf %{{.*}} : tensor<4xf4E2M1FN> -> tensor<4xi1>
func.func @others(%x: tensor<4xf8E5M2>, %d: tensor<4xf4E2M1FN>) -> (tensor<4xf8E5M2>, tensor<4xi1>) {
  %0 = chlo.erf %x : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  %1 = chlo.is_inf %d : tensor<4xf4E2M1FN> -> tensor<4xi1>
  return %0, %1 : tensor<4xf8E5M2>, tensor<4xi1>
}
