// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Consecutive reshards, and reshards after propagation barriers.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A reshard starts from the sharding of the one before it.
// CHECK-LABEL: func.func @reshard_of_reshard
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %1
func.func @reshard_of_reshard(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A propagation barrier is transparent: the value before it, and its sharding, are used.
// CHECK-LABEL: func.func @barrier
// CHECK: sdy.all_gather [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
func.func @barrier(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// In a manual computation, a block argument has the operand's sharding without manual axes.
// CHECK-LABEL: func.func @manual_computation
// CHECK: (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: sdy.all_to_all [{"y"}: 0->1] %arg1 out_sharding=<@mesh, [{}, {"y"}]>
func.func @manual_computation(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = sdy.reshard %b <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Attributes of the reshard are dropped.
// CHECK-LABEL: func.func @attributes
// CHECK: sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
func.func @attributes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> {note = "why"} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A redundant reshard after a barrier is replaced with the lowered reshard before it.
// CHECK-LABEL: func.func @reshard_barrier_reshard
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: sdy.propagation_barrier %0
// CHECK-NEXT: return %0
func.func @reshard_barrier_reshard(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
