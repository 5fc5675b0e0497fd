"""Iterators, annotations and resharding, which the passes of the mesh dialect share."""
