// What the compilers for TPU, GPU and CPU keep in memory of a program differs; a topology chooses one.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s
// RUN: sdy-opt %s --split-input-file --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --split-input-file --report --topology=h100 | filecheck %s --check-prefix=GPU
// RUN: sdy-opt %s --split-input-file --report --topology=cpu | filecheck %s --check-prefix=CPU

sdy.mesh @mesh = <["x"=4]>

// The second product computes both of its operands on TPU, and reads the first as bf16; elsewhere they are
// written for it.
// CHECK: memory per device: peak 780.0 MiB
// CHECK: 395.8 MiB on TPU and 780.0 MiB on GPU; figures are of what both compilers do
// TPU: memory per device: peak 395.8 MiB
// GPU: memory per device: peak 780.0 MiB
// CPU: memory per device: peak 780.0 MiB
func.func @fused_into_product(%x: tensor<262144x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<262144x1024xf32>, tensor<1024x1024xf32>) -> tensor<262144x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<262144x1024xf32>
  %2 = stablehlo.tanh %x : tensor<262144x1024xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] : (tensor<262144x1024xf32>, tensor<262144x1024xf32>) -> tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// An algorithm may say that operands are used as bf16, as that of jax.nn.dot_product_attention does: what two such
// products read is written so on TPU. The compiler for v5e needs 454.5 MiB.
// TPU: memory per device: peak 458.3 MiB
// GPU: memory per device: peak 586.5 MiB
func.func @algorithm(%x: tensor<262144x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xbf16>, %v: tensor<1024x256xbf16>) -> (tensor<1024x1024xf32>, tensor<262144x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<262144x1024xf32>, tensor<1024x1024xbf16>) -> tensor<262144x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<262144x1024xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<262144x1024xf32>, tensor<262144x1024xf32>) -> tensor<1024x1024xf32>
  %3 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<262144x1024xf32>, tensor<1024x256xbf16>) -> tensor<262144x256xf32>
  return %2, %3 : tensor<1024x1024xf32>, tensor<262144x256xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The tanh has two uses, with its sum between them. It is computed twice, except on CPU.
// CHECK: memory per device: peak 516.0 MiB
// TPU: memory per device: peak 523.7 MiB
// GPU: memory per device: peak 516.0 MiB
// CPU: memory per device: peak 772.0 MiB
func.func @recomputed(%x: tensor<262144x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32>) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<262144x1024xf32>, tensor<1024x1024xf32>) -> tensor<262144x1024xf32>
  %1 = stablehlo.tanh %0 : tensor<262144x1024xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<262144x1024xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<262144x1024xf32>
  %4 = stablehlo.multiply %0, %3 : tensor<262144x1024xf32>
  %5 = stablehlo.multiply %4, %1 : tensor<262144x1024xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<262144x1024xf32>, tensor<f32>) -> tensor<f32>
  return %6 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The product is summed up by the operation that computes it on TPU.
// CHECK: memory per device: peak 388.0 MiB
// TPU: memory per device: peak 132.0 MiB
// GPU: memory per device: peak 388.0 MiB
// CPU: memory per device: peak 388.0 MiB
func.func @summed_product(%x: tensor<262144x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x2048xbf16>) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<262144x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<262144x2048xbf16>
  %1 = stablehlo.convert %0 : (tensor<262144x2048xbf16>) -> tensor<262144x2048xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<262144x2048xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The product is in on-chip memory on TPU.
