// The compilers for TPU and GPU make different collectives of a program; a topology chooses one.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s
// RUN: sdy-opt %s --split-input-file --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --split-input-file --report --topology=h100 | filecheck %s --check-prefix=GPU
// RUN: sdy-opt %s --split-input-file --report --topology=cpu | filecheck %s --check-prefix=CPU

sdy.mesh @mesh = <["x"=8]>

// Only a product of default precision uses the gathered weight.
// CHECK: communication: 3.50 MiB on the wire per device, 1 collective
// CHECK: 1.75 MiB on TPU and 3.50 MiB on GPU; figures are of what both compilers do
// TPU: communication: 1.75 MiB on the wire per device, 1 collective
// TPU: sent as bf16, because only
// GPU: communication: 3.50 MiB on the wire per device, 1 collective
func.func @default(%x: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// CHECK:     communication: 3.50 MiB on the wire per device, 1 collective
// CHECK-NOT: on TPU
// CHECK: memory per device
// TPU: communication: 3.50 MiB on the wire per device, 1 collective
// GPU: communication: 3.50 MiB on the wire per device, 1 collective
func.func @highest(%x: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// An argument is updated with 32 bits, what is computed with 16.
// TPU: communication: 2.62 MiB on the wire per device, 2 collectives
// GPU: communication: 3.50 MiB on the wire per device, 2 collectives
func.func @updated(%x: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<1024x1024xf32>) -> (tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.all_gather [{"x"}, {}] %v out_sharding=<@mesh, [{}, {}]> : tensor<512x1024xf32>
  %1 = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<512x1024xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.dynamic_update_slice %c, %0, %zero, %zero : (tensor<1024x1024xf32>, tensor<512x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<1024x1024xf32>
  %3 = stablehlo.negate %c : tensor<1024x1024xf32>
  %4 = stablehlo.dynamic_update_slice %3, %1, %zero, %zero : (tensor<1024x1024xf32>, tensor<512x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<1024x1024xf32>
  %5 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %6 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  return %5, %6 : tensor<64x1024xf32>, tensor<64x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// The gradient is summed up over the iterations, so the devices combine the sum once.
// CHECK:     communication: 1.75 MiB on the wire per device, 1 collective
// CHECK-NOT: on TPU
// CHECK: memory per device
// TPU: communication: 1.75 MiB on the wire per device, 1 collective
// TPU: done once,
// TPU: after the loop that sums up its results
// GPU: communication: 1.75 MiB on the wire per device, 1 collective
func.func @accumulated(%x: tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<64x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<512x512xf32>
  %r:4 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %sum = %start) : tensor<i32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<512x512xf32>
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.tanh %a : tensor<64x512xf32>
    %0 = stablehlo.dot_general %2, %b, contracting_dims = [0] x [0] : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<512x512xf32>
    %1 = stablehlo.add %sum, %0 : tensor<512x512xf32>
    stablehlo.return %next, %2, %b, %1 : tensor<i32>, tensor<64x512xf32>, tensor<64x512xf32>, tensor<512x512xf32>
  }
  return %r#3 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// Products of 16-bit floats send parts around a ring.
// CHECK: communication: 896.0 KiB on the wire per device, 1 collective
// TPU: communication: 1.12 MiB on the wire per device, 1 collective
// TPU: a ring of permutes beside the product
// GPU: communication: 896.0 KiB on the wire per device, 1 collective
func.func @gathered(%x: tensor<512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<512x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x1024xbf16>, tensor<1024x8192xbf16>) -> tensor<512x8192xbf16>
  return %0 : tensor<512x8192xbf16>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// TPU: communication: 10.0 MiB on the wire per device, 1 collective
// GPU: communication: 6.00 MiB on the wire per device, 1 collective
func.func @scattered(%x: tensor<8x1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {"m"}]>}, %w: tensor<8192x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<8x1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x1024x8192xbf16>, tensor<8192x1024xbf16>) -> tensor<8x1024x1024xbf16>
  return %0 : tensor<8x1024x1024xbf16>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// The parts of a sum of fewer terms would be sent for longer than they are computed.
// TPU: communication: 6.00 MiB on the wire per device, 1 collective
// TPU: reduce_scatter {"m"}
func.func @of_few_terms(%x: tensor<8x1024x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {"m"}]>}, %w: tensor<2048x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<8x1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x1024x2048xbf16>, tensor<2048x1024xbf16>) -> tensor<8x1024x1024xbf16>
  return %0 : tensor<8x1024x1024xbf16>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// Each device multiplies its rows with the parts of the weight that arrive. Of fewer rows than here, it waits.
