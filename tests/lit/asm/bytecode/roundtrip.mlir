// Bytecode contains the whole program: every kind of attribute, type, location and region.
// RUN: sdy-opt %s -o %t.mlir
// RUN: sdy-opt %s --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=0 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=1 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=2 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=3 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=4 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --emit-bytecode --emit-bytecode-version=5 | sdy-opt | diff - %t.mlir
// RUN: sdy-opt %s --mlir-print-debuginfo -o %t.loc
// RUN: sdy-opt %t.bc --mlir-print-debuginfo | diff - %t.loc
// RUN: filecheck %s < %t.mlir

// CHECK: #map = affine_map<(d0) -> (d0 + 1)>
// CHECK-LABEL: module @everything
module @everything attributes {
    x.numbers = [1 : i32, -5 : i8, 300 : i16, -1 : i64, 12345678901234567890123 : i128, true, 1.5 : f32, -2.0 : bf16, 0x7FC0 : f16],
    x.small = [1 : i4, -1 : i4, 3 : ui4, 1 : si5, 7 : index],
    x.strings = ["a", "quote \"", "\FF\00", "typed" : i32],
    x.symbols = [@a, @a::@b],
    x.types = [i32, si8, ui16, index, f8E4M3FN, tf32, complex<f32>, none, tuple<i1, f64>, (i32) -> (f32, f32), vector<4x[8]xf32>,
               memref<4x?xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>, memref<*xf32>, tensor<*xf32>, tensor<?x4xf32>],
    x.dense = [dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>, dense<true> : tensor<4xi1>,
               dense<[-1, 2]> : tensor<2xi4>, dense<[1, 255]> : tensor<2xui8>, dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>,
               dense<> : tensor<0xf32>, dense<1.0> : vector<4xf32>, dense<[-3, 4]> : tensor<2xi12>],
    x.sparse = sparse<[[0], [2]], [1, 5]> : tensor<3xi32>,
    x.arrays = [array<i64: 1, -2>, array<i1: true, false>, array<f32: 1.5>, array<i8>],
    x.map = affine_map<(d0) -> (d0 + 1)>,
    x.set = affine_set<(d0)[s0] : (d0 - s0 >= 0)>,
    x.location = loc(fused<"m">["f.py":1:2, callsite("a" at "b"("g.py":3:4)), unknown]),
    x.unit} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
  // CHECK: sdy.sharding_constraint %arg0 <mesh<["x"=2, "y"=4]>, [{"x", ?}p1, {"y":(1)2}], unreduced={"y":(2)2}>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], replicated={"x"}>}, %arg1: tensor<i1>) -> (tensor<8x16xf32> {x.y}) {
    %0 = sdy.sharding_constraint %arg0 <mesh<["x"=2, "y"=4]>, [{"x", ?}p1, {"y":(1)2}], unreduced={"y":(2)2}> : tensor<8x16xf32>
    %1 = stablehlo.dot_general %0, %0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGH, DEFAULT] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8xf32>
    %2:2 = stablehlo.while(%iterArg = %0, %iterArg_0 = %1) : tensor<8x16xf32>, tensor<8xf32>
    cond {
      stablehlo.return %arg1 : tensor<i1>
    } do {
      %4 = stablehlo.add %iterArg, %0 : tensor<8x16xf32>
      stablehlo.return %4, %iterArg_0 : tensor<8x16xf32>, tensor<8xf32>
    }
    %true = arith.constant true
    %3 = call @branches(%2#0, %true) : (tensor<8x16xf32>, i1) -> tensor<8x16xf32>
    return %3 : tensor<8x16xf32>
  }
  func.func private @branches(%arg0: tensor<8x16xf32>, %arg1: i1) -> tensor<8x16xf32> {
    cf.cond_br %arg1, ^bb1, ^bb2(%arg0 : tensor<8x16xf32>)
  ^bb1:
    %0 = stablehlo.exponential %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16}, custom>} : tensor<8x16xf32>
    cf.br ^bb2(%0 : tensor<8x16xf32>)
  ^bb2(%1: tensor<8x16xf32>):
    return %1 : tensor<8x16xf32>
  }
  func.func private @declared(tensor<4xf32>)
}
