"""Remarks: the sharding record as data, in the formats of MLIR's remark flags."""