// CHECK: memory per device: peak 96.0 MiB
// CHECK: 32.0 MiB on TPU and 96.0 MiB on GPU
// TPU: memory per device: peak 32.0 MiB
// TPU: at the peak: 100% arguments (32.0 MiB)
// GPU: memory per device: peak 96.0 MiB
func.func @on_chip(%x: tensor<16384x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16384x1024xf32>, tensor<1024x4096xf32>) -> tensor<16384x4096xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16384x4096xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// Rows of 64 elements are padded to 128 on TPU; 3 columns are transposed, so that they are padded to 4.
// CHECK: memory per device: peak 32.1 MiB
// TPU: memory per device: peak 64.1 MiB
// TPU: arguments 32.1 MiB, results 32.1 MiB
// GPU: memory per device: peak 32.1 MiB
func.func @padded(%x: tensor<64x64x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %y: tensor<16384x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x64x64x64xf32>, tensor<16384x3xf32>) {
  %0 = stablehlo.tanh %x : tensor<64x64x64x64xf32>
  %1 = stablehlo.tanh %y : tensor<16384x3xf32>
  return %0, %1 : tensor<64x64x64x64xf32>, tensor<16384x3xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The scatter sets one element of each row, as the gradient of a cross entropy does.
// CHECK: memory per device: peak 512.0 MiB
// TPU: memory per device: peak {{.*}} KiB
// GPU: memory per device: peak 512.0 MiB
func.func @one_hot(%i: tensor<4096x1x1xi32>, %y: tensor<4096x1xf32>) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4096x32768xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4096x32768xf32>, tensor<4096x1x1xi32>, tensor<4096x1xf32>) -> tensor<4096x32768xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4096x32768xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// With an index for rows, too, as of x[rows, columns], the result is written.
// TPU: memory per device: peak 527.4 MiB
// GPU: memory per device: peak 512.0 MiB
func.func @rows_and_columns(%i: tensor<4096x2xi32>, %y: tensor<4096xf32>) -> (tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4096x32768xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4096x32768xf32>, tensor<4096x2xi32>, tensor<4096xf32>) -> tensor<4096x32768xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4096x32768xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The exponentials of the softmax are written for their sums on TPU, beside the product.
// TPU: memory per device: peak 855.0 MiB
func.func @softmax(%q: tensor<8x2048x16x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %k: tensor<8x2048x16x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %v: tensor<8x2048x16x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> (tensor<8x16x128x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<8x2048x16x128xbf16>, tensor<8x2048x16x128xbf16>) -> tensor<8x16x2048x2048xbf16>
  %c = stablehlo.convert %0 : (tensor<8x16x2048x2048xbf16>) -> tensor<8x16x2048x2048xf32>
  %scale = stablehlo.constant dense<0.1> : tensor<8x16x2048x2048xf32>
  %1 = stablehlo.multiply %c, %scale : tensor<8x16x2048x2048xf32>
  %2 = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<8x16x2048x2048xf32>, tensor<f32>) -> tensor<8x16x2048xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<8x16x2048xf32>) -> tensor<8x16x2048x2048xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<8x16x2048x2048xf32>
  %5 = stablehlo.exponential %4 : tensor<8x16x2048x2048xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<8x16x2048x2048xf32>, tensor<f32>) -> tensor<8x16x2048xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<8x16x2048xf32>) -> tensor<8x16x2048x2048xf32>
  %8 = stablehlo.divide %5, %7 : tensor<8x16x2048x2048xf32>
  %9 = stablehlo.convert %8 : (tensor<8x16x2048x2048xf32>) -> tensor<8x16x2048x2048xbf16>
  %10 = stablehlo.dot_general %v, %9, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<8x2048x16x128xbf16>, tensor<8x16x2048x2048xbf16>) -> tensor<8x16x128x2048xbf16>
  return %10 : tensor<8x16x128x2048xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The gradient is reduce-scattered, and read at the end: until then, TPU has what is summed up in memory.
// TPU: memory per device: peak 1.27 GiB
// GPU: memory per device: peak 1.00 GiB
func.func @overlapped_scatter(%x: tensor<16384x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<8192x8192xf32>) -> (tensor<8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16384x8192xf32>, tensor<16384x8192xf32>) -> tensor<8192x8192xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16384x8192xf32>, tensor<8192x8192xf32>) -> tensor<16384x8192xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<16384x8192xf32>, tensor<8192x8192xf32>) -> tensor<16384x8192xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] : (tensor<16384x8192xf32>, tensor<16384x8192xf32>) -> tensor<8192x8192xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8192x8192xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8192x8192xf32>
  %6 = stablehlo.multiply %0, %5 : tensor<8192x8192xf32>
  return %6, %4 : tensor<8192x8192xf32>, tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=16]>

