// RUN: sdy-opt %s -stablehlo-aggressive-simplification -split-input-file | filecheck %s

// CHECK-LABEL: func.func @neutral_elements(
// CHECK-SAME:    %[[I:.*]]: tensor<4xi32>, %[[F:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<4xi32>
// CHECK-NEXT:    %[[FLOAT_ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[PRODUCT:.*]] = stablehlo.multiply %[[F]], %[[FLOAT_ZERO]] : tensor<4xf32>
// CHECK-NEXT:    return %[[I]], %[[ZERO]], %[[F]], %[[PRODUCT]], %[[ZERO]]
func.func @neutral_elements(%i: tensor<4xi32>, %f: tensor<4xf32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %one = stablehlo.constant dense<1> : tensor<4xi32>
  %ones = stablehlo.constant dense<-1> : tensor<4xi32>
  %f0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  %f1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %zero, %i : tensor<4xi32>
  %1 = stablehlo.multiply %one, %0 : tensor<4xi32>
  %2 = stablehlo.and %ones, %1 : tensor<4xi32>
  %3 = stablehlo.or %2, %zero : tensor<4xi32>
  %4 = stablehlo.xor %zero, %3 : tensor<4xi32>
  %5 = stablehlo.subtract %4, %zero : tensor<4xi32>
  %6 = stablehlo.and %zero, %i : tensor<4xi32>
  %7 = stablehlo.multiply %f1, %f : tensor<4xf32>
  %8 = stablehlo.add %7, %f0 : tensor<4xf32>
  %9 = stablehlo.multiply %f0, %f : tensor<4xf32>
  %10 = stablehlo.xor %i, %i : tensor<4xi32>
  return %5, %6, %8, %9, %10 : tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// All bits of an unsigned integer are set in its largest one; 1 is neutral only for booleans.
// CHECK-LABEL: func.func @bits(
// CHECK-SAME:    %[[U:.*]]: tensor<2xui8>, %[[B:.*]]: tensor<2xi1>)
// CHECK-DAG:     %[[TRUE:.*]] = stablehlo.constant dense<true> : tensor<2xi1>
// CHECK-DAG:     %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<2xui8>
// CHECK:         %[[AND:.*]] = stablehlo.and %[[U]], %[[ONE]] : tensor<2xui8>
// CHECK-NEXT:    return %[[U]], %[[AND]], %[[B]], %[[TRUE]]
func.func @bits(%u: tensor<2xui8>, %b: tensor<2xi1>) -> (tensor<2xui8>, tensor<2xui8>, tensor<2xi1>, tensor<2xi1>) {
  %max = stablehlo.constant dense<255> : tensor<2xui8>
  %one = stablehlo.constant dense<1> : tensor<2xui8>
  %true = stablehlo.constant dense<true> : tensor<2xi1>
  %0 = stablehlo.and %u, %max : tensor<2xui8>
  %1 = stablehlo.and %u, %one : tensor<2xui8>
  %2 = stablehlo.and %b, %true : tensor<2xi1>
  %3 = stablehlo.or %b, %true : tensor<2xi1>
  return %0, %1, %2, %3 : tensor<2xui8>, tensor<2xui8>, tensor<2xi1>, tensor<2xi1>
}

// CHECK-LABEL: func.func @comparisons(
// CHECK-SAME:    %[[X:.*]]: tensor<i32>, %[[B:.*]]: tensor<i1>, %[[F:.*]]: tensor<f32>)
// CHECK-DAG:     %[[FALSE:.*]] = stablehlo.constant dense<false> : tensor<i1>
// CHECK-DAG:     %[[SEVEN:.*]] = stablehlo.constant dense<7> : tensor<i32>
// CHECK:         %[[GT:.*]] = stablehlo.compare GT, %[[X]], %[[SEVEN]], SIGNED
// CHECK-NEXT:    %[[EQ:.*]] = stablehlo.compare EQ, %[[F]], %[[F]], FLOAT
// CHECK-NEXT:    return %[[GT]], %[[FALSE]], %[[B]], %[[B]], %[[EQ]]
func.func @comparisons(%x: tensor<i32>, %b: tensor<i1>, %f: tensor<f32>) -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.compare LT, %seven, %x, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = stablehlo.compare LT, %x, %x, UNSIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %2 = stablehlo.compare NE, %b, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %3 = stablehlo.compare EQ, %b, %true : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %4 = stablehlo.compare EQ, %f, %f, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0, %1, %2, %3, %4 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}

