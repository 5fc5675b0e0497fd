"""Writes small programs with calls, loops, uneven sizes and halos, to compare communication on them.

    python -m benchmarks.communication.jax_programs FOLDER [NAME…]

Needs jax, but no devices: arrays and meshes are abstract. A program is a function of this module whose
decorator has its mesh, and the shapes and shardings of its inputs and outputs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

Array = Any
Function = Callable[..., Any]

# Typed, because jax need not be installed where types are checked.
_jit: Callable[[Function], Function] = jax.jit
_checkpoint: Callable[[Function], Function] = jax.checkpoint
_custom_vjp: Callable[[Function], Any] = jax.custom_vjp

_X = {"x": 4}
_XY = {"x": 4, "y": 2}
_GRID = {"d": 4, "t": 4, "s": 4}
_DATA_MODEL = {"data": 4, "model": 4}

_programs: dict[str, Callable[[], str]] = {}
_mesh: list[AbstractMesh] = []


def program(sizes: dict[str, int], *inputs: Any, out: Any = None) -> Callable[[Function], Function]:
    """Registers a program. An input is a shape, a `P`, and for other elements than f32 a dtype."""

    def register(function: Function) -> Function:
        def text() -> str:
            mesh = AbstractMesh(tuple(sizes.values()), tuple(sizes), (AxisType.Auto,) * len(sizes))
            _mesh[:] = [mesh]
            arguments = [
                jax.ShapeDtypeStruct(shape, *(dtype or [jnp.float32]), sharding=NamedSharding(mesh, spec))
                for shape, spec, *dtype in inputs
            ]
            shardings = jax.tree.map(
                lambda spec: NamedSharding(mesh, spec), out, is_leaf=lambda each: isinstance(each, P)
            )
            jitted = jax.jit(function, out_shardings=shardings) if out is not None else jax.jit(function)
            lowered = jitted.trace(*arguments).lower(lowering_platforms=("cpu",))
            return str(lowered.as_text())

        _programs[function.__name__] = text
        return function

    return register


def constrain(value: Array, *spec: Any) -> Array:
    return lax.with_sharding_constraint(value, NamedSharding(_mesh[0], P(*spec)))


def gradients(loss: Function, *positions: int) -> Function:
    gradient: Function = jax.grad(loss, argnums=positions)
    return gradient


# --- Calls ------------------------------------------------------------------------------------------


@_jit
def _lstm_cell(weights: Array, bias: Array, state: tuple[Array, Array], x: Array) -> tuple[Array, Array]:
    hidden, cell = state
    gates = jnp.concatenate([x, hidden], axis=-1) @ weights + bias
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


@program(
    _DATA_MODEL,
    ((512, 1024), P(None, "model")),
    ((1024,), P("model")),
    ((32, 16, 256), P(None, "data", None)),
    out=(P(None, "model"), P("model")),
)
def lstm_train(weights: Array, bias: Array, xs: Array) -> Any:
    def loss(weights: Array, bias: Array) -> Array:
        zeros = jnp.zeros((16, 256))
        step = lambda state, x: (_lstm_cell(weights, bias, state, x), None)  # noqa: E731
        (hidden, _), _ = lax.scan(step, (zeros, zeros), xs)
        return jnp.sum(hidden**2)

    return gradients(loss, 0, 1)(weights, bias)


@_jit
def _gru_cell(update: Array, candidate: Array, hidden: Array, x: Array) -> Array:
    joined = jnp.concatenate([x, hidden], axis=-1)
    gates = jax.nn.sigmoid(joined @ update)
    reset, keep = jnp.split(gates, 2, axis=-1)
    new = jnp.tanh(jnp.concatenate([x, reset * hidden], axis=-1) @ candidate)
    return keep * hidden + (1 - keep) * new


@program(
    _DATA_MODEL,
    ((128, 128), P(None, "model")),
    ((128, 64), P(None, "model")),
    ((12, 16, 64), P(None, "data", None)),
    out=P("data", None),
)
def gru_forward(update: Array, candidate: Array, xs: Array) -> Array:
    step = lambda hidden, x: (_gru_cell(update, candidate, hidden, x), None)  # noqa: E731
    return lax.scan(step, jnp.zeros((16, 64)), xs)[0]


def _attention(q: Array, k: Array, v: Array, is_causal: bool = True) -> Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    if is_causal:
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


_QKV = ((8, 64, 8, 16), P("d", "s", "t", None))


@program(_GRID, _QKV, _QKV, _QKV, out=P("d", "s", "t", None))
def attention_masked(q: Array, k: Array, v: Array) -> Array:
    return _attention(q, k, v)


_QKV6 = ((8, 64, 96), P("d", "s", "t"))


@program(_GRID, _QKV6, _QKV6, _QKV6, out=P("d", "s", "t"))
def attention_6_heads(q: Array, k: Array, v: Array) -> Array:
    heads = [constrain(each.reshape(8, 64, 6, 16), "d", "s", "t", None) for each in (q, k, v)]
    return _attention(*heads).reshape(8, 64, 96)


@program(_GRID, _QKV6, _QKV6, _QKV6, out=P("d", "s", "t"))
def attention_6_heads_train(q: Array, k: Array, v: Array) -> Array:
    def loss(q: Array) -> Array:
        heads = [each.reshape(8, 64, 6, 16) for each in (q, k, v)]
        return jnp.sum(_attention(*heads) ** 2)

    return jax.grad(loss)(q)


@program(
    _DATA_MODEL,
    ((1002, 64), P(None, None)),
    ((64, 32), P("data", None), jnp.int32),
    out=P("data", None, None),
)
def embedding_take(table: Array, ids: Array) -> Array:
    return jnp.take(constrain(table, "model", None), ids, axis=0)


@program(
    _DATA_MODEL,
    ((1002, 64), P(None, "data")),
    ((64, 32), P("data", None), jnp.int32),
    out=P(None, "data"),
)
def embedding_train(table: Array, ids: Array) -> Array:
    def loss(table: Array) -> Array:
        return jnp.sum(jnp.take(constrain(table, "model", None), ids, axis=0) ** 2)

    return jax.grad(loss)(table)


@program(
    _DATA_MODEL,
    ((64, 128), P("data", None)),
    ((128, 1000), P(None, "model")),
    ((64,), P("data"), jnp.int32),
    out=(P(None, "model")),
)
def cross_entropy_train(x: Array, weights: Array, labels: Array) -> Array:
    def loss(weights: Array) -> Array:
        log_probabilities = jax.nn.log_softmax(x @ weights)
        return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[:, None], axis=1))

    return jax.grad(loss)(weights)


@_jit
def _group_norm(x: Array, scale: Array) -> Array:
    groups = x.reshape(*x.shape[:-1], 4, -1)
    mean = jnp.mean(groups, axis=(1, 2, 4), keepdims=True)
    variance = jnp.var(groups, axis=(1, 2, 4), keepdims=True)
    return ((groups - mean) * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * scale


@program(
    _DATA_MODEL,
    ((8, 8, 8, 32), P("data", "model", None, None)),
    ((32,), P(None)),
    out=(P("data", "model"), P(None)),
)
def group_norm_train(x: Array, scale: Array) -> Any:
    return gradients(lambda x, scale: jnp.sum(_group_norm(x, scale) ** 3), 0, 1)(x, scale)


@_custom_vjp
def _rms_norm(x: Array, scale: Array) -> Array:
    return x * lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * scale


def _rms_forward(x: Array, scale: Array) -> Any:
    return _rms_norm(x, scale), (x, scale)


def _rms_backward(saved: Any, gradient: Array) -> Any:
    _, pullback = jax.vjp(lambda x, s: x * lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * s, *saved)
    return pullback(gradient)


_rms_norm.defvjp(_rms_forward, _rms_backward)


@program(
    _DATA_MODEL,
    ((32, 64), P("data", None)),
    ((64,), P()),
    ((64, 256), P(None, "model")),
    ((256, 64), P("model", None)),
    out=(P(), P(None, "model"), P("model", None)),
)
def norm_mlp_remat_train(x: Array, scale: Array, up: Array, down: Array) -> Any:
    @_checkpoint
    def block(x: Array, scale: Array, up: Array, down: Array) -> Array:
        return x + jnp.maximum(_rms_norm(x, scale) @ up, 0) @ down

    def loss(scale: Array, up: Array, down: Array) -> Array:
        return jnp.sum(block(block(x, scale, up, down), scale, up, down) ** 2)

    return gradients(loss, 0, 1, 2)(scale, up, down)


@program(_DATA_MODEL, ((64, 1000), P("data", "model")), out=P("data"))
def greedy_token(logits: Array) -> Array:
    return jnp.argmax(jnp.where(logits > 0, logits, -jnp.inf), axis=-1)


@program(_XY, ((512,), P("x")), ((64,), P(None), jnp.int32), out=P("x"))
def histogram(x: Array, ids: Array) -> Array:
    counts = jnp.zeros(512).at[ids].add(1.0)
    return jnp.where(x > 0, counts, x)


# --- Loops ------------------------------------------------------------------------------------------


@program(_DATA_MODEL, ((256, 256), P("data", "model")), ((256,), P("data")), out=P("data"))
def power_iteration(matrix: Array, vector: Array) -> Array:
    def step(_: Array, vector: Array) -> Array:
        new = matrix @ vector
        return new / jnp.linalg.norm(new)

    return lax.fori_loop(0, 10, step, vector)


@program(_XY, ((128, 128), P("x", "y")), ((128,), P("x")), out=P("x"))
def conjugate_gradient(matrix: Array, b: Array) -> Array:
    apply = lambda v: matrix @ (matrix.T @ v) + v  # noqa: E731
    return jax.scipy.sparse.linalg.cg(apply, b, maxiter=8)[0]


@program(_X, ((64, 256), P("x", None)), ((256, 256), P("x", None)), out=P("x", None))
def fsdp_loop(x: Array, weights: Array) -> Array:
    """The weights are gathered: once before the loop."""
    step = lambda _, x: jnp.tanh(constrain(x, "x", None) @ constrain(weights, None, None))  # noqa: E731
    return lax.fori_loop(0, 6, step, x)


@program(_DATA_MODEL, ((32, 64), P("data", None)), ((6, 64, 64), P(None, "data", "model")), out=P("data"))
def fsdp_layers(x: Array, weights: Array) -> Array:
    step = lambda x, w: (jnp.tanh(x @ constrain(w, None, "model")), None)  # noqa: E731
    return lax.scan(step, x, weights)[0]


@program(_XY, ((128, 64), P("x", "y")), ((64, 64), P("x", "y")), out=P("x", "y"))
def nested_loops(x: Array, weights: Array) -> Array:
    def inner(x: Array, _: Any) -> Any:
        return jnp.tanh(x @ weights), None

    def outer(x: Array, _: Any) -> Any:
        return jax.nn.softmax(lax.scan(inner, x, None, length=3)[0]), None

    return lax.scan(outer, x, None, length=2)[0]


@program(_XY, ((64, 64), P("x", "y")), ((64,), P("y")), out=P("x", "y"))
def clipped_descent(x: Array, bias: Array) -> Array:
    def step(state: Any) -> Any:
        x, count = state
        gradient = jax.grad(lambda x: jnp.sum(jax.nn.softplus(x @ x.T + bias)))(x)
        norm = jnp.sqrt(jnp.sum(gradient**2))
        return x - jnp.where(norm > 1, gradient / norm, gradient), count + 1

    return lax.while_loop(lambda state: state[1] < 5, step, (x, 0))[0]


# --- Uneven sizes -----------------------------------------------------------------------------------


@program(_DATA_MODEL, ((32, 6, 64), P("data", None, None)), out=P("data", None, None))
def uneven_gather_part(x: Array) -> Array:
    x = jnp.sin(constrain(x, None, ("data", "model"), None))
    return jnp.cos(constrain(constrain(x, None, "data", None), "data", None, None))


@program(_GRID, ((8, 6, 16, 16), P("d", None, "s", None)), out=P("d", None, "s", None))
def uneven_gather_nested(x: Array) -> Array:
    x = jnp.sin(constrain(x, "d", ("t", "s"), None, None))
    x = jnp.cos(constrain(x, "d", "t", None, None))
    return constrain(x, "d", None, "s", None)


@program(_X, ((10, 64), P(None, None)), out=P(None, "x"))
def uneven_transpose(x: Array) -> Array:
    x = jnp.sin(constrain(x, "x", None))
    return jnp.cos(constrain(x, None, "x")) + 1


@program(_XY, ((24, 90), P("x", None)), ((90, 50), P(None, None)), out=P("x"))
def uneven_mlp(x: Array, up: Array) -> Array:
    hidden = jnp.tanh(x @ constrain(up, None, "y"))
    return jnp.tanh(constrain(hidden, "x", "y") @ constrain(up.T, "y", None))


@program(_X, ((50, 10), P(None, None)), ((10, 30), P(None, None)), out=P(None, None))
def uneven_contraction(x: Array, y: Array) -> Array:
    return constrain(jnp.exp(x), None, "x") @ constrain(y, "x", None)


@program(_XY, ((64, 10), P("x", None)), ((64,), P("x"), jnp.int32), out=P("x"))
def uneven_softmax(x: Array, labels: Array) -> Array:
    logits = constrain(x * 2, "x", "y")
    return jnp.take_along_axis(jax.nn.softmax(logits), labels[:, None], axis=1)[:, 0]


@program(_X, ((9, 32), P(None, None)), ((6, 32), P(None, None)), out=P(None, None))
def uneven_concatenation(x: Array, y: Array) -> Array:
    joined = jnp.concatenate([constrain(jnp.sin(x), "x", None), constrain(jnp.cos(y), "x", None)])
    return constrain(joined, "x", None) * 2


@program(_X, ((30, 32), P(None, None)), out=P(None, None))
def uneven_reshape(x: Array) -> Array:
    x = constrain(jnp.sin(x), "x", None).reshape(6, 5, 32)
    return jnp.cos(constrain(x, "x", None, None))


@program(
    {"data": 4, "model": 2},
    ((8, 197, 64), P("data", None, None)),
    ((64, 192), P(None, "model")),
    out=P("data", None, None),
)
def vision_transformer(x: Array, weights: Array) -> Array:
    qkv = constrain(x, "data", "model", None) @ weights
    q, k, v = (each.reshape(8, 197, 4, 16) for each in jnp.split(qkv, 3, axis=-1))
    return _attention(q, k, v, is_causal=False).reshape(8, 197, 64)


@program(_XY, ((100, 16), P("x", None)), ((100,), P("x"), jnp.int32), out=P("y"))
def segment_sums(x: Array, ids: Array) -> Array:
    return jax.ops.segment_sum(x, ids, num_segments=30)


@program(_XY, ((50, 24), P(None, None)), out=(P(), P()))
def uneven_statistics(x: Array) -> Any:
    x = constrain(jnp.tanh(x), "x", "y")
    return jnp.max(x, axis=0), jnp.median(x, axis=1)


# --- Halos ------------------------------------------------------------------------------------------


def _conv(x: Array, kernel: Array, **options: Any) -> Array:
    options = {"padding": "SAME", "window_strides": (1,) * (x.ndim - 2), **options}
    letters = "DHW"[5 - x.ndim :]
    numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    return lax.conv_general_dilated(x, kernel, dimension_numbers=numbers, **options)


_IMAGE = ((8, 32, 32, 16), P("x", "y", None, None))


@program(_XY, _IMAGE, ((3, 3, 16, 16), P()), ((3, 3, 16, 16), P()), out=(P(), P()))
def conv_spatial_train(x: Array, first: Array, second: Array) -> Any:
    def loss(first: Array, second: Array) -> Array:
        return jnp.sum(_conv(jnp.maximum(_conv(x, first), 0), second, window_strides=(2, 2)) ** 2)

    return gradients(loss, 0, 1)(first, second)


@program(_XY, ((4, 64, 12, 8), P(None, "x", None, "y")), ((3, 3, 1, 8), P(None, None, None, "y")))
def depthwise_train(x: Array, kernel: Array) -> Any:
    loss = lambda x, kernel: jnp.sum(jnp.tanh(_conv(x, kernel, feature_group_count=8)))  # noqa: E731
    return gradients(loss, 0, 1)(x, kernel)


@program(_XY, ((4, 64, 12, 8), P(None, ("x", "y"), None, None)), ((3, 3, 2, 8), P()))
def grouped_conv_train(x: Array, kernel: Array) -> Any:
    loss = lambda x, kernel: jnp.sum(jnp.tanh(_conv(x, kernel, feature_group_count=4)))  # noqa: E731
    return gradients(loss, 0, 1)(x, kernel)


@program(_XY, ((16, 8, 8, 16), P("x", None, None, None)), ((3, 3, 4, 16), P(None, None, None, "y")))
def grouped_conv_data_train(x: Array, kernel: Array) -> Any:
    loss = lambda x, kernel: jnp.sum(jnp.tanh(_conv(x, kernel, feature_group_count=4)))  # noqa: E731
    return gradients(loss, 0, 1)(x, kernel)


@program(_XY, ((8, 16, 16, 16), P("x", "y", None, None)), ((3, 3, 16, 8), P(None, None, None, None)))
def conv_batch_group(x: Array, kernel: Array) -> Array:
    return _conv(x, kernel, batch_group_count=4)


@program(_XY, ((8, 128, 32), P("x", "y", None)), ((2, 32, 32), P()), out=P("x", "y", None))
def dilated_causal(x: Array, kernel: Array) -> Array:
    for dilation in (1, 2, 4, 8):
        x = x + jnp.tanh(_conv(x, kernel, padding=[(dilation, 0)], rhs_dilation=(dilation,)))
    return x


@program(_XY, ((4, 32, 32, 8), P(None, "x", "y", None)), out=P(None, "x", "y", None))
def max_pool_train(x: Array) -> Array:
    def loss(x: Array) -> Array:
        pooled = lax.reduce_window(jnp.sin(x), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return jnp.sum(pooled**2)

    return jax.grad(loss)(x)


@program(_XY, ((64, 64), P("x", "y")), out=P("x", "y"))
def jacobi(x: Array) -> Array:
    def step(_: Array, x: Array) -> Array:
        roll: Function = jnp.roll
        return (roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1)) / 4

    return lax.fori_loop(0, 20, step, x)


@program(_XY, ((2, 28, 36, 8), P(None, "x", "y", None)), ((3, 3, 8, 8), P()), ((4, 4, 8, 8), P()))
def unet(x: Array, down: Array, up: Array) -> Array:
    small = jnp.maximum(_conv(x, down, window_strides=(2, 2)), 0)
    large = lax.conv_transpose(small, up, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return constrain(jnp.concatenate([x, large], axis=-1), None, "x", "y", None)


@program(_XY, ((50, 64), P(None, None)), out=P())
def differences(x: Array) -> Array:
    x = constrain(jnp.sin(x), "x", "y")
    return jnp.sum(jnp.diff(x, axis=0) ** 2) + jnp.sum(jnp.gradient(x, axis=1) ** 2)


@program(_XY, ((64, 64), P("x", "y")), out=P("x", "y"))
def scans_and_flips(x: Array) -> Array:
    return jnp.cumsum(x, axis=0) + jnp.flip(lax.cumlogsumexp(x, axis=1), axis=0)


@program(_XY, ((4, 256, 16), P(None, ("x", "y"), None)), out=P(None, ("x", "y"), None))
def sliding_window_attention(x: Array) -> Array:
    blocks = x.reshape(4, 16, 16, 16)
    before = jnp.pad(blocks, ((0, 0), (1, 0), (0, 0), (0, 0)))[:, :-1]
    keys = jnp.concatenate([before, blocks], axis=2)
    scores = jnp.einsum("bnqd,bnkd->bnqk", blocks, keys)
    return jnp.einsum("bnqk,bnkd->bnqd", jax.nn.softmax(scores), keys).reshape(x.shape)


@program(_XY, ((4, 32, 32, 16), P(None, "x", "y", None)), out=P(None, "x", "y", None))
def shifted_windows(x: Array) -> Array:
    shifted = jnp.roll(x, (-2, -2), (1, 2))
    windows = shifted.reshape(4, 8, 4, 8, 4, 16).transpose(0, 1, 3, 2, 4, 5).reshape(4, 64, 16, 16)
    scores = jax.nn.softmax(jnp.einsum("bnqd,bnkd->bnqk", windows, windows))
    mixed = jnp.einsum("bnqk,bnkd->bnqd", scores, windows)
    back = mixed.reshape(4, 8, 8, 4, 4, 16).transpose(0, 1, 3, 2, 4, 5).reshape(x.shape)
    return jnp.roll(back, (2, 2), (1, 2))


@program(_XY, ((2, 16, 16, 16, 4), P(None, "x", "y", None, None)), ((3, 3, 3, 4, 8), P()))
def conv_3d_train(x: Array, kernel: Array) -> Array:
    return jax.grad(lambda kernel: jnp.sum(_conv(x, kernel) ** 2))(kernel)


@program(_XY, ((8, 90), P("x", None)), out=P("x"))
def moving_average(x: Array) -> Array:
    x = constrain(x + 1, "x", "y")
    return lax.reduce_window(x, 0.0, lax.add, (1, 5), (1, 1), [(0, 0), (4, 0)]) / 5


@program(_X, ((256,), P("x")), ((5,), P()), out=P("x"))
def filtered_signal(x: Array, taps: Array) -> Array:
    return jnp.convolve(x, taps, mode="same")


@program(_XY, ((64, 48), P("x", "y")), ((), P(), jnp.int32), out=P("x", "y"))
def shifted_update(x: Array, start: Array) -> Array:
    window = lax.dynamic_slice(x, (start, 0), (8, 48))
    return lax.dynamic_update_slice(x, jnp.sin(window), (start + 1, 0))


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
