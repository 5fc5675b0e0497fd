"""Notations of shardings: sdy, GSPMD, PartitionSpec and the mesh dialect, and which device has which slice.

Two representations are common to all notations. A `Tiling` has the number of shards of each dimension and the
order of the devices that have them, as in GSPMD. A `ShardingOnMesh` is a sharding of the sdy dialect with its
mesh. The module of a notation converts text of this notation to one of the two, and back.
"""
