"""All shardings on small meshes, and the same shardings in XLA."""