// TPU: communication: 2.25 MiB on the wire per device, 1 collective
// TPU: a ring of permutes beside the product
func.func @gathered_weight(%x: tensor<8192x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8192x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<8192x1024xbf16>
  return %0 : tensor<8192x1024xbf16>
}

// -----

sdy.mesh @mesh = <["d"=4, "m"=2]>

// Two dimensions are scattered.
// CHECK: communication: 28.0 MiB on the wire per device, 1 collective
// CHECK: all_reduce {"d", "m"}
// CHECK: all-reduced: a reduce-scatter is of one dimension
// TPU: communication: 28.0 MiB on the wire per device, 1 collective
// GPU: communication: 28.0 MiB on the wire per device, 1 collective
// CPU: communication: 14.0 MiB on the wire per device, 1 collective
func.func @gradient(%x: tensor<8x512x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>}, %y: tensor<8x512x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>}) -> (tensor<2048x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}]>}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1] : (tensor<8x512x2048xbf16>, tensor<8x512x4096xbf16>) -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// -----

sdy.mesh @mesh = <["d"=2, "m"=4]>

// Shards of 64 elements in the minor dimension are half a tile.
// TPU: communication: 12.0 MiB on the wire per device, 1 collective
// TPU: all_reduce {"m"}
// TPU: all-reduced: shards of 64 elements are not whole tiles
// GPU: communication: 6.00 MiB on the wire per device, 1 collective
func.func @in_tiles(%x: tensor<16x64x16x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {}, {"m"}]>}, %w: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}) -> (tensor<16x64x16x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {}, {"m"}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [3] x [0] : (tensor<16x64x16x1024xf32>, tensor<1024x256xf32>) -> tensor<16x64x16x256xf32>
  return %0 : tensor<16x64x16x256xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// The elements that a product uses are moved before: looked up, cut at zero, carried by a loop.
// TPU: communication: 3.50 MiB on the wire per device, 2 collectives
// TPU: sent as bf16, because only
// GPU: communication: 7.00 MiB on the wire per device, 2 collectives
func.func @moved(%x: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<64x1xi32>, %w: tensor<1024x8xf32>) -> tensor<64x8xf32> {
  %0 = sdy.manual_computation(%x, %i, %w) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%a: tensor<128x1024xf32>, %b: tensor<64x1xi32>, %c: tensor<1024x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<1024x1024xf32>
    %start = stablehlo.constant dense<0.0> : tensor<64x8xf32>
    %all = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<128x1024xf32>) -> tensor<1024x1024xf32>
    %cut = stablehlo.maximum %all, %none : tensor<1024x1024xf32>
    %rows = "stablehlo.gather"(%cut, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1024>}> : (tensor<1024x1024xf32>, tensor<64x1xi32>) -> tensor<64x1024xf32>
    %first = stablehlo.dot_general %rows, %c, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x8xf32>) -> tensor<64x8xf32>
    %last:3 = stablehlo.while(%n = %zero, %k = %a, %sum = %first) : tensor<i32>, tensor<128x1024xf32>, tensor<64x8xf32>
    cond {
      %p = stablehlo.compare LT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %n, %one : tensor<i32>
      %sent = "stablehlo.all_gather"(%k) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<128x1024xf32>) -> tensor<1024x1024xf32>
      %part = stablehlo.slice %sent [0:128, 0:1024] : (tensor<1024x1024xf32>) -> tensor<128x1024xf32>
      %half = stablehlo.slice %k [0:64, 0:1024] : (tensor<128x1024xf32>) -> tensor<64x1024xf32>
      %product = stablehlo.dot_general %half, %c, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x8xf32>) -> tensor<64x8xf32>
      %total = stablehlo.add %sum, %product : tensor<64x8xf32>
      stablehlo.return %next, %part, %total : tensor<i32>, tensor<128x1024xf32>, tensor<64x8xf32>
    }
    sdy.return %last#2 : tensor<64x8xf32>
  } : (tensor<1024x1024xf32>, tensor<64x1xi32>, tensor<1024x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=16]>

