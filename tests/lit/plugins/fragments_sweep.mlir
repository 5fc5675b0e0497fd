// RUN: sdy-opt %s --load-plugin=%S/fragments.py "--mesh-sweep=x=1..2" | filecheck %s

// The process of the sweep loads the plugins of this one.
// CHECK-NOT: not found
// CHECK: 1        1
// CHECK-NEXT: 2        2
sdy.mesh @mesh = <["x"=2]>

func.func @main(%x: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<16x16xf32> {
  %0 = fragments.for(%x) iterations = 4 {
  ^bb0(%a: tensor<16x16xf32>):
    %1 = stablehlo.add %a, %a : tensor<16x16xf32>
    fragments.return %1 : tensor<16x16xf32>
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
