"""Lowers one training step of a small sharded transformer, and writes transformer_train.mlir.

    python examples/transformer_train.py examples/transformer_train.mlir

The batch is sharded along the mesh axis "data"; attention heads, the hidden layer and the vocabulary are
sharded along "model". One constraint is a mistake, to be found. The script needs `jax` (0.12.0.1 lowered the
stored text) but no devices: arrays and mesh are abstract, and the program is lowered but not run.
"""

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

# Locations name files without their folders, so that the text is the same on every machine.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

LAYERS, BATCH, LENGTH, WIDTH, HEADS, HIDDEN, VOCABULARY = 2, 32, 128, 256, 8, 1024, 8192

MESH = AbstractMesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
ANY = PartitionSpec.UNCONSTRAINED

Tree = Any


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """An abstract array with the sharding `PartitionSpec(*spec)`."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(MESH, PartitionSpec(*spec)))


def constrain(value: jax.Array, *spec: Any) -> jax.Array:
    """Adds a sharding constraint; ANY leaves a dimension to propagation."""
    return jax.lax.with_sharding_constraint(value, NamedSharding(MESH, PartitionSpec(*spec)))


def parameters() -> Tree:
    """The shapes and shardings of all weights."""
    layer = {
        "norm_attention": array((WIDTH,)),
        "query_key_value": array((WIDTH, 3, HEADS, WIDTH // HEADS), None, None, "model"),
        "project": array((HEADS, WIDTH // HEADS, WIDTH), "model"),
        "norm_hidden": array((WIDTH,)),
        "up": array((WIDTH, HIDDEN), None, "model"),
        "down": array((HIDDEN, WIDTH), "model"),
    }
    return {
        "embedding": array((VOCABULARY, WIDTH), "model"),
        "position": array((LENGTH, WIDTH)),
        "layers": [layer] * LAYERS,
        "norm": array((WIDTH,)),
    }


def normalize(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Root mean square normalization of the last dimension."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attend(x: jax.Array, layer: Tree) -> jax.Array:
    """Causal attention, with heads sharded along "model"."""
    query, key, value = jnp.einsum("bld,dnhk->nblhk", x, layer["query_key_value"])
    scores = jnp.einsum("bqhk,bvhk->bhqv", query, key) * (WIDTH // HEADS) ** -0.5
    is_past = jnp.tril(jnp.ones((LENGTH, LENGTH), dtype=bool))
    weights = jax.nn.softmax(jnp.where(is_past, scores, -1e9), axis=-1)
    mixed = constrain(jnp.einsum("bhqv,bvhk->bqhk", weights, value), "data", ANY, "model", ANY)
    return jnp.einsum("bqhk,hkd->bqd", mixed, layer["project"])


def logits(weights: Tree, tokens: jax.Array) -> jax.Array:
    """The logits of each next token."""
    x = constrain(weights["embedding"][tokens] + weights["position"], "data", ANY, ANY)
    for layer in weights["layers"]:
        x = x + attend(normalize(x, layer["norm_attention"]), layer)
        hidden = jax.nn.relu(normalize(x, layer["norm_hidden"]) @ layer["up"])
        x = constrain(x + constrain(hidden, "data", None, "model") @ layer["down"], "data", ANY, ANY)
    # A mistake, which --check finds: the vocabulary is sharded along "model", and this gathers it.
    return constrain(normalize(x, weights["norm"]) @ weights["embedding"].T, "data", None, None)


def loss(weights: Tree, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean cross entropy."""
    scores = jax.nn.log_softmax(logits(weights, tokens))
    return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(targets, VOCABULARY), axis=-1))


def train_step(weights: Tree, momentum: Tree, tokens: jax.Array, targets: jax.Array) -> Tree:
    """One step of gradient descent with momentum."""
    value, gradients = jax.value_and_grad(loss)(weights, tokens, targets)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda w, m: w - 0.01 * m, weights, momentum), momentum, value


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: transformer_train.py OUTPUT.mlir")
    tokens = array((BATCH, LENGTH), "data", dtype=jnp.int32)
    step = jax.jit(train_step, donate_argnums=(0, 1))
    lowered = step.trace(parameters(), parameters(), tokens, tokens).lower(lowering_platforms=("tpu",))
    Path(sys.argv[1]).write_text(lowered.as_text(debug_info=True), encoding="utf-8")


if __name__ == "__main__":
    main()
