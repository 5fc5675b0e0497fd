// Orders of axes are tried in all shardings but those of manual computations: with "y", "x" in all of them, the
// permute would still be there.
// RUN: sdy-opt %s --lint=axis-order-permute --lint-config=- 2>&1 | filecheck %s
// CHECK: warning: collective_permute along "x", "y" of f32[64,512] only changes an order
// CHECK: help: write 'x', 'y' in this order in each PartitionSpec: -96.0 KiB sent, -128.0 KiB memory
// CHECK-NEXT: in sdy: "x", "y" in this order in all shardings

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) -> tensor<512x512xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%b: tensor<64x512xf32>) {
    %1 = stablehlo.negate %b : tensor<64x512xf32>
    sdy.return %1 : tensor<64x512xf32>
  } : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
