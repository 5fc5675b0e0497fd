// An operation that no dialect knows may end a function, and have more operands than the function has results. Where
// nothing is verified after passes, it becomes a return of all of them: only as many as there are results get shardings.
// RUN: sdy-opt %s --allow-unregistered-dialect --verify-each=false -sdy-propagation-pipeline | filecheck %s
// CHECK: "sdy.mesh"
// CHECK: "test.end"(%{{.*}}, %{{.*}})
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  "test.end"(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  "test.end"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
