// The attribute of an argument lacks the name of its dialect.
// RUN: sdy-opt %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @f(%x: tensor<8x16xf32> {sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return
}