// On TPU, nothing is reduce-scattered over all devices of a square, and the gradient is summed up at once.
// TPU: memory per device: peak 943.8 MiB
// GPU: memory per device: peak 928.0 MiB
func.func @summed_on_square(%x: tensor<65536x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<8192x8192xf32>) -> (tensor<8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<65536x8192xf32>, tensor<65536x8192xf32>) -> tensor<8192x8192xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<65536x8192xf32>, tensor<8192x8192xf32>) -> tensor<65536x8192xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<65536x8192xf32>, tensor<8192x8192xf32>) -> tensor<65536x8192xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] : (tensor<65536x8192xf32>, tensor<65536x8192xf32>) -> tensor<8192x8192xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8192x8192xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8192x8192xf32>
  %6 = stablehlo.multiply %0, %5 : tensor<8192x8192xf32>
  return %6, %4 : tensor<8192x8192xf32>, tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A sum is reduce-scattered, and read soon and at the end: what is summed up is in memory until it is read
// first. The compiler for v5e needs 2.31 GiB.
// TPU: memory per device: peak 2.35 GiB
// GPU: memory per device: peak 3.33 GiB
func.func @scatter_read_twice(%x: tensor<16384x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %w: tensor<8192x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<16384x1024xf32>, %u: tensor<1024x131072xf32>) -> (tensor<16384x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16384x8192xf32>, tensor<8192x16384xf32>) -> tensor<16384x16384xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<16384x16384xf32>
  %1 = stablehlo.maximum %0, %zeros : tensor<16384x16384xf32>
  %square = stablehlo.multiply %1, %1 : tensor<16384x16384xf32>
  %2 = stablehlo.dot_general %square, %v, contracting_dims = [1] x [0] : (tensor<16384x16384xf32>, tensor<16384x1024xf32>) -> tensor<16384x1024xf32>
  %3 = stablehlo.dot_general %2, %u, contracting_dims = [1] x [0] : (tensor<16384x1024xf32>, tensor<1024x131072xf32>) -> tensor<16384x131072xf32>
  %back = stablehlo.dot_general %3, %u, contracting_dims = [1] x [1] : (tensor<16384x131072xf32>, tensor<1024x131072xf32>) -> tensor<16384x1024xf32>
  %4 = stablehlo.reduce(%back init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16384x1024xf32>, tensor<f32>) -> tensor<16384xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16384xf32>) -> tensor<16384x16384xf32>
  %6 = stablehlo.multiply %1, %5 : tensor<16384x16384xf32>
  return %6 : tensor<16384x16384xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The logarithms in which labels are looked up are in memory on TPU until the gradient is computed.
// CHECK: memory per device: peak 932.0 MiB
// TPU: memory per device: peak 1.06 GiB
func.func @loss(%x: tensor<8192x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x65536xbf16>, %y: tensor<8192x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<f32>, tensor<65536x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xbf16>, tensor<1024x65536xbf16>) -> tensor<8192x65536xbf16>
  %1 = stablehlo.convert %0 : (tensor<8192x65536xbf16>) -> tensor<8192x65536xf32>
  %2 = stablehlo.exponential %1 : tensor<8192x65536xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8192x65536xf32>, tensor<f32>) -> tensor<8192xf32>
  %4 = stablehlo.log %3 : tensor<8192xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8192xf32>) -> tensor<8192x65536xf32>
  %6 = stablehlo.subtract %1, %5 : tensor<8192x65536xf32>
  %7 = "stablehlo.gather"(%6, %y) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8192x65536xf32>, tensor<8192x1xi32>) -> tensor<8192xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192xf32>, tensor<f32>) -> tensor<f32>
  %9 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<8192xf32>) -> tensor<8192x65536xf32>
  %10 = stablehlo.divide %2, %9 : tensor<8192x65536xf32>
  %11 = stablehlo.convert %10 : (tensor<8192x65536xf32>) -> tensor<8192x65536xbf16>
  %12 = stablehlo.dot_general %11, %x, contracting_dims = [0] x [0] : (tensor<8192x65536xbf16>, tensor<8192x1024xbf16>) -> tensor<65536x1024xbf16>
  return %8, %12 : tensor<f32>, tensor<65536x1024xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// What the last product reads is live for longer than it takes to copy it: TPU has it in the device's memory, and
