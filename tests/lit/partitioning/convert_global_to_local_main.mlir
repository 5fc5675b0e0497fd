// RUN: sdy-opt %s -split-input-file -sdy-convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -split-input-file -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=OLDER

// The module gets the shardings of the arguments and results of `@main`, with inlined meshes: shardings of
// functions refer to meshes that a later pass may remove. A result without a sharding has that of its value,
// and an argument without one is replicated on the first mesh with axes.
// CHECK: module attributes {sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>, <mesh<["x"=2]>, [{}]>]>, sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>, <mesh<["y"=4]>, []>]>} {
// OLDER: module {
sdy.mesh @one_device = <[], device_ids=[0]>
sdy.mesh @other = <["y"=4]>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>) {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %a, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Other functions have no such attributes.
// CHECK: module {
sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}
