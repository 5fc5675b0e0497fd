// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @packs(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>) {
  // expected-error @+1 {{invalid zero tile factor}}
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [0, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs2(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>) {
  // expected-error @+1 {{invalid inner_dims_pos vector}}
  %0 = linalg.pack %s inner_dims_pos = [0, 2] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs3(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>) {
  // expected-error @+1 {{tiling factors must equal the number of dimensions to tile}}
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [32] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs4(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>) {
  // expected-error @+1 {{invalid outer_dims_perm vector}}
  %0 = linalg.pack %s outer_dims_perm = [0, 0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs5(%s: tensor<128x256xf32>, %d: tensor<4x16x32x16xf32>, %f: f64) {
  // expected-error @+1 {{'linalg.pack' op expected padding_value has 'f32' but got: 'f64'}}
  %0 = linalg.pack %s padding_value(%f : f64) inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs6(%s: tensor<128x256xf32>, %d: tensor<4x15x32x16xf32>) {
  // expected-error @+1 {{expected 'tensor<4x16x32x16xf32>' for the packed domain value, got 'tensor<4x15x32x16xf32>'}}
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x15x32x16xf32>
  return
}

// -----

func.func @packs7(%s: tensor<128x250xf32>, %d: tensor<4x16x32x16xf32>) {
  // expected-error @+1 {{'linalg.pack' op invalid tile factor or output size provided. Only full tiles are supported when padding_value is not set}}
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x250xf32> -> tensor<4x16x32x16xf32>
  return
}

// -----

func.func @packs8(%s: tensor<128x256xf32>, %d: tensor<4x16x32x8xf32>) {
  // expected-error @+1 {{mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type}}
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %d : tensor<128x256xf32> -> tensor<4x16x32x8xf32>
  return
}

// -----

func.func @index_outside() {
  // expected-error @+1 {{'linalg.index' op expected parent op with LinalgOp interface}}
  %0 = linalg.index 0 : index
  return
}

// -----

func.func @index_dim(%m: tensor<4xindex>) -> tensor<4xindex> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%m : tensor<4xindex>) {
  ^bb0(%x: index):
    // expected-error @+1 {{'linalg.index' op expected dim (1) to be lower than the number of loops (1) of the enclosing LinalgOp}}
    %1 = linalg.index 1 : index
    linalg.yield %1 : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

func.func @index_negative(%m: tensor<4xindex>) -> tensor<4xindex> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%m : tensor<4xindex>) {
  ^bb0(%x: index):
    // expected-error @+1 {{'linalg.index' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
    %1 = linalg.index -1 : index
    linalg.yield %1 : index
  } -> tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

func.func @softmax1(%a: tensor<2x16x32xf32>, %b: tensor<2x16xf32>) {
  // expected-error @+1 {{'linalg.softmax' op incompatible output shape}}
  %0 = linalg.softmax dimension(2) ins(%a : tensor<2x16x32xf32>) outs(%b : tensor<2x16xf32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @softmax2(%a: tensor<2x16x32xf32>, %b: tensor<2x16x32xf32>) {
  // expected-error @+1 {{'linalg.softmax' op incorrect dimension specified}}
  %0 = linalg.softmax dimension(7) ins(%a : tensor<2x16x32xf32>) outs(%b : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  return
}

// -----

func.func @maps(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) {
  // expected-error @+1 {{custom op 'linalg.matmul' element of indexing_maps array is not an affine_map}}
  %2 = linalg.matmul indexing_maps = [1] ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @kind(%a: tensor<4x8xf32>) {
  // expected-error @below {{expected ::mlir::linalg::ElementwiseKind to be one of: exp, log, abs, ceil, floor, negf, reciprocal, round, sqrt, rsqrt, square, tanh, erf, add, sub, mul, div, div_unsigned, max_signed, min_signed, max_unsigned, min_unsigned, powf, select}}
  // expected-error @below {{failed to parse ElementwiseKindAttr parameter 'value' which is to be a `::mlir::linalg::ElementwiseKind`}}
  %2 = linalg.elementwise kind=#linalg.elementwise_kind<foo> ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kind2(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{custom op 'linalg.elementwise' expected 'kind'}}
  %2 = linalg.elementwise ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @strides(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) {
  // expected-error @+1 {{custom op 'linalg.conv_1d_nwc_wcf' 'linalg.conv_1d_nwc_wcf' op attribute 'strides' failed to satisfy constraint: 64-bit signless int elements attribute of shape [1]}}
  %0 = linalg.conv_1d_nwc_wcf {strides = dense<1> : tensor<2xi64>} ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%a : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @strides2(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) {
  // expected-error @+1 {{custom op 'linalg.conv_1d_nwc_wcf' 'linalg.conv_1d_nwc_wcf' op attribute 'strides' failed to satisfy constraint: 64-bit signless int elements attribute of shape [1]}}
  %0 = linalg.conv_1d_nwc_wcf {strides = dense<1> : tensor<1xi32>} ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%a : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @shapes(%a: tensor<4x8xf32>, %b: tensor<9x16xf32>, %c: tensor<4x16xf32>) {
  // expected-error @+1 {{'linalg.matmul' op inferred input/output operand #1 has shape's dimension #0 to be 8, but found 9}}
  %2 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<9x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return
}
