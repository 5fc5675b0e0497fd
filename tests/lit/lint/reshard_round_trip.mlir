// RUN: sdy-opt %s --lint=reshard-round-trip --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// A constraint in a library function gathers what its caller has sharded. The activation could run on shards.
func.func @activation(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<512x512xf32>
  // expected-warning@+1 {{a value is resharded from P('x') to P() and back, with only elementwise operations between: 768.0 KiB on the wire}}
  %1 = stablehlo.tanh %0 : tensor<512x512xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<512x512xf32>
  // expected-note@+1 {{the value is resharded back for this operation}}
  %3 = stablehlo.negate %2 : tensor<512x512xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  return %4 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// Both operands make the same trip; constants go with them.
func.func @two_operands(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %half = stablehlo.constant dense<0.5> : tensor<512x512xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<512x512xf32>
  %1 = sdy.all_to_all [{"x"}: 0->1] %b out_sharding=<@mesh, [{}, {"x"}]> : tensor<512x512xf32>
  // expected-warning@+1 {{a value is resharded from P('x') to P(None, 'x') and back}}
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<512x512xf32>
  %3 = stablehlo.multiply %2, %half {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<512x512xf32>
  // expected-note@+1 {{the value is resharded back here}}
  %4 = sdy.all_to_all [{"x"}: 1->0] %3 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  return %4 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// A value on the way is used several times, as in the approximation of a GELU.
func.func @gelu(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %half = stablehlo.constant dense<0.5> : tensor<512x512xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<512x512xf32>
  // expected-warning@+1 {{a value is resharded from P('x') to P() and back, with only elementwise operations between: 768.0 KiB on the wire}}
  %1 = stablehlo.multiply %0, %0 : tensor<512x512xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<512x512xf32>
  %3 = stablehlo.tanh %2 : tensor<512x512xf32>
  %4 = stablehlo.multiply %0, %half : tensor<512x512xf32>
  %5 = stablehlo.multiply %4, %3 : tensor<512x512xf32>
  %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<512x512xf32>
  // expected-note@+1 {{the value is resharded back for this operation}}
  %7 = stablehlo.negate %6 : tensor<512x512xf32>
  %8 = sdy.sharding_constraint %7 <@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  return %8 : tensor<512x512xf32>
}
