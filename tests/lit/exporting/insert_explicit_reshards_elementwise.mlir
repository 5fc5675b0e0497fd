// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2, "z"=4]>

// Compatible shardings are not changed.
// CHECK-LABEL: func.func @agreed
// CHECK-NEXT: %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// CHECK-NEXT: return %0
func.func @agreed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Two of three tensors win. A missing sharding counts as replicated, and a replicated tensor has no axes to win.
// CHECK-LABEL: func.func @majority
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %1 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %arg2 <@mesh, [{"x"}]>
// CHECK-NEXT: %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{}]>
// CHECK-NEXT: %5 = sdy.reshard %4 <@mesh, [{"x"}]>
// CHECK-NEXT: return %5
func.func @majority(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %c: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.add %0, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Prefixes count too: "x" shards all three tensors and wins first; then "y" and "z" compete, and "z" has the
// larger size.
// CHECK-LABEL: func.func @beginning
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x", "z"}]>
// CHECK-NEXT: %1 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "z"}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]>
// CHECK-NEXT: return %2
func.func @beginning(%a: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %b: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}]>}) -> (tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<32xf32>
  return %0 : tensor<32xf32>
}

// An assigned axis is removed from other factors, with all axes after it: the second dimension keeps the major
// sub-axis of "z".
// CHECK-LABEL: func.func @cut_off
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"z":(2)2}, {"z":(1)2}]>
// CHECK-NEXT: %1 = sdy.reshard %arg1 <@mesh, [{"z":(2)2}, {"z":(1)2}]>
// CHECK-NEXT: %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(2)2}, {"z":(1)2}]>]>}
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{"z":(2)2}, {}]>
// CHECK-NEXT: return %3
func.func @cut_off(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(2)2}, {}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z", "y"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(2)2}, {}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(2)2}, {}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Of two tensors of equal size, the one with more shards keeps its sharding.
// CHECK-LABEL: func.func @more_parts
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]>
// CHECK-NEXT: %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK-NEXT: return %1
func.func @more_parts(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Of different sizes, the larger one does. A dimension that only the other has keeps the free axes.
// CHECK-LABEL: func.func @larger
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}]>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>}
// CHECK-NEXT: return %1
func.func @larger(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<8xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Each use of a value gets its own reshard; CSE merges equal ones.
// CHECK-LABEL: func.func @used_twice
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"z"}, {"x"}]>
// CHECK-NEXT: %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"z"}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %arg0 <@mesh, [{"x"}, {"z"}]>
// CHECK-NEXT: %3 = stablehlo.add %1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"z"}]>]>}
// CHECK-NEXT: %4 = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: return %3, %4
func.func @used_twice(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"z"}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"z"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"z"}]>]>} : tensor<8x8xf32>
  return %1, %a : tensor<8x8xf32>, tensor<8x8xf32>
}

// The sharding of an operand before propagation barriers counts.
// CHECK-LABEL: func.func @barrier
// CHECK-NEXT: %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE
// CHECK-NEXT: %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: return %1
func.func @barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
