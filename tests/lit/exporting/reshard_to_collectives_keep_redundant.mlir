// RUN: sdy-opt %s -sdy-reshard-to-collectives='keep-redundant-reshards=true' | filecheck %s
// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s --check-prefix=DEFAULT

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>

// A redundant reshard is kept if the option is set.
// CHECK-LABEL: func.func @redundant
// CHECK: sdy.reshard %arg0 <@mesh, [{"x"}, {?}]>
// DEFAULT-LABEL: func.func @redundant
// DEFAULT-NEXT: return %arg0
func.func @redundant(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A value without a sharding is replicated.
// CHECK-LABEL: func.func @nothing_split
// CHECK: sdy.reshard %arg0 <@reversed, [{}, {}]>
// DEFAULT-LABEL: func.func @nothing_split
// DEFAULT-NEXT: return %arg0
func.func @nothing_split(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Unreduced axes do not count if the input has no sharding.
// CHECK-LABEL: func.func @unreduced
// CHECK: sdy.reshard %arg0 <@mesh, [{}, {}], unreduced={"x"}>
// DEFAULT-LABEL: func.func @unreduced
// DEFAULT-NEXT: return %arg0
func.func @unreduced(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Other reshards are lowered, even if only the device order changes.
// CHECK-LABEL: func.func @needed
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %0
// DEFAULT-LABEL: func.func @needed
// DEFAULT-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {}]>
func.func @needed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