// CHECK-LABEL: func.func @selects(
// CHECK-SAME:    %[[P:.*]]: tensor<2xi1>, %[[S:.*]]: tensor<i1>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-DAG:     %[[MIXED:.*]] = stablehlo.constant dense<[1.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[INVERTED:.*]] = stablehlo.select %[[P]], %[[B]], %[[A]]
// CHECK-DAG:     %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = []
// CHECK-DAG:     %[[WIDE_INVERTED:.*]] = stablehlo.select %[[WIDE]], %[[B]], %[[A]]
// CHECK:         return %[[INVERTED]], %[[WIDE_INVERTED]], %[[A]], %[[B]], %[[MIXED]]
func.func @selects(%p: tensor<2xi1>, %s: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.not %p : tensor<2xi1>
  %1 = stablehlo.select %0, %a, %b : tensor<2xi1>, tensor<2xf32>
  %2 = stablehlo.not %s : tensor<i1>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<2xi1>
  %4 = stablehlo.select %3, %a, %b : tensor<2xi1>, tensor<2xf32>
  %5 = stablehlo.select %p, %a, %a : tensor<2xi1>, tensor<2xf32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %6 = stablehlo.select %false, %a, %b : tensor<i1>, tensor<2xf32>
  %mask = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %7 = stablehlo.select %mask, %c, %d : tensor<2xi1>, tensor<2xf32>
  return %1, %4, %5, %6, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @broadcasts(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<3xf32>)
// CHECK-DAG:     %[[RESHAPE:.*]] = stablehlo.reshape %[[X]] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
// CHECK-DAG:     %[[TRANSPOSE:.*]] = stablehlo.transpose %[[X]], dims = [1, 0]
// CHECK-DAG:     %[[MERGED:.*]] = stablehlo.broadcast_in_dim %[[Y]], dims = [2] : (tensor<3xf32>) -> tensor<4x2x3xf32>
// CHECK:         return %[[RESHAPE]], %[[TRANSPOSE]], %[[MERGED]], %[[X]]
func.func @broadcasts(%x: tensor<2x3xf32>, %y: tensor<3xf32>)
    -> (tensor<2x1x3xf32>, tensor<3x2xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %4 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %3, %4 : tensor<2x1x3xf32>, tensor<3x2xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @moves(
// CHECK-SAME:    %[[X:.*]]: tensor<2x1x3xf32>)
// CHECK-DAG:     %[[FLAT:.*]] = stablehlo.reshape %[[X]] : (tensor<2x1x3xf32>) -> tensor<6xf32>
// CHECK-DAG:     %[[MOVED:.*]] = stablehlo.reshape %[[X]] : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
// CHECK-DAG:     %[[ROTATED:.*]] = stablehlo.transpose %[[X]], dims = [2, 0, 1]
// CHECK:         return %[[FLAT]], %[[MOVED]], %[[ROTATED]], %[[X]]
func.func @moves(%x: tensor<2x1x3xf32>) -> (tensor<6xf32>, tensor<1x2x3xf32>, tensor<3x2x1xf32>, tensor<2x1x3xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x1x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %3 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x1x3xf32>) -> tensor<3x1x2xf32>
  %4 = stablehlo.transpose %3, dims = [0, 2, 1] : (tensor<3x1x2xf32>) -> tensor<3x2x1xf32>
  %5 = stablehlo.reverse %x, dims = [1] : tensor<2x1x3xf32>
  %6 = stablehlo.convert %5 : tensor<2x1x3xf32>
  return %1, %2, %4, %6 : tensor<6xf32>, tensor<1x2x3xf32>, tensor<3x2x1xf32>, tensor<2x1x3xf32>
}

// A slice of a concatenation needs only the operands that it has elements of.
// CHECK-LABEL: func.func @concatenations(
// CHECK-SAME:    %[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<3xf32>, %{{.*}}: tensor<0xf32>)
// CHECK-DAG:     %[[ALL:.*]] = stablehlo.concatenate %[[X]], %[[Y]], %[[X]], dim = 0
// CHECK-DAG:     %[[PART:.*]] = stablehlo.slice %[[Y]] [1:3]
// CHECK-DAG:     %[[REST:.*]] = stablehlo.concatenate %[[X]], %[[Y]], dim = 0 {{.*}} -> tensor<5xf32>
// CHECK-DAG:     %[[SLICED:.*]] = stablehlo.slice %[[REST]] [1:4]
// CHECK:         return %[[ALL]], %[[X]], %[[PART]], %[[SLICED]]
func.func @concatenations(%x: tensor<2xf32>, %y: tensor<3xf32>, %empty: tensor<0xf32>)
    -> (tensor<7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = stablehlo.concatenate %x, %empty, %y, dim = 0 : (tensor<2xf32>, tensor<0xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = stablehlo.concatenate %0, %x, dim = 0 : (tensor<5xf32>, tensor<2xf32>) -> tensor<7xf32>
  %2 = stablehlo.concatenate %x, dim = 0 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.slice %1 [3:5] : (tensor<7xf32>) -> tensor<2xf32>
  %4 = stablehlo.concatenate %y, %x, %y, %x, dim = 0 : (tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<10xf32>
  %5 = stablehlo.slice %4 [4:7] : (tensor<10xf32>) -> tensor<3xf32>
  return %1, %2, %3, %5 : tensor<7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>
}

// Indices out of bounds are clamped.
// CHECK-LABEL: func.func @constant_indices(
// CHECK-SAME:    %[[X:.*]]: tensor<4x6xf32>, %[[U:.*]]: tensor<4x6xf32>)
// CHECK-DAG:     %[[SLICE:.*]] = stablehlo.slice %[[X]] [2:4, 0:3]
// CHECK-DAG:     %[[ROW:.*]] = stablehlo.slice %[[X]] [3:4, 0:6]
// CHECK-DAG:     %[[GATHERED:.*]] = stablehlo.reshape %[[ROW]] : (tensor<1x6xf32>) -> tensor<6xf32>
// CHECK:         return %[[SLICE]], %[[GATHERED]], %[[U]], %[[X]]
func.func @constant_indices(%x: tensor<4x6xf32>, %u: tensor<4x6xf32>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %negative = stablehlo.constant dense<-1> : tensor<i32>
  %index = stablehlo.constant dense<9> : tensor<1xi32>
  %pad = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dynamic_slice %x, %ten, %negative, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = "stablehlo.gather"(%x, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<6xf32>
  %2 = stablehlo.dynamic_update_slice %x, %u, %zero, %zero : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %3 = stablehlo.slice %x [0:4, 0:6] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.pad %3, %pad, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0, %1, %2, %4 : tensor<2x3xf32>, tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @iotas(
// CHECK-DAG:     %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<3x1xi32>
// CHECK-DAG:     %[[ROW:.*]] = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK-DAG:     %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[ROW]], dims = [1] : (tensor<4xi32>) -> tensor<3x4xi32>
// CHECK:         return %[[ZERO]], %[[WIDE]]
func.func @iotas() -> (tensor<3x1xi32>, tensor<3x4xi32>) {
  %0 = stablehlo.iota dim = 1 : tensor<3x1xi32>
  %1 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  return %0, %1 : tensor<3x1xi32>, tensor<3x4xi32>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[S:.*]]: tensor<4xf32>, %[[SIZES:.*]]: tensor<2xindex>)
// CHECK-DAG:     %[[CONST:.*]] = shape.const_shape [2, 4] : tensor<2xindex>
// CHECK-DAG:     %[[RESHAPE:.*]] = stablehlo.dynamic_reshape %[[X]], %[[SIZES]]
// CHECK-DAG:     %[[STATIC:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK-DAG:     %[[CAST:.*]] = stablehlo.convert %[[STATIC]] : (tensor<2x4xf32>) -> tensor<?x4xf32>
// CHECK-DAG:     %[[WIDE:.*]] = arith.index_cast %[[SIZES]] : tensor<2xindex> to tensor<2xi64>
// CHECK-DAG:     %[[SIZE:.*]] = stablehlo.slice %[[WIDE]] [0:1]
// CHECK-DAG:     %[[IOTA:.*]] = stablehlo.dynamic_iota %[[SIZE]], dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
// CHECK-DAG:     %[[IOTAS:.*]] = stablehlo.dynamic_broadcast_in_dim %[[IOTA]], %[[SIZES]], dims = [0]
// CHECK:         return %[[RESHAPE]], %[[CAST]], %[[X]], %[[IOTAS]], %[[CONST]], %[[SIZES]]
func.func @dynamic(%x: tensor<?xf32>, %s: tensor<4xf32>, %sizes: tensor<2xindex>)
    -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?xf32>, tensor<?x4xf32>, tensor<2xindex>, tensor<2xindex>) {
  %0 = stablehlo.dynamic_reshape %x, %sizes : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %sizes, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %2 = stablehlo.negate %1 : tensor<?x?xf32>
  %3 = stablehlo.negate %2 : tensor<?x?xf32>
  %shape = shape.const_shape [2, 4] : tensor<2xindex>
  %4 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %5 = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %6 = stablehlo.dynamic_broadcast_in_dim %x, %5, dims = [0] : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
  %7 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xindex>) -> tensor<?x4xf32>
  %8 = shape.shape_of %0 : tensor<?x?xf32> -> tensor<2xindex>
  %9 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %10 = shape.shape_of %9 : tensor<2x4xf32> -> tensor<2xindex>
  return %1, %4, %6, %7, %10, %8 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<?xf32>, tensor<?x4xf32>, tensor<2xindex>, tensor<2xindex>
}

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[C:.*]]: tensor<complex<f32>>, %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[T:.*]]: tuple<tensor<f32>, tensor<f32>>)
// CHECK-NEXT:    return %[[C]], %[[A]], %[[B]], %[[T]], %[[B]]
func.func @parts(%c: tensor<complex<f32>>, %a: tensor<f32>, %b: tensor<f32>, %t: tuple<tensor<f32>, tensor<f32>>)
    -> (tensor<complex<f32>>, tensor<f32>, tensor<f32>, tuple<tensor<f32>, tensor<f32>>, tensor<f32>) {
  %0 = stablehlo.real %c : (tensor<complex<f32>>) -> tensor<f32>
  %1 = stablehlo.imag %c : (tensor<complex<f32>>) -> tensor<f32>
  %2 = stablehlo.complex %0, %1 : tensor<complex<f32>>
  %3 = stablehlo.complex %a, %b : tensor<complex<f32>>
  %4 = stablehlo.real %3 : (tensor<complex<f32>>) -> tensor<f32>
  %5 = stablehlo.imag %3 : (tensor<complex<f32>>) -> tensor<f32>
  %6 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %7 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %8 = stablehlo.tuple %6, %7 : tuple<tensor<f32>, tensor<f32>>
  %9 = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<f32>>
  %10 = stablehlo.get_tuple_element %9[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  return %2, %4, %5, %8, %10 : tensor<complex<f32>>, tensor<f32>, tensor<f32>, tuple<tensor<f32>, tensor<f32>>, tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Results that are left have the shardings that they had.
// CHECK-LABEL: func.func @unused_results(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>)
// CHECK:         %[[SUM:.*]] = stablehlo.reduce(%[[B]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %[[SORT:.*]] = "stablehlo.sort"(%[[A]]) <{dimension = 1 : i64}> ({
// CHECK:         return %[[SUM]], %[[SORT]], %[[A]]
func.func @unused_results(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %zero), (%b init: %zero) across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}]>]>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<f32>, %f: tensor<f32>) {
    %4 = stablehlo.add %c, %d : tensor<f32>
    %5 = stablehlo.maximum %e, %f : tensor<f32>
    stablehlo.return %4, %5 : tensor<f32>, tensor<f32>
  }
  %1:2 = "stablehlo.sort"(%a, %b) ({
  ^bb0(%c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>, %f: tensor<f32>):
    %4 = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %2 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0#1, %1#0, %2 : tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[N:.*]]: tensor<i32>, %[[X:.*]]: tensor<8xf32>)
// CHECK:         %[[LOOP:.*]]:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[ACC:.*]] = %[[X]]) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
// CHECK:           stablehlo.compare LT, %[[I]], %[[N]]
// CHECK:           stablehlo.add %[[ACC]], %[[X]]
// CHECK:         return %[[LOOP]]#1, %[[X]]
func.func @loop(%n: tensor<i32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %step = %x, %acc = %x, %limit = %n) : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<i32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}]>, <@mesh, [{"x"}]>, <@mesh, []>]>}
    cond {
    %1 = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %acc, %step : tensor<8xf32>
    stablehlo.return %1, %step, %2, %limit : tensor<i32>, tensor<8xf32>, tensor<8xf32>, tensor<i32>
  }
  return %0#2, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// What replaces an operation has its attributes; sharding rules are of other operands.