// 16 devices are a square of 4x4.
// TPU: communication: 120.0 MiB on the wire per device, 1 collective
// TPU: all_reduce {"x"}
// GPU: communication: 60.0 MiB on the wire per device, 1 collective
// GPU: reduce_scatter {"x"}
func.func @square(%x: tensor<16x4096x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<4096x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4096x8192xbf16>, tensor<bf16>) -> tensor<4096x8192xbf16>
  return %0 : tensor<4096x8192xbf16>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// TPU: communication: 16.0 KiB on the wire per device
// GPU: communication: 1.75 MiB on the wire per device
func.func @scan(%x: tensor<16x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<16x32768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [32767, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 32768>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<16x32768xf32>, tensor<f32>) -> tensor<16x32768xf32>
  return %0 : tensor<16x32768xf32>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// TPU: communication: 1.75 MiB on the wire per device, 2 collectives
// TPU: its transpose is gathered already
// GPU: communication: 3.50 MiB on the wire per device, 2 collectives
func.func @transposed(%x: tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %2 : tensor<1024x1024xbf16>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// The weight does not change in the loop, but its gather makes it larger.
// TPU: communication: 4.38 MiB on the wire per device, 1 collective
// TPU: done in each iteration of the loop
// GPU: communication: 4.38 MiB on the wire per device, 1 collective
// CPU: communication: 448.0 KiB on the wire per device, 1 collective
func.func @loop(%w: tensor<512x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %h: tensor<64x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %w, %b = %h) : tensor<i32>, tensor<512x512xbf16>, tensor<64x512xbf16>
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %0 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<64x512xbf16>, tensor<512x512xbf16>) -> tensor<64x512xbf16>
    %1 = stablehlo.tanh %0 : tensor<64x512xbf16>
    stablehlo.return %next, %a, %1 : tensor<i32>, tensor<512x512xbf16>, tensor<64x512xbf16>
  }
  return %r#2 : tensor<64x512xbf16>
}

// -----

sdy.mesh @mesh = <["f"=8, "t"=2]>

// A gradient of a weight that sums over two dimensions.
// TPU: communication: 9.00 MiB on the wire per device, 1 collective
// TPU: a ring of permutes beside the product
// GPU: communication: 7.00 MiB on the wire per device, 1 collective
func.func @gradient(%x: tensor<32x512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {}]>}, %g: tensor<32x512x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {}, {"t"}]>}) -> (tensor<1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"f"}, {"t"}]>}) {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0, 1] x [0, 1] : (tensor<32x512x1024xbf16>, tensor<32x512x8192xbf16>) -> tensor<1024x8192xbf16>
  return %0 : tensor<1024x8192xbf16>
}

// -----

sdy.mesh @mesh = <["b"=4]>

// The batch of a transform is gathered as that of other operations.
// GPU: communication: 6.00 KiB on the wire per device, 1 collective
// TPU: communication: 6.00 KiB on the wire per device, 1 collective
func.func @batch(%a: tensor<16x64xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) -> tensor<16x64xcomplex<f32>> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x64xcomplex<f32>>
  %1 = stablehlo.fft %0, type = FFT, length = [64] : (tensor<16x64xcomplex<f32>>) -> tensor<16x64xcomplex<f32>>
  return %1 : tensor<16x64xcomplex<f32>>
}

// -----

sdy.mesh @grid = <["b"=2, "x"=4]>

