// RUN: not sdy-opt %s -split-input-file 2>&1 | filecheck %s

// The documentation has the text of some attributes between `<` and `>`. That is an error, and a help line
// has the right syntax.

// CHECK: error: expected '{'
// CHECK: help: an attribute of this kind is written `#sdy<manual_axes{"x", "y"}>`
module attributes {test.axes = #sdy.manual_axes<"x", "y">} {}

// -----

// CHECK: error: expected string
// CHECK: help: an attribute of this kind is written `#sdy<axis_ref"x":(1)2>`
// CHECK: error: failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`
module attributes {test.axis = #sdy.axis_ref<"x":(1)2>} {}

// -----

// CHECK: error: expected '['
// CHECK: help: an attribute of this kind is written `#sdy<tensor_mapping[i, j]>`
module attributes {test.mapping = #sdy.tensor_mapping<[i, j]>} {}

// -----

// The mnemonic may be left out only inside another attribute and in sdy's own operations.
// CHECK: error: expected attribute value
// CHECK: help: write `sdy.sharding = #sdy.sharding<@mesh, […]>`
func.func private @argument(%arg: tensor<8xf32> {sdy.sharding = <@mesh, [{"x"}]>})

// -----

// CHECK: error: unknown attribute `axes` in dialect `sdy`
module attributes {test.axes = #sdy<axes{"x"}>} {}
