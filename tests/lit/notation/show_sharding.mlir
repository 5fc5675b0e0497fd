// The shards of a matrix are drawn as a grid, with the devices of each. Below it is the sharding in each notation.
// Devices 0 and 1 differ in the minor half of "y" alone, so they have the same shard.
// RUN: sdy-opt --show-sharding='<@mesh, [{"x"}, {"y":(1)2}]>' --mesh='"x"=4, "y"=4' --shape=64x128 | filecheck %s --check-prefix=GRID
// GRID:      tensor         64x128
// GRID-NEXT: mesh           <["x"=4, "y"=4]>
// GRID-NEXT: shards         8 of 16x64, each on 2 devices
// GRID:      │       │  0:64  │ 64:128 │
// GRID:      │ 0:16  │  0, 1  │  2, 3  │
// GRID:      │ 48:64 │ 12, 13 │ 14, 15 │
// GRID:      sdy            #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>
// GRID: GSPMD V2       {devices=[4,2,2]<=[16] last_tile_dim_replicate}
// GRID-NEXT: PartitionSpec  none: "y":(1)2 is a sub-axis, and a PartitionSpec has full axes only
// GRID-NEXT: mesh dialect   none: "y":(1)2 is a sub-axis, and the mesh dialect has full axes only

// Every notation is accepted: here that of JAX. Quotes around the axes of --mesh may be left out.
// RUN: sdy-opt --show-sharding="PartitionSpec(('y', 'x'), None)" --mesh=x=2,y=2 --shape=8x8 | filecheck %s --check-prefix=SPEC
// SPEC:      sdy            #sdy.sharding<@mesh, [{"y", "x"}, {}]>
// SPEC: GSPMD V2       {devices=[4,1]<=[2,2]T(1,0)}
// SPEC-NEXT: PartitionSpec  PartitionSpec(('y', 'x'), None)
// SPEC-NEXT: mesh dialect   #mesh.shard<@mesh, {{\[\[}}1, 0], []]>

// That of GSPMD, on a mesh. Axes are found by the order of devices.
// RUN: sdy-opt --show-sharding='{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}' --mesh=x=2,y=4 --shape=8x8 | filecheck %s --check-prefix=HLO
// HLO: │ 0:2 │ 0 + 4 │
// HLO: a + b: the shard is the sum of what these devices have
// HLO: sdy            #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>
// HLO: PartitionSpec  PartitionSpec('y', None, unreduced={'x'})
// HLO: mesh dialect   #mesh.shard<@mesh, {{\[\[}}1], []], partial = sum[0]>

// Without a mesh, one is made, with the names that XLA gives to axes. Without a shape, shards are counted from 0.
// RUN: sdy-opt --show-sharding='{devices=[2,2]0,2,1,3}' | filecheck %s --check-prefix=NEW-MESH
// NEW-MESH: mesh           <["_axis_0"=2, "_axis_1"=2]>
// NEW-MESH: │     │ 0/2 │ 1/2 │
// NEW-MESH: │ 0/2 │  0  │  2  │
// NEW-MESH: sdy            #sdy.sharding<@mesh, [{"_axis_1"}, {"_axis_0"}]>
// NEW-MESH: GSPMD V2       {devices=[2,2]<=[2,2]T(1,0)}
// NEW-MESH: GSPMD V1       {devices=[2,2]0,2,1,3}

// That of the HLO of today, which has the mesh and names axes.
// RUN: sdy-opt --show-sharding="{mesh['data'=2,'model'=4], [{'data'}, {'model':(1)2, ?}]}" --shape=8x8 | filecheck %s --check-prefix=NAMED
// NAMED:      mesh           <["data"=2, "model"=4]>
// NAMED:      │ 0:4 │ 0, 1 │ 2, 3 │
// NAMED:      sdy            #sdy.sharding<@mesh, [{"data"}, {"model":(1)2, ?}]>
// NAMED-NEXT: HLO V3         {mesh['data'=2,'model'=4], [{'data'}, {'model':(1)2, ?}]}
// NAMED-NEXT: GSPMD V2       {devices=[2,2,2]<=[8] last_tile_dim_replicate}

// It may list devices, or transpose them as GSPMD does, and is manual along axes in the body of a shard_map.
// RUN: sdy-opt --show-sharding="{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}], manual={'y'}, metadata={op_name='f'}}" | filecheck %s --check-prefix=MANUAL
// RUN: sdy-opt --show-sharding="{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}], manual={'y'}}" | filecheck %s --check-prefix=MANUAL
// MANUAL: │  0/2  │  1/2  │
// MANUAL: │ 0 | 2 │ 1 | 3 │
// MANUAL: HLO V3         {mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}], manual={'y'}}

