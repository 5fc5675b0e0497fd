// --show-sharding with a value of the program shows its sharding after the passes. Names are those of the output.
// RUN: sdy-opt %s --show-sharding='@main %arg0' | filecheck %s --check-prefix=ARGUMENT
// ARGUMENT: tensor         8x16
// ARGUMENT: │ 0:2 │ 0, 1 │
// ARGUMENT: sdy            #sdy.sharding<@mesh, [{"x"}, {?}]>
// ARGUMENT: PartitionSpec  PartitionSpec('x', PartitionSpec.UNCONSTRAINED)

// RUN: sdy-opt %s --show-sharding='@main result 0' | filecheck %s --check-prefix=RESULT
// RESULT: tensor         8x32
// RESULT: sdy            #sdy.sharding<@mesh, [{}, {"y"}]>

// The second operand gets its sharding by propagation.
// RUN: not sdy-opt %s --show-sharding='@main %arg1' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: sdy-opt %s -sdy-basic-propagate --show-sharding='@main %arg1' | filecheck %s --check-prefix=PROPAGATED
// NONE:      --show-sharding:1:7: error: this value has no sharding
// NONE-NEXT: @main %arg1
// NONE-NEXT: {{^ {6}\^~~~~$}}
// NONE-NEXT: help: add passes that propagate shardings, such as -sdy-propagation-pipeline
// PROPAGATED: sdy            #sdy.sharding<@mesh, [{?}, {"y", ?}]>
// PROPAGATED: PartitionSpec  none: dimension 1 is sharded and open; an UNCONSTRAINED one has no axes

// A value in the body of a manual computation has its shards along the manual axes too.
// RUN: sdy-opt %s --show-sharding='@manual %1' | filecheck %s --check-prefix=MANUAL
// MANUAL: manual         in the body of an sdy.manual_computation along "x"
// MANUAL: │ 0 | 2 | 4 | 6 │ 1 | 3 | 5 | 7 │
// MANUAL: a | b: the shards of these devices differ along manual axes
// MANUAL: GSPMD V2       {devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={manual}}

// A sharding as text takes the mesh of the program.
// RUN: sdy-opt %s --show-sharding="P('y')" --shape=4 | filecheck %s --check-prefix=MESH
// MESH: mesh           <["x"=4, "y"=2]>

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %w: tensor<16x32xf32>)
    -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

func.func @manual(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%shard: tensor<2x16xf32>) {
    %z = stablehlo.negate %shard {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<2x16xf32>
    sdy.return %z : tensor<2x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
