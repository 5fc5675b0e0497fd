// RUN: sdy-opt %s -sdy-unify-meshes | filecheck %s

// Shardings on meshes of the same devices are expressed on the first of them.
sdy.mesh @mesh = <["x"=8]>
sdy.mesh @other = <["a"=2, "b"=4]>
sdy.mesh @third = <["c"=4, "d"=2]>
sdy.mesh @reversed = <["e"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>
// CHECK-SAME:    #sdy.sharding<@mesh, [{"x"}, {}]>
// CHECK-SAME:    #sdy.sharding<@reversed, [{"e"}, {}]>
// CHECK:         sdy.reshard %arg0 <@mesh, [{"x":(4)2}, {"x":(1)4}]>
// CHECK:         sdy.reshard %arg0 <@mesh, [{"x":(1)2}, {?}], replicated={"x":(2)4}>
// CHECK:         sdy.reshard %arg0 <@mesh, [{"x":(2)2}, {}]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {"b"}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a", "b"}, {}]>},
    %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"e"}, {}]>}) {
  %0 = sdy.reshard %a <@third, [{"d"}, {"c"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %a <@other, [{"a"}, {?}], replicated={"b"}> : tensor<8x8xf32>
  %2 = sdy.reshard %a <@other, [{"b":(1)2}, {}]> : tensor<8x8xf32>
  return
}
