// RUN: sdy-opt %s -sdy-insert-explicit-reshards='enable-full-version=true change-unreduced-meshes=true' | filecheck %s
// RUN: sdy-opt %s -sdy-insert-explicit-reshards=change-unreduced-meshes=true -o /dev/null
// RUN: not sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true 2>&1 | filecheck %s --check-prefix=OFF

// A value that is unreduced on another mesh than its user requires, or required so, is all-reduced on its mesh,
// resharded, and made unreduced on the other mesh. Shardy has an error instead, as without the option.
// OFF: error: source and user shardings have different meshes for unreduced axes.

sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["y"=2]>

// CHECK-LABEL: func.func @unreduced_to_sharded
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@a, [{}]>
// CHECK-NEXT: %1 = sdy.reshard %0 <@b, [{"y"}]>
// CHECK-NEXT: return %1
func.func @unreduced_to_sharded(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{}], unreduced={"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{"y"}]>}) {
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @sharded_to_unreduced
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@b, [{}]>
// CHECK-NEXT: %1 = sdy.replicated_to_unreduced {"y"} %0 out_sharding=<@b, [{}], unreduced={"y"}>
// CHECK-NEXT: return %1
func.func @sharded_to_unreduced(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{}], unreduced={"y"}>}) {
  return %a : tensor<4xf32>
}

// A maximum of the parts on one mesh is a sum of parts on the other.
// CHECK-LABEL: func.func @unreduced_to_unreduced
// CHECK-NEXT: %0 = sdy.all_reduce max {"x"} %arg0 out_sharding=<@a, [{}]>
// CHECK-NEXT: %1 = sdy.reshard %0 <@b, [{}]>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"y"} %1 out_sharding=<@b, [{}], unreduced={"y"}>
// CHECK-NEXT: return %2
func.func @unreduced_to_unreduced(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{}], unreduced=max{"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{}], unreduced={"y"}>}) {
  return %a : tensor<4xf32>
}

// The operands of an operation with a result on another mesh are all-reduced.
// CHECK-LABEL: func.func @operand
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@a, [{}]>
// CHECK-NEXT: stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@b, [{}], unreduced={"y"}>]>}
func.func @operand(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{}], unreduced={"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{}], unreduced={"y"}>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@b, [{}], unreduced={"y"}>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// So is the input of a reshard.
// CHECK-LABEL: func.func @reshard
// CHECK-NEXT: %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@a, [{}]>
// CHECK-NEXT: %1 = sdy.reshard %0 <@b, [{}]>
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"y"} %1 out_sharding=<@b, [{}], unreduced={"y"}>
// CHECK-NEXT: return %2
func.func @reshard(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{}], unreduced={"x"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{}], unreduced={"y"}>}) {
  %0 = sdy.reshard %a <@b, [{}], unreduced={"y"}> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// On one mesh, the option changes nothing.
// CHECK-LABEL: func.func @same_mesh
// CHECK-NEXT: %0 = sdy.sharded_to_unreduced [{"x"}, {}] %arg0 out_sharding=<@a, [{}, {}], unreduced={"x"}>
// CHECK-NEXT: return %0
func.func @same_mesh(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@a, [{}, {}], unreduced={"x"}>}) {
  return %a : tensor<4x4xf32>
}