// the results of the products between in on-chip memory.
// TPU: memory per device: peak 129.0 MiB
// GPU: memory per device: peak 192.0 MiB
func.func @long_lived(%x: tensor<16384x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<2048x4096xbf16>, %v: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16384x2048xbf16>, tensor<2048x4096xbf16>) -> tensor<16384x4096xbf16>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<16384x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<16384x4096xbf16>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<16384x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<16384x4096xbf16>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [0] x [0] : (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>) -> tensor<4096x4096xbf16>
  return %3 : tensor<4096x4096xbf16>
}

// -----

// The loop converts a layer in each iteration; TPU has converted all of them before it, 256 MiB.
// CHECK: memory per device: peak 608.0 MiB
// TPU: memory per device: peak 839.7 MiB
// GPU: memory per device: peak 608.0 MiB
func.func @converted_layers(%w: tensor<8x4096x4096xf32>, %x: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<8> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%k = %i, %l = %w, %y = %x) : tensor<i32>, tensor<8x4096x4096xf32>, tensor<4096x4096xbf16>
  cond {
    %c = stablehlo.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %l, %k, %i, %i, sizes = [1, 4096, 4096] : (tensor<8x4096x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x4096xf32>
    %r = stablehlo.reshape %s : (tensor<1x4096x4096xf32>) -> tensor<4096x4096xf32>
    %n = stablehlo.convert %r : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    %d = stablehlo.dot_general %y, %n, contracting_dims = [1] x [0] : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %t = stablehlo.tanh %d : tensor<4096x4096xbf16>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %k1, %l, %t : tensor<i32>, tensor<8x4096x4096xf32>, tensor<4096x4096xbf16>
  }
  return %0#2 : tensor<4096x4096xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// What products compute is laid out for a softmax. It computes their product on TPU, and only the
// exponentials are written, 512 MiB. The compiler for v5e needs 556.1 MiB.
// TPU: memory per device: peak 587.8 MiB
func.func @softmax_of_products(%x: tensor<8x2048x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %w: tensor<1024x16x128xbf16>, %v: tensor<8x2048x16x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> (tensor<8x16x128x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x2048x1024xbf16>, tensor<1024x16x128xbf16>) -> tensor<8x2048x16x128xbf16>
  %k1 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x2048x1024xbf16>, tensor<1024x16x128xbf16>) -> tensor<8x2048x16x128xbf16>
  %0 = stablehlo.dot_general %q, %k1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<8x2048x16x128xbf16>, tensor<8x2048x16x128xbf16>) -> tensor<8x16x2048x2048xbf16>
  %c = stablehlo.convert %0 : (tensor<8x16x2048x2048xbf16>) -> tensor<8x16x2048x2048xf32>
  %scale = stablehlo.constant dense<0.1> : tensor<8x16x2048x2048xf32>
  %1 = stablehlo.multiply %c, %scale : tensor<8x16x2048x2048xf32>
  %2 = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<8x16x2048x2048xf32>, tensor<f32>) -> tensor<8x16x2048xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<8x16x2048xf32>) -> tensor<8x16x2048x2048xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<8x16x2048x2048xf32>
  %5 = stablehlo.exponential %4 : tensor<8x16x2048x2048xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<8x16x2048x2048xf32>, tensor<f32>) -> tensor<8x16x2048xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<8x16x2048xf32>) -> tensor<8x16x2048x2048xf32>
  %8 = stablehlo.divide %5, %7 : tensor<8x16x2048x2048xf32>
  %9 = stablehlo.convert %8 : (tensor<8x16x2048x2048xf32>) -> tensor<8x16x2048x2048xbf16>
  %10 = stablehlo.dot_general %v, %9, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<8x2048x16x128xbf16>, tensor<8x16x2048x2048xbf16>) -> tensor<8x16x128x2048xbf16>
  return %10 : tensor<8x16x128x2048xbf16>
}

