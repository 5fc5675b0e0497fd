"""How tensors are split over meshes: sharding rules of operations."""
