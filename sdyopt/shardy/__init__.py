"""The algebra of shardings, and how operations run on shards."""
