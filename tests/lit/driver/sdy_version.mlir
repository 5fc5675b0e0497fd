// Releases of Shardy differ for some programs. The newest is the default.
// RUN: sdy-opt %s -canonicalize | filecheck %s --check-prefix=SEPTEMBER
// RUN: sdy-opt %s -canonicalize --sdy-version=jaxlib-0.12.0.1 | filecheck %s --check-prefix=SEPTEMBER
// RUN: sdy-opt %s -canonicalize --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=JUNE
// RUN: sdy-opt %s -canonicalize --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=SEPTEMBER

sdy.mesh @mesh = <["x"=4]>

// The shards of the 2x4 matrix along the two sub-axes of "x" have the same elements as the shards of the vector
// along "x", so since jaxlib 0.11.2 the second reshard is a reshape of the first.
// JUNE-LABEL: func.func @reshape
// JUNE:         sdy.reshard %arg0 <@mesh, [{"x":(1)2}, {"x":(2)2}]>
// JUNE:         sdy.reshard %{{.*}} <@mesh, [{"x"}]>
// SEPTEMBER-LABEL: func.func @reshape
// SEPTEMBER-NEXT:    %0 = sdy.reshard %arg0 <@mesh, [{"x":(1)2}, {"x":(2)2}]>
// SEPTEMBER-NEXT:    %1 = stablehlo.reshape %0
// SEPTEMBER-NEXT:    return %0, %1
func.func @reshape(%a: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<2x4xf32>
  %1 = stablehlo.reshape %a : (tensor<2x4xf32>) -> tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %2 : tensor<2x4xf32>, tensor<8xf32>
}