// -----

// What is looked up is for a product, so the table is written as bf16. The compiler for v5e needs 322.4 MiB.
// TPU: memory per device: peak 324.2 MiB
func.func @moved(%x: tensor<65536x512xf32>, %i: tensor<65536x1xi32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> tensor<65536x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<65536x512xf32>, tensor<512x512xf32>) -> tensor<65536x512xf32>
  %1 = stablehlo.tanh %0 : tensor<65536x512xf32>
  %2 = "stablehlo.gather"(%1, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 512>}> : (tensor<65536x512xf32>, tensor<65536x1xi32>) -> tensor<65536x512xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<65536x512xf32>, tensor<512x512xf32>) -> tensor<65536x512xf32>
  return %3 : tensor<65536x512xf32>
}

// -----

// Nine values of 10 MiB are used again in the end. They are live during many products, but fit on the chip of a TPU
// all the time: 8.64 MiB are in the memory of v5e.
// TPU: memory per device: peak 8.50 MiB
// GPU: memory per device: peak 9{{[0-9.]+}} MiB
func.func @stay(%x: tensor<1024x256xbf16>, %w: tensor<256x5120xbf16>, %v: tensor<5120x256xbf16>, %u: tensor<5120x256xbf16>) -> tensor<1024x256xbf16> {
  %h0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y0 = stablehlo.dot_general %h0, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h1 = stablehlo.dot_general %y0, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y1 = stablehlo.dot_general %h1, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h2 = stablehlo.dot_general %y1, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y2 = stablehlo.dot_general %h2, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h3 = stablehlo.dot_general %y2, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y3 = stablehlo.dot_general %h3, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h4 = stablehlo.dot_general %y3, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y4 = stablehlo.dot_general %h4, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h5 = stablehlo.dot_general %y4, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y5 = stablehlo.dot_general %h5, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h6 = stablehlo.dot_general %y5, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y6 = stablehlo.dot_general %h6, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h7 = stablehlo.dot_general %y6, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y7 = stablehlo.dot_general %h7, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %h8 = stablehlo.dot_general %y7, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %y8 = stablehlo.dot_general %h8, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z8 = stablehlo.dot_general %h8, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s8 = stablehlo.multiply %y8, %z8 : tensor<1024x256xbf16>
  %a8 = stablehlo.dot_general %s8, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c8 = stablehlo.dot_general %a8, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z7 = stablehlo.dot_general %h7, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s7 = stablehlo.multiply %c8, %z7 : tensor<1024x256xbf16>
  %a7 = stablehlo.dot_general %s7, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c7 = stablehlo.dot_general %a7, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z6 = stablehlo.dot_general %h6, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s6 = stablehlo.multiply %c7, %z6 : tensor<1024x256xbf16>
  %a6 = stablehlo.dot_general %s6, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c6 = stablehlo.dot_general %a6, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z5 = stablehlo.dot_general %h5, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s5 = stablehlo.multiply %c6, %z5 : tensor<1024x256xbf16>
  %a5 = stablehlo.dot_general %s5, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c5 = stablehlo.dot_general %a5, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z4 = stablehlo.dot_general %h4, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s4 = stablehlo.multiply %c5, %z4 : tensor<1024x256xbf16>
  %a4 = stablehlo.dot_general %s4, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c4 = stablehlo.dot_general %a4, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z3 = stablehlo.dot_general %h3, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s3 = stablehlo.multiply %c4, %z3 : tensor<1024x256xbf16>
  %a3 = stablehlo.dot_general %s3, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c3 = stablehlo.dot_general %a3, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z2 = stablehlo.dot_general %h2, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s2 = stablehlo.multiply %c3, %z2 : tensor<1024x256xbf16>
  %a2 = stablehlo.dot_general %s2, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c2 = stablehlo.dot_general %a2, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z1 = stablehlo.dot_general %h1, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s1 = stablehlo.multiply %c2, %z1 : tensor<1024x256xbf16>
  %a1 = stablehlo.dot_general %s1, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c1 = stablehlo.dot_general %a1, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %z0 = stablehlo.dot_general %h0, %u, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  %s0 = stablehlo.multiply %c1, %z0 : tensor<1024x256xbf16>
  %a0 = stablehlo.dot_general %s0, %w, contracting_dims = [1] x [0] : (tensor<1024x256xbf16>, tensor<256x5120xbf16>) -> tensor<1024x5120xbf16>
  %c0 = stablehlo.dot_general %a0, %v, contracting_dims = [1] x [0] : (tensor<1024x5120xbf16>, tensor<5120x256xbf16>) -> tensor<1024x256xbf16>
  return %c0 : tensor<1024x256xbf16>
}

