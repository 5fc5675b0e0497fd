// In a program from JAX, a finding is at the line of Python; the excerpt shows the program.
// RUN: sdy-opt %s --lint=uneven-sharding,repeated-collective --lint-config=- 2>&1 | filecheck %s
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32> loc("model.py":3:4)
  %1 = stablehlo.negate %0 : tensor<512x512xf32> loc("model.py":4:4)
  %2 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32> loc("model.py":7:4)
  // CHECK:      model.py:8:4: warning: all_gather along "x" of f32[128,512] runs again on the same value
  // CHECK-NEXT:   --> {{.*}}python_locations.mlir:13:8
  // CHECK-NEXT:   %3 = stablehlo.abs %2 : tensor<512x512xf32> loc("model.py":8:4)
  // CHECK-NEXT:        ^~~~~~~~~~~~~
  %3 = stablehlo.abs %2 : tensor<512x512xf32> loc("model.py":8:4)
  // CHECK-NEXT: model.py:4:4: note: the first result is for this use
  return %1, %3 : tensor<512x512xf32>, tensor<512x512xf32>
}
