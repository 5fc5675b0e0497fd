sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(%x: tensor<?x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x32xf32>)
    -> (tensor<?x32xf32> {jax.result_info = "result"}) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x16xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %b, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %b) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'b'. Obtained 'b' = {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0 = call @_wrapped_jax_export_main(%b, %x, %w) : (tensor<i32>, tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
func.func private @_wrapped_jax_export_main(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x16xf32>, %w: tensor<16x32xf32>) -> tensor<?x32xf32> {
  %columns = stablehlo.constant dense<32> : tensor<1xi32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
  %1 = call @relu(%b, %0) : (tensor<i32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {"model"}]> : tensor<?x32xf32>
  %3 = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
  %4 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %5 = stablehlo.concatenate %4, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %6 = stablehlo.dynamic_broadcast_in_dim %3, %5, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x32xf32>
  %7 = stablehlo.divide %2, %6 : tensor<?x32xf32>
  return %7 : tensor<?x32xf32>
}
func.func private @relu(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %columns = stablehlo.constant dense<32> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_broadcast_in_dim %zero, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x32xf32>
  %3 = stablehlo.maximum %x, %2 : tensor<?x32xf32>
  return %3 : tensor<?x32xf32>
}
