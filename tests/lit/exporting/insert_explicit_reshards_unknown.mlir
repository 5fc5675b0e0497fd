// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// An unregistered operation and its terminator are not changed. Operations nested in it are.
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT: "foo.bar"() ({
// CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0]
// CHECK-NEXT: %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, []>
// CHECK-NEXT: }) : () -> ()
func.func @unknown(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %zero: tensor<f32>) {
  "foo.bar"() ({
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  }) : () -> ()
  return
}

// The operands of any last operation count as returned; those without a result have no required sharding.
// CHECK-LABEL: func.func @unknown_end
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %1 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: "foo.end"(%0, %1)
func.func @unknown_end(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  "foo.end"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> ()
}
