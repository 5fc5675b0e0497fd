// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @bitcast(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.bitcast' op operand type 'tensor<4xf32>' and result type 'tensor<4xi64>' are cast incompatible}}
  %0 = tensor.bitcast %a : tensor<4xf32> to tensor<4xi64>
  return
}

// -----

func.func @bitcast2(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.bitcast' op operand type 'tensor<4xf32>' and result type 'tensor<5xi32>' are cast incompatible}}
  %0 = tensor.bitcast %a : tensor<4xf32> to tensor<5xi32>
  return
}

// -----

func.func @bitcast3(%a: tensor<4xindex>) {
  // expected-error @+1 {{'tensor.bitcast' op operand #0 must be tensor of signless integer or unsigned integer or signed integer or floating-point values, but got 'tensor<4xindex>'}}
  %0 = tensor.bitcast %a : tensor<4xindex> to tensor<4xi64>
  return
}

// -----

func.func @concat0() {
  // expected-error @+1 {{'tensor.concat' op requires at least one input}}
  %0 = tensor.concat dim(0) : () -> tensor<1xf32>
  return
}

// -----

func.func @concat1(%a: tensor<1xf32>) {
  // expected-error @+1 {{'tensor.concat' op rank of concatenated inputs must match result rank}}
  %0 = tensor.concat dim(0) %a, %a : (tensor<1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @concat2(%a: tensor<1xf32>) {
  // expected-error @+1 {{'tensor.concat' op concatenation dim must be less than the tensor rank}}
  %0 = tensor.concat dim(1) %a, %a : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @concat3(%a: tensor<1xf32>, %b: tensor<1xi32>) {
  // expected-error @+1 {{'tensor.concat' op inputs and result element type must match}}
  %0 = tensor.concat dim(0) %a, %b : (tensor<1xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @concat4(%a: tensor<3x4xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'tensor.concat' op static concatenation size mismatch along non-concatenated dimension 1}}
  %0 = tensor.concat dim(0) %a, %b : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @concat5(%a: tensor<3xf32>) {
  // expected-error @+1 {{'tensor.concat' op result type 'tensor<7xf32>'does not match inferred shape 'tensor<6xf32>' static sizes}}
  %0 = tensor.concat dim(0) %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @concat8(%a: tensor<?x3xf32>, %b: tensor<2x?xf32>) {
  // expected-error @+1 {{'tensor.concat' op result type 'tensor<5x4xf32>'does not match inferred shape 'tensor<?x3xf32>' static sizes}}
  %0 = tensor.concat dim(0) %a, %b : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @extract(%a: tensor<?xf32>) {
  // expected-error @+1 {{'tensor.extract' op incorrect number of indices for extract_element}}
  %0 = tensor.extract %a[] : tensor<?xf32>
  return
}

// -----

func.func @insert(%f: f32, %a: tensor<?xf32>) {
  // expected-error @+1 {{'tensor.insert' op incorrect number of indices}}
  %0 = tensor.insert %f into %a[] : tensor<?xf32>
  return
}

// -----

func.func @insert2(%f: i32, %a: tensor<?xf32>, %i: index) {
  // expected-error @+1 {{'tensor.insert' op failed to verify that scalar type matches element type of dest}}
  %0 = "tensor.insert"(%f, %a, %i) : (i32, tensor<?xf32>, index) -> tensor<?xf32>
  return
}

// -----

func.func @insert3(%f: f32, %a: tensor<?xf32>, %i: index) {
  // expected-error @+1 {{'tensor.insert' op failed to verify that result type matches type of dest}}
  %0 = "tensor.insert"(%f, %a, %i) : (f32, tensor<?xf32>, index) -> tensor<4xf32>
  return
}

// -----

func.func @elements(%c: i32) {
  // expected-error @+1 {{custom op 'tensor.from_elements' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xi32>'}}
  %0 = tensor.from_elements %c : tensor<*xi32>
  return
}

// -----

func.func @elements2(%c: index) {
  // expected-error @+1 {{custom op 'tensor.from_elements' number of operands and types do not match: got 1 operands and 2 types}}
  %0 = tensor.from_elements %c : tensor<2xindex>
  return
}

// -----

func.func @elements3(%c: index) {
  // expected-error @+1 {{custom op 'tensor.from_elements' 'result' must be statically shaped tensor of any type values, but got 'tensor<?xindex>'}}
  %0 = tensor.from_elements %c : tensor<?xindex>
  return
}

// -----

func.func @elements4(%c: index) {
  // expected-error @+1 {{'tensor.from_elements' op failed to verify that operand types match result element type}}
  %0 = "tensor.from_elements"(%c) : (index) -> tensor<1xi32>
  return
}

// -----

func.func @generate(%m: index) {
  // expected-error @+1 {{'tensor.generate' op incorrect number of dynamic sizes, has 1, expected 2}}
  %0 = tensor.generate %m {
  ^bb0(%x: index, %y: index):
    %f = arith.constant 1.0 : f32
    tensor.yield %f : f32
  } : tensor<?x?xf32>
  return
}

// -----

func.func @generate2(%m: index) {
  // expected-error @+1 {{must have one body argument per input dimension}}
  %0 = tensor.generate %m {
  ^bb0(%x: index):
    %f = arith.constant 1.0 : f32
    tensor.yield %f : f32
  } : tensor<?x3xf32>
  return
}

// -----

func.func @generate3(%m: index) {
  // expected-error @+1 {{all body arguments must be index}}
  %0 = tensor.generate %m {
  ^bb0(%x: index, %y: i64):
    %f = arith.constant 1.0 : f32
    tensor.yield %f : f32
  } : tensor<?x3xf32>
  return
}

// -----

func.func @generate4(%m: index) {
  %0 = tensor.generate %m {
  ^bb0(%x: index, %y: index):
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{'func.return' op expects parent op 'func.func'}}
    func.return %f : f32
  } : tensor<?x3xf32>
  return
}

// -----

func.func @generate5(%m: index) {
  // expected-error @+1 {{'tensor.generate' op body must be terminated with a `yield` operation of the tensor element type}}
  %0 = tensor.generate %m {
  ^bb0(%x: index, %y: index):
    %f = arith.constant 1 : i32
    tensor.yield %f : i32
  } : tensor<?x3xf32>
  return
}

// -----

func.func @rank(%a: f32) {
  // expected-error @+1 {{'tensor.rank' op operand #0 must be tensor of any type values, but got 'f32'}}
  %0 = "tensor.rank"(%a) : (f32) -> index
  return
}

// -----

func.func @pad(%a: tensor<?x2xi32>, %i: index, %b: i32) {
  // expected-error @+1 {{'tensor.pad' op expected yield type to match shape element type}}
  %0 = tensor.pad %a low[1, %i] high[1, 2] {
  ^bb0(%x: index, %y: index):
    tensor.yield %b : i32
  } : tensor<?x2xi32> to tensor<?x?xf32>
  return
}

// -----

func.func @pad2(%a: tensor<?x4xi32>, %b: i32) {
  // expected-error @+1 {{expected the block to have 2 arguments}}
  %0 = tensor.pad %a low[1, 2] high[2, 3] {
  ^bb0(%x: index, %y: index, %z: index):
    tensor.yield %b : i32
  } : tensor<?x4xi32> to tensor<?x9xi32>
  return
}

// -----

func.func @pad3(%a: tensor<?x4xi32>, %b: i32) {
  // expected-error @+1 {{'tensor.pad' op expected block argument 1 to be an index}}
  %0 = tensor.pad %a low[1, 2] high[2, 3] {
  ^bb0(%x: i32, %y: index):
    tensor.yield %b : i32
  } : tensor<?x4xi32> to tensor<?x9xi32>
  return
}

// -----

func.func @pad4(%a: tensor<?x4xi32>, %b: i8) {
  // expected-error @+1 {{'tensor.pad' op expected yield type to match shape element type}}
  %0 = tensor.pad %a low[1, 2] high[2, 3] {
  ^bb0(%x: index, %y: index):
    tensor.yield %b : i8
  } : tensor<?x4xi32> to tensor<?x9xi32>
  return
}

// -----

func.func @pad5(%a: tensor<4xi32>, %b: i32) {
  // expected-error @+1 {{failed to infer expectedType from sourceType 'tensor<4xi32>', specified resultType is 'tensor<7xi32>'}}
  %0 = tensor.pad %a low[1, 1] high[2, 1] {
  ^bb0(%x: index, %y: index):
    tensor.yield %b : i32
  } : tensor<4xi32> to tensor<7xi32>
  return
}

// -----

func.func @pad6(%a: tensor<4xi32>, %b: i32) {
  // expected-error @+1 {{specified type 'tensor<8xi32>' does not match the inferred type 'tensor<7xi32>'}}
  %0 = tensor.pad %a low[1] high[2] {
  ^bb0(%x: index):
    tensor.yield %b : i32
  } : tensor<4xi32> to tensor<8xi32>
  return
}

// -----

func.func @pad9(%a: tensor<4xi32>, %b: i32) {
  // expected-error @+1 {{specified type 'tensor<?xi32>' does not match the inferred type 'tensor<-1xi32>'}}
  %0 = tensor.pad %a low[-5] high[0] {
  ^bb0(%x: index):
    tensor.yield %b : i32
  } : tensor<4xi32> to tensor<?xi32>
  return
}

// -----

func.func @splat(%v: f32) {
  // expected-error @+1 {{custom op 'tensor.splat' invalid kind of type specified: expected builtin.tensor, but found 'memref<8xf32>'}}
  tensor.splat %v : memref<8xf32>
  return
}

// -----

func.func @splat3(%v: f32, %m: index) {
  // expected-error @+1 {{'tensor.splat' op incorrect number of dynamic sizes, has 1, expected 2}}
  %w = tensor.splat %v[%m] : tensor<?x8x?xf32>
  return
}

// -----

func.func @gather1(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims must be non-empty}}
  %o = tensor.gather %s[%i] gather_dims([]) : (tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather2(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims overflow source rank}}
  %o = tensor.gather %s[%i] gather_dims([0, 0, 0, 0]) : (tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather3(%s: tensor<4x5x6xf32>, %i: tensor<index>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims length must match the size of last dimension of indices}}
  %o = tensor.gather %s[%i] gather_dims([0]) : (tensor<4x5x6xf32>, tensor<index>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather4(%s: tensor<4x5x6xf32>, %i: tensor<1x2x2xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims length must match the size of last dimension of indices}}
  %o = tensor.gather %s[%i] gather_dims([0]) : (tensor<4x5x6xf32>, tensor<1x2x2xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather5(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims value must be non-negative}}
  %o = tensor.gather %s[%i] gather_dims([-1]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather6(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims value must be smaller than source rank}}
  %o = tensor.gather %s[%i] gather_dims([42]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather7(%s: tensor<4x5x6xf32>, %i: tensor<1x2x2xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims values must be strictly increasing}}
  %o = tensor.gather %s[%i] gather_dims([1, 0]) : (tensor<4x5x6xf32>, tensor<1x2x2xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @gather8(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op result type mismatch: expected 'tensor<1x2x4x5x1xf32>' or its rank-reduced variant 'tensor<1x2x4x5xf32>' (got: 'tensor<1x2x4x5x2xf32>')}}
  %o = tensor.gather %s[%i] gather_dims([2]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2x4x5x2xf32>
  return
}

// -----

func.func @gather9(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op result type mismatch: expected 'tensor<1x2x4x5x1xf32>' or its rank-reduced variant 'tensor<1x2x4x5xf32>' (got: 'tensor<1x2x4x5x1xi32>')}}
  %o = tensor.gather %s[%i] gather_dims([2]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2x4x5x1xi32>
  return
}

// -----

func.func @scatter1(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>, %d: tensor<4x5x6xf32>) {
  // expected-error @+1 {{'tensor.scatter' op scatter_dims must be non-empty}}
  %o = tensor.scatter %s into %d[%i] scatter_dims([]) unique : (tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @scatter2(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>, %d: tensor<4x5x6xf32>) {
  // expected-error @+1 {{'tensor.scatter' op requires 'unique' attribute to be set}}
  %o = tensor.scatter %s into %d[%i] scatter_dims([0, 1, 2]) : (tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @scatter4(%s: tensor<2x1x1x7xf32>, %i: tensor<2x2xindex>, %d: tensor<4x5x6xf32>) {
  // expected-error @+1 {{'tensor.scatter' op source type mismatch: expected 'tensor<2x1x1x6xf32>' or its rank-reduced variant 'tensor<2x6xf32>' (got: 'tensor<2x1x1x7xf32>')}}
  %o = tensor.scatter %s into %d[%i] scatter_dims([0, 1]) unique : (tensor<2x1x1x7xf32>, tensor<4x5x6xf32>, tensor<2x2xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @scatter5(%s: tensor<2x1x1x6xf32>, %i: tensor<2x2xindex>, %d: tensor<4x5x6xf32>) {
  // expected-error @+1 {{'tensor.scatter' op scatter_dims value must be smaller than dest rank}}
  %o = tensor.scatter %s into %d[%i] scatter_dims([0, 3]) unique : (tensor<2x1x1x6xf32>, tensor<4x5x6xf32>, tensor<2x2xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @yield(%a: f32) {
  "x.y"() ({
    // expected-error @+1 {{'tensor.yield' op expects parent op to be one of 'tensor.generate, tensor.pad'}}
    tensor.yield %a : f32
  }) : () -> ()
  return
}

// -----

func.func @dim(%a: tensor<f32>, %i: index) {
  // expected-error @+1 {{'tensor.dim' op operand #0 must be non-0-ranked or unranked tensor, but got 'tensor<f32>'}}
  %0 = tensor.dim %a, %i : tensor<f32>
  return
}

// -----

func.func @empty(%i: index) {
  // expected-error @+1 {{'tensor.empty' op incorrect number of dynamic sizes, has 1, expected 0}}
  %0 = tensor.empty(%i) : tensor<4xf32>
  return
}

// -----

func.func @cast(%a: tensor<1xf32>) {
  // expected-error @+1 {{'tensor.cast' op operand type 'tensor<1xf32>' and result type 'tensor<2xf32>' are cast incompatible}}
  %0 = tensor.cast %a : tensor<1xf32> to tensor<2xf32>
  return
}

// -----

func.func @d(%x: i1) {
  // expected-error @+1 {{'tensor.yield' op expects parent op to be one of 'tensor.generate, tensor.pad'}}
  tensor.yield %x : i1
  return
}
