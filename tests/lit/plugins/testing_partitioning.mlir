// RUN: sdy-opt %s --load-plugin=%S/testing.py -sdy-partition-pipeline -split-input-file 2>/dev/null | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// No edge has the rows, so what is inside is whole: the operand is gathered, and so is the value that is returned.
// CHECK-LABEL: func.func @main(%arg0: tensor<2xf32>
// CHECK-SAME:      %arg1: tensor<8x2xf32>
// CHECK:         %[[ROWS:.*]] = "stablehlo.all_gather"(%arg1) {{.*}} -> tensor<8x4xf32>
// CHECK:         testing.scan(%arg0) over %[[ROWS]] {
// CHECK-NEXT:    ^bb0(%[[CARRY:.*]]: tensor<2xf32>, %[[ROW:.*]]: tensor<4xf32>):
// CHECK:           %[[SUM:.*]] = stablehlo.add %[[CARRY]], %{{.*}} : tensor<2xf32>
// CHECK:           %[[WHOLE:.*]] = "stablehlo.all_gather"(%[[SUM]]) {{.*}} -> tensor<4xf32>
// CHECK:           testing.yield %[[SUM]], %[[WHOLE]] : tensor<2xf32>, tensor<4xf32>
// CHECK:         } : (tensor<2xf32>, tensor<8x4xf32>) -> (tensor<2xf32>, tensor<8x4xf32>)
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %0, %1 = testing.scan(%a) over %x {
  ^bb0(%c: tensor<4xf32>, %r: tensor<4xf32>):
    %2 = stablehlo.add %c, %r : tensor<4xf32>
    testing.yield %2, %2 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
  return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A need-replication factor is gathered, an operation without a rule runs on whole tensors.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x2xf32>
// CHECK-DAG:     testing.sort_columns %{{.*}} : tensor<8x{{[12]}}xf32>
// CHECK-DAG:     testing.opaque %{{.*}} : tensor<8x4xf32>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = testing.sort_columns %x : tensor<8x4xf32>
  %1 = testing.opaque %x : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
