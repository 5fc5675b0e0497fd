// RUN: sdy-opt %s -sdy-all-reduces-to-reshards | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline 2>&1 | filecheck %s --check-prefix=PIPELINE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The sharding of the operand is not unreduced along "x", so a reshard would not imply the all-reduce.
// CHECK-LABEL: func.func public @undeclared
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0
func.func public @undeclared(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// "y" stays unreduced; its kind stays, too.
// CHECK-LABEL: func.func public @reduce_scatter
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}], unreduced=max{"y"}>
func.func public @reduce_scatter(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x", "y"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>}) {
  %0 = sdy.reduce_scatter max [{"x"}] %a out_sharding=<@mesh, [{"x"}], unreduced=max{"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A reshard of an unreduced value is an all-reduce. In the pipeline it is the only one.
// CHECK-LABEL: func.func public @main
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// PIPELINE-LABEL: func.func public @main
// PIPELINE-COUNT-1: stablehlo.all_reduce
// PIPELINE-NOT: stablehlo.all_reduce
// PIPELINE: return
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
