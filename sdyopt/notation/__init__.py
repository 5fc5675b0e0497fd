"""Notations of shardings: sdy, GSPMD, PartitionSpec and the mesh dialect, and which device has which slice.

Two forms are common to all notations. `DeviceTiling` has the number of shards of each dimension and the order
of the devices that have them, as in GSPMD. `ShardingOnMesh` is a sharding of the sdy dialect with its mesh.
Each notation is a module that parses it to one of the two, and writes it.
"""
