"""Mistakes of callers who write JAX: each error says what to write."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import sdyopt

# Callers without a type checker.
UNTYPED: Any = sdyopt

PROGRAM = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %w: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


class Jitted:
    """A function of `jax.jit`, which prints what it is lowered to."""

    def __init__(self, function: Callable[..., object], text: str) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self._text = text

    def __call__(self) -> None:
        """What `jax.jit` returns is called, too."""

    def lower(self, *arguments: object) -> Lowered:
        if "broken" in arguments:
            raise TypeError("this is no array")
        return Lowered(self._text)


class Lowered:
    def __init__(self, text: str) -> None:
        self._text = text

    def as_text(self) -> str:
        return self._text


def step(weights: object, batch: object) -> None:
    """What is jitted."""


ARRAYS = "arrays, or jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(…)))"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (UNTYPED.check, "step takes other arguments: missing a required argument: 'weights'; write sdyopt"),
        (UNTYPED.check, f"sdyopt.check(step, *args): {ARRAYS}"),
        (lambda jitted: sdyopt.check(jitted, (1, 2)), "step takes other arguments: missing a required arg"),
        (lambda jitted: sdyopt.mesh_sweep(jitted, "x=1..8"), 'sdyopt.mesh_sweep(step, "data=1..8", *args)'),
        (lambda jitted: UNTYPED.mesh_sweep(jitted, 1, "x=1..8"), "sizes is text such as 'data=1..8', before"),
        (
            lambda _: sdyopt.check(step, 1, 2),
            "step is no function of jax.jit: write sdyopt.check(jax.jit(step",
        ),
        (
            lambda _: sdyopt.check(lambda: 1),
            "function is no function of jax.jit: write sdyopt.check(jax.jit(",
        ),
        (UNTYPED.parse, "not the function step; lower the function first: function.lower(*args)"),
        (
            lambda _: UNTYPED.parse(step),
            "not the function step; lower the function first: jax.jit(function).",
        ),
        (
            lambda _: UNTYPED.parse(PROGRAM).explain(3),
            "such as \"params['w']\", 'train.py:12' or '#3', not 3",
        ),
        (
            lambda _: UNTYPED.parse(PROGRAM).report(device_memory=3),
            "device_memory is text such as '16GiB', no",
        ),
        (
            lambda _: UNTYPED.parse(PROGRAM).report().compare_hlo(3),
            "compiled is what jax.jit(f).lower(*args).c",
        ),
    ],
)
def test_a_mistake_says_what_to_write(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        call(Jitted(step, PROGRAM))
    assert message in str(raised.value)


def test_errors_of_jax_say_what_the_arguments_are() -> None:
    with pytest.raises(TypeError, match="this is no array") as raised:
        sdyopt.check(Jitted(step, PROGRAM), "broken", 1)
    assert f"sdyopt.check lowered step for these arguments: they are {ARRAYS}" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    "message",
    [
        "Using PartitionSpec when you are not under a mesh context is not allowed.",
        "with_sharding_constraint requires a non-empty mesh in context if you are passing `PartitionSpec`s",
        "The context mesh cannot be empty. Use `jax.set_mesh(mesh)` to enter into a mesh context",
    ],
)
def test_a_function_without_a_mesh_has_help(message: str) -> None:
    class WithoutMesh(Jitted):
        def lower(self, *arguments: object) -> Lowered:
            raise RuntimeError(message)

    with pytest.raises(ValueError, match="step uses a PartitionSpec or shard_map without a mesh") as raised:
        sdyopt.check(WithoutMesh(step, PROGRAM), 1, 2)
    assert "write `with jax.set_mesh(mesh):`" in str(raised.value)
    assert str(raised.value.__cause__) == message


def test_names_and_sizes_have_choices() -> None:
    with pytest.raises(ValueError, match="for device_memory: '16 gigs' is not a size of memory; such as"):
        sdyopt.check(PROGRAM, device_memory="16 gigs")
    with pytest.raises(ValueError, match="unknown machine 'v2-8'; the machines are tpu-v4, "):
        sdyopt.check(PROGRAM, topology="v2-8")
    with pytest.raises(ValueError, match="unknown machine 'TPU v5'; did you mean 'tpu-v5e' or"):
        sdyopt.check(PROGRAM, topology="TPU v5")
    with pytest.raises(FileNotFoundError, match=r"no file 'pod\.toml'"):
        sdyopt.check(PROGRAM, topology="pod.toml")
    with pytest.raises(TypeError, match=r"sdyopt\.check has no argument 'topolgy'; did you mean 'topology'"):
        sdyopt.check(PROGRAM, topolgy="tpu-v5e")
    with pytest.raises(TypeError, match=r"sdyopt\.check takes arguments for a function of jax\.jit only"):
        sdyopt.check(PROGRAM, 1)
    with pytest.raises(ValueError, match=r"for lint: unknown rule 'cheap'"):
        sdyopt.parse(PROGRAM).lint("cheap")


def test_a_program_without_shardings_says_so() -> None:
    found = sdyopt.check("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }")
    assert "nothing is sharded: the program has no mesh; give its arguments shardings" in str(found)


def test_a_report_on_what_jax_lowers_has_its_collectives() -> None:
    module = sdyopt.parse(PROGRAM)
    assert len(module.report().collectives) == 1
    assert "assumed: sdy-jax-pipeline" in str(module.report())
    assert pickle.loads(pickle.dumps(module)).report().collectives
    # After a pass, it is what the caller asked for.
    assert not module.run("canonicalize").report().collectives
    assert str(module.explain("#0")).startswith('#0 all_reduce along {"x"}')
