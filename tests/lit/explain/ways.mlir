// RUN: sdy-opt %s -sdy-propagation-pipeline --explain='@main %%0' --explain='@f %%1' --explain='@loop %%5' --explain='@group %%7' --explain='@manual %%9' --explain='@constant %%cst' --explain='@priority %%12' --explain='@long %%20' --explain='@size_one %%a' --explain='@several %%23' --explain='@unused %%24#0' | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4, "one"=1]>

// Through a call: the body is inlined before propagation, and its values keep the names that they have in the
// source.
// CHECK: %0 of @main: f32[8] is sharded P('x')  ways.mlir:21
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %1 of @f (dimension 0), through the call of @f  ways.mlir:21
// CHECK-NEXT:    ├─ from %b of @f (dimension 0), forward along stablehlo.negate  ways.mlir:26
// CHECK-NEXT:    ├─ from %a (dimension 0), through the call of @f  ways.mlir:25
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:20
// CHECK: %1 of @f: f32[8] is sharded P('x')  ways.mlir:26
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %b (dimension 0), forward along stablehlo.negate  ways.mlir:26
// CHECK-NEXT:    ├─ from %a of @main (dimension 0), through the call of @f  ways.mlir:25
// CHECK-NEXT:    └─ annotated: the input %a of @main  ways.mlir:20
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @f(%b: tensor<8xf32>) -> tensor<8xf32> {
  %1 = stablehlo.negate %b : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Through a loop: its operands, arguments and results are one value to propagation.
// CHECK: %5 of @loop: f32[8] is sharded P('x')  ways.mlir:45
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %a (dimension 0), which the loop carries (data-flow edge of stablehlo.while)
// CHECK-NEXT:    │    ways.mlir:39
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:37
func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %2:2 = stablehlo.while(%carried = %a, %i = %c) : tensor<8xf32>, tensor<i32>
   cond {
    %3 = stablehlo.constant dense<4> : tensor<i32>
    %4 = stablehlo.compare LT, %i, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
   } do {
    %5 = stablehlo.negate %carried : tensor<8xf32>
    stablehlo.return %5, %i : tensor<8xf32>, tensor<i32>
   }
  return %2#0 : tensor<8xf32>
}

// In a sharding group, all members get what one gets.
// CHECK: %7 of @group: f32[8] is sharded P('x')  ways.mlir:61
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ with %6, which is in its sharding group: from %a (dimension 0), forward along stablehlo.negate
// CHECK-NEXT:    │     ways.mlir:60
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:58
func.func @group(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %6 = stablehlo.negate %a : tensor<8xf32>
  %7 = stablehlo.cosine %b : tensor<8xf32>
  sdy.sharding_group %6 group_id=0 : tensor<8xf32>
  sdy.sharding_group %7 group_id=0 : tensor<8xf32>
  return %6, %7 : tensor<8xf32>, tensor<8xf32>
}

// Into a manual computation, without the manual axes.
// CHECK: %9 of @manual: f32[4,8] is sharded P(None, 'y')  ways.mlir:78
// CHECK-NEXT: ├─ in sdy: tensor<4x8xf32> [{?}, {"y", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "y" shards dimension 1
// CHECK-NEXT:    ├─ from %b (dimension 1), forward along stablehlo.negate  ways.mlir:78
// CHECK-NEXT:    ├─ from %a (dimension 1), through the shard_map (data-flow edge of sdy.manual_computation)
// CHECK-NEXT:    │    ways.mlir:77
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:75
func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %8 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>]
      manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %9 = stablehlo.negate %b : tensor<4x8xf32>
    sdy.return %9 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %8 : tensor<8x8xf32>
}

// A constant with several uses has a copy for each of them.
// CHECK: %cst of @constant (copy 1 of 2): f32[8] is sharded P('x')  ways.mlir:98
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %a (dimension 0), between operands along stablehlo.add  ways.mlir:99
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:95
// CHECK-NEXT: %cst of @constant (copy 2 of 2): f32[8] is sharded P('y')  ways.mlir:98
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"y", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "y" shards dimension 0
// CHECK-NEXT:    ├─ from %b (dimension 0), between operands along stablehlo.add  ways.mlir:100
// CHECK-NEXT:    └─ annotated: the input %b  ways.mlir:96
func.func @constant(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %cst = stablehlo.constant dense<1.0> : tensor<8xf32>
  %10 = stablehlo.add %a, %cst : tensor<8xf32>
  %11 = stablehlo.add %b, %cst : tensor<8xf32>
  return %10, %11 : tensor<8xf32>, tensor<8xf32>
}