// CHECK-LABEL: func.func @attributes(
// CHECK-NEXT:    %[[NEG:.*]] = stablehlo.negate %{{.*}} {mhlo.frontend_attributes = {a = "1", b = "2"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
// CHECK-NEXT:    %[[MERGED:.*]] = stablehlo.reshape %[[NEG]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[MERGED]]
func.func @attributes(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.negate %x {mhlo.frontend_attributes = {a = "1", b = "1"}} : tensor<8xf32>
  %1 = stablehlo.multiply %0, %one {mhlo.frontend_attributes = {b = "2"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8}>} : tensor<8xf32>
  %2 = stablehlo.reshape %1 : (tensor<8xf32>) -> tensor<4x2xf32>
  %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// An operation with effects stays, and has the operands that it had.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[X:.*]]: tensor<0x4xf32>, %[[P:.*]]: tensor<f32>)
// CHECK-DAG:     %[[EMPTY:.*]] = stablehlo.constant dense<> : tensor<0x4xf32>
// CHECK-DAG:     %[[PADDED:.*]] = stablehlo.broadcast_in_dim %[[P]], dims = [] : (tensor<f32>) -> tensor<2x4xf32>
// CHECK-DAG:     %[[SUM:.*]] = stablehlo.broadcast_in_dim %[[P]], dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-DAG:     %[[CALL:.*]] = stablehlo.custom_call @f(%[[X]]) {has_side_effect = true}
// CHECK:         return %[[EMPTY]], %[[PADDED]], %[[SUM]], %[[CALL]]
func.func @empty(%x: tensor<0x4xf32>, %p: tensor<f32>) -> (tensor<0x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<0x4xf32>) {
  %0 = stablehlo.negate %x : tensor<0x4xf32>
  %1 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.reduce(%x init: %p) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @f(%x) {has_side_effect = true} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0, %1, %2, %3 : tensor<0x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<0x4xf32>
}

// CHECK-LABEL: func.func @typed_call(
// CHECK-NEXT:    stablehlo.custom_call @f(%{{.*}}) {api_version = 4 : i32, backend_config = {level = 2 : i64}} : (tensor<f32>) -> tensor<f32>
func.func @typed_call(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @f(%x) {mhlo.backend_config = {level = 2 : i64}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A data-flow edge must be the only use of a value, so its loop keeps the argument.
// CHECK-LABEL: func.func @loop_with_edge(
// CHECK:         stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<8xf32>
func.func @loop_with_edge(%n: tensor<i32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %one, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %y : tensor<i32>, tensor<8xf32>
  }
  %1 = sdy.data_flow_edge %0#1 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
