// RUN: sdy-opt %s -sdy-finish-partitioning --verify-diagnostics --split-input-file -o /dev/null

// The devices that a smaller mesh does not have take no part in its collectives.
// expected-warning @+1 {{has 2 of the program's 4 devices: on the others, values that are sharded on this mesh are not defined}}
sdy.mesh @half = <["x"=2]>
sdy.mesh @all = <["y"=4]>

// -----

// Meshes of equal sizes have the same devices. A mesh of one device gets no warning: its values are replicated.
sdy.mesh @flat = <["x"=4]>
sdy.mesh @square = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=4], device_ids=[3, 2, 1, 0]>
sdy.mesh @one = <["x"=1]>
sdy.mesh @device = <[], device_ids=[1]>
