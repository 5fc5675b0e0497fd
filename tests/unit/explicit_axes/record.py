# mypy: ignore-errors
# ruff: noqa: N802
"""Records which programs JAX accepts with explicit axes, and what it lowers them to with automatic ones.

    PYTHON tests/unit/explicit_axes/record.py > tests/unit/explicit_axes/recorded.json

PYTHON has JAX 0.12. Each program is an expression, with the shardings of its arguments.
"""

import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P


def mesh(kind):
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind,) * 2)


def S(shape, spec, dtype=jnp.float32):
    return shape, spec, dtype


def A(spec, shape=(8, 8)):
    return S(shape, spec)


def arguments(found, of):
    return [
        jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(of, spec)) for shape, spec, dtype in found
    ]


def dot(a, b):
    return a @ b


recorded = {}


def case(name, function, *found):
    automatic, explicit = mesh(AxisType.Auto), mesh(AxisType.Explicit)
    try:
        with jax.set_mesh(automatic):
            program = jax.jit(function).lower(*arguments(found, automatic)).as_text()
    except Exception as error:
        print(name, "is not lowered:", str(error).splitlines()[0], file=sys.stderr)
        return
    try:
        with jax.set_mesh(explicit):
            result = jax.eval_shape(function, *arguments(found, explicit))
        error, specs = "", [str(each.sharding.spec) for each in jax.tree.leaves(result)]
    except Exception as caught:
        error, specs = f"{type(caught).__name__}: {str(caught).splitlines()[0][:120]}", []
    recorded[name] = {"error": error, "specs": specs, "program": program.splitlines()}