// -----

// Zeros between columns are put there by an operation of its own on TPU, which reads the sines from memory and
// writes what is added: 1.00 GiB on v5e. Elsewhere the sum computes both.
// CHECK: memory per device: peak 640.0 MiB
// CHECK: 1.01 GiB on TPU and 640.0 MiB on GPU
// TPU: memory per device: peak 1.01 GiB
// GPU: memory per device: peak 640.0 MiB
// CPU: memory per device: peak 640.0 MiB
func.func @between_columns(%x: tensor<8192x4096xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.sine %x : tensor<8192x4096xf32>
  %1 = stablehlo.pad %0, %zero, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<8192x8192xf32>
  %2 = stablehlo.add %1, %y : tensor<8192x8192xf32>
  return %2 : tensor<8192x8192xf32>
}

// -----

// Every second column is of values in memory on TPU, and is written itself: 1.12 GiB on v5e.
// TPU: memory per device: peak 1.14 GiB
// GPU: memory per device: peak 640.0 MiB
func.func @every_second_column(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x4096xf32> {
  %0 = stablehlo.sine %x : tensor<8192x8192xf32>
  %1 = stablehlo.slice %0 [0:8192, 0:8192:2] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %2 = stablehlo.cosine %y : tensor<8192x8192xf32>
  %3 = stablehlo.slice %2 [0:8192, 1:8192:2] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<8192x4096xf32>
  return %4 : tensor<8192x4096xf32>
}

// -----

// Every second matrix is of a value in memory, too, but is not written itself: 896.0 MiB on v5e.
// TPU: memory per device: peak 903.7 MiB
// GPU: memory per device: peak 640.0 MiB
func.func @every_second_matrix(%x: tensor<64x128x8192xf32>, %y: tensor<64x128x8192xf32>) -> tensor<32x128x8192xf32> {
  %0 = stablehlo.sine %x : tensor<64x128x8192xf32>
  %1 = stablehlo.slice %0 [0:64:2, 0:128, 0:8192] : (tensor<64x128x8192xf32>) -> tensor<32x128x8192xf32>
  %2 = stablehlo.slice %y [1:64:2, 0:128, 0:8192] : (tensor<64x128x8192xf32>) -> tensor<32x128x8192xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<32x128x8192xf32>
  return %3 : tensor<32x128x8192xf32>
}

// -----

// Both halves of a product of elements are of one that is in memory (896.0 MiB on v5e); one half is computed alone.
// TPU: memory per device: peak 903.7 MiB
// GPU: memory per device: peak 640.0 MiB
func.func @both_halves(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x4096xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<8192x8192xf32>
  %1 = stablehlo.slice %0 [0:8192, 0:4096] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %2 = stablehlo.slice %0 [0:8192, 4096:8192] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<8192x4096xf32>
  return %3 : tensor<8192x4096xf32>
}

// -----

// TPU: memory per device: peak 640.0 MiB
func.func @one_half(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x4096xf32> {
  %0 = stablehlo.sine %x : tensor<8192x8192xf32>
  %1 = stablehlo.slice %0 [0:8192, 0:4096] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %2 = stablehlo.slice %y [0:8192, 4096:8192] : (tensor<8192x8192xf32>) -> tensor<8192x4096xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<8192x4096xf32>
  return %3 : tensor<8192x4096xf32>
}

// -----

// What is put beside each other is written first (768.0 MiB on v5e), and what is reversed (the same with 1.00 GiB).
// TPU: memory per device: peak 775.7 MiB
// GPU: memory per device: peak 512.0 MiB
func.func @beside(%x: tensor<8192x4096xf32>, %y: tensor<8192x4096xf32>) -> tensor<8192x8192xf32> {
  %0 = stablehlo.sine %x : tensor<8192x4096xf32>
  %1 = stablehlo.cosine %y : tensor<8192x4096xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<8192x4096xf32>, tensor<8192x4096xf32>) -> tensor<8192x8192xf32>
  %3 = stablehlo.negate %2 : tensor<8192x8192xf32>
  return %3 : tensor<8192x8192xf32>
}

// -----

// TPU: memory per device: peak 1.01 GiB
// GPU: memory per device: peak 768.0 MiB
func.func @reversed(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %0 = stablehlo.sine %x : tensor<8192x8192xf32>
  %1 = stablehlo.reverse %0, dims = [1] : tensor<8192x8192xf32>
  %2 = stablehlo.multiply %1, %y : tensor<8192x8192xf32>
  return %2 : tensor<8192x8192xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// What a shard_map saves for its gradient is computed again if it is elementwise, as outside of one: compilers see
// no boundary. The cosine would take 4.00 MiB more.
// CHECK: memory per device: peak 20.0 MiB
// GPU: memory per device: peak 20.0 MiB
// CPU: memory per device: peak 20.0 MiB
func.func @saved(%x: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32>) -> tensor<4096x1024xf32> {
  %y, %saved = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<1024x1024xf32>) {
    %0 = stablehlo.sine %a : tensor<1024x1024xf32>
    %1 = stablehlo.cosine %a : tensor<1024x1024xf32>
    sdy.return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  } : (tensor<4096x1024xf32>) -> (tensor<4096x1024xf32>, tensor<4096x1024xf32>)
  %p = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
  %z = sdy.manual_computation(%saved, %p) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) {
    %0 = stablehlo.multiply %a, %b : tensor<1024x1024xf32>
    sdy.return %0 : tensor<1024x1024xf32>
  } : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %z : tensor<4096x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// On TPU, convolutions have features and batch as minor dimensions. Here 64 features take 128 lanes, though 256 columns
// would fill them. The argument is 128 MiB, a result 256 MiB; compiled for v5e: 512.6 MiB.
// TPU: memory per device: peak 524.1 MiB
// GPU: memory per device: peak 512.3 MiB
func.func @convolved(%x: tensor<32x256x256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %k: tensor<3x3x64x64xf32>) -> tensor<3x3x64x64xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x256x256x64xf32>, tensor<3x3x64x64xf32>) -> tensor<32x256x256x64xf32>
  %1 = stablehlo.tanh %0 : tensor<32x256x256x64xf32>
  %2 = stablehlo.convolution(%1, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x256x256x64xf32>, tensor<3x3x64x64xf32>) -> tensor<32x256x256x64xf32>
  %3 = stablehlo.convolution(%0, %2) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x256x256x64xf32>, tensor<32x256x256x64xf32>) -> tensor<3x3x64x64xf32>
  return %3 : tensor<3x3x64x64xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=4]>

