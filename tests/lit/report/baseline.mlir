// The shardings of a program become collectives; the report on them is the baseline of later versions.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --report=%t.json -o /dev/null
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t.json -o /dev/null
// Without a pass, those of --report are assumed.
// RUN: sdy-opt %s --baseline=%t.json --tolerance=300 -o /dev/null
// RUN: not sdy-opt %s --baseline=%s 2>&1 | filecheck %s --check-prefix=FAULTY
// RUN: not sdy-opt %s --baseline=%t.json --tolerance=few 2>&1 | filecheck %s --check-prefix=TOLERANCE

// Against the report of a program without collectives, these collectives are new.
// RUN: sdy-opt %s -canonicalize --report=%t.none.json -o /dev/null
// RUN: not sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --baseline=%t.none.json -o /dev/null 2>&1 | filecheck %s

// CHECK: error: wire bytes per device grew from 0 B to 384 B
// CHECK: baseline.mlir:{{.*}}: note: all_reduce {"x"}: 384 B, is new; dot_general contracts a dimension that is sharded along "x" on both sides
// CHECK: baseline.mlir.tmp.none.json:{{[0-9]+:[0-9]+}}: note: the baseline is set here
// CHECK: help: if this is intended, write a new baseline with --report={{.*}}, or allow it with --tolerance=PERCENT
// FAULTY: baseline.mlir:1:1: error: invalid JSON: Expecting value
// FAULTY: help: write a baseline with --report=FILE.json
// TOLERANCE: sdy-opt: for the --tolerance option: 'few' is not a percentage
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
