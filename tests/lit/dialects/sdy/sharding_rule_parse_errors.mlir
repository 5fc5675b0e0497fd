// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// A dimension without factors has no syntax, so `*` is rejected.
// expected-error @+2 {{expected ']'}}
// expected-error @+1 {{failed to parse Sdy_OpShardingRule parameter 'operand_mappings' which is to be a `::llvm::ArrayRef<TensorMappingAttr>`}}
module attributes {test.rule = #sdy.op_sharding_rule<([*])->([i]) {i=2}>} {}

// -----

// expected-error @+3 {{expecting symbol from 'i' to 'z'. Received: 'a'}}
// expected-error @+2 {{failed to parse Sdy_TensorMapping parameter 'dim_mappings' which is to be a `::llvm::ArrayRef<DimMappingAttr>`}}
// expected-error @+1 {{failed to parse Sdy_OpShardingRule parameter 'operand_mappings'}}
module attributes {test.rule = #sdy.op_sharding_rule<([ia])->([i]) {i=2}>} {}

// -----

// expected-error @+3 {{expecting integer after 'z_'. Received: 'z_k'}}
// expected-error @+2 {{failed to parse Sdy_TensorMapping parameter 'dim_mappings'}}
// expected-error @+1 {{failed to parse Sdy_OpShardingRule parameter 'result_mappings'}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([iz_k]) {i=2}>} {}

// -----

// expected-error @+3 {{expecting positive integer without leading zeros. Received: '0'}}
// expected-error @+2 {{failed to parse Sdy_TensorMapping parameter 'dim_mappings'}}
// expected-error @+1 {{failed to parse Sdy_OpShardingRule parameter 'operand_mappings'}}
module attributes {test.rule = #sdy.op_sharding_rule<([z_0])->([i]) {i=2}>} {}

// -----

// A number that is too large is an error, and replaced with 0: here z.
// expected-error @+2 {{expecting symbol index <=2^63-1. Received: '9223372036854775808'}}
// expected-error @+1 {{Expecting factor index symbol 'i', received: 'z'}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([i]) {z_9223372036854775808=2}>} {}

// -----

// expected-error @+1 {{expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). Expecting factor index symbol 'j', received: 'k'}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([k]) {i=2, k=2}>} {}

// -----

// expected-error @+1 {{expecting single factor symbol: j}}
module attributes {test.rule = #sdy.op_sharding_rule<([ij])->([ij]) {ij=2}>} {}

// -----

// expected-error @+1 {{integer value too large}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([i]) {i=9223372036854775808}>} {}

// -----

// Special factors have a fixed order.
// expected-error @+1 {{expected '>'}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([]) {i=2} permutation={i} reduction={i}>} {}

// -----

// expected-error @+1 {{expected 'custom'}}
module attributes {test.rule = #sdy.op_sharding_rule<([i])->([i]) {i=2}, special>} {}
