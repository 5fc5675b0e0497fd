// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Nobody knows what an unknown operation needs, or how it ends its body. What is inside is dealt with as usual.
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

// What a function gives is what its last operation takes, whatever this is; what is too much has no sharding.
// CHECK-LABEL: func.func @unknown_end
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %1 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: "foo.end"(%0, %1)
func.func @unknown_end(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  "foo.end"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> ()
}
