// RUN: sdy-opt %s -stablehlo-legalize-composite-to-call | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s --check-prefix=PARTITIONED

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %0 = call @twice(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    return %0
// PARTITIONED-LABEL: func.func @main(%arg0: tensor<4xf32>
// PARTITIONED-NEXT:    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.composite "my.twice" %a {decomposition = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
