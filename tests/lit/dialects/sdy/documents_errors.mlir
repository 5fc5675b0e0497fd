// RUN: not sdy-opt %s -split-input-file 2>&1 | filecheck %s

// Enums that Shardy's documents list are no attributes by themselves, as in C++.

// CHECK: unknown attribute `propagation_direction` in dialect `sdy`
// CHECK: help: a direction is a part of operations and of other attributes, written as FORWARD
func.func private @direction() attributes {a = #sdy.propagation_direction<FORWARD>}

// -----

// CHECK: unknown attribute `reduction_op` in dialect `sdy`
// CHECK: help: a reduction is a part of operations and of shardings, written as unreduced=max{…}
func.func private @reduction() attributes {a = #sdy<reduction_op sum>}

// -----

// CHECK: unknown attribute `edge_node_type` in dialect `sdy`
// CHECK: help: an edge is written as a part of `#sdy.propagation_edges`, as operand-0 or result-0
func.func private @edge() attributes {a = #sdy.edge_node_type<operand>}

// -----

// CHECK: help: an attribute of this kind is written `#sdy<axis_ref"x">`
// CHECK: failed to parse Sdy_AxisRef parameter 'name'
func.func private @axis() attributes {a = #sdy.axis_ref<"x">}
