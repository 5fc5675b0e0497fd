"""Public training steps, rebuilt as JAX programs, and their reported times beside the measured ones.

    JAX_PYTHON benchmarks/training_steps.py lower FOLDER    writes the programs; for a Python that has jax
    python -m benchmarks.training_steps report FOLDER       prints the table of docs/reports.md

Attention is a kernel of Pallas that computes nothing and states its cost: half of the FLOPs of all pairs,
because it is causal, and two and a half times as many in the backward pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from json import loads
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple


class Model(NamedTuple):
    """The sizes of a transformer. Without experts, its MLP is dense; `is_gated`: one product more."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    vocabulary: int
    head: int = 128
    experts: int = 0
    is_gated: bool = True


LLAMA_8B = Model(32, 4096, 32, 8, 14336, 128256)
LLAMA_70B = Model(80, 8192, 64, 8, 28672, 128256)
LLAMA_405B = Model(126, 16384, 128, 8, 53248, 128256)
LLAMA2_7B = Model(32, 4096, 32, 32, 11008, 32000)
MISTRAL_7B = Model(32, 4096, 32, 8, 14336, 32000)
MIXTRAL = MISTRAL_7B._replace(experts=8)
GPT_175B = Model(96, 12288, 96, 96, 49152, 50304, is_gated=False)
# The experts of each token.
TOP = 2


class Recipe(NamedTuple):
    """A measured step: FSDP along all axes of a mesh, the global batch, saved activations, and seconds.

    `is_fitted`: how fast products are in whole steps was fitted on it.
    """

    name: str
    topology: str
    model: Model
    mesh: tuple[int, ...]
    batch: int
    sequence: int
    saved: str
    seconds: float
    is_fitted: bool = False


# Saved activations: none; those around attention; all products.
FULL, ATTENTION, PRODUCTS = "full", "attention", "products"
RECIPES = (
    Recipe("Llama 3.1 8B", "tpu-v6e:2x4", LLAMA_8B, (8,), 24, 8192, ATTENTION, 3.443, True),
    Recipe("Llama 3.1 8B", "tpu-v6e:4x4", LLAMA_8B, (16,), 48, 8192, ATTENTION, 3.393, True),
    Recipe("Llama 3.1 8B", "tpu-v6e:4x8", LLAMA_8B, (32,), 96, 8192, ATTENTION, 3.495),
    Recipe("Llama 3.1 8B", "tpu-v6e:8x16", LLAMA_8B, (128,), 512, 8192, ATTENTION, 4.602),
    Recipe("Mistral 7B", "tpu-v6e:2x4", MISTRAL_7B, (8,), 48, 8192, ATTENTION, 6.320, True),
    Recipe("Llama 3.1 70B", "tpu-v6e:8x16", LLAMA_70B, (128,), 512, 8192, ATTENTION, 34.786, True),
    Recipe("Llama 3.1 405B", "tpu-v6e:16x16,slices=2", LLAMA_405B, (2, 256), 512, 8192, ATTENTION, 54.803),
    Recipe("GPT-3 175B", "tpu-v6e:16x16", GPT_175B, (256,), 768, 2048, FULL, 17.182, True),
    Recipe("Mixtral 8x7B", "tpu-v6e:16x16", MIXTRAL, (256,), 3072, 4096, ATTENTION, 13.484),
    Recipe("Llama 3.1 405B", "tpu-v5p:8x8x8", LLAMA_405B, (512,), 1024, 8192, ATTENTION, 131.474),
    Recipe("Llama 3.1 70B", "tpu-v7x:4x4x4", LLAMA_70B, (128,), 256, 8192, ATTENTION, 12.20, True),
    Recipe("Llama 3.1 70B", "tpu-v7x:4x8x8", LLAMA_70B, (512,), 1024, 8192, ATTENTION, 12.27),
    Recipe("Llama 3.1 405B", "tpu-v7x:4x8x8", LLAMA_405B, (512,), 1536, 8192, ATTENTION, 98.34),
    Recipe("Llama 3.1 70B", "h200:32x8", LLAMA_70B, (2, 128), 512, 8192, ATTENTION, 15.516),
    Recipe("Mixtral 8x7B", "h200:32x8", MIXTRAL, (32, 8), 1280, 4096, PRODUCTS, 3.437),
    Recipe("Llama 2 7B", "h100:8", LLAMA2_7B, (8,), 16, 4096, PRODUCTS, 0.721, True),
    Recipe("Llama 2 7B", "h100:32x8", LLAMA2_7B, (32, 8), 1024, 4096, PRODUCTS, 1.5, True),
    Recipe("GPT 175B", "a100:32x8", GPT_175B, (256,), 1536, 2048, FULL, 83.98, True),
)


