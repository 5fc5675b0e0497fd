// RUN: sdy-opt %s --mlir-print-op-generic | filecheck %s

// Bodies that the syntax implies.

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<8x4xf32>, %d: tensor<4x8x2xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] {foo}
  %1 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  }
  %2 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %x = arith.addf %in, %out : f32
    linalg.yield %x : f32
  }
  %3 = linalg.reduce { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
  %4 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%c : tensor<8x4xf32>) permutation = [1, 0] {foo}
  %5 = linalg.broadcast ins(%a : tensor<4x8xf32>) outs(%d : tensor<4x8x2xf32>) dimensions = [2]
  %6 = linalg.map { math.exp } ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>)
  %7 = linalg.map ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) (%p: f32, %q: f32, %o: f32) {
    %x = arith.mulf %p, %p : f32
    linalg.yield %x : f32
  }
  %8:2 = linalg.reduce ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b, %b : tensor<4xf32>, tensor<4xf32>) dimensions = [1] (%i: f32, %j: f32, %k: f32, %l: f32) {
    linalg.yield %i, %j : f32, f32
  }
  %9 = linalg.map { arith.addf } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {foo}
  return
}

// CHECK: "builtin.module"() ({
// CHECK-NEXT: "func.func"() <{function_type = (tensor<4x8xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4x8x2xf32>) -> (), sym_name = "f"}> ({
// CHECK-NEXT: ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<8x4xf32>, %arg3: tensor<4x8x2xf32>):
// CHECK-NEXT: %0 = "linalg.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%arg26: f32, %arg27: f32):
// CHECK-NEXT: %16 = "arith.addf"(%arg27, %arg26) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%16) : (f32) -> ()
// CHECK-NEXT: }) {foo} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "linalg.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%arg24: f32, %arg25: f32):
// CHECK-NEXT: %15 = "arith.addf"(%arg25, %arg24) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%15) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = "linalg.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%arg22: f32, %arg23: f32):
// CHECK-NEXT: %14 = "arith.addf"(%arg22, %arg23) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%14) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = "linalg.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%arg20: f32, %arg21: f32):
// CHECK-NEXT: %13 = "arith.addf"(%arg21, %arg20) <{fastmath = #arith.fastmath<fast>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%13) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = "linalg.transpose"(%arg0, %arg2) <{permutation = array<i64: 1, 0>}> ({
// CHECK-NEXT: ^bb0(%arg18: f32, %arg19: f32):
// CHECK-NEXT: "linalg.yield"(%arg18) : (f32) -> ()
// CHECK-NEXT: }) {foo} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %5 = "linalg.broadcast"(%arg0, %arg3) <{dimensions = array<i64: 2>}> ({
// CHECK-NEXT: ^bb0(%arg16: f32, %arg17: f32):
// CHECK-NEXT: "linalg.yield"(%arg16) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
// CHECK-NEXT: %6 = "linalg.map"(%arg0, %arg0) ({
// CHECK-NEXT: ^bb0(%arg14: f32, %arg15: f32):
// CHECK-NEXT: %12 = "math.exp"(%arg14) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
// CHECK-NEXT: "linalg.yield"(%12) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %7 = "linalg.map"(%arg0, %arg0, %arg0) ({
// CHECK-NEXT: ^bb0(%arg11: f32, %arg12: f32, %arg13: f32):
// CHECK-NEXT: %11 = "arith.mulf"(%arg11, %arg11) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%11) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %8:2 = "linalg.reduce"(%arg0, %arg0, %arg1, %arg1) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%arg7: f32, %arg8: f32, %arg9: f32, %arg10: f32):
// CHECK-NEXT: "linalg.yield"(%arg7, %arg8) : (f32, f32) -> ()
// CHECK-NEXT: }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %9 = "linalg.map"(%arg0, %arg0, %arg0) ({
// CHECK-NEXT: ^bb0(%arg4: f32, %arg5: f32, %arg6: f32):
// CHECK-NEXT: %10 = "arith.addf"(%arg4, %arg5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%10) : (f32) -> ()
// CHECK-NEXT: }) {foo} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: "func.return"() : () -> ()
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: }) : () -> ()
