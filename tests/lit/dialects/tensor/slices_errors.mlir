// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @reshape(%a: tensor<*xf32>, %s: tensor<1xi32>) {
  // expected-error @+1 {{'tensor.reshape' op element types of source and destination tensor types should be the same}}
  tensor.reshape %a(%s) : (tensor<*xf32>, tensor<1xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @reshape2(%a: tensor<*xf32>, %s: tensor<?xi32>) {
  // expected-error @+1 {{'tensor.reshape' op cannot use shape operand with dynamic length to reshape to statically-ranked tensor type}}
  tensor.reshape %a(%s) : (tensor<*xf32>, tensor<?xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @reshape3(%a: tensor<*xf32>, %s: tensor<1xi32>) {
  // expected-error @+1 {{'tensor.reshape' op length of shape operand differs from the result's tensor rank}}
  tensor.reshape %a(%s) : (tensor<*xf32>, tensor<1xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape4(%a: tensor<1xf32>, %s: tensor<1xi32>) {
  // expected-error @+1 {{'tensor.reshape' op source and destination tensor should have the same number of elements}}
  tensor.reshape %a(%s) : (tensor<1xf32>, tensor<1xi32>) -> tensor<10xf32>
  return
}

// -----

func.func @reshape5(%a: tensor<1xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{'tensor.reshape' op operand #1 must be 1D tensor of signless integer or index values, but got 'tensor<1xf32>'}}
  tensor.reshape %a(%s) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @extract_slice(%a: tensor<?xf32>) {
  // expected-error @+1 {{expected rank to be smaller or equal to the other rank.}}
  %0 = tensor.extract_slice %a[0][4][1] : tensor<?xf32> to tensor<?x?xf32>
  return
}

// -----

func.func @extract_slice2(%a: tensor<?xf32>) {
  // expected-error @+1 {{expected element type to be 'f32'}}
  %0 = tensor.extract_slice %a[0][4][1] : tensor<?xf32> to tensor<4xi8>
  return
}

// -----

func.func @extract_slice3(%a: tensor<16xf32>) {
  // expected-error @+1 {{expected type to be 'tensor<4xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.extract_slice %a[0][4][1] : tensor<16xf32> to tensor<6xf32>
  return
}

// -----

func.func @extract_slice4(%a: tensor<?x?x?xf32>, %i: index) {
  // expected-error @+1 {{expected 3 offset values, got 2}}
  %0 = tensor.extract_slice %a[0, 0][%i, %i][1, 1] : tensor<?x?x?xf32> to tensor<?x?x?xf32>
  return
}

// -----

func.func @extract_slice5(%a: tensor<10xf32>) {
  // expected-error @+1 {{offset 0 is out-of-bounds: 10 >= 10}}
  %0 = tensor.extract_slice %a[10][1][1] : tensor<10xf32> to tensor<1xf32>
  return
}

// -----

func.func @extract_slice6(%a: tensor<10xf32>) {
  // expected-error @+1 {{slice along dimension 0 runs out-of-bounds: 10 >= 10}}
  %0 = tensor.extract_slice %a[4][7][1] : tensor<10xf32> to tensor<7xf32>
  return
}

// -----

func.func @extract_slice7(%a: tensor<10xf32>) {
  // expected-error @+1 {{expected offsets to be non-negative, but got -1}}
  %0 = tensor.extract_slice %a[-1][3][1] : tensor<10xf32> to tensor<3xf32>
  return
}

// -----

func.func @extract_slice8(%a: tensor<10x20xf32>) {
  // expected-error @+1 {{slice along dimension 1 runs out-of-bounds: 20 >= 20}}
  %0 = tensor.extract_slice %a[1, 2][3, 7][2, 3] : tensor<10x20xf32> to tensor<3x7xf32>
  return
}

// -----

func.func @insert_slice(%a: tensor<?x?xf32>, %b: tensor<?xf32>) {
  // expected-error @+1 {{expected rank to be smaller or equal to the other rank.}}
  %0 = tensor.insert_slice %a into %b[0][4][1] : tensor<?x?xf32> into tensor<?xf32>
  return
}

// -----

func.func @insert_slice2(%a: tensor<4xi8>, %b: tensor<?xf32>) {
  // expected-error @+1 {{expected element type to be 'f32'}}
  %0 = tensor.insert_slice %a into %b[0][4][1] : tensor<4xi8> into tensor<?xf32>
  return
}

// -----

func.func @insert_slice3(%a: tensor<4x4x4xf32>, %b: tensor<8x16x4xf32>, %i: index) {
  // expected-error @+1 {{expected type to be 'tensor<?x4x4xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.insert_slice %a into %b[0, 0, 0][%i, 4, 4][1, 1, 1] : tensor<4x4x4xf32> into tensor<8x16x4xf32>
  return
}

// -----

func.func @insert_slice4(%a: tensor<?x?xf32>, %b: tensor<?x?x?xf32>, %i: index) {
  // expected-error @+1 {{expected 3 offset values, got 2}}
  %0 = tensor.insert_slice %a into %b[0, 0] [%i, %i] [1, 1] : tensor<?x?xf32> into tensor<?x?x?xf32>
  return
}

// -----

func.func @insert_slice5(%a: tensor<7xf32>, %b: tensor<10xf32>, %i: index) {
  // expected-error @+1 {{slice along dimension 0 runs out-of-bounds: 10 >= 10}}
  %0 = tensor.insert_slice %a into %b[4] [7] [1] : tensor<7xf32> into tensor<10xf32>
  return
}

// -----

func.func @expand(%a: tensor<2x3x20xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 2 of collapsed type to be static value of 40}}
  %0 = tensor.expand_shape %a [[0], [1], [2, 3, 4]] output_shape [2, 3, 2, 4, 5] : tensor<2x3x20xf32> into tensor<2x3x2x4x5xf32>
  return
}

// -----

func.func @collapse(%a: tensor<2x3x2x4x5xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected dimension 2 of collapsed type to be static value of 40}}
  %0 = tensor.collapse_shape %a [[0], [1], [2, 3, 4]] : tensor<2x3x2x4x5xf32> into tensor<2x3x20xf32>
  return
}

// -----

func.func @expand2(%a: tensor<?x?xf32>, %i: index) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 1 of collapsed type to be static value of 5}}
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [%i, 4, 5] : tensor<?x?xf32> into tensor<?x4x5xf32>
  return
}

