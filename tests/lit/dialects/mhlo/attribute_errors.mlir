// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// The replication of a parameter has an element for each leaf of its type, or one for all.
func.func @valid(%x: tuple<tensor<4xf32>, tuple<>, tuple<tensor<f32>, i32>> {mhlo.parameter_replication = [true, false, true]},
                 %y: tuple<i32, i32> {mhlo.parameter_replication = [true]},
                 %z: tuple<i32, i32> {mhlo.parameter_replication = []}) {
  return
}

// -----

// expected-error @+1 {{parameter_replication: must be an array}}
func.func @no_array(%x: tensor<4xf32> {mhlo.parameter_replication = true}) {
  return
}

// -----

// expected-error @+1 {{parameter_replication: arg 1 has 1 leaf_buffers, but parameter_replication expects 2}}
func.func @two_of_one(%x: i32, %y: tensor<4xf32> {mhlo.parameter_replication = [true, false]}) {
  return
}

// -----

// A nested type.
!t0 = tuple<i32, i32>
!t1 = tuple<!t0, !t0>
!t2 = tuple<!t1, !t1>
// expected-error @+1 {{parameter_replication: arg 0 has 8 leaf_buffers, but parameter_replication expects 2}}
func.func @nested(%x: !t2 {mhlo.parameter_replication = [true, false]}) {
  return
}

// -----

// expected-error @+1 {{spmd_parameters_sharding: must be an array}}
module attributes {mhlo.spmd_parameters_shardings = "{replicated}"} {
}

// -----

// expected-error @+1 {{has spmd_paramters_sharding but is not a module}}
func.func @main() attributes {mhlo.spmd_parameters_shardings = []} {
  return
}

// -----

// expected-error @+1 {{spmd_parameters_sharding: main not found}}
module attributes {mhlo.spmd_parameters_shardings = ["{replicated}"]} {
  module @main {
  }
}

// -----

// expected-error @+1 {{spmd_parameters_sharding: main has 1 arguments, but spmd_parameters_sharding expects 2}}
module attributes {mhlo.spmd_parameters_shardings = ["{replicated}", "{replicated}"]} {
  func.func @main(%x: i32) {
    return
  }
}

// -----

// expected-error @+1 {{cross_program_prefetches must be an array}}
module attributes {mhlo.cross_program_prefetches = 1} {
}

// -----

// expected-error @+1 {{cross_program_prefetches must be an array of cross_program_prefetch attrs}}
module attributes {mhlo.cross_program_prefetches = [1]} {
}

// -----

module attributes {mhlo.cross_program_prefetches = [], mhlo.spmd_parameters_shardings = ["{replicated}"]} {
  func.func @main(%x: i32) {
    return
  }
}

// -----

// A function without a type is the only error.
module attributes {mhlo.spmd_parameters_shardings = ["{replicated}"]} {
  // expected-error @+1 {{requires attribute 'function_type'}}
  "func.func"() <{sym_name = "main"}> ({}) : () -> ()
}

// -----

module attributes {mhlo.cross_program_prefetches = [#mhlo.cross_program_prefetch<parameter = 0, indices = [], offset = 0>]} {
  // expected-error @+1 {{requires attribute 'function_type'}}
  "func.func"() <{sym_name = "main"}> ({}) : () -> ()
}
