"""The sharding interface, resharding and partial reductions, shared by the passes of the mesh dialect."""
