// RUN: split-file %s %t
// RUN: sdy-opt %t/old.mlir --snapshot=%t/shardings.json -o /dev/null
// RUN: sdy-opt %t/old.mlir --check-snapshot=%t/shardings.json -o /dev/null
// Each difference is an error at its line, or else at that of the snapshot. The last one says how to update it.
// RUN: not sdy-opt %t/new.mlir --check-snapshot=%t/shardings.json -o %t.out.mlir 2>&1 | filecheck %s
// A snapshot that is written again passes.
// RUN: sdy-opt %t/new.mlir --snapshot=%t/shardings.json -o /dev/null
// RUN: sdy-opt %t/new.mlir --check-snapshot=%t/shardings.json -o /dev/null
// RUN: not sdy-opt %t/new.mlir --check-snapshot=%t/shardings.json --snapshot=%t/shardings.json 2>&1 | filecheck %s --check-prefix=SAME-FILE

// CHECK:      shardings.json:5:11: error: mesh @mesh changed from <x=2> to <x=4>
// CHECK:      shardings.json:10:58: error: argument 0 x of @main, f32[8,8]: sharding changed from P('x') to P(None, 'x')
// CHECK-NEXT:     {"name": "x", "type": "tensor<8x8xf32>", "sharding": {{\[\["x"\]}}, []]}
// CHECK-NEXT:                                                          ^
// CHECK:      new.mlir:3:56: error: argument 1 of @main, f32[8] P(): the snapshot does not have it
// CHECK:      model.py:4:1: error: layer/tanh (model.py), f32[8,8]: sharding of 1 of 2 values changed from P('x') to P()
// CHECK-NEXT: shardings.json:{{.*}}: note: the snapshot is here
// CHECK:      shardings.json:{{.*}}: error: removed (model.py), f32[8,8] P(): the program does not have it
// CHECK:      help: if this is intended, write the snapshot again with --snapshot={{.*}}shardings.json
// SAME-FILE:  for the --snapshot option: '{{.*}}shardings.json' is also the file of --check-snapshot

//--- old.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x")) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32> loc("layer/tanh"("model.py":4:1))
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32> loc("layer/tanh"("model.py":5:1))
  %2 = stablehlo.negate %1 : tensor<8x8xf32> loc("removed"("model.py":6:1))
  return %2 : tensor<8x8xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("x"),
                                                       %y: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x8xf32> loc("layer/tanh"("model.py":4:1))
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32> loc("layer/tanh"("model.py":5:1))
  return %1 : tensor<8x8xf32>
}