// The exponentials are summed up whole, and a device then keeps a shard of the quotients. They are computed
// again for that, except on TPU, where they are written once.
// TPU: memory per device: peak 1.08 GiB
// GPU: memory per device: peak 688.0 MiB
func.func @kept_as_a_shard(%x: tensor<32x1024x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %w: tensor<512x32768xbf16>) -> (tensor<512x32768xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<32x1024x512xbf16>, tensor<512x32768xbf16>) -> tensor<32x1024x32768xbf16>
  %1 = stablehlo.convert %0 : (tensor<32x1024x32768xbf16>) -> tensor<32x1024x32768xf32>
  %2 = stablehlo.exponential %1 : tensor<32x1024x32768xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<32x1024x32768xf32>, tensor<f32>) -> tensor<32x1024xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x1024xf32>) -> tensor<32x1024x32768xf32>
  %5 = stablehlo.divide %2, %4 : tensor<32x1024x32768xf32>
  %6 = stablehlo.convert %5 : (tensor<32x1024x32768xf32>) -> tensor<32x1024x32768xbf16>
  %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}, {}, {}]> : tensor<32x1024x32768xbf16>
  %8 = stablehlo.dot_general %x, %7, contracting_dims = [0, 1] x [0, 1] : (tensor<32x1024x512xbf16>, tensor<32x1024x32768xbf16>) -> tensor<512x32768xbf16>
  return %8 : tensor<512x32768xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=4]>

