// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @kind(%arg: tensor<8xf32>) {
  // expected-error @+1 {{should have a sharding rule attribute of type OpShardingRuleAttr for attr named 'sdy.sharding_rule'}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = "([i])->([i])"} : tensor<8xf32>
  return
}

// -----

func.func @number_of_operands(%arg: tensor<8xf32>) {
  // expected-error @+1 {{number of operands and mappings must match: 2 != 1}}
  %0 = stablehlo.add %arg, %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
  return
}

// -----

func.func @rank(%arg: tensor<8xf32>) {
  // expected-error @+1 {{operand 1 - mapping rank must match: 2 != 1}}
  %0 = stablehlo.add %arg, %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i, j])->([i]) {i=8, j=2}>} : tensor<8xf32>
  return
}

// -----

func.func @static_shape(%arg: tensor<?xf32>) {
  // expected-error @+1 {{operand - expected a ranked tensor with a static shape. type: 'tensor<?xf32>'}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<?xf32>
  return
}

// -----

func.func @unknown_factor(%arg: tensor<8xf32>) {
  // expected-error @+1 {{result - expecting factor indices to be within 0<=...<num_factors; received: 1, num_factors: 1}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8}>} : tensor<8xf32>
  return
}

// -----

func.func @factor_twice(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{operand - cannot reuse factors for the same tensor value}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, i]) {i=8}>} : tensor<8x8xf32>
  return
}

// -----

func.func @factor_of_size_1(%arg: tensor<8xf32>) {
  // expected-error @+1 {{operand - dim mapping can't have a factor of size 1 if there are multiple factors}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([ij]) {i=8, j=1}>} : tensor<8xf32>
  return
}

// -----

func.func @unused_factor(%arg: tensor<8xf32>) {
  // expected-error @+1 {{has factor j=4 that isn't used in operand and result mappings}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8, j=4}>} : tensor<8xf32>
  return
}

// -----

func.func @sorted(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{indices of special factors must be sorted}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8} permutation={j, i}>} : tensor<8x8xf32>
  return
}

// -----

func.func @unique(%arg: tensor<8xf32>) {
  // expected-error @+1 {{indices of special factors must be unique}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} permutation={i, i}>} : tensor<8xf32>
  return
}

// -----

func.func @in_bounds(%arg: tensor<8xf32>) {
  // expected-error @+1 {{index must be less than 1, got: 2}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} blocked_propagation={k}>} : tensor<8xf32>
  return
}

// -----

func.func @special_in_two_ways(%arg: tensor<8xf32>) {
  // expected-error @+1 {{a factor can only be in one of the reduction, need replication, or permutation factor sets}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i} permutation={i}>} : tensor<8xf32>
  return
}

// -----

func.func @reduced_in_result(%arg: tensor<8xf32>) {
  // expected-error @+1 {{reduction factor cannot be in result mappings}}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} reduction={i}>} : tensor<8xf32>
  return
}
