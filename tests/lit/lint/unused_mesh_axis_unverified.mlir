// RUN: sdy-opt %s --lint 2>&1 | filecheck %s

sdy.mesh @mesh = <["x"=4]>

// The verifier does not look at shardings in attributes of other names. One that names an unknown axis uses no axis.
// CHECK: warning: {{.*}}"x"
func.func @main(%a: tensor<8xf32> {test.sharding = #sdy.sharding<@mesh, [{"unknown"}]>}) {
  return
}
