"""Lowering of a program on whole tensors to the program that each device runs on its shards."""