// Priorities are those of the annotation.
// CHECK: %12 of @priority: f32[8] is sharded P('x')  ways.mlir:111
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %a (dimension 0), forward along stablehlo.negate (priority p2)  ways.mlir:111
// CHECK-NEXT:    └─ annotated: the input %a, with user priority p2  ways.mlir:110
func.func @priority(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p2]>}) -> tensor<8xf32> {
  %12 = stablehlo.negate %a : tensor<8xf32>
  return %12 : tensor<8xf32>
}

// Of a long chain, the steps in the middle are left out.
// CHECK: %20 of @long: f32[8] is sharded P('x')  ways.mlir:133
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %19 (dimension 0), forward along stablehlo.negate  ways.mlir:133
// CHECK-NEXT:    ├─ from %18 (dimension 0), forward along stablehlo.negate  ways.mlir:132
// CHECK-NEXT:    ├─ from %17 (dimension 0), forward along stablehlo.negate  ways.mlir:131
// CHECK-NEXT:    ├─ … 4 more steps, along negate, sine, cosine
// CHECK-NEXT:    ├─ from %a (dimension 0), forward along stablehlo.negate  ways.mlir:126
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:125
func.func @long(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %13 = stablehlo.negate %a : tensor<8xf32>
  %14 = stablehlo.negate %13 : tensor<8xf32>
  %15 = stablehlo.cosine %14 : tensor<8xf32>
  %16 = stablehlo.sine %15 : tensor<8xf32>
  %17 = stablehlo.negate %16 : tensor<8xf32>
  %18 = stablehlo.negate %17 : tensor<8xf32>
  %19 = stablehlo.negate %18 : tensor<8xf32>
  %20 = stablehlo.negate %19 : tensor<8xf32>
  return %20 : tensor<8xf32>
}

// An axis of size one shards nothing.
// CHECK: %a of @size_one: f32[8] is sharded P('x')  ways.mlir:144
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x"}]
// CHECK-NEXT: ├─ "x" shards dimension 0
// CHECK-NEXT: │  └─ annotated: the input %a  ways.mlir:144
// CHECK-NEXT: └─ "one" does not shard dimension 0, though the annotation has it
// CHECK-NEXT:    └─ axes of size 1 are removed before propagation
func.func @size_one(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "one"}]>}) -> tensor<8xf32> {
  %21 = stablehlo.negate %a : tensor<8xf32>
  return %21 : tensor<8xf32>
}

// An axis may come by several ways. Steps along one of them were first, but without %a, %b would give it to %23 as well.
// CHECK: %23 of @several: f32[8] is sharded P('x')  ways.mlir:160
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %22 (dimension 0), forward along stablehlo.negate  ways.mlir:160
// CHECK-NEXT:    ├─ from %a (dimension 0), forward along stablehlo.add  ways.mlir:159
// CHECK-NEXT:    ├─ annotated: the input %a  ways.mlir:157
// CHECK-NEXT:    └─ also from: the input %b (ways.mlir:158)
func.func @several(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                   %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %22 = stablehlo.add %a, %b : tensor<8xf32>
  %23 = stablehlo.negate %22 : tensor<8xf32>
  return %23 : tensor<8xf32>
}

// A function with several calls has a copy for each of them, and so has a call of constants for each of its uses: results
// of copies that nothing uses are not shown.
// CHECK: %24#0 of @unused: f32[8] is sharded P('x')  ways.mlir:174
// CHECK-NEXT: ├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: └─ "x" shards dimension 0
// CHECK-NEXT:    ├─ from %a (dimension 0), between operands along stablehlo.add  ways.mlir:175
// CHECK-NEXT:    └─ annotated: the input %a  ways.mlir:172
// CHECK-NOT: %24#0
func.func @unused(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %24:2 = call @constants(%c) : (tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  %25 = stablehlo.add %24#0, %a : tensor<8xf32>
  %26 = stablehlo.negate %24#1 : tensor<8xf32>
  %27 = stablehlo.add %25, %26 : tensor<8xf32>
  return %25 : tensor<8xf32>
}

func.func private @constants(%b: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %28 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %28, %28 : tensor<8xf32>, tensor<8xf32>
}
