// Not every product is one to a compiler; a topology chooses which.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s
// RUN: sdy-opt %s --split-input-file --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --split-input-file --report --topology=h100 | filecheck %s --check-prefix=GPU

// A vector is multiplied and summed up.
// CHECK: compute per device: 1.05 MFLOP in 1 product
// TPU: compute per device: 0 FLOP in 1 product
// GPU: compute per device: 0 FLOP in 1 product
func.func @vector(%m: tensor<1024x512xf32>, %v: tensor<512xf32>) -> tensor<1024xf32> {
  %0 = stablehlo.dot_general %m, %v, contracting_dims = [1] x [0] : (tensor<1024x512xf32>, tensor<512xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// So are products of one element each.
// TPU: compute per device: 0 FLOP in 1 product
// GPU: compute per device: 0 FLOP in 1 product
func.func @outer(%m: tensor<8x1024xbf16>, %v: tensor<8x512xbf16>) -> tensor<8x1024x512xbf16> {
  %0 = stablehlo.dot_general %m, %v, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<8x1024xbf16>, tensor<8x512xbf16>) -> tensor<8x1024x512xbf16>
  return %0 : tensor<8x1024x512xbf16>
}

// -----

// A large matrix is left to a library on GPU.
// TPU: compute per device: 0 FLOP in 1 product
// GPU: compute per device: 134.2 MFLOP in 1 product
func.func @large(%m: tensor<8192x8192xf32>, %v: tensor<8192xf32>) -> tensor<8192xf32> {
  %0 = stablehlo.dot_general %m, %v, contracting_dims = [1] x [0] : (tensor<8192x8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// -----

// With a batch, a vector is left to matrix units on TPU, but not a row.
// TPU: compute per device: 16.8 MFLOP in 2 products
// GPU: compute per device: 0 FLOP in 2 products
func.func @batch(%k: tensor<8x1024x1024xbf16>, %v: tensor<8x1024xbf16>, %row: tensor<8x1x1024xbf16>) -> (tensor<8x1024xbf16>, tensor<8x1024x1xbf16>) {
  %0 = stablehlo.dot_general %k, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024xbf16>) -> tensor<8x1024xbf16>
  %1 = stablehlo.dot_general %k, %row, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x1024xbf16>, tensor<8x1x1024xbf16>) -> tensor<8x1024x1xbf16>
  return %0, %1 : tensor<8x1024xbf16>, tensor<8x1024x1xbf16>
}

// -----

// Of the last position, no more is computed on TPU, nor of the product before.
// CHECK: compute per device: 536.9 MFLOP in 2 products
// TPU: compute per device: 33.6 MFLOP in 2 products
// GPU: compute per device: 536.9 MFLOP in 2 products
func.func @last(%x: tensor<8x16x1024xbf16>, %w: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>) -> tensor<8x1x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<8x16x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<8x16x1024xbf16>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [2] x [0] : (tensor<8x16x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<8x16x1024xbf16>
  %2 = stablehlo.convert %1 : (tensor<8x16x1024xbf16>) -> tensor<8x16x1024xf32>
  %3 = stablehlo.slice %2 [0:8, 15:16, 0:1024] : (tensor<8x16x1024xf32>) -> tensor<8x1x1024xf32>
  return %3 : tensor<8x1x1024xf32>
}

// -----

// Of a batch, short vectors are multiplied on TPU, and those of a matrix that is broadcast.
// CHECK: compute per device: 2.13 MFLOP in 3 products
// TPU: compute per device: 1.05 MFLOP in 3 products
// GPU: compute per device: 0 FLOP in 3 products
func.func @short(%k: tensor<8x256x256xf32>, %v: tensor<8x256xf32>, %s: tensor<8x256x64xf32>, %short: tensor<8x64x32xf32>, %w: tensor<8x64xf32>) -> (tensor<8x256xf32>, tensor<8x32xf32>, tensor<8x256xf32>) {
  %0 = stablehlo.dot_general %k, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  %1 = stablehlo.dot_general %w, %short, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<8x64x32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.broadcast_in_dim %v, dims = [0, 1] : (tensor<8x256xf32>) -> tensor<8x256x256xf32>
  %3 = stablehlo.multiply %2, %k : tensor<8x256x256xf32>
  %4 = stablehlo.dot_general %3, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x256x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>
  return %0, %1, %4 : tensor<8x256xf32>, tensor<8x32xf32>, tensor<8x256xf32>
}

// -----

// Fourier transforms are products on TPU, of a long one several.
// CHECK: compute per device: 860.2 kFLOP in 2 products
// TPU: compute per device: 14.6 MFLOP in 2 products
func.func @transforms(%x: tensor<8x1024xcomplex<f32>>, %y: tensor<8x32x64xf32>) -> (tensor<8x1024xcomplex<f32>>, tensor<8x32x33xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [1024] : (tensor<8x1024xcomplex<f32>>) -> tensor<8x1024xcomplex<f32>>
  %1 = stablehlo.fft %y, type = RFFT, length = [32, 64] : (tensor<8x32x64xf32>) -> tensor<8x32x33xcomplex<f32>>
  return %0, %1 : tensor<8x1024xcomplex<f32>>, tensor<8x32x33xcomplex<f32>>
}

// -----

// If only the real part of a result is used, the other one is not computed.
// TPU: compute per device: 4.46 MFLOP in 1 product
func.func @part(%x: tensor<8x1024xcomplex<f32>>) -> tensor<8x1024xf32> {
  %0 = stablehlo.fft %x, type = FFT, length = [1024] : (tensor<8x1024xcomplex<f32>>) -> tensor<8x1024xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<8x1024xcomplex<f32>>) -> tensor<8x1024xf32>
  return %1 : tensor<8x1024xf32>
}

// -----

// Of the functions, only what @main reaches is counted.
// CHECK: compute per device: 8.39 MFLOP in 2 products, 100% of them useful
func.func @main(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %1 = func.call @reached(%0) : (tensor<128x128xf32>) -> tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}
func.func private @reached(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
func.func @other(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}
