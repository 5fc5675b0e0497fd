// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --check=%t.json
// RUN: filecheck %s --check-prefix=JSON < %t.json
// RUN: sdy-opt %s --check --report=%t.html
// RUN: filecheck %s --check-prefix=HTML < %t.html

// Moments that are replicated send nothing, because the next step gets them as they are, but they are most of the peak.
//
// CHECK:       1. nu['w'] and 1 more  {{.*}} MiB of the peak memory ({{[0-9]+}}%)
// CHECK-NEXT:    several devices have the same: nu['w'] and 1 more: P() → P(None, 'x')
// CHECK-NEXT:    tried: P(None, 'x') for nu['w'] and 1 more: as much sent, -6.00 MiB memory
// JSON:        "memory_place": {"file": "", "line": 0,
// JSON-SAME:   "name": "nu['w'] and 1 more", "peak_bytes": {{[0-9]+}}
// HTML:        of the peak memory
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['w']"),
    %v: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['v']"),
    %nw: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("nu['w']"),
    %nv: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("nu['v']"),
    %gw: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("gradient"))
    -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %2 = stablehlo.add %nw, %gw : tensor<1024x1024xf32>
  %3 = stablehlo.add %nv, %gw : tensor<1024x1024xf32>
  %4 = stablehlo.subtract %w, %2 : tensor<1024x1024xf32>
  %5 = stablehlo.subtract %v, %3 : tensor<1024x1024xf32>
  return %4, %5, %2, %3 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
