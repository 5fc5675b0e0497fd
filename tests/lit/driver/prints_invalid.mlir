// RUN: sdy-opt %s --verify-each=false -sdy-close-shardings | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// A program that is not valid is printed in the generic form, which leaves nothing out: here a dimension is
// closed, has no axes, and has a priority, which may not be.
// CHECK: "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}p1]>}]
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
