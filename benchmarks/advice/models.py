"""Writes programs of JAX, correct and with planted mistakes: python models.py FOLDER

A script for a Python with jax. FOLDER gets `PROGRAM.mlir` for each program, `NUMBER.mlir` for each mistake,
and `mistakes.json`, which has the program and the words of each mistake. No devices are needed: arrays and
meshes are abstract.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

Array = Any
# Where an annotation is -> what it is; None for none.
Specs = dict[str, P | None]
# Name -> shape of what a program keeps, and of what it takes.
Shapes = dict[str, tuple[int, ...]]
Constrain = Callable[[Array, str], Array]


class Program:
    """A program: its mesh, its inputs, its correct annotations, and the function of parameters and inputs.

    Parameters are updated by gradients of the loss with momentum if it `is_trained`.
    """

    def __init__(
        self, function: Any, mesh: dict[str, int], kept: Shapes, taken: Shapes, specs: Specs, is_trained: bool
    ) -> None:
        self.function, self.mesh, self.kept, self.taken = function, mesh, kept, taken
        self.specs, self.is_trained = specs, is_trained

    def text(self, changes: Specs) -> str:
        """The program with some annotations changed."""
        specs = {**self.specs, **changes}
        mesh = AbstractMesh(tuple(self.mesh.values()), tuple(self.mesh), (AxisType.Auto,) * len(self.mesh))

        def sharding(name: str) -> NamedSharding:
            # Layers have one annotation, and momentum that of its parameter unless it has its own.
            name = name.rstrip("0123456789")
            return NamedSharding(mesh, specs.get(name, specs.get(name.removeprefix("m_"))) or P())

        def constrain(value: Array, name: str) -> Array:
            spec = specs[name]
            return value if spec is None else lax.with_sharding_constraint(value, NamedSharding(mesh, spec))

        def abstract(shapes: Shapes) -> dict[str, Any]:
            return {
                name: jax.ShapeDtypeStruct(
                    shape,
                    jnp.int32 if name in ("tokens", "targets") else jnp.bfloat16,
                    sharding=sharding(name),
                )
                for name, shape in shapes.items()
            }

        def train(params: Any, momentum: Any, inputs: Any) -> Any:
            loss, grads = jax.value_and_grad(self.function)(params, inputs, constrain)
            momentum = {f"m_{name}": 0.9 * momentum[f"m_{name}"] + grads[name] for name in params}
            params = {name: params[name] - 0.1 * momentum[f"m_{name}"] for name in params}
            return params, momentum, loss

        def infer(params: Any, inputs: Any) -> Any:
            return self.function(params, inputs, constrain)

        params, inputs = abstract(self.kept), abstract(self.taken)
        if self.is_trained:
            state = abstract({f"m_{name}": shape for name, shape in self.kept.items()})
            out = ({name: sharding(name) for name in params}, {name: sharding(name) for name in state}, None)
            jitted = jax.jit(train, out_shardings=out, donate_argnums=(0, 1))
            return str(_lowered(jitted.trace(params, state, inputs)))
        jitted = jax.jit(
            infer, out_shardings={name: sharding(name) for name in inputs if name != "tokens"} | {"y": None}
        )
        return str(_lowered(jitted.trace(params, inputs)))


def _lowered(traced: Any) -> str:
    return str(traced.lower(lowering_platforms=("cpu",)).as_text(debug_info=True))


def _layers(count: int, shapes: Shapes) -> Shapes:
    return {f"{name}{number}": shape for number in range(count) for name, shape in shapes.items()}


def _count(params: Any, name: str) -> int:
    return sum(each.startswith(name) for each in params)


def _norm(x: Array) -> Array:
    x32 = x.astype(jnp.float32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)).astype(x.dtype)


def _cross_entropy(logits: Array, tokens: Array) -> Array:
    logits = logits.astype(jnp.float32)
    top = lax.stop_gradient(jnp.max(logits, -1, keepdims=True))
    shifted = logits - top
    picked = jnp.sum(jnp.where(jax.nn.one_hot(tokens, logits.shape[-1], dtype=jnp.bool_), shifted, 0), -1)
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(shifted), -1)) - picked)


# --- Programs -----------------------------------------------------------------------------------------


def _attention(q: Array, k: Array, v: Array) -> Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores.astype(jnp.float32), -1).astype(v.dtype), v)


def _transformer(p: Any, inputs: Any, constrain: Constrain) -> Array:
    x = constrain(p["embed"][inputs["tokens"]], "x")
    for layer in range(_count(p, "wo")):
        q, k, v = jnp.einsum("bsd,dthk->tbshk", _norm(x), p[f"wqkv{layer}"])
        x = constrain(x + jnp.einsum("bqhk,hkd->bqd", _attention(q, k, v), p[f"wo{layer}"]), "x")
        h = constrain(jax.nn.gelu(_norm(x) @ p[f"w_up{layer}"]), "hidden")
        x = constrain(x + h @ p[f"w_down{layer}"], "x")
    return _cross_entropy(constrain(_norm(x) @ p["head"], "logits"), inputs["tokens"])


def _llama(p: Any, inputs: Any, constrain: Constrain) -> Array:
    x = constrain(p["embed"][inputs["tokens"]], "x")
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(32) / 32)[None]
    cos, sin = (f(angles)[:, None, :].astype(x.dtype) for f in (jnp.cos, jnp.sin))

    def rotary(t: Array) -> Array:
        one, two = jnp.split(t, 2, -1)
        return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], -1)

    for layer in range(_count(p, "wo")):
        h = _norm(x) * p[f"scale{layer}"]
        q = rotary(jnp.einsum("bsd,dhk->bshk", h, p[f"wq{layer}"]))
        k = jnp.repeat(rotary(jnp.einsum("bsd,dhk->bshk", h, p[f"wk{layer}"])), 2, 2)
        v = jnp.repeat(jnp.einsum("bsd,dhk->bshk", h, p[f"wv{layer}"]), 2, 2)
        x = constrain(x + jnp.einsum("bqhk,hkd->bqd", _attention(q, k, v), p[f"wo{layer}"]), "x")
        h = _norm(x)
        h = jax.nn.silu(h @ p[f"w_gate{layer}"]) * (h @ p[f"w_up{layer}"])
        x = constrain(x + h @ p[f"w_down{layer}"], "x")
    return _cross_entropy(_norm(x) @ p["head"], inputs["tokens"])


def _t5(p: Any, inputs: Any, constrain: Constrain) -> Array:
    def attend(x: Array, memory: Array, name: str) -> Array:
        q = jnp.einsum("bsd,dhk->bshk", x, p[f"{name}_q0"])
        k = jnp.einsum("bsd,dhk->bshk", memory, p[f"{name}_k0"])
        v = jnp.einsum("bsd,dhk->bshk", memory, p[f"{name}_v0"])
        return jnp.einsum("bqhk,hkd->bqd", _attention(q, k, v), p[f"{name}_o0"])

    def feed(x: Array, name: str) -> Array:
        return jax.nn.relu(_norm(x) @ p[f"{name}_up0"]) @ p[f"{name}_down0"]

    x = constrain(p["embed"][inputs["tokens"]], "x")
    x = constrain(x + attend(_norm(x), _norm(x), "enc"), "x")
    memory = _norm(constrain(x + feed(x, "enc"), "x"))
    y = constrain(p["embed"][inputs["targets"]], "x")
    y = constrain(y + attend(_norm(y), _norm(y), "dec"), "x")
    y = constrain(y + attend(_norm(y), memory, "cross"), "x")
    y = constrain(y + feed(y, "dec"), "x")
    return _cross_entropy(_norm(y) @ p["embed"].T, inputs["targets"])


def _moe(p: Any, inputs: Any, constrain: Constrain) -> Array:
    x = constrain(inputs["x"], "x")
    experts, capacity = p["router"].shape[1], x.shape[1] // 4
    gates = jax.nn.softmax((x @ p["router"]).astype(jnp.float32), -1)
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), experts)
    position = (jnp.cumsum(chosen, 1) * chosen - 1).astype(jnp.int32)
    dispatch = (jax.nn.one_hot(position, capacity) * chosen[..., None]).astype(x.dtype)
    sent = constrain(jnp.einsum("bsec,bsd->ebcd", dispatch, x), "sent")
    h = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", sent, p["expert_up"]))
    received = constrain(jnp.einsum("ebcf,efd->ebcd", h, p["expert_down"]), "received")
    weights = dispatch * jnp.max(gates, -1)[..., None, None].astype(x.dtype)
    y = constrain(jnp.einsum("bsec,ebcd->bsd", weights, received), "x")
    return jnp.mean((y - x).astype(jnp.float32) ** 2)


def _conv(x: Array, kernel: Array, stride: int = 1) -> Array:
    return lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def _convnet(p: Any, inputs: Any, constrain: Constrain) -> Array:
    x = constrain(jax.nn.relu(_conv(inputs["images"], p["stem"], 2)), "x")
    for layer in range(_count(p, "conv_in")):
        h = jax.nn.relu(_conv(x, p[f"conv_in{layer}"]))
        x = constrain(x + _conv(h, p[f"conv_out{layer}"]), "x")
    logits = jnp.mean(x, (1, 2)) @ p["classes"]
    return _cross_entropy(logits, inputs["tokens"])


def _decoder(p: Any, inputs: Any, constrain: Constrain) -> Any:
    x = constrain(p["embed"][inputs["tokens"]], "x")
    found: dict[str, Array] = {}
    for layer in range(_count(p, "wo")):
        q, k, v = jnp.einsum("bd,dthk->tbhk", _norm(x), p[f"wqkv{layer}"])
        keys = lax.dynamic_update_slice(inputs[f"keys{layer}"], k[:, None], (0, 7, 0, 0))
        values = lax.dynamic_update_slice(inputs[f"values{layer}"], v[:, None], (0, 7, 0, 0))
        found |= {f"keys{layer}": keys, f"values{layer}": values}
        y = _attention(q[:, None], keys, values)[:, 0]
        x = constrain(x + jnp.einsum("bhk,hkd->bd", y, p[f"wo{layer}"]), "x")
        x = constrain(x + jax.nn.gelu(_norm(x) @ p[f"w_up{layer}"]) @ p[f"w_down{layer}"], "x")
    return {**found, "y": jnp.argmax(_norm(x) @ p["head"], -1)}


def _unet(p: Any, inputs: Any, constrain: Constrain) -> Array:
    x, skips = constrain(inputs["images"], "x"), []
    for layer in range(2):
        x = jax.nn.relu(_conv(x, p[f"down{layer}"]))
        skips.append(constrain(x, "skip"))
        x = _conv(x, p[f"halve{layer}"], 2)
    for layer in (1, 0):
        shape = skips[layer].shape
        x = jax.image.resize(x, (shape[0], shape[1], shape[2], x.shape[3]), "nearest")
        x = constrain(jax.nn.relu(_conv(jnp.concatenate([x, skips[layer]], -1), p[f"up{layer}"])), "x")
    return jnp.mean((x - inputs["images"]).astype(jnp.float32) ** 2)


def _loss(p: Any, inputs: Any, constrain: Constrain) -> Array:
    h = constrain(jnp.tanh(inputs["x"] @ p["project"]), "x")
    return _cross_entropy(constrain(h @ p["head"], "logits"), inputs["tokens"])


_D, _F, _V = 1024, 4096, 32768
_BATCH = P("data", None, None, None)
PROGRAMS = {
    "transformer": Program(
        _transformer,
        {"data": 4, "model": 2},
        {
            "embed": (_V, _D),
            "head": (_D, _V),
            **_layers(1, {"wqkv": (_D, 3, 16, 64), "wo": (16, 64, _D), "w_up": (_D, _F), "w_down": (_F, _D)}),
        },
        {"tokens": (32, 512)},
        {
            "embed": P(None, "model"),
            "head": P(None, "model"),
            "wqkv": P(None, None, "model", None),
            "wo": P("model", None, None),
            "w_up": P(None, "model"),
            "w_down": P("model", None),
            "tokens": P("data", None),
            "x": P("data", None, None),
            "hidden": P("data", None, "model"),
            "logits": P("data", None, "model"),
        },
        True,
    ),
    "fsdp": Program(
        _transformer,
        {"fsdp": 8},
        {
            "embed": (_V, _D),
            "head": (_D, _V),
            **_layers(2, {"wqkv": (_D, 3, 16, 64), "wo": (16, 64, _D), "w_up": (_D, _F), "w_down": (_F, _D)}),
        },
        {"tokens": (32, 512)},
        {
            "embed": P(None, "fsdp"),
            "head": P("fsdp", None),
            "wqkv": P("fsdp", None, None, None),
            "wo": P(None, None, "fsdp"),
            "w_up": P("fsdp", None),
            "w_down": P(None, "fsdp"),
            "tokens": P("fsdp", None),
            "x": P("fsdp", None, None),
            "hidden": P("fsdp", None, None),
            "logits": P("fsdp", None, None),
        },
        True,
    ),
    "llama": Program(
        _llama,
        {"fsdp": 4, "tensor": 4},
        {
            "embed": (_V, _D),
            "head": (_D, _V),
            **_layers(
                1,
                {
                    "scale": (_D,),
                    "wq": (_D, 16, 64),
                    "wk": (_D, 8, 64),
                    "wv": (_D, 8, 64),
                    "wo": (16, 64, _D),
                    "w_gate": (_D, _F),
                    "w_up": (_D, _F),
                    "w_down": (_F, _D),
                },
            ),
        },
        {"tokens": (32, 512)},
        {
            "embed": P(("fsdp", "tensor"), None),
            "head": P("fsdp", "tensor"),
            "scale": P(None),
            **{name: P("fsdp", "tensor", None) for name in ("wq", "wk", "wv")},
            "wo": P("tensor", None, "fsdp"),
            "w_gate": P("fsdp", "tensor"),
            "w_up": P("fsdp", "tensor"),
            "w_down": P("tensor", "fsdp"),
            "tokens": P("fsdp", None),
            "x": P("fsdp", None, None),
        },
        True,
    ),
    "t5": Program(
        _t5,
        {"data": 4, "model": 4},
        {
            "embed": (_V, _D),
            **{
                f"{name}_{each}0": (16, 64, _D) if each == "o" else (_D, 16, 64)
                for name in ("enc", "dec", "cross")
                for each in "qkvo"
            },
            **{f"{name}_up0": (_D, _F) for name in ("enc", "dec")},
            **{f"{name}_down0": (_F, _D) for name in ("enc", "dec")},
        },
        {"tokens": (32, 512), "targets": (32, 256)},
        {
            "embed": P("model", None),
            **{
                f"{name}_{each}": P("model", None, None) if each == "o" else P(None, "model", None)
                for name in ("enc", "dec", "cross")
                for each in "qkvo"
            },
            **{f"{name}_up": P(None, "model") for name in ("enc", "dec")},
            **{f"{name}_down": P("model", None) for name in ("enc", "dec")},
            "tokens": P("data", None),
            "targets": P("data", None),
            "x": P("data", None, None),
        },
        True,
    ),
    "moe": Program(
        _moe,
        {"data": 2, "expert": 8},
        {"router": (_D, 8), "expert_up": (8, _D, _F), "expert_down": (8, _F, _D)},
        {"x": (64, 256, _D)},
        {
            "router": P(None, None),
            "expert_up": P("expert", None, None),
            "expert_down": P("expert", None, None),
            "x": P(("data", "expert"), None, None),
            "sent": P("expert", "data", None, None),
            "received": P("expert", "data", None, None),
        },
        True,
    ),
    "convnet": Program(
        _convnet,
        {"data": 4, "model": 2},
        {
            "stem": (7, 7, 4, 256),
            **_layers(2, {"conv_in": (3, 3, 256, 512), "conv_out": (3, 3, 512, 256)}),
            "classes": (256, 1024),
        },
        {"images": (64, 64, 64, 4), "tokens": (64,)},
        {
            "stem": P(None, None, None, None),
            "conv_in": P(None, None, None, "model"),
            "conv_out": P(None, None, "model", None),
            "classes": P(None, "model"),
            "images": _BATCH,
            "tokens": P("data"),
            "x": _BATCH,
        },
        True,
    ),
    "decoder": Program(
        _decoder,
        {"data": 4, "model": 4},
        {
            "embed": (_V, _D),
            "head": (_D, _V),
            **_layers(1, {"wqkv": (_D, 3, 16, 64), "wo": (16, 64, _D), "w_up": (_D, _F), "w_down": (_F, _D)}),
        },
        {"tokens": (128,), **_layers(1, {"keys": (128, 2048, 16, 64), "values": (128, 2048, 16, 64)})},
        {
            "embed": P(None, "model"),
            "head": P(None, "model"),
            "wqkv": P(None, None, "model", None),
            "wo": P("model", None, None),
            "w_up": P(None, "model"),
            "w_down": P("model", None),
            "tokens": P("data"),
            "keys": P("data", None, "model", None),
            "values": P("data", None, "model", None),
            "x": P("data", None),
        },
        False,
    ),
    "unet": Program(
        _unet,
        {"data": 8},
        {
            **{f"down{layer}": (3, 3, 64 << layer, 128 << layer) for layer in range(2)},
            **{f"halve{layer}": (3, 3, 128 << layer, 128 << layer) for layer in range(2)},
            **{f"up{layer}": (3, 3, 256 << layer, 64 << layer) for layer in range(2)},
        },
        {"images": (64, 64, 64, 64)},
        {
            "down": P(None, None, None, None),
            "halve": P(None, None, None, None),
            "up": P(None, None, None, None),
            "images": _BATCH,
            "x": _BATCH,
            "skip": _BATCH,
        },
        True,
    ),
    "loss": Program(
        _loss,
        {"data": 4, "model": 4},
        {"project": (_D, _D), "head": (_D, 65536)},
        {"x": (4096, _D), "tokens": (4096,)},
        {
            "project": P(None, None),
            "head": P(None, "model"),
            "x": P("data", None),
            "tokens": P("data"),
            "logits": P("data", "model"),
        },
        True,
    ),
}

# What is planted: the program, the mistake, and the annotations that are wrong.
MISTAKES: tuple[tuple[str, str, Specs], ...] = (
    ("transformer", "axis of a constraint lost", {"x": P(None, None, None)}),
    ("transformer", "axis of a weight moved", {"w_up": P("model", None)}),
    ("transformer", "weight replicated", {"wo": P(None, None, None)}),
    ("transformer", "axes of a constraint swapped", {"hidden": P("model", None, "data")}),
    ("transformer", "constraint replicates", {"logits": P(None, None, None)}),
    ("transformer", "momentum replicated", {"m_embed": P(None, None)}),
    ("transformer", "axis of a weight exchanged", {"w_down": P("data", None)}),
    ("fsdp", "constraints lost", {"x": None, "hidden": None, "logits": None}),
    ("fsdp", "axis of a constraint moved", {"x": P(None, None, "fsdp")}),
    ("moe", "weight replicated", {"expert_up": P(None, None, None)}),
    ("moe", "constraint lost", {"sent": None}),
    ("moe", "axes of a constraint swapped", {"sent": P("data", "expert", None, None)}),
    ("moe", "axis of a weight moved", {"expert_down": P(None, None, "expert")}),
    ("moe", "batch not sharded", {"x": P(None, None, None)}),
    ("convnet", "axis of a constraint lost", {"x": P(None, None, None, None)}),
    ("convnet", "axis of a kernel moved", {"conv_in": P(None, None, "model", None)}),
    ("convnet", "axis of a constraint moved", {"x": P(None, None, None, "data")}),
    ("decoder", "cache replicated", {"keys": P(None, None, None, None)}),
    ("decoder", "axis of the cache lost", {"keys": P("data", None, None, None)}),
    ("decoder", "axes of the cache swapped", {"values": P("model", None, "data", None)}),
    ("decoder", "weight replicated", {"head": P(None, None)}),
    ("unet", "axis of a constraint moved", {"skip": P(None, None, None, "data")}),
    ("unet", "batch not sharded", {"images": P(None, None, None, None), "x": None, "skip": None}),
    ("loss", "constraint replicates", {"logits": P("data", None)}),
    ("loss", "axis of a weight moved", {"head": P("model", None)}),
)


def main(folder: Path) -> None:
    """Writes the programs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in PROGRAMS.items():
        (folder / f"{name}.mlir").write_text(program.text({}), encoding="utf-8")
    for number, (name, _, changes) in enumerate(MISTAKES):
        (folder / f"{number}.mlir").write_text(PROGRAMS[name].text(changes), encoding="utf-8")
    planted = [[name, mistake] for name, mistake, _ in MISTAKES]
    (folder / "mistakes.json").write_text(json.dumps(planted), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
