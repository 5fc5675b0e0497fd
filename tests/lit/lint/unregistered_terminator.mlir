// A terminator that is not registered may return more values than its function has results.

// RUN: sdy-opt %s --allow-unregistered-dialect --lint -sdy-propagate-to-func-results | FileCheck %s

// CHECK: no findings

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<4xf32>, %b: tuple<tensor<4xf32>>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  "test.end"(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}

func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  "test.end"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
