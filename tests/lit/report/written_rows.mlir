// A report that is written leaves out rows of less than 0.1% of the largest, and says how many; --report-rows=0 does not.
// RUN: sdy-opt %s --report=%t.txt && filecheck %s < %t.txt
// RUN: sdy-opt %s --report --report-rows=0 | filecheck %s --check-prefix=ALL

// CHECK:     3.00 MiB {{.*}} all_gather {"x"}
// CHECK-NOT: 12 B
// CHECK:     … and 1 more, each less than 0.1% of the largest

// ALL: 12 B {{.*}} all_gather {"y"}

sdy.mesh @mesh = <["x"=4, "y"=4]>
func.func @main(%a: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.tanh %a : tensor<1024x1024xf32>
  %1 = stablehlo.tanh %b : tensor<4xf32>
  return %0, %1 : tensor<1024x1024xf32>, tensor<4xf32>
}
