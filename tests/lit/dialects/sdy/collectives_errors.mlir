// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @operand_without_sharding(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.all_gather' op collective on operand without sharding}}
  %0 = sdy.all_gather [{}] %arg out_sharding=<mesh<["x"=2]>, [{}]> : tensor<8xf32>
  return
}

// -----

// expected-note @+1 {{operand mesh: #sdy.mesh<["x"=2]>}}
func.func @another_mesh(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  // expected-error @+1 {{result mesh does not match operand mesh}}
  %0 = sdy.all_gather [{"x"}] %arg out_sharding=<mesh<["x"=4]>, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @gather_from_the_front(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // expected-error @+1 {{can't apply gathering axis "x" to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"x"}] %arg out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @gather_the_major_part(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{can't apply gathering axis "x":(1)2 to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"x":(1)2}] %arg out_sharding=<@mesh, [{"x":(2)2}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @gathered_too_much(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  // expected-error @+1 {{result sharding doesn't match expected sharding ["x"] on dimension 0}}
  %0 = sdy.all_gather [{"y"}] %arg out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @number_of_dimensions(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{result sharding has rank 1 but collective axes has rank 2}}
  %0 = sdy.all_slice [{"y"}, {}] %arg out_sharding=<@mesh, [{"x", "y"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @slice_in_another_dimension(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{result sharding doesn't match expected sharding [] on dimension 0}}
  %0 = sdy.all_slice [{}, {"x"}] %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

// A maximal mesh has no dimensions to shard.
func.func @slice_to_one_device(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{result sharding has rank 0 but operand sharding has rank 2}}
  %0 = sdy.all_slice [] %arg out_sharding=<mesh<[], device_ids=[1]>, []> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @axis_twice(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{duplicate axis ref: "y"}}
  %0 = sdy.reduce_scatter [{"y"}, {"y"}] %arg out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @no_moves(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{parameter list is empty}}
  %0 = sdy.all_to_all [] %arg out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @move_too_far(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{target dimension 2 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"x"}: 0->2] %arg out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @move_back(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  // expected-error @+1 {{overlapping source/target dimensions in all-to-all params: 1}}
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 1->0] %arg out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @moves_in_order(%arg: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) {
  // expected-error @+1 {{source dimensions are not sorted in ascending order: 0 appears after 2}}
  %0 = sdy.all_to_all [{"y"}: 2->3, {"x"}: 0->1] %arg out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @permute_to_more_parts(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // expected-error @+1 {{sharded size of result doesn't match operand on dimension 0: 4 != 2}}
  %0 = sdy.collective_permute %arg out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// -----

// expected-note @+1 {{operand mesh: #sdy.mesh<["x"=4]>}}
func.func @permute_to_other_axes(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}]>}) {
  // expected-error @+1 {{result mesh has different axes than operand mesh}}
  %0 = sdy.collective_permute %arg out_sharding=<mesh<["y"=4]>, [{"y"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @same = <["x"=4]>

// expected-note @+1 {{operand mesh: #sdy.mesh<["x"=4]>}}
func.func @permute_nothing(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{result mesh name is different but same device ids as operand}}
  %0 = sdy.collective_permute %arg out_sharding=<@same, [{"x"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @reduce_and_move(%arg: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{operand and result shardings are not equivalent}}
  %0 = sdy.all_reduce {"y"} %arg out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @reduce_along_a_sharded_axis(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) {
  // expected-error @+1 {{reduction axis "x" overlaps with operand dimension sharding or replicated axes}}
  %0 = sdy.all_reduce {"x"} %arg out_sharding=<@mesh, [{"x":(1)2}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @still_unreduced(%arg: tensor<8xf32>) {
  // expected-error @+1 {{reduction axis "x" overlaps with result unreduced axes}}
  %0 = sdy.all_reduce {"x"} %arg out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @order_of_axes(%arg: tensor<8xf32>) {
  // expected-error @+1 {{reduction axes are not ordered w.r.t. mesh}}
  %0 = sdy.all_reduce {"y", "x"} %arg out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @sharded_and_lost(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) {
  // expected-error @+1 {{out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}] %arg out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @nothing_to_make_unreduced(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{r2u axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %arg out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @not_replicated(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{r2u axis "x":(2)2 overlaps with operand dimension sharding}}
  %0 = sdy.replicated_to_unreduced {"x":(2)2} %arg out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @unreduced_and_more(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{out_unreduced_axes should be in_unreduced_axes + r2u_axes}}
  %0 = sdy.replicated_to_unreduced {"x"} %arg out_sharding=<@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Equal collectives of operands with different shardings: only one is valid.
func.func @same_all_reduce(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
                           %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // expected-error @+1 {{operand and result shardings are not equivalent}}
  %1 = sdy.all_reduce {"y"} %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}