// -----

func.func @expand3(%a: tensor<?x?xf32>, %i: index) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 1 of collapsed type to be static value of 20}}
  %0 = tensor.expand_shape %a [[0], [1, 2]] output_shape [%i, 4, 5] : tensor<?x?xf32> into tensor<?x4x5xf32>
  return
}

// -----

func.func @expand4(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected number of static shape dims to be equal to the output rank (3) but found 2 inputs instead}}
  %0 = tensor.expand_shape %a [[0, 1, 2]] output_shape [1, 2] : tensor<2xf32> into tensor<1x1x2xf32>
  return
}

// -----

func.func @expand5(%a: tensor<?xf32>, %i: index) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 32}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%i, 4] : tensor<?xf32> into tensor<8x4xf32>
  return
}

// -----

func.func @expand6(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected reassociation map #0 to have size equal to the expanded rank (1), but it is  2.}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [4] : tensor<4xf32> into tensor<4xf32>
  return
}

// -----

func.func @expand7(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected reassociation map #0 to have size equal to the expanded rank (2), but it is  3.}}
  %0 = tensor.expand_shape %a [[0, 2]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @expand8(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected reassociation map #0 to have size equal to the expanded rank (2), but it is  1.}}
  %0 = tensor.expand_shape %a [[0]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @expand9(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected collapsed rank (1) to equal the number of reassociation maps (2).}}
  %0 = tensor.expand_shape %a [[0, 1], []] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @expand10(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected collapsed type to be 'tensor<4xi32>', but got 'tensor<4xf32>'}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xi32>
  return
}

// -----

func.func @expand11(%a: tensor<*xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected the expanded type, 'tensor<2x2xf32>' to have a higher (or same) rank than the collapsed type, 'tensor<*xf32>'.}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<*xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @collapse2(%a: tensor<?x4x5xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected dimension 1 of collapsed type to be static value of 5}}
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x4x5xf32> into tensor<?x?xf32>
  return
}

// -----

func.func @collapse3(%a: tensor<?x4x5xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected dimension 1 of collapsed type to be static value of 20}}
  %0 = tensor.collapse_shape %a [[0], [1, 2]] : tensor<?x4x5xf32> into tensor<?x?xf32>
  return
}

// -----

func.func @collapse4(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected the expanded type, 'tensor<4xf32>' to have a higher (or same) rank than the collapsed type, 'tensor<2x2xf32>'.}}
  %0 = tensor.collapse_shape %a [[0], [1]] : tensor<4xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @collapse5(%a: tensor<4x?xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x?xf32> into tensor<16xf32>
  return
}

// -----

func.func @parallel_insert(%a: tensor<1xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected InParallelOpInterface parent, got:}}
  tensor.parallel_insert_slice %a into %b[0][1][1] : tensor<1xf32> into tensor<4xf32>
  return
}

// -----

func.func @parallel_insert2(%a: tensor<1xf32>, %b: tensor<4xf32>, %n: index) {
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %b) -> (tensor<4xf32>) {
    scf.forall.in_parallel {
      // expected-error @+1 {{expected type to be 'tensor<2xf32>' or a rank-reduced version. (size mismatch)}}
      tensor.parallel_insert_slice %a into %o[0][2][1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return
}

// -----

func.func @empty_group(%a: tensor<1x?xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op reassociation indices must not be empty}}
  %0 = tensor.collapse_shape %a [[0, 1], []] : tensor<1x?xf32> into tensor<?x10xf32>
  return
}

// -----

func.func @sizes_before_elements(%a: tensor<8xf32>, %n: index) {
  // expected-error @+1 {{expected type to be 'tensor<?xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.extract_slice %a[0] [%n] [1] : tensor<8xf32> to tensor<4xi8>
  return
}
