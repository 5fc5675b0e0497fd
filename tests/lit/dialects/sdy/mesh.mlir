// RUN: sdy-opt %s | filecheck %s

// Axes and their sizes, with iota device ids.
// CHECK: sdy.mesh @two_axes = <["x"=2, "y"=4]>
sdy.mesh @two_axes = <["x"=2,"y"=4]>

// Devices in another order.
// CHECK: sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3,2,1,0]>

// Iota device ids are dropped.
// CHECK: sdy.mesh @in_order = <["x"=2, "y"=2]>
sdy.mesh @in_order = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>

// A maximal mesh.
// CHECK: sdy.mesh @maximal = <[], device_ids=[5]>
sdy.mesh @maximal = <[], device_ids=[5]>

// An empty mesh, compatible with any other.
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>

// Axes of size 1, meshes of different sizes, quoted names and attributes.
// CHECK: sdy.mesh @"odd name" = <["axis \22x\22"=1]> {test.note = "kept"}
sdy.mesh @"odd name" = #sdy.mesh<["axis \"x\""=1]> {test.note = "kept"}

// A mesh of more than 2^32 devices.
// CHECK: sdy.mesh @huge = <["x"=4294967296, "y"=4294967296]>
sdy.mesh @huge = <["x"=4294967296, "y"=4294967296]>