// TPU gathers a result elsewhere and copies it. The argument that has its memory is copied first. GPU transposes
// what it gathers along the second dimension, and so does CPU.
// TPU: memory per device: peak 647.7 MiB
// GPU: memory per device: peak 704.0 MiB
// CPU: memory per device: peak 704.0 MiB
func.func @gathered_result(%w: tensor<8192x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, tf.aliasing_output = 0 : i32}, %m: tensor<8192x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 1 : i32}, %g: tensor<8192x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8192x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<8192x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.add %m, %g : tensor<8192x32768xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<8192x32768xf32>
  return %1, %0 : tensor<8192x32768xf32>, tensor<8192x32768xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=4]>

// The gradient of a weight is summed over devices and transposed: that is its layout. GPU sums in place.
// TPU: memory per device: peak 1.04 GiB
// GPU: memory per device: peak 536.0 MiB
// CPU: memory per device: peak 1.02 GiB
func.func @transposed_sum(%x: tensor<1024x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<1024x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8192x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<1024x16384xf32>, tensor<1024x8192xf32>) -> tensor<16384x8192xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16384x8192xf32>) -> tensor<8192x16384xf32>
  return %1 : tensor<8192x16384xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=4]>

// What a loop reads is in the buffer of the result until that is computed. The compiler for H100 needs as much.
// CHECK: memory per device: peak 1.00 GiB
// GPU: memory per device: peak 1.00 GiB
// CPU: memory per device: peak 1.00 GiB
func.func @in_result(%x: tensor<65536x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<65536x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<4096x4096xf32>) -> (tensor<65536x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c9 = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] : (tensor<65536x4096xf32>, tensor<4096x4096xf32>) -> tensor<65536x4096xf32>
  %1:3 = stablehlo.while(%i = %c0, %y = %0, %m = %s) : tensor<i32>, tensor<65536x4096xf32>, tensor<4096x4096xf32>
  cond {
    %4 = stablehlo.compare LT, %i, %c9 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0] : (tensor<65536x4096xf32>, tensor<65536x4096xf32>) -> tensor<4096x4096xf32>
    %5 = stablehlo.dot_general %4, %m, contracting_dims = [1] x [0] : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %6 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %6, %y, %5 : tensor<i32>, tensor<65536x4096xf32>, tensor<4096x4096xf32>
  }
  %2 = stablehlo.dot_general %w, %1#2, contracting_dims = [1] x [0] : (tensor<65536x4096xf32>, tensor<4096x4096xf32>) -> tensor<65536x4096xf32>
  return %2 : tensor<65536x4096xf32>
}
