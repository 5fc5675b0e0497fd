// RUN: sdy-opt %s --lint=replicating-custom-call --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// The call has no sharding rule, so nothing propagates along it, and each device gets all rows.
func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  // expected-warning@+1 {{custom call @my_kernel has no sharding rule: 1 sharded operand is gathered, 1.00 MiB on each device and 768.0 KiB on the wire}}
  %0 = stablehlo.custom_call @my_kernel(%a) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
