"""The sharding record: how every axis came to every value, as the passes that decide it report it.

`record` describes it, and `model` has its data.
"""
