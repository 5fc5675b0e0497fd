// RUN: sdy-opt %s | filecheck %s

// Axes and their sizes; devices count from 0 in row-major order.
// CHECK: sdy.mesh @two_axes = <["x"=2, "y"=4]>
sdy.mesh @two_axes = <["x"=2,"y"=4]>

// Devices in another order.
// CHECK: sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3,2,1,0]>

// Devices in the usual order need not be listed, and are dropped.
// CHECK: sdy.mesh @in_order = <["x"=2, "y"=2]>
sdy.mesh @in_order = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>

// Everything on one device.
// CHECK: sdy.mesh @maximal = <[], device_ids=[5]>
sdy.mesh @maximal = <[], device_ids=[5]>

// An empty mesh gives way to any other.
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>

// Meshes of other sizes and axes of size 1 are fine; so are names and attributes of all kinds.
// CHECK: sdy.mesh @"odd name" = <["axis \22x\22"=1]> {test.note = "kept"}
sdy.mesh @"odd name" = #sdy.mesh<["axis \"x\""=1]> {test.note = "kept"}

// A mesh may hold more devices than fit into 32 bits.
// CHECK: sdy.mesh @huge = <["x"=4294967296, "y"=4294967296]>
sdy.mesh @huge = <["x"=4294967296, "y"=4294967296]>
