// RUN: sdy-opt %s --explain='#0' --explain='#1' --explain='#2' | filecheck %s

// What is chosen is what the program does, as XLA's partitioner would. By sizes, the first operand and the result
// of the first product would be resharded.
// CHECK:      #0 all_gather along {"x"} of %weights: a device sends 6.00 MiB
// CHECK:      ├─ stablehlo.dot_general: operand 1 (%weights) does not fit
// CHECK:      ├─ chosen: "x" on dimension 0 of operand 0 and dimension 0 of the result
// CHECK-NEXT: elements; reshard operand 1 (%weights): 6.00 MiB
// CHECK-NEXT: └─ instead: "x" on dimension 1 of operand 0 and dimension 0 of operand 1
// CHECK-NEXT: elements; reshard operand 0 (%rows), the result (%0), all-reduce along "x"

// Only the operands have the batch on "x": the result decides, though it is smaller than they are.
// CHECK:      #1 all_to_all along {"x"} of %masks: a device sends 96.0 KiB
// CHECK:      chosen: "x" on dimension 2 of operand 0 and dimension 1 of the result
// CHECK-NEXT: elements; reshard operand 0 (%masks), operand 1 (%values): 864.0 KiB
// CHECK-NEXT: instead: "x" on dimension 0 of operand 0 and dimension 0 of operand 1
// CHECK-NEXT: reshard the result (%1): 48.0
// CHECK:      #2 all_gather along {"x"} of %values: a device sends 768.0 KiB
sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(
    %rows: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %weights: tensor<1024x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %masks: tensor<8x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
    %values: tensor<8x256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<64x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<8x64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
  %0 = stablehlo.dot_general %rows, %weights, contracting_dims = [1] x [0]
    : (tensor<64x1024xf32>, tensor<1024x2048xf32>) -> tensor<64x2048xf32>
  %1 = stablehlo.dot_general %masks, %values, batching_dims = [0] x [0], contracting_dims = [1] x [1]
    : (tensor<8x256x64xf32>, tensor<8x256x128xf32>) -> tensor<8x64x128xf32>
  return %0, %1 : tensor<64x2048xf32>, tensor<8x64x128xf32>
}
