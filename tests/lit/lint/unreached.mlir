// RUN: sdy-opt %s --lint 2>&1 | filecheck %s
// RUN: sdy-opt %s --check --topology=tpu-v5e | filecheck %s --check-prefix=COSTS
// RUN: sdy-opt %s --advise --topology=tpu-v5e | filecheck %s --check-prefix=ADVISE

// What `@main` does not reach costs nothing, and is neither counted nor blamed.

sdy.mesh @mesh = <["x"=4, "y"=2]>

// CHECK: warning: shard the input %arg1 as
// CHECK: note: why: {{.*}}3.00 MiB (100%) sent, all_gather along x
// CHECK-NOT: @unreached
// CHECK: 1 finding
// COSTS: communication  {{.*}}: 100% all_gather along x
// ADVISE: P(None, 'y')
// ADVISE-NOT: @unreached
func.func @main(
    %x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1024x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
func.func @unreached(%x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> tensor<1024x1024xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
