// RUN: sdy-opt %s -sdy-partition-pipeline -split-input-file | filecheck %s

// Shardings do not propagate through branches, so the operands of all of them are gathered.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @main(%arg0: i1, %arg1: tensor<2xf32>
// CHECK:         %[[X:.*]] = "stablehlo.all_gather"(%arg1) {{.*}} -> tensor<8xf32>
// CHECK:         cf.cond_br %arg0, ^bb1(%[[X]] : tensor<8xf32>), ^bb2
// CHECK-NEXT:  ^bb1(%{{.*}}: tensor<8xf32>):
// CHECK:       ^bb2:
// CHECK:         %[[SUM:.*]] = stablehlo.add %arg2, %arg2 : tensor<2xf32>
// CHECK:         %[[Y:.*]] = "stablehlo.all_gather"(%[[SUM]]) {{.*}} -> tensor<8xf32>
// CHECK:         cf.br ^bb1(%[[Y]] : tensor<8xf32>)
func.func @main(%c: i1, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  cf.cond_br %c, ^bb1(%x : tensor<8xf32>), ^bb2
^bb1(%a: tensor<8xf32>):
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
^bb2:
  %1 = stablehlo.add %y, %y : tensor<8xf32>
  cf.br ^bb1(%1 : tensor<8xf32>)
}

// -----

// The argument of a later block has not the sharding of the function's argument of the same number. What any
// block returns is resharded to the results of the function, and a condition is not.

sdy.mesh @mesh = <["x"=4]>

// CHECK-LABEL: func.func @main(%arg0: tensor<2xf32>
// CHECK-SAME:      -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK:         %[[X:.*]] = "stablehlo.all_gather"(%arg0) {{.*}} -> tensor<8xf32>
// CHECK:         cf.cond_br %arg1, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    %[[NEGATED:.*]] = stablehlo.negate %[[X]] : tensor<8xf32>
// CHECK:         %[[SHARD:.*]] = stablehlo.dynamic_slice %[[NEGATED]]
// CHECK:         return %[[SHARD]] : tensor<2xf32>
// CHECK:       ^bb2:
// CHECK-NEXT:    return %arg0 : tensor<2xf32>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %c: i1)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  cf.cond_br %c, ^bb1(%x : tensor<8xf32>), ^bb2
^bb1(%y: tensor<8xf32>):
  %0 = stablehlo.negate %y : tensor<8xf32>
  return %0 : tensor<8xf32>
^bb2:
  return %x : tensor<8xf32>
}
