// RUN: split-file %s %t
// The program of another partitioner: shardings of GSPMD are compared by the slices of devices, and are shown on
// the mesh of the other program. The partitioner ran already, so no passes run on its program.
// RUN: sdy-opt %t/shardy.mlir --compare-with=%t/gspmd.mlir | filecheck %s
// RUN: sdy-opt %t/gspmd.mlir --compare-with=%t/gspmd.mlir | filecheck %s --check-prefix=SAME

// CHECK:      assumed: no pass, because the program has no shardings of Shardy
// CHECK:      assumed: sdy-jax-pipeline
// CHECK-NEXT: mesh    <["x"=4, "y"=2]>
// CHECK:      shardings: 2 of 4 values changed
// CHECK-NEXT:   1 of these values has as many bytes as before
// CHECK-NEXT:   change  count  where {{ *}} what {{ *}} value
// CHECK-NEXT:   -224 B      1 {{ *}} result  result 1
// CHECK-NEXT:         f32[8,8]: {replicated} → [{"y"}, {"x"}]
// CHECK-EMPTY:
// CHECK-NEXT: communication, memory and compute are unknown for shardings of GSPMD
// SAME:       no difference: 5 values

//--- shardy.mlir
sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}, tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

//--- gspmd.mlir
func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=4,'y'=2], [{'x'}, {}]}"})
    -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[1,8]<=[4,2]T(1,0)}"}, tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2,4]0,2,4,6,1,3,5,7}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 {mhlo.sharding = "{devices=[4,2]<=[8]}"} : tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
