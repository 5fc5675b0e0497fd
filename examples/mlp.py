"""Lowers the gradients of a sharded two-layer perceptron, and writes mlp.mlir.

    python examples/mlp.py examples/mlp.mlir

The batch is sharded along the mesh axis "data", the hidden layer along "model". The script needs `jax`
(0.12.0.1 lowered the stored text) but no devices. docs/from-jax.md explains it.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

# Locations name files without their folders, so that the text is the same on every machine.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

MESH = AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
    """An abstract array, sharded along the axes."""
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(MESH, PartitionSpec(*axes)))


def loss(weights: tuple[jax.Array, jax.Array], x: jax.Array) -> jax.Array:
    """The mean square of the output."""
    w_in, w_out = weights
    hidden = jnp.tanh(x @ w_in)
    return jnp.mean((hidden @ w_out) ** 2)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: mlp.py OUTPUT.mlir")
    weights = (array((256, 1024), None, "model"), array((1024, 256), "model", None))
    batch = array((64, 256), "data", None)
    lowered = jax.jit(jax.grad(loss)).trace(weights, batch).lower(lowering_platforms=("tpu",))
    Path(sys.argv[1]).write_text(lowered.as_text(debug_info=True), encoding="utf-8")


if __name__ == "__main__":
    main()
