// A dimension of a sharding has no braces.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @f(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, ["x", {}]>}) {
  return
}