// A word, if all devices have the whole tensor, and a single device. Scalars have a word as well.
// RUN: sdy-opt --show-sharding="{mesh['x'=2,'y'=2], unreduced=min}" --shape=4x4 | filecheck %s --check-prefix=UNIFORM
// UNIFORM: sdy            #sdy.sharding<@mesh, [{}, {}], unreduced=min{"x", "y"}>
// RUN: sdy-opt --show-sharding='<@mesh, [], unreduced={"x"}>' --mesh=x=4 --shape= | filecheck %s --check-prefix=SCALAR
// SCALAR: HLO V3         {mesh['x'=4], unreduced}
// RUN: sdy-opt --show-sharding='{single_device[device_id=3]}' | filecheck %s --check-prefix=SINGLE
// SINGLE: HLO V3         {single_device[device_id=3]}
// SINGLE: GSPMD V2       {maximal device=3}

// That of the mesh dialect, which numbers axes. --mesh-version selects its syntax in the output.
// RUN: sdy-opt --show-sharding='<@grid, [[1], [0]]>' --mesh=x=2,y=2 --shape=4x4 --mesh-version=21 | filecheck %s --check-prefix=MESH
// MESH: sdy            #sdy.sharding<@grid, [{"y"}, {"x"}]>
// MESH: mesh dialect   mesh.sharding @grid split_axes = {{\[\[}}1], [0]] : !mesh.sharding

// A list of device ids that is no reshaped and transposed iota has no V2 form.
// RUN: sdy-opt --show-sharding='<@mesh, [{"x"}]>' --mesh='"x"=4, device_ids=[3,0,2,1]' --shape=8 | filecheck %s --check-prefix=IDS
// IDS:      │ 0:2 │ 2:4 │ 4:6 │ 6:8 │
// IDS:      │  3  │  0  │  2  │  1  │
// IDS:      GSPMD V2       none: its order of devices is not one of reshaping and transposing iota
// IDS-NEXT: GSPMD V1       {devices=[4]3,0,2,1}
// IDS:      mesh dialect   none: the mesh dialect has no device_ids

// A mesh of a single device.
// RUN: sdy-opt --show-sharding='<@mesh, []>' --mesh='device_ids=[3]' --shape= | filecheck %s --check-prefix=MAXIMAL
// MAXIMAL: device 3 has the whole tensor
// MAXIMAL: GSPMD V2       {maximal device=3}

// Shards of a dimension that is not divisible are rounded up, and the last ones are shorter or empty.
// RUN: sdy-opt --show-sharding="P('x')" --mesh=x=4 --shape=5 | filecheck %s --check-prefix=PADDED
// PADDED: dimension 0 of size 5 is not divisible by 4: the last shards are padded
// PADDED: │ 0:2 │ 2:4 │ 4:5 │ empty │

// Above two dimensions, and where a grid is too wide, there is a row for each shard.
// Dimensions that are not sharded are left out. The devices of a slice are computed, so meshes may be large.
// RUN: sdy-opt --show-sharding="P('x', None, 'y')" --mesh=x=1024,y=1024 --shape=4611686018427387904x3x4096 --sharding-rows=2 | filecheck %s --check-prefix=TABLE
// TABLE:      shards         1048576 of 4503599627370496x3x4, each on 1 device
// TABLE:      devices  dimension 0         dimension 2
// TABLE-NEXT: 0        0:4503599627370496  0:4
// TABLE-NEXT: 1        0:4503599627370496  4:8
// TABLE-NEXT: … and 1048574 more shards; --sharding-rows=0 shows all
// TABLE:      GSPMD V2       {devices=[1024,1,1024]<=[1048576]}

// Partial results may be combined by a maximum or a minimum. GSPMD has sums only.
// RUN: sdy-opt "--show-sharding={mesh['x'=2,'y'=2], [{'x'}], unreduced=max{'y'}}" | filecheck %s --check-prefix=MAX
// RUN: sdy-opt "--show-sharding=P('x', unreduced={'y'}, unreduced_kind=max)" --mesh=x=2,y=2 | filecheck %s --check-prefix=MAX
// RUN: sdy-opt '--show-sharding=<@mesh, [{"x"}], unreduced=max{"y"}>' --mesh=x=2,y=2 | filecheck %s --check-prefix=MAX
// RUN: sdy-opt '--show-sharding=<@mesh, [[0]], partial = max[1]>' --mesh=x=2,y=2 | filecheck %s --check-prefix=MAX
// MAX: a + b: these devices have partial results, and their max is the shard
// MAX: sdy            #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>
// MAX-NEXT: HLO V3         {mesh['x'=2,'y'=2], [{'x'}], unreduced=max{'y'}}
// MAX-NEXT: GSPMD V2       none: partial results are combined by max, not summed
// MAX-NEXT: PartitionSpec  PartitionSpec('x', unreduced={'y'}, unreduced_kind=UnreducedKind.max)
// MAX-NEXT: mesh dialect   #mesh.shard<@mesh, {{\[\[}}0]], partial = max[1]>