def lowered(recipe: Recipe) -> str:
    """The training step of a recipe as StableHLO, lowered for TPU without devices."""
    import jax  # noqa: PLC0415  reads XLA_FLAGS
    import jax.numpy as jnp  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    from jax import lax  # noqa: PLC0415
    from jax.ad_checkpoint import checkpoint_name  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: PLC0415

    model, batch, sequence = recipe.model, recipe.batch, recipe.sequence
    devices = np.array(jax.devices()[: int(np.prod(recipe.mesh))]).reshape(recipe.mesh)
    mesh = Mesh(devices, ("slices", "fsdp")[-len(recipe.mesh) :])
    all_axes = mesh.axis_names
    heads, kv_heads = model.heads * model.head, model.kv_heads * model.head

    def sharding(*dimensions: Any) -> Any:
        return NamedSharding(mesh, PartitionSpec(*dimensions))

    def weight(shape: tuple[int, ...], sharded: int | None) -> Any:
        where = [all_axes if number == sharded else None for number in range(len(shape))]
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding(*where))

    layers, width, hidden = model.layers, model.width, model.hidden
    of_layers: dict[str, Any] = {
        "q": weight((layers, width, heads), 1),
        "k": weight((layers, width, kv_heads), 1),
        "v": weight((layers, width, kv_heads), 1),
        "o": weight((layers, heads, width), 2),
        "norm": weight((layers, width), None),
        "mlp_norm": weight((layers, width), None),
    }
    expert = (model.experts,) if model.experts else ()
    up, down = (layers, *expert, width, hidden), (layers, *expert, hidden, width)
    of_layers |= {"up": weight(up, len(up) - 2), "down": weight(down, len(down) - 1)}
    if model.is_gated:
        of_layers["gate"] = weight(up, len(up) - 2)
    if expert:
        of_layers["router"] = weight((layers, width, *expert), 1)
    weights = of_layers | {
        "embedding": weight((model.vocabulary, width), 1),
        "output": weight((width, model.vocabulary), 0),
        "last_norm": weight((width,), None),
    }

    attention = _attention(partial(_on_shards, mesh, PartitionSpec(all_axes)))

    def sharded(x: Any) -> Any:
        return lax.with_sharding_constraint(x, sharding(all_axes, *[None] * (x.ndim - 1)))

    def norm(x: Any, scale: Any) -> Any:
        wide = x.astype(jnp.float32)
        wide *= lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
        return wide.astype(jnp.bfloat16) * scale

    def mlp(x: Any, w: Any) -> Any:
        if model.experts:
            # As many tokens for each expert, as one product.
            share = jax.nn.softmax((x @ w["router"]).astype(jnp.float32), -1)[..., :1]
            tokens = sequence * TOP // model.experts
            of_experts = sharded(jnp.concatenate([x] * TOP, 1).reshape(batch, model.experts, tokens, width))
            product = partial(jnp.einsum, "betd,edf->betf", of_experts)
            gated = jax.nn.silu(product(w["gate"])) * product(w["up"])
            y = sharded(jnp.einsum("betf,efd->betd", gated, w["down"]))
            return sharded(y.reshape(batch, TOP, sequence, width).sum(1)) * share.astype(jnp.bfloat16)
        if model.is_gated:
            return (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]
        return jax.nn.gelu(x @ w["up"]) @ w["down"]

    def layer(x: Any, w: Any) -> tuple[Any, None]:
        w = {name: each.astype(jnp.bfloat16) for name, each in w.items()}
        h = norm(x, w["norm"])
        q, k, v = (
            checkpoint_name((h @ w[name]).reshape(batch, sequence, -1, model.head), name).swapaxes(1, 2)
            for name in "qkv"
        )
        k, v = (jnp.repeat(each, model.heads // model.kv_heads, 1) for each in (k, v))
        mixed = checkpoint_name(attention(q, k, v), "mixed").swapaxes(1, 2).reshape(batch, sequence, heads)
        x += checkpoint_name(mixed @ w["o"], "o")
        return x + mlp(norm(x, w["mlp_norm"]), w), None

    policies = jax.checkpoint_policies
    policy = {
        FULL: None,
        ATTENTION: policies.save_only_these_names("q", "k", "v", "mixed", "o"),
        PRODUCTS: policies.dots_with_no_batch_dims_saveable,
    }[recipe.saved]
    body = jax.checkpoint(layer, policy=policy)

    def loss(w: Any, tokens: Any) -> Any:
        x = sharded(jnp.take(w["embedding"].astype(jnp.bfloat16), tokens, axis=0))
        x, _ = lax.scan(lambda x, w: body(sharded(x), w), x, {name: w[name] for name in of_layers})
        x = norm(x, w["last_norm"].astype(jnp.bfloat16))
        logits = (x @ w["output"].astype(jnp.bfloat16)).astype(jnp.float32)
        chosen = jnp.take_along_axis(logits, tokens[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)

    def step(w: Any, first: Any, second: Any, tokens: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(w, tokens)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda m, g: 0.95 * m + 0.05 * g * g, second, gradients)
        updated = jax.tree.map(lambda w, m, n: w - 1e-4 * m / (jnp.sqrt(n) + 1e-8), w, first, second)
        return updated, first, second, value

    tokens = jax.ShapeDtypeStruct((batch, sequence), jnp.int32, sharding=sharding(all_axes, None))
    results = {name: each.sharding for name, each in weights.items()}
    jitted = jax.jit(step, donate_argnums=(0, 1, 2), out_shardings=(results, results, results, sharding()))
    text: str = jitted.trace(weights, weights, weights, tokens).lower(lowering_platforms=("tpu",)).as_text()
    return text


def _on_shards(mesh: Any, spec: Any, function: Callable[..., Any], results: int, *operands: Any) -> Any:
    import jax  # noqa: PLC0415

    out = spec if results == 1 else (spec,) * results
    specs = (spec,) * len(operands)
    return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False)(*operands)


def _attention(on_shards: Callable[..., Any]) -> Any:
    """Causal attention that states its cost and computes nothing."""
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415
    from jax.experimental import pallas  # noqa: PLC0415

    block = 512

    def kernel(flops_per_pair: int, results: int, *operands: Any) -> Any:
        batch, heads, sequence, head = operands[0].shape

        def body(*refs: Any) -> None:
            for ref in refs[-results:]:
                ref[...] = jnp.zeros_like(ref)

        spec = pallas.BlockSpec((1, 1, block, head), lambda b, h, i: (b, h, i, 0))
        shape = jax.ShapeDtypeStruct(operands[0].shape, operands[0].dtype)
        cost = pallas.CostEstimate(
            flops=flops_per_pair * batch * heads * sequence * sequence * head // 2,
            bytes_accessed=2 * operands[0].size * (len(operands) + results),
            transcendentals=0,
        )
        return pallas.pallas_call(
            body,
            out_shape=shape if results == 1 else [shape] * results,
            grid=(batch, heads, sequence // block),
            in_specs=[spec] * len(operands),
            out_specs=spec if results == 1 else [spec] * results,
            cost_estimate=cost,
        )(*operands)

    def forward(*operands: Any) -> Any:
        return on_shards(partial(kernel, 4, 1), 1, *operands)

    attention = jax.custom_vjp(forward)
    attention.defvjp(
        lambda *operands: (forward(*operands), operands),
        lambda saved, gradient: tuple(on_shards(partial(kernel, 10, 3), 3, *saved, gradient)),
    )
    return attention


def lower(folder: Path) -> None:
    """Writes the programs of all recipes."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=512"
    folder.mkdir(parents=True, exist_ok=True)
    for number, recipe in enumerate(RECIPES):
        (folder / f"{number}.mlir").write_text(lowered(recipe), encoding="utf-8")


def report(folder: Path) -> None:
    """Prints the reported range of each recipe beside the measured time, and what a fit on some gives.

    That is the share of the published speed that products have in whole steps, with which the middle of the
    range is the measured time, as the median of the recipes that are marked.
    """
    from sdyopt.analysis.figures.machines import machine_data  # noqa: PLC0415  not where jax is

    contained, close = Counter[bool](), Counter[bool]()
    shares: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, recipe in enumerate(RECIPES):
            path = Path(scratch, "report.json")
            command = [sys.executable, "-m", "sdyopt", str(folder / f"{number}.mlir"), f"--report={path}"]
            subprocess.run([*command, f"--topology={recipe.topology}", "-o", os.devnull], check=True)
            time = loads(path.read_text(encoding="utf-8"))["time"]
            least, most = time["range"]
            middle = (least + most) / 2 / recipe.seconds
            contained[recipe.is_fitted] += least <= recipe.seconds <= most
            close[recipe.is_fitted] += abs(middle - 1) <= 0.3
            machine = recipe.topology.partition(":")[0]
            if recipe.is_fitted:
                table = machine_data()["machines"][machine]["compute"]
                alone, sustained = table["products"][0], table["sustained"][0]
                products = time["compute"]["high"]
                others = most - products * alone / sustained
                shares.setdefault(machine, []).append(
                    alone * products / (2 * recipe.seconds - least - others)
                )
            print(
                f"{recipe.name:15} {recipe.topology:23} measured {recipe.seconds:7.2f} s, reported "
                f"{least:6.2f} to {most:6.2f} s, middle / measured {middle:.2f}{' *' * recipe.is_fitted}"
            )
    for is_fitted, name in ((True, "fitted on, *"), (False, "not fitted on")):
        count = sum(recipe.is_fitted is is_fitted for recipe in RECIPES)
        print(
            f"{name}: the range contains {contained[is_fitted]} of {count}; the middle of {close[is_fitted]} "
            "is within 30 %"
        )
    for machine, fitted in shares.items():
        print(f"products on {machine} in whole steps: {median(fitted):.2f} of the published speed")


if __name__ == "__main__":
    {"lower": lower, "report": report}[sys.argv[1]](Path(sys.argv[2]))