if __name__ == "__main__":
    case("dot free/free", dot, A(P("x", None)), A(P(None, "y")))
    case("dot both free same axis", dot, A(P("x", None)), A(P(None, "x")))
    case("dot both contracting", dot, A(P(None, "x")), A(P("x", None)))
    case("dot lhs contracting only", dot, A(P(None, "x")), A(P()))
    case("dot rhs contracting only", dot, A(P()), A(P("x", None)))
    case("dot contracting differ", dot, A(P(None, "x")), A(P("y", None)))
    case(
        "dot batch differ",
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
        S((8, 8, 8), P("x")),
        S((8, 8, 8), P("y")),
    )
    case(
        "dot batch one",
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
        S((8, 8, 8), P("x")),
        S((8, 8, 8), P()),
    )
    case(
        "dot batch used as free",
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
        S((8, 8, 8), P("x")),
        S((8, 8, 8), P("x", None, "y")),
    )
    case("add same", lambda a, b: a + b, A(P("x")), A(P("x")))
    case("add differ", lambda a, b: a + b, A(P("x")), A(P("y")))
    case("add one replicated", lambda a, b: a + b, A(P("x")), A(P()))
    case("add complementary", lambda a, b: a + b, A(P("x", None)), A(P(None, "y")))
    case("add broadcast 1d", lambda a, b: a + b, A(P("x", "y")), S((8,), P()))
    case("add broadcast 1d sharded", lambda a, b: a + b, A(P("x", None)), S((8,), P("y")))
    case("add scalar", lambda a: a + 1, A(P("x")))
    case("add zeros", lambda a: a + jnp.zeros((8, 8)), A(P("x")))
    case("add arange", lambda a: a + jnp.arange(8), A(P("x", "y")))
    case("where iota mask", lambda a: jnp.where(jnp.tril(jnp.ones((8, 8), bool)), a, 0), A(P("x", "y")))
    case("sum sharded dim", lambda a: a.sum(0), A(P("x", "y")))
    case("softmax sharded", lambda a: jax.nn.softmax(a, -1), A(P("x", "y")))
    case("argmax sharded", lambda a: jnp.argmax(a, -1), A(P("x", "y")))
    case("reshape split fits", lambda a: a.reshape(4, 2, 8), A(P("x")))
    case("reshape split fits 2", lambda a: a.reshape(8, 2, 8), S((16, 8), P("x")))
    case("reshape split not divisible", lambda a: a.reshape(2, 8, 8), S((16, 8), P("x")))
    case("reshape merge major", lambda a: a.reshape(64), A(P("x")))
    case("reshape merge minor", lambda a: a.reshape(64), A(P(None, "x")))
    case("reshape merge both", lambda a: a.reshape(64), A(P("x", "y")))
    case("reshape unsharded dims", lambda a: a.reshape(8, 2, 4), A(P("x")))
    case("reshape add 1", lambda a: a[None], A(P("x", "y")))
    case("transpose", lambda a: a.T, A(P("x", "y")))
    case("gather rows sharded table", lambda a, i: a[i], A(P("x")), S((8,), P(), jnp.int32))
    case("gather cols sharded table", lambda a, i: a[i], A(P(None, "y")), S((8,), P(), jnp.int32))
    case("gather idx sharded", lambda a, i: a[i], A(P()), S((8,), P("x"), jnp.int32))
    case("gather replicated", lambda a, i: a[i], A(P()), S((8,), P(), jnp.int32))
    case(
        "take_along_axis",
        lambda a, i: jnp.take_along_axis(a, i, -1),
        A(P("x", None)),
        S((8, 1), P("x"), jnp.int32),
    )
    case(
        "take_along_axis sharded dim",
        lambda a, i: jnp.take_along_axis(a, i, -1),
        A(P("x", "y")),
        S((8, 1), P("x"), jnp.int32),
    )
    case("scatter set", lambda a, i, u: a.at[i].set(u), A(P()), S((4,), P(), jnp.int32), S((4, 8), P()))
    case(
        "scatter set sharded",
        lambda a, i, u: a.at[i].set(u),
        A(P("x")),
        S((4,), P(), jnp.int32),
        S((4, 8), P()),
    )
    case(
        "scatter add cols",
        lambda a, i, u: a.at[i].add(u),
        A(P(None, "y")),
        S((4,), P(), jnp.int32),
        S((4, 8), P(None, "y")),
    )
    case("slice unsharded dim", lambda a: a[:, :4], A(P("x")))
    case("slice sharded dim", lambda a: a[:4], A(P("x")))
    case("slice sharded dim nondiv", lambda a: a[:3], A(P("x")))
    case("index int sharded dim", lambda a: a[0], A(P("x", "y")))
    case(
        "dynamic_slice unsharded",
        lambda a, i: jax.lax.dynamic_slice_in_dim(a, i, 4, 1),
        A(P("x")),
        S((), P(), jnp.int32),
    )
    case(
        "dynamic_slice sharded",
        lambda a, i: jax.lax.dynamic_slice_in_dim(a, i, 4, 0),
        A(P("x")),
        S((), P(), jnp.int32),
    )
    case(
        "dus sharded",
        lambda a, u, i: jax.lax.dynamic_update_slice_in_dim(a, u, i, 0),
        A(P("x")),
        S((2, 8), P()),
        S((), P(), jnp.int32),
    )
    case(
        "dus unsharded",
        lambda a, u, i: jax.lax.dynamic_update_slice_in_dim(a, u, i, 1),
        A(P("x")),
        S((8, 2), P("x")),
        S((), P(), jnp.int32),
    )
    case(
        "dus unsharded differ",
        lambda a, u, i: jax.lax.dynamic_update_slice_in_dim(a, u, i, 1),
        A(P("x")),
        S((8, 2), P()),
        S((), P(), jnp.int32),
    )
    case("concat unsharded dim", lambda a, b: jnp.concatenate([a, b], 1), A(P("x")), A(P("x")))
    case("concat sharded dim", lambda a, b: jnp.concatenate([a, b], 0), A(P("x")), A(P("x")))
    case("concat differ", lambda a, b: jnp.concatenate([a, b], 1), A(P("x")), A(P()))
    case("pad sharded dim", lambda a: jnp.pad(a, ((0, 8), (0, 0))), A(P("x")))
    case("pad unsharded dim", lambda a: jnp.pad(a, ((0, 0), (0, 8))), A(P("x")))
    case("cumsum sharded", lambda a: jnp.cumsum(a, 0), A(P("x")))
    case("cumsum unsharded", lambda a: jnp.cumsum(a, 1), A(P("x")))
    case("sort sharded", lambda a: jnp.sort(a, 0), A(P("x")))
    case("top_k sharded", lambda a: jax.lax.top_k(a, 2), A(P(None, "y")))
    case("top_k unsharded", lambda a: jax.lax.top_k(a, 2), A(P("x")))
    case(
        "conv batch",
        lambda a, k: jax.lax.conv_general_dilated(
            a, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
        ),
        S((8, 16, 4), P("x")),
        S((3, 4, 8), P()),
    )
    case(
        "conv feature out",
        lambda a, k: jax.lax.conv_general_dilated(
            a, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
        ),
        S((8, 16, 4), P("x")),
        S((3, 4, 8), P(None, None, "y")),
    )
    case(
        "scan carry ok",
        lambda c, xs: jax.lax.scan(lambda c, x: (c + x, c), c, xs),
        A(P("x")),
        S((4, 8, 8), P(None, "x")),
    )
    case(
        "scan carry differ",
        lambda c, xs: jax.lax.scan(lambda c, x: (c + x, c), c, xs),
        A(P()),
        S((4, 8, 8), P(None, "x")),
    )
    case(
        "scan over sharded dim",
        lambda c, xs: jax.lax.scan(lambda c, x: (c + x, c), c, xs),
        A(P()),
        S((4, 8, 8), P("x")),
    )
    case("wsc same", lambda a: jax.lax.with_sharding_constraint(a, P("x")), A(P("x")))
    case("wsc other", lambda a: jax.lax.with_sharding_constraint(a, P("y")), A(P("x")))
    case("one_hot", lambda i: jax.nn.one_hot(i, 16), S((8,), P("x"), jnp.int32))
    case("squeeze", lambda a: a.squeeze(0), S((1, 8), P(None, "x")))
    case("broadcast_in_dim", lambda a: jnp.broadcast_to(a, (4, 8, 8)), A(P("x")))
    case("rev", lambda a: a[::-1], A(P("x")))
    case("rng", lambda: jax.random.normal(jax.random.key(0), (8, 8)))
    case("repeat", lambda a: jnp.repeat(a, 2, axis=1), A(P("x")))
    case("stack", lambda a, b: jnp.stack([a, b]), A(P("x")), A(P("x")))
    case("split unsharded", lambda a: jnp.split(a, 2, 1), A(P("x")))
    case("split sharded", lambda a: jnp.split(a, 2, 0), A(P("x")))
    json.dump(recorded, sys.stdout, indent=1)