// A Fourier transform is products to libtpu, which sums up parts along a sharded dimension, and transforms the
// whole back. If the result is sharded alike, the real operands of the products are gathered.
// GPU: communication: 5.25 MiB on the wire per device, 6 collectives
// TPU: communication: 3.38 MiB on the wire per device, 6 collectives
// TPU: summed up: a Fourier transform is a product for each dimension
func.func @transforms(
    %a: tensor<16x64x256xcomplex<f32>> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}, {"x"}]>},
    %b: tensor<16x64x256xcomplex<f32>> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}, {"x"}]>})
    -> (tensor<16x64x256xcomplex<f32>> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}, {"x"}]>},
        tensor<16x64x256xcomplex<f32>> {sdy.sharding = #sdy.sharding<@grid, [{"b"}, {}, {"x"}]>}) {
  %0 = stablehlo.fft %a, type = FFT, length = [256] : (tensor<16x64x256xcomplex<f32>>) -> tensor<16x64x256xcomplex<f32>>
  %1 = stablehlo.negate %0 : tensor<16x64x256xcomplex<f32>>
  %2 = stablehlo.fft %1, type = IFFT, length = [256] : (tensor<16x64x256xcomplex<f32>>) -> tensor<16x64x256xcomplex<f32>>
  %3 = stablehlo.fft %b, type = FFT, length = [256] : (tensor<16x64x256xcomplex<f32>>) -> tensor<16x64x256xcomplex<f32>>
  return %2, %3 : tensor<16x64x256xcomplex<f32>>, tensor<16x64x256xcomplex<f32>>
}

// -----

sdy.mesh @mesh = <["x"=8]>

// A psum_scatter of gradients, which a loop sums up as f32.
// TPU: communication: 896.0 KiB on the wire per device, 1 collective
// GPU: communication: 4.38 MiB on the wire per device, 1 collective
func.func @scattered(%x: tensor<512x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%part: tensor<64x512xbf16>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %start = stablehlo.constant dense<0.0> : tensor<64x512xf32>
    %l:3 = stablehlo.while(%i = %zero, %a = %part, %sum = %start) : tensor<i32>, tensor<64x512xbf16>, tensor<64x512xf32>
    cond {
      %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %0 = stablehlo.tanh %a : tensor<64x512xbf16>
      %1 = stablehlo.dot_general %0, %a, contracting_dims = [0] x [0] : (tensor<64x512xbf16>, tensor<64x512xbf16>) -> tensor<512x512xbf16>
      %2 = "stablehlo.reduce_scatter"(%1) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%c: tensor<bf16>, %d: tensor<bf16>):
        %5 = stablehlo.add %c, %d : tensor<bf16>
        stablehlo.return %5 : tensor<bf16>
      }) : (tensor<512x512xbf16>) -> tensor<64x512xbf16>
      %3 = stablehlo.convert %2 : (tensor<64x512xbf16>) -> tensor<64x512xf32>
      %4 = stablehlo.add %sum, %3 : tensor<64x512xf32>
      stablehlo.return %next, %0, %4 : tensor<i32>, tensor<64x512xbf16>, tensor<64x512xf32>
    }
    sdy.return %l#2 : tensor<64x512xf32>
  } : (tensor<512x512xbf16>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A weight is gathered and converted: GPU sends what it is converted to, as TPU does if that has 16 bits. The gradient
// of such a weight is the slice of a transposed sum, which is scattered instead.
// CHECK-LABEL: communication: 4.50 MiB
// TPU-LABEL: communication: 3.00 MiB
// GPU-LABEL: communication: 3.00 MiB
// GPU: sent as bf16, beside a
// CPU-LABEL: communication: 4.50 MiB
func.func @gathered_in_program(%x: tensor<512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<1024x1024xf32>
  %1 = stablehlo.convert %0 : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<512x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<512x1024xbf16>
  %3 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
  %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}]> : tensor<1024x1024xbf16>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %2, %5 : tensor<512x1024xbf16>, tensor<1024x1024xbf16>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// What is converted to a wider type before it is gathered is sent as it was on GPU.
