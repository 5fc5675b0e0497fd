// RUN: sdy-opt %s --load-plugin=%S/testing.py | sdy-opt --load-plugin=%S/testing.py | filecheck %s
// RUN: sdy-opt %s --load-plugin=%S/testing.py --mlir-print-op-generic | sdy-opt --load-plugin=%S/testing.py | filecheck %s
// RUN: sdy-opt %s --load-plugin=%S/testing.py --emit-bytecode | sdy-opt --load-plugin=%S/testing.py | filecheck %s

// CHECK-LABEL: func.func @region_if
// CHECK:         testing.region_if(%arg0) : (tensor<8xf32>) -> tensor<8xf32> then {
// CHECK-NEXT:    ^bb0(%arg1: tensor<8xf32>):
// CHECK-NEXT:      testing.yield %arg1 : tensor<8xf32>
// CHECK-NEXT:    } else {
// CHECK:         } join {
// CHECK-NEXT:    ^bb0(%arg1: tensor<8xf32>):
func.func @region_if(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = testing.region_if(%x) : (tensor<8xf32>) -> tensor<8xf32> then {
  ^bb0(%a: tensor<8xf32>):
    testing.yield %a : tensor<8xf32>
  } else {
  ^bb0(%a: tensor<8xf32>):
    %1 = stablehlo.negate %a : tensor<8xf32>
    testing.yield %1 : tensor<8xf32>
  } join {
  ^bb0(%a: tensor<8xf32>):
    testing.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @many_regions
// CHECK-NEXT:    testing.many_regions {
// CHECK-NEXT:    }
// CHECK-NEXT:    testing.many_regions {
// CHECK-NEXT:      testing.yield
// CHECK-NEXT:    } also {
// CHECK-NEXT:      testing.yield
// CHECK-NEXT:    }, {
// CHECK-NEXT:    }
func.func @many_regions() {
  testing.many_regions {}
  testing.many_regions { testing.yield } also { testing.yield }, {}
  return
}

// CHECK-LABEL: func.func @switch
// CHECK-NEXT:    testing.switch %arg0 default ^bb1(%arg1 : i32) cases ^bb2, ^bb3
// CHECK:       ^bb2:  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT:    testing.switch %arg0 default ^bb1(%arg1 : i32)
func.func @switch(%flag: index, %x: i32) -> i32 {
  testing.switch %flag default ^bb1(%x : i32) cases ^bb2, ^bb3
^bb1(%y: i32):
  testing.switch %flag default ^bb1(%y : i32) cases ^bb2
^bb2:
  testing.switch %flag default ^bb1(%x : i32)
^bb3:
  return %x : i32
}

// CHECK-LABEL: testing.scope @inner is_open {
// CHECK-NEXT:    testing.scope @"a b" attributes {note = 1 : i64} {
testing.scope @inner is_open {
  testing.scope @"a b" attributes {note = 1 : i64} {
  }
}

// CHECK-LABEL: func.func @windows
// CHECK-NEXT:    testing.window %arg0 sizes = [2, %arg1] : tensor<8x8xf32> -> tensor<2x?xf32>
// CHECK-NEXT:    testing.window %arg0 sizes = [] stride 2 {note} : tensor<8x8xf32> -> tensor<f32>
func.func @windows(%x: tensor<8x8xf32>, %n: index) {
  %0 = testing.window %x sizes = [2, %n] : tensor<8x8xf32> -> tensor<2x?xf32>
  %1 = testing.window %x sizes = [] stride 2 {note} : tensor<8x8xf32> -> tensor<f32>
  return
}

// A terminator that the trait implies is omitted where it has neither operands nor attributes.

// CHECK-LABEL: func.func @block
// CHECK-NEXT:    testing.block {
// CHECK-NEXT:    }
// CHECK-NEXT:    testing.block {
// CHECK-NEXT:      %0 = stablehlo.negate %arg0 : tensor<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    testing.block {
// CHECK-NEXT:      testing.yield %arg0 : tensor<8xf32>
// CHECK-NEXT:    }
func.func @block(%x: tensor<8xf32>) {
  testing.block {
    testing.yield
  }
  testing.block {
    %0 = stablehlo.negate %x : tensor<8xf32>
  }
  testing.block {
    testing.yield %x : tensor<8xf32>
  }
  return
}
