// The operations of tensor.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @ok(%a: tensor<4xf32>, %b: tensor<?xf32>, %u: tensor<*xf32>, %i: index, %s: tensor<2xi32>, %f: f32, %v: vector<3xf32>, %m: tensor<2x3xf32>, %mm: tensor<?x?xf32>) {
  %0 = tensor.bitcast %a : tensor<4xf32> to tensor<4xi32>
  %1 = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  %2 = tensor.concat dim(0) %a, %b : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = tensor.concat dim(0) %a, %a {k = 1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = tensor.dim %u, %i : tensor<*xf32>
  %5 = tensor.empty(%i) : tensor<4x?xf32>
  %6 = tensor.extract %m[%i, %i] : tensor<2x3xf32>
  %7 = tensor.from_elements %f, %f : tensor<2xf32>
  %8 = tensor.from_elements : tensor<0xf32>
  %9 = tensor.generate %i {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<?x3xf32>
  %10 = tensor.generate {
  ^bb0:
    tensor.yield %f : f32
  } {k = 1 : i32} : tensor<f32>
  %11 = tensor.insert %f into %m[%i, %i] : tensor<2x3xf32>
  %12 = tensor.rank %u : tensor<*xf32>
  %13 = tensor.rank %m {k} : tensor<2x3xf32>
  %14 = tensor.reshape %u(%s) : (tensor<*xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %15 = tensor.splat %f : tensor<8xf32>
  %16 = tensor.splat %f[%i, %i] : tensor<?x4x?xf32>
  %17 = tensor.pad %m low[1, %i] high[0, 2] {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<3x?xf32>
  %18 = tensor.pad %m nofold low[0, 0] high[0, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } {k = 1 : i32} : tensor<2x3xf32> to tensor<2x3xf32>
  %19 = tensor.collapse_shape %m [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %20 = tensor.expand_shape %19 [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %21 = tensor.expand_shape %mm [[0], [1, 2]] output_shape [%i, %i, 4] {k} : tensor<?x?xf32> into tensor<?x?x4xf32>
  %one = tensor.from_elements %f : tensor<1x1xf32>
  %22 = tensor.collapse_shape %one [] : tensor<1x1xf32> into tensor<f32>
  %23 = tensor.expand_shape %22 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %24 = tensor.insert_slice %a into %b[%i] [4] [1] : tensor<4xf32> into tensor<?xf32>
  %a3 = tensor.splat %f : tensor<3xf32>
  %25 = tensor.insert_slice %a3 into %m[0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
  %26 = tensor.splat %i : tensor<4xindex>
  return
}

// CHECK-LABEL: func.func @ok(%arg0: tensor<4xf32>, %arg1: tensor<?xf32>, %arg2: tensor<*xf32>, %arg3: index, %arg4: tensor<2xi32>, %arg5: f32, %arg6: vector<3xf32>, %arg7: tensor<2x3xf32>, %arg8: tensor<?x?xf32>) {
// CHECK-NEXT:    %0 = tensor.bitcast %arg0 : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT:    %cast = tensor.cast %arg0 : tensor<4xf32> to tensor<*xf32>
// CHECK-NEXT:    %concat = tensor.concat dim(0) %arg0, %arg1 : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %concat_0 = tensor.concat dim(0) %arg0, %arg0 {k = 1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %dim = tensor.dim %arg2, %arg3 : tensor<*xf32>
// CHECK-NEXT:    %1 = tensor.empty(%arg3) : tensor<4x?xf32>
// CHECK-NEXT:    %extracted = tensor.extract %arg7[%arg3, %arg3] : tensor<2x3xf32>
// CHECK-NEXT:    %from_elements = tensor.from_elements %arg5, %arg5 : tensor<2xf32>
// CHECK-NEXT:    %from_elements_1 = tensor.from_elements  : tensor<0xf32>
// CHECK-NEXT:    %generated = tensor.generate %arg3 {
// CHECK-NEXT:    ^bb0(%arg9: index, %arg10: index):
// CHECK-NEXT:      tensor.yield %arg5 : f32
// CHECK-NEXT:    } : tensor<?x3xf32>
// CHECK-NEXT:    %generated_2 = tensor.generate  {
// CHECK-NEXT:      tensor.yield %arg5 : f32
// CHECK-NEXT:    } {k = 1 : i32} : tensor<f32>
// CHECK-NEXT:    %inserted = tensor.insert %arg5 into %arg7[%arg3, %arg3] : tensor<2x3xf32>
// CHECK-NEXT:    %rank = tensor.rank %arg2 : tensor<*xf32>
// CHECK-NEXT:    %rank_3 = tensor.rank %arg7 {k} : tensor<2x3xf32>
// CHECK-NEXT:    %reshape = tensor.reshape %arg2(%arg4) : (tensor<*xf32>, tensor<2xi32>) -> tensor<?x?xf32>
// CHECK-NEXT:    %splat = tensor.splat %arg5 : tensor<8xf32>
// CHECK-NEXT:    %splat_4 = tensor.splat %arg5[%arg3, %arg3] : tensor<?x4x?xf32>
// CHECK-NEXT:    %padded = tensor.pad %arg7 low[1, %arg3] high[0, 2] {
// CHECK-NEXT:    ^bb0(%arg9: index, %arg10: index):
// CHECK-NEXT:      tensor.yield %arg5 : f32
// CHECK-NEXT:    } : tensor<2x3xf32> to tensor<3x?xf32>
// CHECK-NEXT:    %padded_5 = tensor.pad %arg7 nofold low[0, 0] high[0, 0] {
// CHECK-NEXT:    ^bb0(%arg9: index, %arg10: index):
// CHECK-NEXT:      tensor.yield %arg5 : f32
// CHECK-NEXT:    } {k = 1 : i32} : tensor<2x3xf32> to tensor<2x3xf32>
// CHECK-NEXT:    %collapsed = tensor.collapse_shape %arg7 {{\[\[}}0, 1]] : tensor<2x3xf32> into tensor<6xf32>
// CHECK-NEXT:    %expanded = tensor.expand_shape %collapsed {{\[\[}}0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
// CHECK-NEXT:    %expanded_6 = tensor.expand_shape %arg8 {{\[\[}}0], [1, 2]] output_shape [%arg3, %arg3, 4] {k} : tensor<?x?xf32> into tensor<?x?x4xf32>
// CHECK-NEXT:    %from_elements_7 = tensor.from_elements %arg5 : tensor<1x1xf32>
// CHECK-NEXT:    %collapsed_8 = tensor.collapse_shape %from_elements_7 [] : tensor<1x1xf32> into tensor<f32>
// CHECK-NEXT:    %expanded_9 = tensor.expand_shape %collapsed_8 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
// CHECK-NEXT:    %inserted_slice = tensor.insert_slice %arg0 into %arg1[%arg3] [4] [1] : tensor<4xf32> into tensor<?xf32>
// CHECK-NEXT:    %splat_10 = tensor.splat %arg5 : tensor<3xf32>
// CHECK-NEXT:    %inserted_slice_11 = tensor.insert_slice %splat_10 into %arg7[0, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<2x3xf32>
// CHECK-NEXT:    %splat_12 = tensor.splat %arg3 : tensor<4xindex>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @gs(%s: tensor<4x5x6xf32>, %i: tensor<1x3x2xindex>, %j: tensor<1x3x2xi32>) {
  %0 = tensor.gather %s[%j] gather_dims([1, 2]) unique : (tensor<4x5x6xf32>, tensor<1x3x2xi32>) -> tensor<1x3x4x1x1xf32>
  %1 = tensor.gather %s[%i] gather_dims([1, 2]) : (tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<1x3x4xf32>
  %2 = tensor.scatter %0 into %s[%i] scatter_dims([1, 2]) unique : (tensor<1x3x4x1x1xf32>, tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<4x5x6xf32>
  %3 = tensor.scatter %1 into %s[%i] scatter_dims([1, 2]) unique {k} : (tensor<1x3x4xf32>, tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<4x5x6xf32>
  return
}

// CHECK-LABEL: func.func @gs(%arg0: tensor<4x5x6xf32>, %arg1: tensor<1x3x2xindex>, %arg2: tensor<1x3x2xi32>) {
// CHECK-NEXT:    %gather = tensor.gather %arg0[%arg2] gather_dims([1, 2]) unique : (tensor<4x5x6xf32>, tensor<1x3x2xi32>) -> tensor<1x3x4x1x1xf32>
// CHECK-NEXT:    %gather_0 = tensor.gather %arg0[%arg1] gather_dims([1, 2]) : (tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<1x3x4xf32>
// CHECK-NEXT:    %scatter = tensor.scatter %gather into %arg0[%arg1] scatter_dims([1, 2]) unique : (tensor<1x3x4x1x1xf32>, tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<4x5x6xf32>
// CHECK-NEXT:    %scatter_1 = tensor.scatter %gather_0 into %arg0[%arg1] scatter_dims([1, 2]) unique {k} : (tensor<1x3x4xf32>, tensor<4x5x6xf32>, tensor<1x3x2xindex>) -> tensor<4x5x6xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @concat6(%a: tensor<3xf32>) {
  %0 = tensor.concat dim(0) %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @concat6(%arg0: tensor<3xf32>) {
// CHECK-NEXT:    %concat = tensor.concat dim(0) %arg0, %arg0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @concat7(%a: tensor<?x3xf32>, %b: tensor<2x?xf32>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @concat7(%arg0: tensor<?x3xf32>, %arg1: tensor<2x?xf32>) {
// CHECK-NEXT:    %concat = tensor.concat dim(0) %arg0, %arg1 : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @pad7(%a: tensor<?xi32>, %b: i32) {
  %0 = tensor.pad %a low[1] high[2] {
  ^bb0(%x: index):
    tensor.yield %b : i32
  } : tensor<?xi32> to tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @pad7(%arg0: tensor<?xi32>, %arg1: i32) {
// CHECK-NEXT:    %padded = tensor.pad %arg0 low[1] high[2] {
// CHECK-NEXT:    ^bb0(%arg2: index):
// CHECK-NEXT:      tensor.yield %arg1 : i32
// CHECK-NEXT:    } : tensor<?xi32> to tensor<8xi32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @pad8(%a: tensor<4xi32>, %b: i32) {
  %0 = tensor.pad %a low[-1] high[2] {
  ^bb0(%x: index):
    tensor.yield %b : i32
  } : tensor<4xi32> to tensor<5xi32>
  return
}

// CHECK-LABEL: func.func @pad8(%arg0: tensor<4xi32>, %arg1: i32) {
// CHECK-NEXT:    %padded = tensor.pad %arg0 low[-1] high[2] {
// CHECK-NEXT:    ^bb0(%arg2: index):
// CHECK-NEXT:      tensor.yield %arg1 : i32
// CHECK-NEXT:    } : tensor<4xi32> to tensor<5xi32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @splat2(%v: vector<8xf32>) {
  %w = tensor.splat %v : tensor<8xvector<8xf32>>
  return
}

// CHECK-LABEL: func.func @splat2(%arg0: vector<8xf32>) {
// CHECK-NEXT:    %splat = tensor.splat %arg0 : tensor<8xvector<8xf32>>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @scatter3(%s: tensor<2x1x1x6xf32>, %i: tensor<2x2xindex>, %d: tensor<4x5x6xf32>) {
  %o = tensor.scatter %s into %d[%i] scatter_dims([0, 1]) unique : (tensor<2x1x1x6xf32>, tensor<4x5x6xf32>, tensor<2x2xindex>) -> tensor<4x5x7xf32>
  return
}

// CHECK-LABEL: func.func @scatter3(%arg0: tensor<2x1x1x6xf32>, %arg1: tensor<2x2xindex>, %arg2: tensor<4x5x6xf32>) {
// CHECK-NEXT:    %scatter = tensor.scatter %arg0 into %arg2[%arg1] scatter_dims([0, 1]) unique : (tensor<2x1x1x6xf32>, tensor<4x5x6xf32>, tensor<2x2xindex>) -> tensor<4x5x7xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }
