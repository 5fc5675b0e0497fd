"""Writes models of today's sizes, from 7B to 405B parameters, to calibrate reports on TPU and GPU.

    python -m benchmarks.calibration.large_programs FOLDER [NAME…]

Needs jax, but no devices: arrays and meshes are abstract.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from benchmarks.calibration import jax_programs
from benchmarks.calibration.jax_programs import (
    Array,
    Input,
    Tree,
    attend,
    constrain,
    layer_norm,
    llama,
    llama_logits,
    next_token_loss,
    program,
    rms_norm,
    rotary,
    train,
)

_BF16 = jnp.bfloat16
_OTHERS = set(jax_programs._programs)
# Name -> width, heads, heads of keys, hidden width, layers, vocabulary.
_SIZES = {
    "7b": (4096, 32, 32, 11008, 32, 32000),
    "8b": (4096, 32, 8, 14336, 32, 128256),
    "13b": (5120, 40, 40, 13824, 40, 32000),
    "34b": (8192, 64, 8, 22016, 48, 32000),
    "70b": (8192, 64, 8, 28672, 80, 128256),
    "405b": (16384, 128, 8, 53248, 126, 128256),
}


def _train_llama(
    name: str, size: str, mesh: dict[str, int], data: Any, model: Any, activations: Sequence[Any], batch: int,
    length: int = 4096, dtype: Any = _BF16,
) -> None:  # fmt: skip
    def loss(p: Tree, tokens: Array) -> Array:
        return next_token_loss(llama_logits(p, tokens[:, :-1], activations, True), tokens)

    loss.__name__ = f"llama{size}_{name}"
    parameters = llama(*_SIZES[size], data, model, dtype)
    train(mesh, parameters, Input((batch, length + 1), (activations[0],), jnp.int32))(loss)


for _size, _count in ("7b", 32), ("8b", 64), ("13b", 64), ("34b", 128), ("70b", 256), ("405b", 256):
    _train_llama("fsdp", _size, {"fsdp": _count}, "fsdp", None, ["fsdp"], _count)
for _size, _data, _model in (
    ("7b", 8, 4),
    ("8b", 16, 4),
    ("13b", 8, 8),
    ("34b", 16, 8),
    ("70b", 32, 8),
    ("405b", 32, 8),
):
    _mesh = {"fsdp": _data, "tensor": _model}
    _train_llama("fsdp_tensor", _size, _mesh, "fsdp", "tensor", ["fsdp"], 2 * _data)
for _size, _data, _model in ("7b", 4, 8), ("13b", 8, 4), ("34b", 8, 8), ("70b", 16, 8):
    _mesh = {"data": _data, "tensor": _model}
    _train_llama("sequence", _size, _mesh, None, "tensor", ["data", "tensor"], 2 * _data)
for _size, _data, _model in ("7b", 8, 4), ("8b", 4, 8), ("70b", 16, 8):
    _mesh = {"replica": 2, "fsdp": _data, "tensor": _model}
    _train_llama("hybrid", _size, _mesh, "fsdp", "tensor", [("replica", "fsdp")], 2 * _data)
for _size in "70b", "405b":
    _mesh = {"slice": 2, "fsdp": 32, "tensor": 8}
    _train_llama("two_slices", _size, _mesh, "fsdp", "tensor", [("slice", "fsdp")], 128)
_train_llama("float32", "7b", {"fsdp": 16, "tensor": 4}, "fsdp", "tensor", ["fsdp"], 32, dtype=jnp.float32)


# --- Inference ----------------------------------------------------------------------------------------


def _decode(size: str, mesh: dict[str, int], batch: int, length: int) -> None:
    width, heads, kv, _, layers, _ = _SIZES[size]
    # Keys have fewer heads than some meshes have devices.
    shards = "tensor" if kv % mesh["tensor"] == 0 else None
    cache = Input((layers, batch, length, kv, width // heads), (None, "data", None, shards), _BF16)

    def step(p: Tree, cache: Tree, token: Array, position: Array) -> Any:
        def layer(x: Array, inputs: Any) -> Any:
            w, keys, values = inputs
            h = rms_norm(x, w["norm1"])
            q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[name]) for name in "qkv")
            keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
            values = lax.dynamic_update_slice(values, v, (0, position, 0, 0))
            mask = jnp.arange(length) <= position
            x = x + jnp.einsum("bshk,hkd->bsd", attend(q, keys, values, mask), w["o"])
            h = rms_norm(x, w["norm2"])
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], (keys, values)

        x, cache = lax.scan(layer, p["embedding"][token][:, None], (p["layers"], *cache))
        return list(cache), jnp.argmax((x @ p["head"])[:, 0], -1)

    step.__name__ = f"llama{size}_decode_{mesh['data']}x{mesh['tensor']}"
    parameters = llama(*_SIZES[size], None, "tensor", _BF16)
    token, position = Input((batch,), ("data",), jnp.int32), Input((), (), jnp.int32)
    program(mesh, parameters, [cache, cache], token, position, donate=(1,), keep=True)(step)


def _prefill(size: str, mesh: dict[str, int], batch: int, length: int) -> None:
    def prefill(p: Tree, tokens: Array) -> Array:
        return llama_logits(p, tokens, ["data"], False)[:, -1]

    prefill.__name__ = f"llama{size}_prefill_{mesh['data']}x{mesh['tensor']}"
    parameters = llama(*_SIZES[size], None, "tensor", _BF16)
    program(mesh, parameters, Input((batch, length), ("data",), jnp.int32))(prefill)


for _size, _data, _model in ("7b", 1, 8), ("8b", 4, 8), ("70b", 4, 8), ("405b", 4, 8):
    _decode(_size, {"data": _data, "tensor": _model}, 16 * _data, 4096)
for _size, _data, _model in ("13b", 1, 8), ("70b", 2, 8):
    _prefill(_size, {"data": _data, "tensor": _model}, 4 * _data, 8192)


# --- Experts ------------------------------------------------------------------------------------------


def _experts(name: str, mesh: dict[str, int], width: int, hidden: int, experts: int, tokens: int) -> None:
    capacity = 2 * tokens // experts

    def loss(p: Tree, x: Array, target: Array) -> Array:
        def layer(x: Array, w: Tree) -> Any:
            gates = jax.nn.softmax(jnp.einsum("gtd,de->gte", x, w["router"]).astype(jnp.float32))
            choice = jax.nn.one_hot(jnp.argmax(gates, -1), experts, dtype=x.dtype)
            place = jnp.cumsum(choice, 1) * choice
            dispatch = jax.nn.one_hot(place - 1, capacity, dtype=x.dtype)
            sent = constrain(jnp.einsum("gtd,gtec->egcd", x, dispatch), "expert", "data")
            inner = jax.nn.silu(jnp.einsum("egcd,edh->egch", sent, w["up"]))
            back = constrain(jnp.einsum("egch,ehd->egcd", inner, w["down"]), "expert", "data")
            combine = dispatch * gates.astype(x.dtype)[..., None]
            return constrain(x + jnp.einsum("egcd,gtec->gtd", back, combine), ("data", "expert")), None

        x, _ = lax.scan(jax.checkpoint(layer), x, p)
        return jnp.mean(jnp.square((x - target).astype(jnp.float32)))

    loss.__name__ = f"experts_{name}"
    groups = mesh["data"] * mesh["expert"]
    parameters = {
        "router": Input((8, width, experts), (), _BF16),
        "up": Input((8, experts, width, hidden), (None, "expert", "data"), _BF16),
        "down": Input((8, experts, hidden, width), (None, "expert", None, "data"), _BF16),
    }
    data = Input((groups, tokens, width), (("data", "expert"),), _BF16)
    train(mesh, parameters, data, data)(loss)


_experts("8x7b", {"data": 8, "expert": 8}, 4096, 14336, 8, 2048)
_experts("64", {"data": 4, "expert": 16}, 2048, 5632, 64, 1024)
_experts("128", {"data": 4, "expert": 32}, 4096, 4096, 128, 1024)


# --- Manual computations ------------------------------------------------------------------------------


def _context_parallel(name: str, mesh: dict[str, int], heads: int, length: int) -> None:
    """Attention whose keys and values go around a ring."""
    count = mesh["context"]
    spec = P("data", "context")

    def ring(q: Array, k: Array, v: Array) -> Array:
        def step(_: int, state: Any) -> Any:
            k, v, total, norm = state
            weights = jnp.exp(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) * 0.01)
            total = total + jnp.einsum("bhqk,bkhd->bqhd", weights.astype(v.dtype), v)
            norm = norm + weights.sum(-1)
            pairs = [(device, (device + 1) % count) for device in range(count)]
            k, v = (lax.ppermute(each, "context", pairs) for each in (k, v))
            return k, v, total, norm

        start = jax.lax.pcast(jnp.zeros((q.shape[0], heads, q.shape[1])), ("data", "context"), to="varying")
        _, _, total, norm = lax.fori_loop(0, count, step, (k, v, jnp.zeros_like(q), start))
        return total / norm.transpose(0, 2, 1)[..., None].astype(q.dtype)

    def loss(p: Tree, x: Array) -> Array:
        context = jax_programs._mesh[0]
        around = jax.shard_map(ring, mesh=context, in_specs=(spec, spec, spec), out_specs=spec)
        for layer in p:
            q, k, v = (jnp.einsum("bsd,dhk->bshk", x, layer[each]) for each in "qkv")
            x = constrain(x + jnp.einsum("bshk,hkd->bsd", around(q, k, v), layer["o"]), "data", "context")
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    loss.__name__ = f"context_parallel_{name}"
    width = heads * 128
    weights = {each: Input((width, heads, 128), ("data",), _BF16) for each in "qkv"}
    weights["o"] = Input((heads, 128, width), (None, None, "data"), _BF16)
    data = Input((mesh["data"], length, width), ("data", "context"), _BF16)
    program(mesh, [weights] * 2, data)(loss)


def _pipeline(name: str, stages: int, data: int, width: int, micro: int) -> None:
    """Stages pass activations to the next one."""
    mesh = {"stage": stages, "data": data}

    def run(w: Tree, x: Array) -> Array:
        w = jax.tree.map(lambda each: each[0], w)
        index = lax.axis_index("stage")
        pairs = [(stage, (stage + 1) % stages) for stage in range(stages)]

        def step(state: Array, time: Array) -> Any:
            given = jnp.where(index == 0, x[jnp.minimum(time, micro - 1)], state)
            out = given + jax.nn.gelu(given @ w["up"]) @ w["down"]
            return lax.ppermute(out, "stage", pairs), out

        start = jax.lax.pcast(jnp.zeros_like(x[0]), ("stage",), to="varying")
        _, found = lax.scan(step, start, jnp.arange(micro + stages - 1))
        return found[None, stages - 1 :]

    def loss(p: Tree, x: Array) -> Array:
        specs = (P("stage"), P(None, "data"))
        piped = jax.shard_map(
            run, mesh=jax_programs._mesh[0], in_specs=specs, out_specs=P("stage", None, "data")
        )
        return jnp.mean(jnp.square(piped(p, x)[-1].astype(jnp.float32)))

    loss.__name__ = f"pipeline_{name}"
    parameters = {
        "up": Input((stages, width, 4 * width), ("stage",), _BF16),
        "down": Input((stages, 4 * width, width), ("stage",), _BF16),
    }
    train(mesh, parameters, Input((micro, 64 * data, width), (None, "data"), _BF16))(loss)


_context_parallel("32k", {"data": 2, "context": 8}, 32, 32768)
_context_parallel("128k", {"data": 2, "context": 32}, 32, 131072)
_context_parallel("64k", {"data": 4, "context": 8}, 16, 65536)
_pipeline("4x8", 4, 8, 4096, 8)
_pipeline("8x4", 8, 4, 8192, 16)


# --- Diffusion ----------------------------------------------------------------------------------------


def _diffusion(name: str, mesh: dict[str, int], width: int, heads: int, batch: int, model: Any) -> None:
    def block(x: Array, inputs: Any) -> Any:
        w, time = inputs
        scale, shift = jnp.split(time @ w["time"], 2, -1)
        h = layer_norm(x) * (1 + scale[:, None]) + shift[:, None]
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[each]) for each in "qkv")
        x = x + jnp.einsum("bshk,hkd->bsd", attend(rotary(q), rotary(k), v), w["o"])
        return x + jax.nn.gelu(layer_norm(x) @ w["up"]) @ w["down"], None

    def loss(p: Tree, x: Array, noise: Array, time: Array) -> Array:
        noisy = x + noise * time[:, :1, None]
        count = p["up"].shape[0]
        times = jnp.broadcast_to(time, (count, *time.shape))
        found, _ = lax.scan(jax.checkpoint(block), noisy, (p, times))
        return jnp.mean(jnp.square((found - noise).astype(jnp.float32)))

    loss.__name__ = f"diffusion_{name}"
    fsdp = None if model else "data"
    stack = {
        **dict.fromkeys("qkv", ((width, heads, width // heads), (fsdp, model))),
        "o": ((heads, width // heads, width), (model, None, fsdp)),
        "up": ((width, 4 * width), (fsdp, model)),
        "down": ((4 * width, width), (model, fsdp)),
        "time": ((256, 2 * width), (None, model)),
    }
    parameters = {each: Input((28, *shape), (None, *axes), _BF16) for each, (shape, axes) in stack.items()}
    image = Input((batch, 1024, width), ("data",), _BF16)
    train(mesh, parameters, image, image, Input((batch, 256), ("data",), _BF16))(loss)


_diffusion("xl_fsdp", {"data": 32}, 1152, 16, 128, None)
_diffusion("3b_tensor", {"data": 8, "model": 4}, 3072, 24, 64, "model")


# --- Axes of which programs name the sharding of each array -------------------------------------------


def _explicit(name: str, mesh: dict[str, int], x_axes: Sequence[Any], layers: Sequence[Any]) -> None:
    def text() -> str:
        abstract = AbstractMesh(tuple(mesh.values()), tuple(mesh), (AxisType.Explicit,) * len(mesh))

        def array(shape: Sequence[int], axes: Sequence[Any]) -> Any:
            return jax.ShapeDtypeStruct(tuple(shape), _BF16, sharding=NamedSharding(abstract, P(*axes)))

        def loss(p: Tree, x: Array) -> Array:
            for (up, down), (_, _, inner, outer) in zip(p, layers, strict=True):
                h = jax.nn.gelu(jnp.einsum("bd,dh->bh", x, up, out_sharding=P(*inner)))
                x = x + jnp.einsum("bh,hd->bd", h, down, out_sharding=P(*outer))
            return jnp.mean(jnp.square(x.astype(jnp.float32)))

        weights = [(array((4096, 16384), up), array((16384, 4096), down)) for up, down, _, _ in layers]
        arguments = weights, array((8192, 4096), x_axes)
        with jax.sharding.use_abstract_mesh(abstract):
            lowered = jax.jit(jax.grad(loss)).trace(*arguments).lower(lowering_platforms=("cpu",))
        return str(lowered.as_text())

    jax_programs._programs[f"explicit_{name}"] = text


_explicit(
    "tensor",
    {"data": 4, "model": 8},
    ("data", None),
    [((None, "model"), ("model", None), ("data", "model"), ("data", None))] * 3,
)
_explicit(
    "sequence",
    {"data": 4, "model": 4},
    (("data", "model"), None),
    [((None, "model"), ("model", None), ("data", "model"), (("data", "model"), None))] * 3,
)


if __name__ == "__main__":
    own = [name for name in jax_programs._programs if name not in _OTHERS]
    jax_programs.main([*sys.argv[1:], *(own if len(sys.argv) == 2 else [])])
