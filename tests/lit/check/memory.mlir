// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --check=%t.json
// RUN: filecheck %s --check-prefix=JSON < %t.json
// RUN: sdy-opt %s --check --report=%t.html
// RUN: filecheck %s --check-prefix=HTML < %t.html
// RUN: sdy-opt %s --check --device-memory=18MiB | filecheck %s --check-prefix=FITS

// Moments that are replicated send nothing, because the next step gets them as they are, but they are most of the peak.
//
// A sharding is shown with the number of leaves that get it, and not for the others.
//
// CHECK:       1. shard the state of the optimizer as its parameters: write P(None, 'x') for nu['w'] and 1 more
// CHECK-NEXT:       (now P()) and P('x') for nu['u'] (now P()): as much sent, -9.00 MiB memory
// CHECK-NEXT:       why: 9.00 MiB of the peak memory ({{[0-9]+}}%): several devices hold the same values
// JSON:        "memory_place": {"file": "", "line": 0,
// JSON-SAME:   "name": "nu['w'] and 2 more", "peak_bytes": {{[0-9]+}}
// HTML:        of the peak memory
//
// If the program does not fit, what lowers its peak comes first, and it says whether the program fits then.
//
// FITS:        does not fit in 18.0 MiB
// FITS:        (now P()) and P('x') for nu['u'] (now P()): as much sent, -9.00 MiB memory; then it fits in
// FITS-NEXT:   18.0 MiB
// FITS-NEXT:   why: 9.00 MiB of the peak memory ({{[0-9]+}}%): several devices hold the same values
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['w']"),
    %v: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['v']"),
    %nw: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("nu['w']"),
    %nv: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("nu['v']"),
    %u: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['u']"),
    %nu: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("nu['u']"),
    %gu: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("gradient_u"),
    %gw: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("gradient"))
    -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %2 = stablehlo.add %nw, %gw : tensor<1024x1024xf32>
  %3 = stablehlo.add %nv, %gw : tensor<1024x1024xf32>
  %4 = stablehlo.subtract %w, %2 : tensor<1024x1024xf32>
  %5 = stablehlo.subtract %v, %3 : tensor<1024x1024xf32>
  %6 = stablehlo.add %nu, %gu : tensor<1024x1024xf32>
  %7 = stablehlo.subtract %u, %6 : tensor<1024x1024xf32>
  return %4, %5, %2, %3, %6, %7 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
