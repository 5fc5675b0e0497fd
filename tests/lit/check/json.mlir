// A check as JSON is for agents: where the program sends most, and what to write in place of what.
// RUN: sdy-opt %s --check=%t.json --topology=tpu-v5e -o /dev/null
// RUN: python3 -m json.tool < %t.json > /dev/null
// RUN: filecheck %s < %t.json
// CHECK:      "schema": "sdy-opt-check",
// CHECK-NEXT: "version": 1,
// CHECK-NEXT: "devices": 8,
// CHECK:      "wire_bytes": {{[1-9][0-9]*}},
// CHECK:      "fits": true,
// CHECK:      "places": [
// CHECK-NEXT:   {"file": "f.py", "line": 6, "column": 3, "wire_bytes": {{[1-9][0-9]*}}, "kinds": {"all_gather along model": {{.*}}"change": {"write": {{.*}}"spec": "P({{.*}}"wire_bytes": [{{[1-9][0-9]*}}, {{[0-9]+}}]
// CHECK:      "tried": {{[1-9]}}

// As text, it is what is printed.
// RUN: sdy-opt %s --check=%t.txt --topology=tpu-v5e -o /dev/null && filecheck %s --check-prefix=TEXT < %t.txt
// TEXT: communication

// RUN: not sdy-opt %s --check=x.html 2>&1 | filecheck %s --check-prefix=SUFFIX
// SUFFIX:      sdy-opt: for the --check option: 'x.html' has the suffix of no format
// SUFFIX-NEXT: help: choose from .json, .txt
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<32x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("weights['up']"))
    -> tensor<64x4096xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x4096xf32>) -> tensor<64x4096xf32> loc("f.py":6:3)
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<64x4096xf32> loc("f.py":7:3)
  %2 = stablehlo.tanh %1 : tensor<64x4096xf32> loc("f.py":8:3)
  return %2 : tensor<64x4096xf32>
}
