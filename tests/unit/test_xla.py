"""The table in docs/from-jax.md: which collectives XLA runs where Shardy inserts others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Writes lowered programs, and prints the collectives of the compiled ones: those of the entry computation
# come after those of others, such as the body of a loop.
COMPILE = r"""
import json, re, sys
from pathlib import Path
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

jax.config.update("jax_num_cpu_devices", 8)
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))

def array(shape, *axes):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*axes)))

def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.sum(x * x)

def loop(w, x):
    return jax.lax.scan(lambda state, _: (jnp.tanh(state @ w), None), x, None, length=10)[0]

batch, weights = array((64, 256), "data"), array((256, 256))
sharded_weights = array((256, 256), "data")
sharded_gradients = {"out_shardings": NamedSharding(mesh, PartitionSpec("data"))}
programs = {
    "gradients": jax.jit(jax.grad(loss)).lower([weights] * 4, batch),
    "weights": jax.jit(lambda w, x: x @ w).lower(sharded_weights, batch),
    "sharded": jax.jit(jax.grad(loss), **sharded_gradients).lower([weights], batch),
    "loop": jax.jit(loop).lower(sharded_weights, batch),
}
found = {}
for name, lowered in programs.items():
    Path(name + ".mlir").write_text(lowered.as_text())
    text = lowered.compile().as_text()
    entry = text[text.index("ENTRY"):]
    pattern = r"(all-\w+|reduce-scatter|dynamic-slice)\("
    found[name] = [re.findall(pattern, part) for part in (text[:text.index("ENTRY")], entry)]
print(json.dumps(found))
"""


def inserted(program: Path) -> list[str]:
    """The collectives that Shardy inserts."""
    pipeline = "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
    command = [sys.executable, "-m", "sdyopt", str(program), pipeline]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return re.findall(r"sdy\.(all_\w+|reduce_scatter)", done.stdout)


@pytest.mark.reference
def test_each_row_of_the_table_is_what_both_tools_do(tmp_path: Path) -> None:
    (tmp_path / "compile.py").write_text(COMPILE)
    command = [sys.executable, "compile.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    compiled = json.loads(done.stdout)

    assert inserted(tmp_path / "gradients.mlir") == ["all_reduce"] * 4
    assert compiled["gradients"] == [[], ["all-reduce"]]

    assert inserted(tmp_path / "weights.mlir") == ["all_to_all", "reduce_scatter"]
    assert compiled["weights"] == [[], ["all-gather"]]

    assert inserted(tmp_path / "sharded.mlir") == ["all_gather", "all_to_all"]
    assert sorted([*compiled["sharded"][0], *compiled["sharded"][1]]) == ["all-reduce", "dynamic-slice"]

    assert inserted(tmp_path / "loop.mlir") == ["all_to_all", "reduce_scatter"]
    assert compiled["loop"][1] == ["all-gather"]
    assert not [name for name in compiled["loop"][0] if name != "dynamic-slice"]
