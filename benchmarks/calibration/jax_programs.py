"""Writes models of JAX that nothing was tuned to, to calibrate reports on them.

    python -m benchmarks.calibration.jax_programs FOLDER [NAME…]

Needs jax, but no devices: arrays and meshes are abstract.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

Array = Any
Tree = Any
Function = Callable[..., Any]

_programs: dict[str, Callable[[], str]] = {}
_mesh: list[AbstractMesh] = []


class Input(NamedTuple):
    """An array that a program takes: its shape, the axes of each dimension, and its element type."""

    shape: tuple[int, ...]
    axes: tuple[Any, ...] = ()
    dtype: Any = jnp.float32


def program(
    sizes: dict[str, int], *inputs: Tree, donate: tuple[int, ...] = (), keep: bool = False
) -> Callable[[Function], Function]:
    """Registers a program. With `keep`, the first results are sharded as the donated inputs."""

    def register(function: Function) -> Function:
        def text() -> str:
            mesh = AbstractMesh(tuple(sizes.values()), tuple(sizes), (AxisType.Auto,) * len(sizes))
            _mesh[:] = [mesh]

            def array(each: Input) -> Any:
                return jax.ShapeDtypeStruct(
                    each.shape, each.dtype, sharding=NamedSharding(mesh, P(*each.axes))
                )

            arguments = [jax.tree.map(array, tree, is_leaf=_is_input) for tree in inputs]
            options: dict[str, Any] = {"donate_argnums": donate}
            if keep:
                kept = [jax.tree.map(lambda each: each.sharding, arguments[index]) for index in donate]
                options["out_shardings"] = (*kept, None)
            lowered = jax.jit(function, **options).trace(*arguments).lower(lowering_platforms=("cpu",))
            return str(lowered.as_text())

        _programs[function.__name__] = text
        return function

    return register


def _is_input(value: object) -> bool:
    return isinstance(value, Input)


def constrain(value: Array, *axes: Any) -> Array:
    return lax.with_sharding_constraint(value, NamedSharding(_mesh[0], P(*axes)))


def adam(loss: Function, *data: Any, parameters: Tree, moments: Tree, second: Tree) -> Any:
    """One step: the new parameters and moments, and the loss."""
    value, gradient = jax.value_and_grad(loss)(parameters, *data)
    moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(m.dtype), moments, gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * jnp.square(g.astype(v.dtype)), second, gradient)
    parameters = jax.tree.map(
        lambda p, m, v: (p - 1e-3 * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype), parameters, moments, second
    )
    return parameters, moments, second, value


def train(sizes: dict[str, int], parameters: Tree, *data: Any) -> Callable[[Function], Function]:
    """Registers a training step with Adam of a loss of parameters and data."""
    wide = jax.tree.map(lambda each: each._replace(dtype=jnp.float32), parameters, is_leaf=_is_input)

    def register(loss: Function) -> Function:
        def step(p: Tree, m: Tree, v: Tree, *inputs: Array) -> Any:
            return adam(loss, *inputs, parameters=p, moments=m, second=v)

        step.__name__ = loss.__name__
        program(sizes, parameters, wide, wide, *data, donate=(0, 1, 2), keep=True)(step)
        return loss

    return register


# --- Transformers -------------------------------------------------------------------------------------


def rms_norm(x: Array, scale: Array) -> Array:
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rotary(x: Array) -> Array:
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(half) / half)
    cos, sin = (f(angles)[None, :, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def attend(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    groups = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, groups, 2), jnp.repeat(v, groups, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v)


def llama(
    width: int, heads: int, kv: int, hidden: int, layers: int, vocabulary: int, data: Any, model: Any,
    dtype: Any = jnp.float32,
) -> Tree:  # fmt: skip
    size = width // heads
    stack = {
        "norm1": ((width,), ()),
        "norm2": ((width,), ()),
        "q": ((width, heads, size), (data, model)),
        "k": ((width, kv, size), (data, model)),
        "v": ((width, kv, size), (data, model)),
        "o": ((heads, size, width), (model, None, data)),
        "gate": ((width, hidden), (data, model)),
        "up": ((width, hidden), (data, model)),
        "down": ((hidden, width), (model, data)),
    }
    return {
        "embedding": Input((vocabulary, width), (model, data), dtype),
        "head": Input((width, vocabulary), (data, model), dtype),
        "layers": {
            name: Input((layers, *shape), (None, *axes), dtype) for name, (shape, axes) in stack.items()
        },
    }


def llama_block(x: Array, layer: Tree) -> Array:
    h = rms_norm(x, layer["norm1"])
    q, k, v = (jnp.einsum("bsd,dhk->bshk", h, layer[name]) for name in "qkv")
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    x = x + jnp.einsum("bshk,hkd->bsd", attend(rotary(q), rotary(k), v, mask), layer["o"])
    h = rms_norm(x, layer["norm2"])
    return x + (jax.nn.silu(h @ layer["gate"]) * (h @ layer["up"])) @ layer["down"]


def next_token_loss(logits: Array, tokens: Array) -> Array:
    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(logs, tokens[:, 1:, None], -1))


def llama_logits(p: Tree, tokens: Array, axes: Sequence[Any], remat: bool) -> Array:
    block = jax.checkpoint(llama_block) if remat else llama_block
    x = constrain(p["embedding"][tokens], *axes)
    x, _ = lax.scan(lambda x, layer: (constrain(block(x, layer), *axes), None), x, p["layers"])
    return x @ p["head"]


_BF16 = jnp.bfloat16


@train(
    {"data": 8, "model": 8},
    llama(4096, 32, 32, 11008, 32, 32000, None, "model"),
    Input((64, 1025), ("data",), jnp.int32),
)
def llama7b_tensor_parallel(p: Tree, tokens: Array) -> Array:
    return next_token_loss(llama_logits(p, tokens[:, :-1], ["data"], True), tokens)


@train(
    {"data": 64},
    llama(4096, 32, 32, 11008, 32, 32000, "data", None, _BF16),
    Input((64, 2049), ("data",), jnp.int32),
)
def llama7b_fully_sharded(p: Tree, tokens: Array) -> Array:
    return next_token_loss(llama_logits(p, tokens[:, :-1], ["data"], True), tokens)


@train(
    {"data": 16, "model": 8},
    llama(8192, 64, 8, 28672, 80, 32000, "data", "model", _BF16),
    Input((32, 4097), ("data",), jnp.int32),
)
def llama70b_fully_sharded_tensor_parallel(p: Tree, tokens: Array) -> Array:
    return next_token_loss(llama_logits(p, tokens[:, :-1], ["data"], True), tokens)


@train(
    {"data": 4, "model": 8},
    llama(5120, 40, 40, 13824, 40, 32000, None, "model", _BF16),
    Input((16, 2049), ("data",), jnp.int32),
)
def llama13b_sequence_parallel(p: Tree, tokens: Array) -> Array:
    return next_token_loss(llama_logits(p, tokens[:, :-1], ["data", "model"], True), tokens)


@program(
    {"data": 2, "model": 8},
    llama(4096, 32, 8, 14336, 32, 128256, None, "model", _BF16),
    Input((8, 2048), ("data",), jnp.int32),
)
def llama8b_prefill(p: Tree, tokens: Array) -> Array:
    return llama_logits(p, tokens, ["data"], False)[:, -1]


@program(
    {"data": 2, "model": 8},
    llama(4096, 32, 8, 14336, 32, 128256, None, "model", _BF16),
    [Input((32, 16, 4096, 8, 128), (None, "data", None, "model"), _BF16)] * 2,
    Input((16,), ("data",), jnp.int32),
    Input((), (), jnp.int32),
    donate=(1,),
)
def llama8b_decode(p: Tree, cache: Tree, token: Array, position: Array) -> Any:
    def layer(x: Array, inputs: Any) -> Any:
        w, keys, values = inputs
        h = rms_norm(x, w["norm1"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[name]) for name in "qkv")
        keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
        values = lax.dynamic_update_slice(values, v, (0, position, 0, 0))
        mask = jnp.arange(keys.shape[1]) <= position
        x = x + jnp.einsum("bshk,hkd->bsd", attend(q, keys, values, mask), w["o"])
        h = rms_norm(x, w["norm2"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], (keys, values)

    x, cache = lax.scan(layer, p["embedding"][token][:, None], (p["layers"], *cache))
    return jnp.argmax((x @ p["head"])[:, 0], -1), cache


def layer_norm(x: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)


def encoder_layers(width: int, heads: int, hidden: int, count: int, *names: str) -> list[Tree]:
    into = Input((width, heads, width // heads), (None, "model"))
    out = Input((heads, width // heads, width), ("model",))
    products = {"up": Input((width, hidden), (None, "model")), "down": Input((hidden, width), ("model",))}
    return [
        {**products, **{f"{name}{each}": into for name in ("", *names) for each in "qkv"},
         **{f"{name}o": out for name in ("", *names)}}
        for _ in range(count)
    ]  # fmt: skip


def encoder(x: Array, layer: Tree, other: Array | None = None, mask: Array | None = None) -> Array:
    for prefix, source in (("", None), ("x", other)):
        if prefix and source is None:
            continue
        h = layer_norm(x)
        q = jnp.einsum("bsd,dhk->bshk", h, layer[f"{prefix}q"])
        k, v = (jnp.einsum("bsd,dhk->bshk", h if source is None else source, layer[prefix + n]) for n in "kv")
        mixed = attend(q, k, v, None if prefix else mask)
        x = x + jnp.einsum("bshk,hkd->bsd", mixed, layer[f"{prefix}o"])
    return x + jax.nn.gelu(layer_norm(x) @ layer["up"], approximate=False) @ layer["down"]


_GRID = {"data": 4, "model": 4}


@train(
    _GRID,
    {"patches": Input((16, 16, 3, 768)), "layers": encoder_layers(768, 12, 3072, 4),
     "head": Input((768, 1000), (None, "model"))},
    Input((64, 224, 224, 3), ("data",)),
    Input((64,), ("data",), jnp.int32),
)  # fmt: skip
def vision_transformer(p: Tree, images: Array, labels: Array) -> Array:
    x = conv(images, p["patches"], 16).reshape(images.shape[0], -1, 768)
    for layer in p["layers"]:
        x = encoder(x, layer)
    logs = jax.nn.log_softmax(layer_norm(x.mean(1)) @ p["head"])
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], -1))


@train(
    _GRID,
    {"words": Input((32768, 1024), ("model",)), "layers": encoder_layers(1024, 16, 4096, 3)},
    Input((32, 512), ("data",), jnp.int32),
    Input((32, 512), ("data",), jnp.int32),
)
def masked_language_model(p: Tree, tokens: Array, labels: Array) -> Array:
    x = p["words"][tokens]
    for layer in p["layers"]:
        x = encoder(x, layer)
    logs = jax.nn.log_softmax(jnp.einsum("bsd,vd->bsv", x, p["words"]))
    return -jnp.mean(jnp.take_along_axis(logs, labels[..., None], -1))


@train(
    _GRID,
    {"words": Input((32128, 512), ("model",)), "encoder": encoder_layers(512, 8, 2048, 2),
     "decoder": encoder_layers(512, 8, 2048, 2, "x")},
    Input((64, 256), ("data",), jnp.int32),
    Input((64, 129), ("data",), jnp.int32),
)  # fmt: skip
def encoder_decoder(p: Tree, source: Array, target: Array) -> Array:
    x, y = p["words"][source], p["words"][target[:, :-1]]
    for layer in p["encoder"]:
        x = encoder(x, layer)
    mask = jnp.tril(jnp.ones((y.shape[1], y.shape[1]), bool))
    for layer in p["decoder"]:
        y = encoder(y, layer, x, mask)
    return next_token_loss(jnp.einsum("bsd,vd->bsv", y, p["words"]), target)


@train(
    _GRID,
    {"image": encoder_layers(768, 12, 3072, 2), "text": encoder_layers(768, 12, 3072, 2)},
    Input((256, 49, 768), ("data",)),
    Input((256, 77, 768), ("data",)),
)
def contrastive(p: Tree, images: Array, texts: Array) -> Array:
    towers = []
    for layers, x in ((p["image"], images), (p["text"], texts)):
        for layer in layers:
            x = encoder(x, layer)
        x = x.mean(1)
        towers.append(x / jnp.linalg.norm(x, axis=-1, keepdims=True))
    similarity = towers[0] @ towers[1].T * 20
    return -jnp.mean(
        jnp.diagonal(jax.nn.log_softmax(similarity)) + jnp.diagonal(jax.nn.log_softmax(similarity.T))
    )


@train(
    _GRID,
    {"layers": encoder_layers(1024, 16, 4096, 2), "shifts": Input((2, 1024, 2048), (None, None, "model")),
     "time": Input((256, 1024))},
    Input((64, 256, 1024), ("data",)),
    Input((64, 256, 1024), ("data",)),
    Input((64, 256), ("data",)),
)  # fmt: skip
def diffusion_transformer(p: Tree, x: Array, noise: Array, time: Array) -> Array:
    condition = jax.nn.silu(time @ p["time"])
    for layer, shift in zip(p["layers"], p["shifts"], strict=True):
        scale, offset = jnp.split(condition @ shift, 2, -1)
        x = encoder(x * (1 + scale[:, None]) + offset[:, None], layer)
    return jnp.mean((x - noise) ** 2)


# --- Mixtures of experts and embeddings ---------------------------------------------------------------


@train(
    {"data": 4, "expert": 8},
    {"router": Input((1024, 32)), "up": Input((32, 1024, 4096), ("expert",)),
     "down": Input((32, 4096, 1024), ("expert",))},
    Input((8192, 1024), ("data",)),
)  # fmt: skip
def mixture_of_experts(p: Tree, x: Array) -> Array:
    gates, chosen = lax.top_k(jax.nn.softmax(x @ p["router"]), 2)
    spread = jax.nn.one_hot(chosen, 32) * gates[..., None]
    place = (jnp.cumsum(spread.sum(1) > 0, 0) - 1).astype(jnp.int32)
    slots = jax.nn.one_hot(place, 512) * spread.sum(1)[..., None]
    routed = constrain(jnp.einsum("tec,td->ecd", (slots > 0).astype(x.dtype), x), "expert")
    out = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", routed, p["up"])), p["down"])
    y = constrain(jnp.einsum("tec,ecd->td", slots, out), "data")
    return jnp.mean((x + y) ** 2)


@train(
    {"data": 8, "model": 2},
    {"tables": [Input((1000000, 64), ("model",))] * 4, "bottom": Input((13, 64)),
     "top": [Input((320, 512), (None, "model")), Input((512, 1), ("model",))]},
    Input((4096, 13), ("data",)),
    Input((4, 4096), (None, "data"), jnp.int32),
    Input((4096,), ("data",)),
)  # fmt: skip
def recommender(p: Tree, dense: Array, ids: Array, clicks: Array) -> Array:
    parts = [jax.nn.relu(dense @ p["bottom"])] + [
        table[each] for table, each in zip(p["tables"], ids, strict=True)
    ]
    x = jax.nn.relu(jnp.concatenate(parts, -1) @ p["top"][0]) @ p["top"][1]
    return jnp.mean(jnp.logaddexp(0, x[:, 0]) - clicks * x[:, 0])


# --- Images, graphs and recurrences -------------------------------------------------------------------


def conv(x: Array, kernel: Array, stride: int = 1) -> Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=numbers)


def group_norm(x: Array) -> Array:
    return (x - x.mean((1, 2), keepdims=True)) * lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)


def unet(p: Tree, x: Array) -> Array:
    skips = []
    x = conv(x, p["in"])
    for kernel, narrower in p["down"]:
        x = x + jax.nn.silu(group_norm(conv(x, kernel)))
        skips.append(x)
        x = conv(x, narrower, 2)
    for (wider, kernel), skip in zip(p["up"], reversed(skips), strict=True):
        batch, height, width, channels = x.shape
        x = conv(jax.image.resize(x, (batch, 2 * height, 2 * width, channels), "nearest"), wider)
        x = jax.nn.silu(group_norm(conv(jnp.concatenate([x, skip], -1), kernel)))
    return conv(x, p["out"])


def kernel(into: int, out: int) -> Input:
    return Input((3, 3, into, out))


_UNET = {
    "in": kernel(4, 96),
    "down": [(kernel(96, 96), kernel(96, 192)), (kernel(192, 192), kernel(192, 384))],
    "up": [(kernel(384, 192), kernel(384, 192)), (kernel(192, 96), kernel(192, 96))],
    "out": kernel(96, 4),
}
_DATA = {"data": 8}


@train(_DATA, _UNET, Input((64, 32, 32, 4), ("data",)), Input((64, 32, 32, 4), ("data",)))
def unet_noise(p: Tree, x: Array, noise: Array) -> Array:
    return jnp.mean((unet(p, x + noise) - noise) ** 2)


@program(_DATA, _UNET, Input((16, 64, 64, 4), ("data",)))
def unet_sampler(p: Tree, x: Array) -> Array:
    return lax.fori_loop(0, 50, lambda step, x: x - 0.02 * unet(p, x) * (1 - step / 50.0), x)


@train(
    _DATA,
    {"stem": kernel(3, 64), "blocks": [(kernel(64, 64), kernel(64, 64))] * 3, "head": Input((64, 100))},
    Input((128, 64, 64, 3), ("data",)),
    Input((128,), ("data",), jnp.int32),
)
def residual_network(p: Tree, images: Array, labels: Array) -> Array:
    def batch_norm(x: Array) -> Array:
        return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5)

    x = conv(images, p["stem"], 2)
    for first, second in p["blocks"]:
        x = jax.nn.relu(x + batch_norm(conv(jax.nn.relu(batch_norm(conv(x, first))), second)))
    logs = jax.nn.log_softmax(x.mean((1, 2)) @ p["head"])
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], -1))


@train(
    _DATA,
    [Input((256, 256))] * 3,
    Input((16384, 256)),
    Input((131072,), ("data",), jnp.int32),
    Input((131072,), ("data",), jnp.int32),
)
def graph_network(p: Tree, nodes: Array, senders: Array, receivers: Array) -> Array:
    for w in p:
        nodes = jax.nn.relu(jax.ops.segment_sum((nodes @ w)[senders], receivers, nodes.shape[0]))
    return jnp.mean(nodes**2)


@train(
    _GRID,
    {"words": Input((32768, 1024), (None, "model")), "x": Input((1024, 4096), (None, "model")),
     "h": Input((1024, 4096), (None, "model")), "head": Input((1024, 32768), ("model",))},
    Input((64, 65), ("data",), jnp.int32),
)  # fmt: skip
def recurrent_language_model(p: Tree, tokens: Array) -> Array:
    def step(carry: Any, x: Array) -> Any:
        h, c = carry
        i, f, o, u = jnp.split(x @ p["x"] + h @ p["h"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((tokens.shape[0], 1024))
    _, outputs = lax.scan(step, (zero, zero), p["words"][tokens[:, :-1]].swapaxes(0, 1))
    return next_token_loss(outputs.swapaxes(0, 1) @ p["head"], tokens)


# --- Others -------------------------------------------------------------------------------------------


@program(
    _GRID,
    Input((4096, 65536), (None, "model")),
    Input((64, 4096), ("data",)),
    Input((2,), (), jnp.uint32),
)
def token_sampler(w: Array, h: Array, key: Array) -> Array:
    logits = h @ w / 0.8
    noise = jax.random.gumbel(jax.random.wrap_key_data(key), logits.shape)
    return jnp.argmax(logits + noise, -1)


@train(
    {"x": 4, "y": 4},
    [{"up": Input((4096, 16384), ("x", "y")), "down": Input((16384, 4096), ("y", "x"))}] * 2,
    Input((2048, 4096), ("x",)),
)
def mlp_two_dimensional(p: Tree, x: Array) -> Array:
    for layer in p:
        x = x + constrain(jax.nn.gelu(constrain(x @ layer["up"], "x", "y")) @ layer["down"], "x")
    return jnp.mean(x**2)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parsed = parser.parse_args(arguments)
    parsed.folder.mkdir(parents=True, exist_ok=True)
    for name in parsed.names or _programs:
        (parsed.folder / f"{name}.mlir").write_text(_programs[name](), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