// TPU-LABEL: communication: 3.00 MiB
// GPU-LABEL: communication: 1.50 MiB
// GPU: sent as bf16, beside a
// CPU-LABEL: communication: 3.00 MiB
func.func @widened(%x: tensor<1024x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<1024x1024xf32> {
  %0 = stablehlo.convert %x : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<1024x1024xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A psum of a shard_map of which a device keeps a shard is scattered; CPU sums up the whole.
// TPU-LABEL: communication: 3.00 MiB
// TPU: a reduce-scatter, because a device
// GPU-LABEL: communication: 3.00 MiB
// CPU-LABEL: communication: 6.00 MiB
func.func @sliced_psum(%x: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%a: tensor<1024x1024xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %2 = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    sdy.return %1 : tensor<1024x1024xf32>
  } : (tensor<4096x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=4]>

// Gradients of four micro-batches are summed up after the loop: on GPU as bf16; on TPU in the type of the sum, and
// scattered, because a device keeps a shard.
// TPU-LABEL: communication: 3.00 MiB
// TPU: as a reduce-scatter
// GPU-LABEL: communication: 3.00 MiB
// CPU-LABEL: communication: 12.0 MiB
func.func @accumulated(%x: tensor<4x512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %y: tensor<4x512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<1024x1024xf32>
  %0:2 = stablehlo.while(%i = %c0, %sum = %zero) : tensor<i32>, tensor<1024x1024xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %c0, %c0, sizes = [1, 512, 1024] : (tensor<4x512x1024xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x1024xbf16>
    %2 = stablehlo.reshape %1 : (tensor<1x512x1024xbf16>) -> tensor<512x1024xbf16>
    %3 = stablehlo.dynamic_slice %y, %i, %c0, %c0, sizes = [1, 512, 1024] : (tensor<4x512x1024xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x1024xbf16>
    %4 = stablehlo.reshape %3 : (tensor<1x512x1024xbf16>) -> tensor<512x1024xbf16>
    %5 = stablehlo.dot_general %2, %4, contracting_dims = [0] x [0] : (tensor<512x1024xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<1024x1024xbf16>
    %7 = stablehlo.convert %6 : (tensor<1024x1024xbf16>) -> tensor<1024x1024xf32>
    %8 = stablehlo.add %sum, %7 : tensor<1024x1024xf32>
    %9 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %9, %8 : tensor<i32>, tensor<1024x1024xf32>
  }
  %1 = sdy.sharding_constraint %0#1 <@mesh, [{}, {}]> : tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}

// -----

sdy.mesh @mesh = <["data"=16]>

// A weight is gathered for two products with 110 operations in between: libtpu gathers it again, with 100 it does not.
// TPU-LABEL: communication: 15.0 MiB on the wire per device, 2 collectives
// GPU-LABEL: communication: 7.50 MiB on the wire per device, 1 collective
// CPU-LABEL: communication: 7.50 MiB on the wire per device, 1 collective
func.func @gathered_again(%x: tensor<4096x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<2048x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<4096x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<4096x2048xbf16>
  %1 = call @ten(%0) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %2 = call @ten(%1) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %3 = call @ten(%2) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %4 = call @ten(%3) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %5 = call @ten(%4) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %6 = call @ten(%5) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %7 = call @ten(%6) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %8 = call @ten(%7) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %9 = call @ten(%8) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %10 = call @ten(%9) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %11 = call @ten(%10) : (tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16>
  %12 = stablehlo.dot_general %11, %w, contracting_dims = [1] x [0] : (tensor<4096x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<4096x2048xbf16>
  return %12 : tensor<4096x2048xbf16>
}
func.func private @ten(%x: tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16> {
  %0 = stablehlo.tanh %x : tensor<4096x2048xbf16>
  %1 = stablehlo.tanh %0 : tensor<4096x2048xbf16>
  %2 = stablehlo.tanh %1 : tensor<4096x2048xbf16>
  %3 = stablehlo.tanh %2 : tensor<4096x2048xbf16>
  %4 = stablehlo.tanh %3 : tensor<4096x2048xbf16>
  %5 = stablehlo.tanh %4 : tensor<4096x2048xbf16>
  %6 = stablehlo.tanh %5 : tensor<4096x2048xbf16>
  %7 = stablehlo.tanh %6 : tensor<4096x2048xbf16>
  %8 = stablehlo.tanh %7 : tensor<4096x2048xbf16>
  %9 = stablehlo.tanh %8 : tensor<4096x2048xbf16>
  return %9 : tensor<4096x2048xbf16>
}
