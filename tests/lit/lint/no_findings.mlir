// A program without findings.
// RUN: sdy-opt %s --lint --lint-config=- | filecheck %s
// In CI, the log says what was looked at, so that nothing found is not nothing done.
// CHECK: no findings of {{[0-9]+}} rules{{.*}}; {{.*}} sent, {{.*}} at the peak
// CHECK-NOT: func.func
sdy.mesh @mesh = <["x"=4]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
