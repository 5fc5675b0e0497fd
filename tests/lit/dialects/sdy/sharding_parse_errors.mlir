// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// The error in a parameter is followed by an error for each enclosing parameter.

// expected-error @+3 {{expected string}}
// expected-error @+2 {{failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`}}
func.func private @f(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{x}]>})

// -----

// expected-error @+2 {{expected '}'}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`}}
func.func private @nothing_after_the_question_mark(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "x"}]>})

// -----

// expected-error @+2 {{expecting priority in format 'p<number>', got: high}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter}}
func.func private @priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}high]>})

// -----

// expected-error @+2 {{priorities with leading zeros are not allowed, got: p07}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter}}
func.func private @priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p07]>})

// -----

// expected-error @+2 {{expecting integer priority, got: p9223372036854775808}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter}}
func.func private @priority(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p9223372036854775808]>})

// -----

// expected-error @+4 {{expected integer value}}
// expected-error @+3 {{failed to parse Sdy_SubAxisInfo parameter 'size' which is to be a `int64_t`}}
// expected-error @+2 {{failed to parse Sdy_AxisRef parameter 'sub_axis_info' which is to be a `SubAxisInfoAttr`}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter}}
func.func private @sub_axis(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)}]>})

// -----

// expected-error @+2 {{expected attribute value}}
// expected-error @+1 {{expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>}}
func.func private @mesh(tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh_x, [{"x"}]>})

// -----

// expected-error @+2 {{invalid kind of attribute specified}}
// expected-error @+1 {{expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>}}
func.func private @mesh(tensor<8xf32> {sdy.sharding = #sdy.sharding<@outer::@mesh, [{"x"}]>})

// -----

// expected-error @+2 {{duplicate axis name: "x"}}
// expected-error @+1 {{failed to parse MeshAttr}}
func.func private @mesh(tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "x"=2]>, [{"x"}]>})

// -----

// expected-error @+4 {{expected string}}
// expected-error @+3 {{failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`}}
// expected-error @+2 {{failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter 'replicated_axes'}}
func.func private @replicated(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={}>})

// -----

// expected-error @+2 {{expected '='}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter 'replicated_axes'}}
func.func private @replicated(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated {"y"}>})

// -----

// expected-error @+1 {{failed to parse Sdy_TensorSharding, expected valid named axis list after comma}}
func.func private @twice(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"x"}, replicated={"y"}>})

// -----

// In an sdy operation, errors in its attributes start with the operation's name.
func.func @f(%arg: tensor<8xf32>) {
  // expected-error @+3 {{custom op 'sdy.reshard' expected string}}
  // expected-error @+2 {{custom op 'sdy.reshard' failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`}}
  // expected-error @+1 {{custom op 'sdy.reshard' failed to parse Sdy_TensorSharding parameter}}
  %0 = sdy.reshard %arg <@mesh, [{x}]> : tensor<8xf32>
  return
}
