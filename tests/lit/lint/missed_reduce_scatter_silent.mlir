// RUN: sdy-opt %s --lint=missed-reduce-scatter --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=2, "fsdp"=4]>

// Another use needs all of the result.
func.func @other_use(%g: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_reduce {"data", "fsdp"} %g out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = sdy.all_slice [{"fsdp"}, {}] %0 out_sharding=<@mesh, [{"fsdp"}, {}]> : tensor<512x512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<512x512xf32>
}

// The result is sliced along an axis that is not reduced.
func.func @other_axis(%g: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = sdy.all_reduce {"data"} %g out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = sdy.all_slice [{"fsdp"}, {}] %0 out_sharding=<@mesh, [{"fsdp"}, {}]> : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// A transpose is no elementwise operation: its result has the axis in another dimension.
func.func @through_transpose(%g: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = sdy.all_reduce {"data"} %g out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = sdy.all_slice [{"data"}, {}] %1 out_sharding=<@mesh, [{"data"}, {}]> : tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["one"=1]>

// An all_reduce along an axis of size 1 sends nothing.
func.func @size_one(%g: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = sdy.all_reduce {"one"} %g out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = sdy.all_slice [{"one"}, {}] %0 out_sharding=<@mesh, [{"one"}, {}]> : tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
